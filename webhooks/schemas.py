"""The JSON Schemas (Draft 2020-12) of what events carry in `data`, each with an example.

Every named field is always there; a field that may have no value says so by the type null. Fields may be added
later, so the schemas allow unknown ones.
"""

from common.json_schema import (
    Schema,
    boolean,
    identifier,
    integer,
    listing,
    moment,
    number,
    one_of,
    or_null,
    record,
    text,
)
from stores.enums import DeliveryMethod, OrderStatus, PaymentStatus
from stores.schemas import (
    ORDER_ID,
    ORDER_NUMBER,
    PRODUCT_ID,
    PRODUCT_SLUG,
    REVIEW_ID,
    product_fields,
)


def order_created() -> Schema:
    return record(
        orderId=ORDER_ID,
        orderNumber=ORDER_NUMBER,
        amount=number("What the customer pays in all, in major units of the business's currency.", 28.5),
        deliveryFee=number("The part of it that is for delivery.", 3.5),
        deliveryMethod=one_of("How the goods get there.", DeliveryMethod.values, "DELIVERY"),
        paymentMethod=text("CASH, CARD, or the id of an app's payment method.", "CARD"),
        isGuest=boolean("Whether the customer ordered without an account.", True),
        createdAt=moment("When the order was placed."),
    )


def order_moved(*, previous: str, status: str) -> Schema:
    return record(
        orderId=ORDER_ID,
        orderNumber=ORDER_NUMBER,
        previousStatus=one_of("The status before.", OrderStatus.values, previous),
        status=one_of("The status now.", OrderStatus.values, status),
        changedAt=moment("When it changed."),
    )


def payment(*, status: str) -> Schema:
    return record(
        orderId=ORDER_ID,
        orderNumber=ORDER_NUMBER,
        invoiceId=or_null(
            text("The invoice's id at the app that made the payment, if it gave one.", "inv-77")
        ),
        amount=number("The order's amount, in major units of the business's currency.", 28.5),
        paymentMethod=text("The id of the payment method.", "acme-pay:wallet"),
        status=one_of("The payment's status.", PaymentStatus.values, status),
        occurredAt=moment("When it happened."),
    )


def product_updated() -> Schema:
    changed = listing("The fields that the merchant changed.", text("A field of the product.", "price"))
    return record(**product_fields(), changedFields=changed)


def product_deleted() -> Schema:
    return record(id=PRODUCT_ID, slug=PRODUCT_SLUG, deletedAt=moment("When it was deleted."))


def stock_crossed(*, stock: int) -> Schema:
    return record(
        productId=PRODUCT_ID,
        name=text("The product's name.", "Espresso beans"),
        stock=integer("How many are left.", stock, minimum=0),
        threshold=or_null(integer("Below this many the stock counts as low; null where none is set.", 5)),
    )


def review_deleted() -> Schema:
    return record(id=REVIEW_ID, productId=PRODUCT_ID, deletedAt=moment("When it was deleted."))


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
