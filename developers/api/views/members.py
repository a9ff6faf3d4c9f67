"""`/developer/apps/:appId/members` and `/transfer`: who works on an app (contract, section 11)."""

from functools import partial
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import TokenRight
from common.rest.fields import ApiSerializer, Choice, Moment, Text
from common.rest.schema import problem
from common.web.pagination import page_body, page_request
from developers.api.views.base import DeveloperView, validated
from marketplace.enums import AppRole
from marketplace.models import Membership
from marketplace.services import members
from marketplace.services.members import MEMBERS

TAG = "Members"
OWNER_STAYS = problem("This is the owner. Transfer the app first.")


INVITABLE: Final = [(role.value, role.label) for role in AppRole if role != AppRole.OWNER]
STATES: Final = [("ACTIVE", "A member"), ("INVITED", "Invited, not accepted yet")]

MemberId = partial(Text, "The membership; of the owner, the account.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a21")
Email = partial(Text, example="kim@example.com", max_length=254, schema={"format": "email"})


class MemberSerializer(ApiSerializer):
    """Of an `accounts.services.roster.Member`."""

    id = MemberId()
    email = Email("The e-mail address.")
    name = Text("The person's name; null while invited.", "Kim Novak", allow_null=True)
    role = Choice(AppRole.choices, "What they may do.", "DEVELOPER")
    state = Choice(STATES, "Whether the invitation was accepted.", "ACTIVE")
    since = Moment("When it was accepted, or sent.")


class NewMember(serializers.Serializer):
    email = Email("The e-mail address.")
    role = Choice(INVITABLE, "What they may do.", "DEVELOPER")


class MemberChanges(serializers.Serializer):
    role = Choice(INVITABLE, "What they may do from now on.", "VIEWER")

    schema: Final = {"required": ["role"]}


class NewTransfer(serializers.Serializer):
    email = Email("Of an active DEVELOPER of the app.")


class TransferSerializer(serializers.Serializer):
    """`email` and `expiresAt` are left out without an offer."""

    state = Choice([("OFFERED", "Offered"), ("NONE", "Not offered")], "Whether there is an offer.", "OFFERED")
    email = Email("To whom it is offered.", required=False)
    expiresAt = Moment("Until when it can be accepted.", required=False)


class MembersView(DeveloperView):
    tag = TAG
    token_rights = {"POST": TokenRight.MEMBERS}
    app_roles = {"POST": AppRole.OWNER}

    @extend_schema("listMembers", responses=MemberSerializer(many=True))
    def get(self, request: Request, app_id: str) -> Response:
        """List the members of an app, and who is invited."""
        wanted = page_request(request.query_params)
        found = MEMBERS.people_of(self.own_app(app_id))
        page = list(MemberSerializer(found[wanted.window], many=True).data)
        return Response(page_body(page, total=len(found), request=wanted))

    @extend_schema(
        "inviteMember",
        request=NewMember,
        responses={201: MemberSerializer, 409: problem("A member, or invited already.")},
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Invite somebody.

        They get a mail with a link that works for seven days, for this address only. It makes no difference whether the address
        has an account.
        """
        body = validated(NewMember, request)
        made = MEMBERS.invite(self.own_app(app_id), by=self.developer, **body)
        return Response(MemberSerializer(made).data, status=201)


class MemberView(DeveloperView):
    tag = TAG
    path_fields = DeveloperView.path_fields | {"member_id": MemberId()}
    token_rights = {"PATCH": TokenRight.MEMBERS, "DELETE": TokenRight.MEMBERS}
    app_roles = {"PATCH": AppRole.OWNER, "DELETE": AppRole.VIEWER}

    @extend_schema("changeMember", request=MemberChanges, responses={200: MemberSerializer, 409: OWNER_STAYS})
    def patch(self, request: Request, app_id: str, member_id: str) -> Response:
        """Change a member's role, or that of an invitation.

        A member who becomes a VIEWER loses the test install of the app.
        """
        body = validated(MemberChanges, request)
        app = self.own_app(app_id)
        changed = MEMBERS.change_role(app, by=self.developer, member_id=member_id, **body)
        return Response(MemberSerializer(changed).data)

    @extend_schema("removeMember", responses={204: None, 409: OWNER_STAYS})
    def delete(self, request: Request, app_id: str, member_id: str) -> Response:
        """Remove a member, take an invitation back, or leave the app.

        Takes effect at once, and ends the person's test install.
        """
        MEMBERS.remove(self.own_app(app_id), by=self.developer, member_id=member_id)
        return Response(status=204)


class TransferView(DeveloperView):
    tag = TAG
    token_rights = {"POST": TokenRight.MEMBERS, "DELETE": TokenRight.MEMBERS}
    app_roles = {"POST": AppRole.OWNER, "DELETE": AppRole.OWNER}

    @extend_schema("getTransfer", responses=TransferSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get the offer of a transfer."""
        offer = members.transfer_offer_of(self.own_app(app_id))
        return Response(_payload(offer) if offer else {"state": "NONE"})

    @extend_schema(
        "offerTransfer",
        request=NewTransfer,
        responses={202: TransferSerializer, 409: problem("Not an active DEVELOPER of the app.")},
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Offer the app to one of its developers.

        They accept within seven days, on the app's page in the portal. Then they are its OWNER and you are a DEVELOPER of it. A second
        offer replaces the first.
        """
        body = validated(NewTransfer, request)
        offer = members.offer_transfer(app=self.own_app(app_id), by=self.developer, **body)
        return Response(_payload(offer), status=202)

    @extend_schema("withdrawTransfer", responses={204: None})
    def delete(self, request: Request, app_id: str) -> Response:
        """Withdraw the offer."""
        members.withdraw_transfer_offer(app=self.own_app(app_id), by=self.developer)
        return Response(status=204)


def _payload(offer: Membership) -> dict[str, Any]:
    fields = {"state": "OFFERED", "email": offer.address, "expiresAt": offer.offer_expires_at}
    return dict(TransferSerializer(fields).data)
