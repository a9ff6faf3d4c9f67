"""What the app answers when the checkout asks it."""

from __future__ import annotations

from collections.abc import Mapping

from extension_platform_sdk import HookCall, HookResponse, HookRouter
from extension_platform_sdk.events import Headers

from .bell_pay import BellPay
from .connections import Connection, ConnectionStore
from .rules import Rulebook, Rules

Answer = Mapping[str, object]


class Hooks:
    """The five hook points. Each handler is a sentence: a shopper waits for it."""

    def __init__(self, connections: ConnectionStore, rulebook: Rulebook, bell_pay: BellPay) -> None:
        self._connections = connections
        self._rulebook = rulebook
        self._bell_pay = bell_pay
        self._router = HookRouter()
        self._router.on("checkout.payment_methods")(self._methods)
        self._router.on("checkout.create_payment")(self._payment)
        self._router.on("checkout.shipping_rates")(self._rate)
        self._router.on("order.validate")(self._verdict)
        self._router.on("order.calculate_discounts")(self._discount)

    def answer(self, headers: Headers, body: bytes) -> HookResponse:
        """Verify one call with the secret of its store's installation, and answer it."""
        return self._router.handle(headers, body, self._connections.secret_of_business)

    def _methods(self, call: HookCall) -> Answer:
        return {"methods": [self._bell_pay.method()] if self._rules(call).bell_pay else []}

    def _payment(self, call: HookCall) -> Answer:
        return self._bell_pay.begin(call.business_id, call.data)

    def _rate(self, call: HookCall) -> Answer:
        fee = call.data["builtInFee"]
        if call.data["deliveryMethod"] == "DELIVERY":
            fee = self._rules(call).delivery_fee(call.data["subtotal"], fee, self._store(call).currency)
        return {"fee": fee}

    def _verdict(self, call: HookCall) -> Answer:
        most = self._rules(call).most_of_one_product
        if all(item["quantity"] <= most for item in call.data["items"]):
            return {"valid": True}
        return {"valid": False, "reason": f"At most {most} pieces of one product in an order, please."}

    def _discount(self, call: HookCall) -> Answer:
        rules = self._rules(call)
        pieces = sum(item["quantity"] for item in call.data["items"])
        discount = rules.discount(pieces, call.data["subtotal"] - call.data["promoDiscount"])
        if not discount:
            return {"discount": 0}
        reason = f"{rules.discount_percent:g} % off from {rules.discount_from_pieces} pieces"
        return {"discount": discount, "reason": reason}

    def _rules(self, call: HookCall) -> Rules:
        return self._rulebook.of(self._store(call))

    def _store(self, call: HookCall) -> Connection:
        connection = self._connections.of_business(call.business_id)
        if connection is None:  # its secret was there when the call was verified
            raise LookupError("the store was disconnected meanwhile")
        return connection
