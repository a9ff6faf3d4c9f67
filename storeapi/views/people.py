"""The people of a store, whom its shop signs in."""

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import StoreRole
from accounts.models import PERSON_ID
from accounts.sign_in import tickets
from accounts.sign_in.tickets import Guest
from common.errors import Invalid
from common.rest.fields import Identifier
from common.times import iso
from storeapi.serializers import TicketBody, TicketSerializer
from storeapi.views.base import WAITED_FOR, StoreView
from stores.connected.stores import hold

TAG = "People"


class TicketList(StoreView):
    tag = TAG
    takes_keys = False  # each answer is a secret for one minute
    rate = WAITED_FOR

    @extend_schema("createTicket", request=TicketBody, responses={201: TicketSerializer})
    def post(self, request: Request, store: str) -> Response:
        """Create a ticket.

        Its URL signs the person in, once and within a minute, and leads to `next`. Redirect the browser there at once. Name, address and
        role count from now on, whether or not the ticket is used.
        """
        body = self.read(TicketBody)
        person = body["person"]
        guest = Guest(person["id"], person["name"], StoreRole(body["role"]), person.get("email") or "")
        with transaction.atomic():
            hold(self.store.pk)
            issued = tickets.issue(store=self.store, guest=guest, next_page=body.get("next"))
        url = settings.BASE_URL + reverse("accounts:ticket", args=[issued.token])
        return Response({"url": url, "expiresAt": iso(issued.expires_at)}, status=201)


class PersonDetail(StoreView):
    tag = TAG
    path_fields = StoreView.path_fields | {
        "person": Identifier("The shop's own id of the person, percent-encoded.", "kim", max_length=PERSON_ID)
    }

    @extend_schema("endPerson", request=None, responses={204: None})
    def delete(self, request: Request, store: str, person: str) -> Response:
        """End a person.

        Unused tickets and sessions end at once. The response is the same for a person who isn't known.
        """
        if why := tickets.wrong_id(person):
            raise Invalid.field("person", why, code="wrong_id")
        tickets.end_person(store=self.store, external_id=person)
        return Response(status=204)
