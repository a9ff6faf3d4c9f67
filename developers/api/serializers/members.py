"""Bodies and responses of the calls about members."""

from functools import partial
from typing import Final

from rest_framework import serializers

from common.rest.fields import ApiSerializer, Choice, Moment, Text
from marketplace.enums import AppRole

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
