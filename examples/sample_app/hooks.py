"""What the app answers when the checkout asks, by the rules that the merchant set. A shopper waits for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from extension_platform_sdk import HookCall, HookRouter, to_minor
from extension_platform_sdk.types import (
    CheckoutCreatePaymentAnswer,
    CheckoutCreatePaymentData,
    CheckoutPaymentMethodsAnswer,
    CheckoutPaymentMethodsData,
    CheckoutShippingRatesAnswer,
    CheckoutShippingRatesData,
    OrderCalculateDiscountsAnswer,
    OrderCalculateDiscountsData,
    OrderValidateAnswer,
    OrderValidateData,
)

from . import bell_pay, platform, stores
from .bell import bell
from .stores import Store

hooks = HookRouter()


@hooks.on("checkout.payment_methods")
def payment_methods(call: HookCall[CheckoutPaymentMethodsData]) -> CheckoutPaymentMethodsAnswer:
    return {"methods": [bell_pay.method()] if rules_of(_store(call)).bell_pay else []}


@hooks.on("checkout.create_payment")
def create_payment(call: HookCall[CheckoutCreatePaymentData]) -> CheckoutCreatePaymentAnswer:
    return bell_pay.begin(call.business_id, call.data)


@hooks.on("checkout.shipping_rates")
def shipping_rate(call: HookCall[CheckoutShippingRatesData]) -> CheckoutShippingRatesAnswer:
    store, fee = _store(call), call.data["builtInFee"]
    if call.data["deliveryMethod"] == "DELIVERY":
        fee = rules_of(store).delivery_fee(call.data["subtotal"], fee, store.currency)
    return {"fee": fee}


@hooks.on("order.validate")
def validate(call: HookCall[OrderValidateData]) -> OrderValidateAnswer:
    most = rules_of(_store(call)).most_of_one_product
    if all(item["quantity"] <= most for item in call.data["items"]):
        return {"valid": True}
    return {"valid": False, "reason": f"At most {most} pieces of one product in an order, please."}


@hooks.on("order.calculate_discounts")
def discount(call: HookCall[OrderCalculateDiscountsData]) -> OrderCalculateDiscountsAnswer:
    rules = rules_of(_store(call))
    pieces = sum(item["quantity"] for item in call.data["items"])
    off = rules.discount(pieces, call.data["subtotal"] - call.data["promoDiscount"])
    if not off:
        return {"discount": 0}
    return {
        "discount": off,
        "reason": f"{rules.discount_percent:g}% off from {rules.discount_from_pieces} pieces",
    }


def _store(call: HookCall[Any]) -> Store:
    store = stores.of_business(call.business_id)
    if store is None:  # its secret was there when the call was verified
        raise LookupError("the store was disconnected meanwhile")
    return store


@dataclass(frozen=True, slots=True)
class Rules:
    """``free_delivery_from`` is an amount in major units. The defaults are those of the manifest's ``settingsSchema``."""

    bell_pay: bool = True
    free_delivery_from: float = 30
    discount_from_pieces: int = 3
    discount_percent: float = 10
    most_of_one_product: int = 12

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "Rules":
        """Read the platform's ``settings``; what is missing, or not what the schema says, is the default."""
        given = cls()
        return cls(
            bell_pay=settings.get("bellPay") is not False,
            free_delivery_from=_number(settings.get("freeDeliveryFrom"), given.free_delivery_from),
            discount_from_pieces=int(_number(settings.get("discountFromPieces"), given.discount_from_pieces)),
            discount_percent=_number(settings.get("discountPercent"), given.discount_percent),
            most_of_one_product=int(_number(settings.get("mostOfOneProduct"), given.most_of_one_product)),
        )

    def delivery_fee(self, subtotal: int, fee: int, currency: str) -> int:
        """What delivery costs, where the store itself would take ``fee``. All in minor units."""
        enough = to_minor(self.free_delivery_from, currency)
        return 0 if enough and subtotal >= enough else fee

    def discount(self, pieces: int, subtotal: int) -> int:
        """What is taken off, in minor units, rounded down."""
        return int(subtotal * self.discount_percent // 100) if pieces >= self.discount_from_pieces else 0


def rules_of(store: Store) -> Rules:
    """Read again every few seconds, so that changes reach the checkout soon, and with a short timeout: the checkout waits."""

    def read() -> Rules:
        with platform.client(store.access_token, timeout=2) as asked:
            return Rules.of(asked.installation()["settings"])

    return bell.cache.get("rules", store.business_id, 3, read, Rules())


def _number(value: object, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return value
