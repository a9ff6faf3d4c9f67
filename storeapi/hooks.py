"""The bodies and responses of hooks that a shop's checkout asks (contract, section 17, "Hooks").

The fields of `data` follow from the schema by which apps get it. Ids are the shop's, and we add the Business ID.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rest_framework import serializers

from accounts.models import ConnectedStore
from common import lengths
from common.errors import Invalid
from common.rest.fields import Choice, Identifier, Integer, Object, OptionalText, Text
from extensions.hooks.schemas import REQUEST_SCHEMAS
from stores.connected.bodies import (
    MOST_ITEMS,
    MOST_QUANTITY,
    MOST_TEXT,
    AttributesOfApps,
    ShopId,
    WholeBody,
    WithDefault,
    check_quote,
)
from stores.connected.mirror import mention
from stores.enums import HookOutcome, Resource
from stores.hookpoints import BUDGET_SECONDS, MAX_MINOR, HookPart, HookPoint
from stores.models import ShopPayment
from stores.models.checkouts import METHOD
from stores.serializers import PaymentMethodSerializer, PaymentSerializer, payment_payload

LEAST_BUDGET, MOST_BUDGET = 100, round(BUDGET_SECONDS * 1000)  # milliseconds
OURS: Final = ("businessId",)
IDS: Final = ("productId", "orderId")
MOST: Final = {"quantity": MOST_QUANTITY}
LONGEST: Final = {
    "locality": lengths.NAME,
    "description": MOST_TEXT,
    "paymentMethodId": METHOD,
    "currency": 3,
    "amount": 16,  # digits of `MAX_MINOR`
}
ABOUT: Final = {
    "productId": "The shop's id of the product.",
    "orderId": "The shop's id of the order.",
    "paymentMethodId": "The method as it was offered, <app slug>:<id>.",
}
AMOUNT: Final = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)


def check_amount(text: str) -> None:
    if AMOUNT.fullmatch(text) is None or int(text) > MAX_MINOR:
        raise serializers.ValidationError("Must be digits, without leading zeros: the amount in minor units.")


def _field(name: str, schema: Mapping[str, Any], *, is_optional: bool = False) -> Any:
    """The field that reads what fits a schema of `extensions.hooks.schemas`, and no other keys."""
    about, example = ABOUT.get(name, schema.get("description", "")), schema["examples"][0]
    if schema["type"] == "object":
        return _object(name, schema)(help_text=about)
    if schema["type"] == "array":
        return serializers.ListSerializer(
            child=_field(name, schema["items"]), max_length=MOST_ITEMS, help_text=about
        )
    if schema["type"] == "integer":
        most = min(schema.get("maximum", MAX_MINOR), MOST.get(name, MAX_MINOR))
        return Integer(about, example, min_value=schema["minimum"], max_value=most)
    if "enum" in schema:
        return Choice(schema["enum"], about, example)
    if name in IDS:
        return ShopId(about, "p-1" if name == "productId" else "1001")
    longest = LONGEST[name]
    if is_optional:
        return OptionalText(about, example, max_length=longest)
    checks = [check_amount] if name == "amount" else []
    return Identifier(about, example, max_length=longest, validators=checks)


def _object(name: str, schema: Mapping[str, Any]) -> type[WholeBody]:
    fields = {
        each: _field(each, part, is_optional=each not in schema["required"])
        for each, part in schema["properties"].items()
        if each not in OURS
    }
    return type(f"{name[0].upper()}{name[1:]}Asked", (WholeBody,), fields)


class AskedShopper(WholeBody):
    """An address or number without a normal form finds no person."""

    email = OptionalText(
        "The e-mail address.", "kim@example.com", max_length=lengths.EMAIL, trim_whitespace=False
    )
    phone = OptionalText("The phone number.", "+1 555 0100", max_length=lengths.PHONE, trim_whitespace=False)


class OptionalInteger(WithDefault, Integer):
    pass


class HookBody(serializers.Serializer):
    """What a checkout asks apps. `HOOK_BODIES` have the `data` of each point."""

    data: Any = Object(
        "As apps get it, without `businessId`; ids are your own, and a payment method is as it was offered.",
        {"items": [{"productId": "p-1", "quantity": 2}], "subtotal": 2500, "deliveryMethod": "DELIVERY"},
    )
    budgetMs = OptionalInteger(
        "How many milliseconds the checkout waits for apps.",
        2_000,
        default=MOST_BUDGET,
        min_value=LEAST_BUDGET,
        max_value=MOST_BUDGET,
    )
    shopper = AskedShopper(
        default=None,
        allow_null=True,
        help_text="What the shopper has typed, by which apps recognize them. They don't get it.",
    )
    attributes = AttributesOfApps(
        "What apps have put into the cart, by their slugs. Each app gets its own.",
        {"slots": {"slot": "Friday, 9 to 11"}},
        default=None,
        allow_null=True,
    )
    quote = OptionalText(
        "The one of the call before, in the same checkout.",
        "0b32d1c7-a407-4cc3-9d6f-0d2f4c1f8a30",
        max_length=2_000,
        trim_whitespace=False,
        validators=[check_quote],
    )


HOOK_BODIES: Final = {
    point: type("HookBody", (HookBody,), {"data": _field("data", schema)})
    for point, schema in REQUEST_SCHEMAS.items()
}


class AppsPart(serializers.Serializer):
    appId = Text("The app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
    name = Text("Its name.", "Coffee Club")
    outcome = Choice(HookOutcome.choices, "Whether it answered in time.", "ANSWERED")
    amount = Integer("What counts of its discount or fee, in minor units.", 250, allow_null=True)
    reason = Text("The app's reason.", "One coffee in ten is free.", allow_null=True)


class HookAnswerSerializer(serializers.Serializer):
    """What the apps of a store answer together."""

    answer: Any = Object(
        "By the hook point: `{methods}`, `{valid, reason, allHeard}`, `{discount, reason}`, `{fee}` or `{payment}`.",
        {"valid": True, "reason": None, "allHeard": True},
    )
    parts: Any = AppsPart(many=True, help_text="Of each app that was asked, in the order of asking.")
    quote = Text(
        "Send it with the next call of this checkout, and with the order's row.",
        "0b32d1c7-a407-4cc3-9d6f-0d2f4c1f8a31",
    )


class MadePayment(PaymentSerializer):
    provider = Text("The app that makes it.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")


class ShopPaymentSerializer(serializers.Serializer):
    payment: Any = MadePayment(help_text="The payment as it is now.")


def data_for_apps(store: ConnectedStore, point: HookPoint, data: Mapping[str, Any]) -> dict[str, Any]:
    """With our ids of products, which are made at the first mention. Raises `Invalid` for another currency than the store's."""
    business, found = store.business, {name: value for name, value in data.items() if value != ""}
    if found.get("currency", business.currency) != business.currency:
        raise Invalid.field("data.currency", f"Must be the store's currency, {business.currency}.")
    if items := found.get("items"):
        ids = mention(store, Resource.PRODUCTS, [each["productId"] for each in items])
        found["items"] = [each | {"productId": str(ids[each["productId"]])} for each in items]
    return found | ({"businessId": str(business.pk)} if point == HookPoint.PAYMENT_METHODS else {})


def answer_of(point: HookPoint, answer: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """What apps answered together, as the shop gets it."""
    match point:
        case HookPoint.PAYMENT_METHODS:
            return {"methods": PaymentMethodSerializer(list(answer), many=True).data}
        case HookPoint.VALIDATE:
            return {"valid": answer.valid, "reason": answer.reason or None, "allHeard": answer.all_heard}
        case HookPoint.DISCOUNTS:
            return {"discount": answer.amount, "reason": answer.reason or None}
        case HookPoint.SHIPPING_RATES:
            return {"fee": answer.fee if answer else data["builtInFee"]}
        case HookPoint.CREATE_PAYMENT:
            return {"payment": answer and made_payment_payload(answer)}


def made_payment_payload(payment: ShopPayment) -> dict[str, Any]:
    return {**(payment_payload(payment) or {}), "provider": payment.provider}


def parts_payload(parts: Sequence[HookPart]) -> list[dict[str, Any]]:
    return [
        {
            "appId": part.provider,
            "name": part.app_name,
            "outcome": part.outcome.value,
            "amount": part.amount,
            "reason": part.reason or None,
        }
        for part in parts
    ]
