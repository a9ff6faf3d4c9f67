"""Customers of a connected store who want to be erased."""

from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from common.db.rows import get_or_not_found
from common.rest.fields import ApiSerializer, Choice, Identifier, Moment, Text
from common.times import iso
from storeapi.serializers import OrDefault
from storeapi.views.base import StoreView
from stores.connected.erasure import erase_customer
from stores.customers import Person
from webhooks.enums import ErasureState
from webhooks.queries import customer_erasures

TAG: Final = "Customers"
SHOWN_FOR: Final = timedelta(days=30)
STATES: Final = {
    ErasureState.DUE: "PENDING",
    ErasureState.SENT: "PENDING",
    ErasureState.CONFIRMED: "CONFIRMED",
    ErasureState.OVERDUE: "FAILED",
    ErasureState.UNADDRESSED: "NO_ADDRESS",
}


class EraseBody(ApiSerializer):
    """Exactly one of the two."""

    email = OrDefault("The customer's e-mail address.", "kim@example.com")
    phone = OrDefault("The customer's phone number.", None)


class RequestedErasure(ApiSerializer):
    erasureId = Text("The erasure.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a21")


class AskedApp(ApiSerializer):
    appId = Text("The app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
    appName = Text("Its name.", "Bell")
    state = Choice(
        sorted(set(STATES.values())),
        "Whether it has confirmed. FAILED: it was asked for three days. NO_ADDRESS: it has none to which this can be sent.",
        "PENDING",
    )


class ErasureSerializer(ApiSerializer):
    requestedAt = Moment("When it was asked for.")
    apps = ListSerializer(child=AskedApp(), help_text="The apps that could read something of the customer.")


class EraseCustomer(StoreView):
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
        asked: Any = found.requests.all()  # type: ignore[attr-defined]  # of `webhooks.Erasure`
        apps = [
            {
                "appId": str(each.installation.app_id),
                "appName": each.installation.app_fields.name,
                "state": STATES[ErasureState(each.state)],
            }
            for each in asked
        ]
        return Response({"requestedAt": iso(found.at), "apps": apps})
