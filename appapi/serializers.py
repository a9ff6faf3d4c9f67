"""Request bodies and query parameters of the app API. Amounts in a body are converted to minor units."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from rest_framework import serializers

from appapi.models import ExportResource, ExportStatus
from common import lengths
from common.contacts import validate_email, validate_phone
from common.rest.fields import (
    Boolean,
    Choice,
    Identifier,
    Integer,
    Moment,
    Object,
    OptionalAmount,
    OptionalText,
    StringList,
    Text,
)
from common.rest.query import MAX_NAMES, MAX_TEXT
from installations.limits import MAX_QUANTITY
from installations.models import Installation
from marketplace.scopes import SCOPES
from stores.buyers.attributes import KEY, LONGEST, MOST_KEYS, merged
from stores.buyers.shoppers import OwnPart, keys_of, person_of_order
from stores.dashboard import DEFAULT_DAYS as DAYS
from stores.dashboard import MAX_DAYS
from stores.enums import SETTLED, DeliveryMethod, OrderStatus
from stores.models import Order
from stores.records import OrderRecord
from stores.serializers import BusinessId, order_payload
from stores.services.carts import MAX_LINES
from webhooks.catalogue import EVENTS, SUBSCRIBABLE
from webhooks.enums import DeliveryStatus
from webhooks.serializers import InstallationId, WebhookFilterSerializer

CURSOR: Final = "_T_rPJJQt5dKm1KLaWNjIaRhtV71W3vq_YCamp6SW3mmNC-g_biylNl_xhA9kgibJfpeAw"
EXAMPLE_URL: Final = "https://platform.example/app-api/exports/01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a11"


class Body(serializers.Serializer):
    """A body with rules that involve several fields.

    They are checked even if single fields are invalid, so that the response lists all problems.
    """

    def spanning_problems(self, data: Mapping[str, Any]) -> dict[str, list[str]]:
        """The problems of the raw body that involve several fields, by the field to report. None in most bodies."""
        return {}

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


def given(name: str) -> dict[str, Any]:
    """A JSON Schema that requires this text to be present and not blank."""
    return {"properties": {name: {"type": "string", "pattern": r"\S"}}, "required": [name]}


class ItemBody(serializers.Serializer):
    productId = Identifier("The product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02", max_length=100)
    quantity = Integer("Lines of the same product are joined.", 2, min_value=1, max_value=MAX_QUANTITY)


class CustomerBody(Body):
    name = Text("The customer's name.", "Kim Lee", max_length=lengths.PERSON)
    email = OptionalText(
        "An e-mail address.", "kim@example.com", max_length=lengths.EMAIL, validators=[validate_email]
    )
    phone = OptionalText(
        "A phone number. One of the two is required.",
        "+1 555 0100",
        max_length=lengths.PHONE,
        validators=[validate_phone],
    )

    schema: Final = {"anyOf": [given("email"), given("phone")]}

    def spanning_problems(self, data: Mapping[str, Any]) -> dict[str, list[str]]:
        if is_blank(data.get("email")) and is_blank(data.get("phone")):
            return {"non_field_errors": ["Give an e-mail address or a phone number."]}
        return {}


KEPT_ATTRIBUTE: Final = {"type": ["string", "null"], "maxLength": LONGEST}
CHANGED_ATTRIBUTES: Final = {"slot": "Friday, 9 to 11", "hint": None}


class Attributes(Object):
    """An app's attributes. `stores.buyers.attributes` has the rules, which need those that are there."""

    def __init__(self, *args: Any, **options: Any) -> None:
        names = {"pattern": f"^{KEY.pattern}$"}
        shape = {
            "propertyNames": names,
            "additionalProperties": KEPT_ATTRIBUTE,
            "maxProperties": 2 * MOST_KEYS,
        }
        super().__init__(*args, schema=shape, **options)


class NewAttributes(Attributes):
    """Of an order that is placed now."""

    def to_internal_value(self, data: Any) -> dict[str, str]:
        own, problems = merged({}, super().to_internal_value(data))
        if problems:
            raise serializers.ValidationError({key: [problem] for key, problem in problems.items()})
        return own


class OrderBody(Body):
    """A guest order (contract, section 4). `context["currency"]` is the business's."""

    items: Any = serializers.ListSerializer(child=ItemBody(), allow_empty=False, max_length=MAX_LINES)
    customer = CustomerBody(help_text="Who orders.")
    deliveryMethod = Choice(DeliveryMethod.choices, "How the goods get there.", "DELIVERY")
    address = OptionalText("Required for DELIVERY.", "1 Harbour Street", max_length=lengths.ADDRESS)
    paymentMethod = Identifier(
        "CASH, CARD, or an id that the checkout offers.", "CASH", max_length=lengths.NAME
    )
    promoDiscount = OptionalAmount("In major units, at most the subtotal.", 0)
    note = OptionalText("For the merchant.", "Please ring twice.", max_length=lengths.NOTE)
    attributes = NewAttributes(
        "What your app keeps with the order; no other app sees it.",
        {"slot": "Friday, 9 to 11"},
        required=False,
        default=dict,
    )

    schema: Final = {
        "if": {"properties": {"deliveryMethod": {"const": "DELIVERY"}}, "required": ["deliveryMethod"]},
        "then": given("address"),
    }

    def spanning_problems(self, data: Mapping[str, Any]) -> dict[str, list[str]]:
        if data.get("deliveryMethod") == DeliveryMethod.DELIVERY and is_blank(data.get("address")):
            return {"address": ["Required for DELIVERY."]}
        return {}


def is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


class AttributesBody(serializers.Serializer):
    attributes = Attributes(
        "Texts by their keys, which are merged with those of the order; null removes one.", CHANGED_ATTRIBUTES
    )

    schema: Final = {"required": ["attributes"]}


class StatusBody(serializers.Serializer):
    status = Choice(OrderStatus.choices, "The new status.", "CONFIRMED")

    schema: Final = {"required": ["status"]}


class PaymentBody(serializers.Serializer):
    status = Choice(SETTLED, "The payment's result.", "COMPLETED")
    reference = OptionalText("Your own reference.", "charge-901", max_length=200)

    schema: Final = {"required": ["status"]}


class WebhookBody(serializers.Serializer):
    """`webhooks.services.registration` checks the URL, the events and the filter."""

    url = Text(
        "The URL to deliver to: HTTPS, a public address.",
        "https://app.example.com/events",
        max_length=2048,
        schema={"format": "uri"},
    )
    events = StringList(
        "The events to deliver; a repeated name counts once.",
        ["order.created", "order.cancelled"],
        child=Identifier(max_length=100, schema={"enum": list(SUBSCRIBABLE)}),
        max_length=100,
        schema={"minItems": 1},
    )
    filter = WebhookFilterSerializer(
        required=False, allow_null=True, help_text="Which of these events to deliver; null: all."
    )
    description = OptionalText("The app's own name for it.", "Order bell", max_length=300)


class WebhookChanges(WebhookBody):
    """Any of the fields; `description` may be null."""

    isActive = Boolean("false cancels waiting deliveries; true enables again.", True, source="is_active")


class RecoverBody(serializers.Serializer):
    since = Moment("Deliveries created from this time on, with an offset,", "2026-11-01T00:00:00Z")
    until = Moment("and, if given, until this one.", "2026-11-20T15:04:05Z", default=None, allow_null=True)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["until"] is not None and values["until"] < values["since"]:
            raise serializers.ValidationError({"until": ["Must not be before since."]})
        return values


# Query parameters, for the documentation. `common.rest.query.Query` reads them.

Filter = partial(Text, required=False, allow_blank=True, max_length=MAX_TEXT)
Since = partial(Moment, example="2026-11-01T00:00:00Z", required=False)


class ProductFilters(serializers.Serializer):
    category = Filter("Only this category.", "Coffee")
    isAvailable = Boolean("Only products that are, or are not, available.", True, required=False)
    search = Filter("Part of the name or description.", "beans")
    updatedSince = Since("Only products changed at this time or later. ISO 8601 with an offset.")
    externalId = Filter("Only the one with this id of the shop, of a connected store.", "p-1")


class OrderFilters(serializers.Serializer):
    status = Choice(OrderStatus.choices, "Only this status.", "PENDING", required=False)
    createdAfter = Since("Only orders placed after this time. ISO 8601 with an offset.")
    createdBefore = Moment("Only orders placed before this time.", "2026-12-01T00:00:00Z", required=False)
    updatedSince = Since("Only orders changed at this time or later.")
    externalId = Filter("Only the one with this id of the shop, of a connected store.", "o-1001")


class ReviewFilters(serializers.Serializer):
    productId = Filter("Only reviews of this product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
    externalId = Filter("Only the one with this id of the shop, of a connected store.", "r-1")


class DeliveryFilters(serializers.Serializer):
    status = Choice(DeliveryStatus.choices, "Only this status.", "EXHAUSTED", required=False)


_ANY_EVENT: Final = f"(?:{'|'.join(map(re.escape, SUBSCRIBABLE))})"


class FeedFilters(serializers.Serializer):
    after = Identifier(
        "The cursor to go on from: the last `nextCursor`.",
        CURSOR,
        required=False,
        max_length=lengths.IDENTIFIER,
    )
    type = Identifier(
        "Only these events, separated by commas.",
        "order.created,order.cancelled",
        required=False,
        max_length=MAX_NAMES,
        schema={"pattern": f"^{_ANY_EVENT}(?:,{_ANY_EVENT})*$"},
    )
    limit = Integer("At most this many; more than 500 is lowered to 500.", 100, default=100, min_value=1)


class FeedEventSerializer(serializers.Serializer):
    id = Identifier("The event's id, as `eventId` of its deliveries.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a09")
    event = Choice([(name, name) for name in SUBSCRIBABLE], "Its name.", "order.created")
    timestamp = Moment("When it happened.", "2026-11-20T15:04:05.123Z")
    data = Object("What happened, as webhooks carry it.", EVENTS["order.created"].example)  # type: ignore[assignment]
    cursor = Identifier("Its place in the feed.", CURSOR)


class FeedSerializer(serializers.Serializer):
    data = FeedEventSerializer(many=True, help_text="Oldest first.")  # type: ignore[assignment]
    nextCursor = Identifier("Where to go on, also if `data` is empty.", CURSOR)
    hasMore = Boolean("Whether the next page has events already.", False)


class DashboardPeriod(serializers.Serializer):
    days = Integer("How many days, today included.", DAYS, default=DAYS, min_value=1, max_value=MAX_DAYS)


ExportId = partial(Identifier, "The export's id.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a11")


class ExportBody(serializers.Serializer):
    resource = Choice(ExportResource.choices, "The list to export.", "products")

    schema: Final = {"required": ["resource"]}


class RequestedExportSerializer(serializers.Serializer):
    id = ExportId()
    status = Choice(ExportStatus.choices, "PENDING until a worker has made the file.", "PENDING")


class ExportSerializer(serializers.Serializer):
    id = ExportId()
    resource = Choice(ExportResource.choices, "The exported list.", "products")
    status = Choice(ExportStatus.choices, "READY once there is a file.", "READY")
    rows = Integer("How many records the file has; null until it is READY.", 31, allow_null=True)
    url = Text("Where to fetch the file; null until it is READY.", f"{EXAMPLE_URL}/file", allow_null=True)
    feedCursor = Identifier("Where the feed goes on from the file.", CURSOR, allow_null=True)
    expiresAt = Moment("When the file is deleted.", "2026-11-21T15:04:05.123Z", allow_null=True)


class InstallationSerializer(serializers.Serializer):
    installationId = InstallationId()
    businessId = BusinessId()
    isTestInstall = Boolean("Whether it is a test install on a sandbox.", True)
    needsReConsent = Boolean("Whether the merchant has yet to agree to added scopes.", False)
    scopes = StringList("What the token may do now.", ["read_products", "read_orders"], among=list(SCOPES))
    settings = Object("The merchant's settings, over the defaults.", {"greeting": "Hello"})
    installedAt = Moment("When it was installed.")


# --- What an installation alone reads of a store's orders: its own attributes, and its keys of customers ---


def own_parts(installation: Installation, rows: Sequence[Any]) -> list[OwnPart]:
    """Of some orders, or rows with their columns, in their order. One statement, or none."""
    people = [person_of_order(row) for row in rows]
    keys = keys_of(installation.business_id, installation.pk, people)
    owner = str(installation.app_id)
    return [
        OwnPart((row.attributes or {}).get(owner, {}), keys.get(person))
        for row, person in zip(rows, people, strict=True)
    ]


def order_answer(installation: Installation, order: Order) -> dict[str, Any]:
    """An order as this installation reads it."""
    [own] = own_parts(installation, [order])
    return order_payload(OrderRecord.of(order), own)
