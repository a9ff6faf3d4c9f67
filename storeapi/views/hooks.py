"""Hooks that the checkout of a shop asks, and the payments that apps made for it."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import EXTERNAL_ID
from common.errors import NotFound
from common.rest.fields import Choice, Identifier
from common.rest.schema import problem
from common.strangers import may_wait_for_strangers
from extensions.hooks.live import live_hooks
from extensions.shops.commands import owned
from storeapi.hooks import (
    HOOK_BODIES,
    HookAnswerSerializer,
    HookBody,
    ShopPaymentSerializer,
    answer_of,
    data_for_apps,
    made_payment_payload,
    parts_payload,
)
from storeapi.views.base import WAITED_FOR, StoreView, checked_id
from stores import hookpoints
from stores.buyers.shoppers import Buyer, person_of
from stores.connected import quotes
from stores.connected.payments import Made, PaymentWish, make_payment, payment_of
from stores.hookpoints import Asked, Flow, HookPoint

TAG: Final = "Checkout"


@may_wait_for_strangers
class HookCallList(StoreView):
    tag = TAG
    rate = WAITED_FOR
    path_fields = StoreView.path_fields | {
        "point": Choice([each.value for each in HookPoint], "What is asked.", "order.validate")
    }

    @extend_schema(
        "askApps",
        request=HookBody,
        responses={
            200: HookAnswerSerializer,
            409: problem("The order's payment by another method is pending or completed."),
            503: problem("The app that makes the payment can't be waited for. Nothing was made."),
        },
    )
    def post(self, request: Request, store: str, point: str) -> Response:
        """Ask the store's apps, as a checkout here does.

        The response is 200 whatever the apps do. An app that fails or is too slow is left out, as `parts` says.
        """
        if point not in HOOK_BODIES:
            raise NotFound(f"There is no hook point {point[:100]}.")
        body = self.read(HOOK_BODIES[HookPoint(point)])
        return self._asked(HookPoint(point), body)

    def _asked(self, point: HookPoint, body: Mapping[str, Any]) -> Response:
        began = timezone.now()
        data = data_for_apps(self.store, point, body["data"])
        before = quotes.find(self.business, body["quote"], began)
        attributes = owned(self.business, body["attributes"])
        buyer = Buyer(person=_person(body["shopper"]), attributes=attributes or {})
        flow = quotes.flow_for(point, before, body["budgetMs"] / 1000, began, buyer)
        if point == HookPoint.CREATE_PAYMENT:
            made = self._paid(data, flow)
            answer: Any = made.payment
            asked: Asked[Any] | None = made.asked
            quoted = asked and Asked(None, () if made.order else asked.parts)
        else:
            quoted = asked = hookpoints.ask(point, business=self.business, data=data, flow=flow)
            answer = asked.answer
        quote = quotes.add(
            business=self.business,
            before=before,
            point=point,
            data=data,
            asked=quoted,
            attributes=attributes,
            began=began,
        )
        return Response(
            {
                "answer": answer_of(point, answer, data),
                "parts": parts_payload(asked.parts if asked else ()),
                "quote": str(quote.pk),
            }
        )

    def _paid(self, data: Mapping[str, Any], flow: Flow) -> Made:
        method = data["paymentMethodId"]
        owner, _, own_id = method.partition(":")
        flow.hooks = live_hooks(self.business) if own_id else []
        apps = (each for each in flow.hooks if each.point == HookPoint.CREATE_PAYMENT and each.slug == owner)
        app = next(apps, None)
        wish = PaymentWish(
            order=data["orderId"],
            method=method,
            provider=str(app.app_id) if app else "",
            amount=int(data["amount"]),
            description=data.get("description", ""),
        )
        return make_payment(store=self.store, wish=wish, flow=flow)


def _person(shopper: Mapping[str, str] | None) -> str:
    return person_of(shopper["email"], shopper["phone"]) if shopper else ""


class PaymentDetail(StoreView):
    tag = TAG
    path_fields = StoreView.path_fields | {
        "order_id": Identifier("The shop's id of the order.", "1001", max_length=EXTERNAL_ID)
    }

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        checked_id(kwargs["order_id"], "order_id")

    @extend_schema("getPayment", responses=ShopPaymentSerializer)
    def get(self, request: Request, store: str, order_id: str) -> Response:
        """Get the payment that an app makes for an order.

        It is there before the order's row is, and without one.
        """
        payment = payment_of(self.store, order_id)
        if payment is None:
            raise NotFound("No app has made a payment for this order.")
        return Response({"payment": made_payment_payload(payment)})
