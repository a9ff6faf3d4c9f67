"""The JSON Schemas (Draft 2020-12) of what events carry in `data`, each with an example.

Every named field is always there; a field that may have no value says so by the type null. Fields may be added
later, so the schemas allow unknown ones.
"""

from typing import Any

from stores.enums import DeliveryMethod, OrderStatus, PaymentStatus, ProductStatus

Schema = dict[str, Any]


def text(about: str, example: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, "examples": [example], **more}


def identifier(about: str, example: str) -> Schema:
    return text(f"{about} An opaque string.", example, minLength=1)


def moment(about: str, example: str = "2026-11-20T15:04:05.123Z") -> Schema:
    return text(f"{about} ISO 8601 in UTC.", example, format="date-time")


def one_of(about: str, names: list[str], example: str) -> Schema:
    return text(about, example, enum=names)


def number(about: str, example: float) -> Schema:
    return {"type": "number", "description": about, "examples": [example], "minimum": 0}


def integer(about: str, example: int, **more: Any) -> Schema:
    return {"type": "integer", "description": about, "examples": [example], **more}


def boolean(about: str, example: bool) -> Schema:
    return {"type": "boolean", "description": about, "examples": [example]}


def or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def listing(about: str, items: Schema) -> Schema:
    return {"type": "array", "description": about, "items": items, "examples": [items["examples"]]}


def record(**fields: Schema) -> Schema:
    """An object that always has these fields. Its example is made of theirs."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "examples": [{name: field["examples"][0] for name, field in fields.items()}],
    }


_ORDER_ID = identifier("The order.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01")
_ORDER_NUMBER = text("The number that merchant and customer know the order by.", "1001")
_PRODUCT_ID = identifier("The product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
_REVIEW_ID = identifier("The review.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a03")
_SLUG = text("The product's name in addresses.", "espresso-beans")


def order_created() -> Schema:
    return record(
        orderId=_ORDER_ID,
        orderNumber=_ORDER_NUMBER,
        amount=number("What the customer pays in all, in major units of the business's currency.", 28.5),
        deliveryFee=number("The part of it that is for delivery.", 3.5),
        deliveryMethod=one_of("How the goods get there.", DeliveryMethod.values, "DELIVERY"),
        paymentMethod=text("CASH, CARD, or the id of an app's payment method.", "CARD"),
        isGuest=boolean("Whether the customer ordered without an account.", True),
        createdAt=moment("When the order was placed."),
    )


def order_moved(*, previous: str, status: str) -> Schema:
    return record(
        orderId=_ORDER_ID,
        orderNumber=_ORDER_NUMBER,
        previousStatus=one_of("The status before.", OrderStatus.values, previous),
        status=one_of("The status now.", OrderStatus.values, status),
        changedAt=moment("When it changed."),
    )


def payment(*, status: str) -> Schema:
    return record(
        orderId=_ORDER_ID,
        orderNumber=_ORDER_NUMBER,
        invoiceId=or_null(
            text("The invoice's id at the app that made the payment, if it gave one.", "inv-77")
        ),
        amount=number("The order's amount, in major units of the business's currency.", 28.5),
        paymentMethod=text("The id of the payment method.", "acme-pay:wallet"),
        status=one_of("The payment's status.", PaymentStatus.values, status),
        occurredAt=moment("When it happened."),
    )


def _product_fields() -> dict[str, Schema]:
    return {
        "id": _PRODUCT_ID,
        "name": text("The name.", "Espresso beans"),
        "description": text("The description.", "Dark roast, 1 kg."),
        "price": number("In major units of the business's currency.", 12.5),
        "category": text("The merchant's own grouping.", "Coffee"),
        "isAvailable": boolean("The merchant's switch; it doesn't follow stock.", True),
        "imageUrl": text("A path below the service's address.", "/static/products/coffee.svg", pattern="^/"),
        "slug": _SLUG,
        "status": one_of("ARCHIVED ones are not listed.", ProductStatus.values, "ACTIVE"),
        "stock": or_null(integer("How many are left; null when it isn't tracked.", 40, minimum=0)),
        "createdAt": moment("When it was made.", "2026-10-01T08:00:00.000Z"),
        "updatedAt": moment("When it last changed."),
    }


def product_created() -> Schema:
    return record(**_product_fields())


def product_updated() -> Schema:
    changed = listing("The fields that the merchant changed.", text("A field of the product.", "price"))
    return record(**_product_fields(), changedFields=changed)


def product_deleted() -> Schema:
    return record(id=_PRODUCT_ID, slug=_SLUG, deletedAt=moment("When it was deleted."))


def stock_crossed(*, stock: int) -> Schema:
    return record(
        productId=_PRODUCT_ID,
        name=text("The product's name.", "Espresso beans"),
        stock=integer("How many are left.", stock, minimum=0),
        threshold=or_null(integer("Below this many the stock counts as low; null where none is set.", 5)),
    )


def review_created() -> Schema:
    return record(
        id=_REVIEW_ID,
        productId=_PRODUCT_ID,
        rating=integer("1 to 5.", 5, minimum=1, maximum=5),
        comment=text("What the customer wrote.", "Just right."),
        authorName=text("The name that the customer gave.", "Kim"),
        createdAt=moment("When it was written."),
    )


def review_deleted() -> Schema:
    return record(id=_REVIEW_ID, productId=_PRODUCT_ID, deletedAt=moment("When it was deleted."))


def data_erasure() -> Schema:
    return record(
        appId=identifier("Your app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04"),
        businessId=identifier("The business to forget.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05"),
        uninstalledAt=moment("When the app was uninstalled."),
    )


def test_event() -> Schema:
    return record(
        message=text("A greeting.", "This is a test of your webhook."),
        webhookId=identifier("The webhook that is tested.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06"),
    )
