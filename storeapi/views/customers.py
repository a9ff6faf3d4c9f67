"""Customers of a connected store who want to be erased."""

from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.db.rows import get_or_not_found
from common.rest.fields import Identifier
from common.times import iso
from storeapi.serializers import ERASURE_STATES, EraseBody, ErasureSerializer, RequestedErasure
from storeapi.views.base import StoreView
from stores.connected.mirror import erase_customer
from stores.customers import Person
from webhooks.enums import ErasureState
from webhooks.queries import customer_erasures

TAG: Final = "Customers"
SHOWN_FOR: Final = timedelta(days=30)


class CustomerErasureList(StoreView):
    tag = TAG

    @extend_schema("eraseCustomer", request=EraseBody, responses={202: RequestedErasure})
    def post(self, request: Request, store: str) -> Response:
        """Erase a customer.

        Blanks the orders and reviews with this address or number, open ones included, and asks the apps that could read them to do so,
        too. Later rows of what was erased are taken without the customer. The response is the same for a customer who isn't known.
        """
        body = self.read(EraseBody)
        person = Person.of(email=body.get("email", ""), phone=body.get("phone", ""), store=self.business)
        done = erase_customer(store=self.store, person=person)
        return Response({"erasureId": str(done.pk)}, status=202)


class CustomerErasureDetail(StoreView):
    tag = TAG
    path_fields = StoreView.path_fields | {
        "erasure_id": Identifier("The erasure.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a21", max_length=36)
    }

    @extend_schema("getErasure", responses=ErasureSerializer)
    def get(self, request: Request, store: str, erasure_id: str) -> Response:
        """Get what apps answered to an erasure.

        For 30 days.
        """
        rows = customer_erasures(self.business).filter(at__gt=timezone.now() - SHOWN_FOR)
        found = get_or_not_found(rows, erasure_id, "Erasure not found")
        asked: Any = found.requests.all()  # of `webhooks.Erasure`
        apps: list[dict[str, str]] = [
            {
                "appId": str(each.installation.app_id),
                "appName": each.installation.app_fields.name,
                "state": ERASURE_STATES[ErasureState(each.state)],
            }
            for each in asked
        ]
        return Response({"requestedAt": iso(found.at), "apps": apps})
