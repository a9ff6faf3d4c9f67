"""The rows that a shop pushes, as bodies. A field that is left out, or null, has its default: a row is whole.

Texts are taken as the shop has them: type, length and NUL are checked, no more. Amounts become minor units.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final, cast

from django.conf import settings
from rest_framework import serializers

from accounts.models import EXTERNAL_ID
from common import lengths
from common.http.url_policy import InvalidUrl, check_page_url
from common.rest.fields import (
    MAX_AMOUNT,
    Boolean,
    Choice,
    Identifier,
    Integer,
    MinorUnits,
    Moment,
    Object,
    OptionalAmount,
    OptionalText,
)
from common.times import instant_of
from stores.buyers.attributes import KEY, LONGEST, MOST_KEYS, MOST_SHOWN, merged
from stores.connected.rows import PushedRow
from stores.enums import DeliveryMethod, OrderStatus, PaymentStatus, ProductStatus, Resource

SHOP_ID: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~:-]{1,100}")
MOST_VERSION: Final = 2**53 - 1
QUOTED: Final = "quote"
BESIDE: Final = ("version", "force")  # the fields of a row
MOST_STOCK: Final = 2**31 - 1
MOST_TEXT: Final = 10_000  # characters of a description, a note, an address, a comment
MOST_CONTENT: Final = 256 * 1024  # bytes of a page
MOST_URL: Final = 2_000
MOST_ITEMS: Final = 500
MOST_QUANTITY: Final = 1_000_000
MOST_APPS: Final = 100  # with attributes
MOST_KEYS_NAMED: Final = 20  # of unknown ones
QUOTE: Final = re.compile(r"[A-Za-z0-9._-]{1,2000}", re.ASCII)

Name = partial(Identifier, max_length=lengths.NAME, allow_blank=True)
OptionalName = partial(OptionalText, max_length=lengths.NAME, trim_whitespace=False)
LongText = partial(OptionalText, max_length=MOST_TEXT, trim_whitespace=False)
Version = partial(Integer, "Of the row in the shop: it only grows.", 7, min_value=0, max_value=MOST_VERSION)


class WithDefault:
    """A field whose null is as good as nothing."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        field = cast(Any, super())
        return field.run_validation(serializers.empty if data is None else data)


class OptionalBoolean(WithDefault, Boolean):
    pass


class OptionalChoice(WithDefault, Choice):
    pass


Forced = partial(OptionalBoolean, "Take it whatever its version.", False, default=False)


class Rfc3339(Moment):
    """A time with an offset, as RFC 3339 writes it."""

    def to_internal_value(self, value: Any) -> Any:
        try:
            instant_of(value)
        except (TypeError, ValueError):
            self.fail("invalid")
        return super().to_internal_value(value)


class Stock(Integer):
    """Below 0 it is 0."""

    def to_internal_value(self, data: Any) -> int:
        return max(0, super().to_internal_value(data))


class ShopUrl(OptionalText):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, max_length=MOST_URL, trim_whitespace=False, validators=[check_url], **options)


def check_url(url: str) -> None:
    try:
        check_page_url(url, debug=settings.DEBUG)
    except InvalidUrl as error:
        raise serializers.ValidationError(str(error)) from None


def check_shop_id(text: str) -> None:
    if SHOP_ID.fullmatch(text) is None:
        raise serializers.ValidationError(
            "Must be 1 to 100 characters of A-Z a-z 0-9 . _ ~ : - and neither . nor .."
        )


def check_bytes(text: str) -> None:
    if len(text.encode()) > MOST_CONTENT:
        raise serializers.ValidationError(f"Must have at most {MOST_CONTENT:,} bytes.")


def check_quote(text: str) -> None:
    if text and QUOTE.fullmatch(text) is None:
        raise serializers.ValidationError("Must be at most 2000 characters of A-Z a-z 0-9 . _ -")


ShopId = partial(Identifier, max_length=EXTERNAL_ID, validators=[check_shop_id])


class AttributesOfApps(Object):
    """What apps have put into a cart or an order, by their slugs. Apps that aren't installed are left out later."""

    def __init__(self, *args: Any, **options: Any) -> None:
        of_one = {
            "type": "object",
            "propertyNames": {"pattern": f"^{KEY.pattern}$"},
            "additionalProperties": {"type": "string", "maxLength": LONGEST},
            "maxProperties": MOST_KEYS,
        }
        shape = {"additionalProperties": of_one, "maxProperties": MOST_APPS}
        super().__init__(*args, required=False, schema=shape, **options)

    def to_internal_value(self, data: Any) -> dict[str, dict[str, str]]:
        found, problems = dict[str, Any](), dict[str, Any]()
        sent = super().to_internal_value(data)
        if len(sent) > MOST_APPS:
            raise serializers.ValidationError(f"Must have at most {MOST_APPS} apps.")
        for slug, own in sent.items():
            if not isinstance(own, Mapping):
                problems[slug[:MOST_SHOWN]] = ["Must be an object of texts by their keys."]
                continue
            found[slug], wrong = merged({}, own)
            if wrong:
                problems[slug[:MOST_SHOWN]] = {key: [problem] for key, problem in wrong.items()}
        if problems:
            raise serializers.ValidationError(problems)
        return found


class WholeBody(serializers.Serializer):
    """An object with these keys and no other."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = [key for key in data if key not in self.fields] if isinstance(data, Mapping) else []
        problems: dict[str, Any] = {str(key)[:100]: ["Unknown key."] for key in unknown[:MOST_KEYS_NAMED]}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            problems = cast(dict[str, Any], error.detail) | problems
        if problems:
            raise serializers.ValidationError(problems)
        return values


class Versioned(serializers.Serializer):
    """The version, beside the fields of a row."""

    version = Version()
    force = Forced()


class ProductRow(WholeBody):
    name = Name("The name.", "Espresso beans")
    price = MinorUnits("In major units of the store's currency.", 12.5)
    slug = OptionalName("Its name in URLs; none: derived from the name.", "espresso-beans")
    description = LongText("The description.", "Dark roast, 1 kg.")
    category = OptionalName("The shop's own grouping.", "Coffee")
    imageUrl = ShopUrl("Where its picture is.", "https://shop.example/media/beans.jpg", source="image")
    stock = Stock(
        "How many are left; null: not tracked. Below 0 counts as 0.",
        40,
        default=None,
        allow_null=True,
        min_value=-MOST_STOCK,
        max_value=MOST_STOCK,
    )
    lowStockThreshold = Integer(
        "Stock below this is low.",
        5,
        default=None,
        allow_null=True,
        min_value=0,
        max_value=MOST_STOCK,
        source="low_stock_threshold",
    )
    isAvailable = OptionalBoolean("Whether it can be bought.", True, default=True, source="is_available")
    status = OptionalChoice(
        ProductStatus.choices, "Lists leave ARCHIVED ones out.", "ACTIVE", default=ProductStatus.ACTIVE.value
    )
    groupId = OptionalName("The same for all variants of one thing.", "beans", source="group_id")
    createdAt = Rfc3339("None: that of the first row.", default=None, allow_null=True, source="created_at")


class ItemRow(WholeBody):
    productId = ShopId(
        "The shop's id of the product, or null.",
        "p-1",
        allow_null=True,
        required=False,
        default=None,
        source="product",
    )
    name = Name("The product's name when it was ordered.", "Espresso beans")
    quantity = Integer("How many.", 2, min_value=1, max_value=MOST_QUANTITY)
    price = MinorUnits("Of one, in major units.", 12.5)


class PaymentRow(WholeBody):
    status = Choice(PaymentStatus.choices, "The payment's status.", "COMPLETED")
    paymentUrl = ShopUrl("Where the customer pays.", "https://shop.example/pay/77", source="payment_url")
    invoiceId = OptionalName("The shop's id of the payment.", "inv-77", source="invoice_id")
    expiresAt = Rfc3339("Until when it can be paid.", default=None, allow_null=True, source="expires_at")


class CustomerRow(WholeBody):
    name = OptionalName("The name.", "Kim Lee")
    email = OptionalText(
        "The e-mail address.", "kim@example.com", max_length=lengths.EMAIL, trim_whitespace=False
    )
    phone = OptionalText("The phone number.", "+1 555 0100", max_length=lengths.PHONE, trim_whitespace=False)


class OrderRow(WholeBody):
    orderNumber = Identifier(
        "The number that shop and customer know it by.",
        "1001",
        max_length=50,
        allow_blank=True,
        source="number",
    )
    status = Choice(OrderStatus.choices, "The order's status.", "PENDING")
    items: Any = serializers.ListSerializer(
        child=ItemRow(), max_length=MOST_ITEMS, help_text="The products ordered."
    )
    subtotal = MinorUnits("All lines together.", 25)
    amount = MinorUnits("subtotal - discount + deliveryFee + otherCharges.", 28.5)
    createdAt = Rfc3339("When it was placed.", source="created_at")
    discount = OptionalAmount("At most the subtotal.", 0)
    deliveryFee = OptionalAmount("The price of the delivery.", 3.5, source="delivery_fee")
    otherCharges = OptionalAmount(
        "Surcharges and fees; may be negative.", 0, min_value=-MAX_AMOUNT, source="other_charges"
    )
    refunded = OptionalAmount("What was given back.", 0)
    deliveryMethod = OptionalChoice(
        DeliveryMethod.choices,
        "How the goods get there.",
        "DELIVERY",
        default=DeliveryMethod.DELIVERY.value,
        source="delivery_method",
    )
    address = LongText("The delivery address.", "1 Harbour Street")
    paymentMethod = OptionalName("The payment method, in words.", "Card", source="payment_method")
    payment = PaymentRow(default=None, allow_null=True, help_text="None: it has none.")
    customer = CustomerRow(default=None, allow_null=True, help_text="Who ordered.")
    note = LongText("The customer's note.", "Please ring twice.")
    isGuest = OptionalBoolean(
        "Whether the customer ordered without an account.", True, default=True, source="is_guest"
    )
    attributes = AttributesOfApps(
        "What apps have put into its cart, by their slugs.",
        {"slots": {"slot": "Friday, 9 to 11"}},
        default=None,
        allow_null=True,
    )
    quote = OptionalText(
        "Of the hooks before this order.", max_length=2_000, trim_whitespace=False, validators=[check_quote]
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        problems = {}
        if values["discount"] > values["subtotal"]:
            problems["discount"] = ["Must be at most the subtotal."]
        charges = values["delivery_fee"] + values["other_charges"]
        if values["amount"] != values["subtotal"] - values["discount"] + charges:
            problems["amount"] = ["Must be subtotal - discount + deliveryFee + otherCharges."]
        if problems:
            raise serializers.ValidationError(problems)
        if not values["attributes"]:
            del values["attributes"]  # so that a row without them is what it was before there were any
        customer = values.pop("customer") or {"name": "", "email": "", "phone": ""}
        return values | {f"customer_{name}": text for name, text in customer.items()}


class ReviewRow(WholeBody):
    productId = ShopId("The shop's id of the product.", "p-1", source="product")
    rating = Integer("1 to 5.", 5, min_value=1, max_value=5)
    comment = LongText("The customer's words.", "Just right.")
    authorName = OptionalName("The name that the customer gave.", "Kim", source="author_name")
    authorEmail = OptionalText(
        "The author's e-mail address, which is never shown.",
        "kim@example.com",
        max_length=lengths.EMAIL,
        trim_whitespace=False,
        source="author_email",
    )
    createdAt = Rfc3339("None: that of the first row.", default=None, allow_null=True, source="created_at")


class PageRow(WholeBody):
    slug = Name("The page's name in URLs.", "about")
    title = Name("The title.", "About us")
    url = Identifier(
        "The page in the shop.", "https://shop.example/about", max_length=MOST_URL, validators=[check_url]
    )
    content = OptionalText(
        "HTML.",
        "<p>We roast on Mondays.</p>",
        max_length=MOST_CONTENT,
        trim_whitespace=False,
        validators=[check_bytes],
    )


ROWS: Final[Mapping[Resource, type[WholeBody]]] = {
    Resource.PRODUCTS: ProductRow,
    Resource.ORDERS: OrderRow,
    Resource.REVIEWS: ReviewRow,
    Resource.PAGES: PageRow,
}


@lru_cache(maxsize=1_000)
def _reader(of: type[WholeBody], currency: str) -> WholeBody:
    """Without a body, so that a batch doesn't make the fields of each row."""
    return of(context={"currency": currency})


def read_row(resource: Resource, external_id: str, body: Mapping[str, Any], currency: str) -> PushedRow:
    """A whole row with its version beside the fields. Raises with the problems of all of it."""
    fields = {name: value for name, value in body.items() if name not in BESIDE}
    beside = {name: value for name, value in body.items() if name in BESIDE}
    problems: dict[str, Any] = {}
    values: dict[str, Any] = {}
    versioned = Versioned(data=beside)
    if not versioned.is_valid():
        problems |= versioned.errors
    try:
        values = values_of(resource, fields, currency)
    except serializers.ValidationError as error:
        problems |= cast(dict[str, Any], error.detail)
    if problems:
        raise serializers.ValidationError(problems)
    return PushedRow(
        resource=resource,
        external_id=external_id,
        version=versioned.validated_data["version"],
        quote=values.pop("quote", ""),
        values=values,
        attributes=values.get("attributes"),
        is_forced=versioned.validated_data["force"],
        sent=without_quote(fields),
    )


def without_quote(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a row but for the one that is no content of it."""
    return {name: value for name, value in fields.items() if name != QUOTED} if QUOTED in fields else fields


def values_of(resource: Resource, data: Any, currency: str) -> dict[str, Any]:
    """The columns of a row, and the `quote` of an order. Raises DRF's `ValidationError` with all problems."""
    return dict(_reader(ROWS[resource], currency).run_validation(data))
