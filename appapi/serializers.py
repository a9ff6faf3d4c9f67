"""The bodies that the app API reads, under their names on the wire. Amounts become minor units."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from django.core.validators import EmailValidator
from rest_framework import serializers

from common import money
from common.rest.fields import Boolean, Choice, Identifier, Integer, Moment, Number, Text
from stores.enums import SETTLED, DeliveryMethod, OrderStatus

MAX_LINES = 100
MAX_QUANTITY = 1_000_000
MAX_AMOUNT = 1_000_000_000_000  # major units; a float still counts its decimals there


class OptionalText(Text):
    """May be left out, null or blank, which all read as ""."""

    def __init__(self, **options: Any) -> None:
        super().__init__(default="", allow_blank=True, allow_null=True, **options)

    def run_validation(self, data: Any = serializers.empty) -> str:
        return super().run_validation("" if data is None else data)


class OptionalAmount(Number):
    """A number of at least 0 in major units of `context["currency"]`; left out or null it is 0.

    Reads as minor units. More decimals than the currency has are refused.
    """

    default_error_messages = {"decimals": "{currency} has {places} decimals, not more."}

    def __init__(self, **options: Any) -> None:
        super().__init__(default=0, min_value=0, max_value=MAX_AMOUNT, allow_null=True, **options)

    def run_validation(self, data: Any = serializers.empty) -> int:
        value = super().run_validation(0 if data is None else data)  # within its limits from here on
        currency = self.context["currency"]
        exact, places = Decimal(str(value)), money.decimals(currency)
        if exact != round(exact, places):
            self.fail("decimals", currency=currency, places=places)
        return money.to_minor(value, currency)


class Body(serializers.Serializer):
    """A body with rules over several fields. They are looked at even where a field is wrong by itself, so
    that every problem is told at once."""

    def spanning_problems(self, data: Mapping[str, Any]) -> dict[str, list[str]]:
        """What is wrong over several fields of the raw body, by the field to name."""
        raise NotImplementedError

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        problems: dict[str, Any] = {}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            problems = cast(dict[str, Any], error.detail)
        if isinstance(data, Mapping):
            problems = self.spanning_problems(data) | problems
        if problems:
            raise serializers.ValidationError(problems)
        return values


class ItemBody(serializers.Serializer):
    productId = Identifier(max_length=100)
    quantity = Integer(min_value=1, max_value=MAX_QUANTITY)


class CustomerBody(Body):
    name = Text(max_length=120)
    email = OptionalText(max_length=254, validators=[EmailValidator("Must be an e-mail address.")])
    phone = OptionalText(max_length=40)

    def spanning_problems(self, data: Mapping[str, Any]) -> dict[str, list[str]]:
        if is_blank(data.get("email")) and is_blank(data.get("phone")):
            return {"non_field_errors": ["Give an e-mail address or a phone number."]}
        return {}


class OrderBody(Body):
    """A guest order (contract section 4, "Guest order"). `context["currency"]` is the business's."""

    items: Any = serializers.ListSerializer(child=ItemBody(), allow_empty=False, max_length=MAX_LINES)
    customer = CustomerBody()
    deliveryMethod = Choice(DeliveryMethod.choices)
    address = OptionalText(max_length=1000)
    paymentMethod = Identifier(max_length=200)
    promoDiscount = OptionalAmount()
    note = OptionalText(max_length=2000)

    def spanning_problems(self, data: Mapping[str, Any]) -> dict[str, list[str]]:
        if data.get("deliveryMethod") == DeliveryMethod.DELIVERY and is_blank(data.get("address")):
            return {"address": ["Required for DELIVERY."]}
        return {}


def is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


class StatusBody(serializers.Serializer):
    status = Choice(OrderStatus.choices)


class PaymentBody(serializers.Serializer):
    """How an app's payment ended; `reference` is the app's own word for it."""

    status = Choice(SETTLED)
    reference = OptionalText(max_length=200)


class WebhookBody(serializers.Serializer):
    """What the URL may be and which events exist, `webhooks.services.registration` knows."""

    url = Text(max_length=2048)
    events = serializers.ListField(child=Identifier(max_length=100), max_length=100)
    description = OptionalText(max_length=300)


class WebhookChanges(WebhookBody):
    """Any of the fields; `description` may be null."""

    isActive = Boolean(source="is_active")


class RecoverBody(serializers.Serializer):
    since = Moment()
    until = Moment(default=None, allow_null=True)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["until"] is not None and values["until"] < values["since"]:
            raise serializers.ValidationError({"until": ["Must not be before since."]})
        return values
