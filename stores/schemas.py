"""The JSON Schemas of the shop's records on the wire (`stores.records`), each with an example.

The app API's documentation and the events' payloads share them. Amounts are in major units of the business's
currency.
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
from stores.enums import DeliveryMethod, OrderStatus, OrderValidation, PaymentStatus, ProductStatus

ORDER_ID = identifier("The order.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01")
ORDER_NUMBER = text("The number that merchant and customer know the order by.", "1001")
PRODUCT_ID = identifier("The product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
REVIEW_ID = identifier("The review.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a03")
BUSINESS_ID = identifier("The business.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05")
PAGE_ID = identifier("The page.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a07")
PRODUCT_SLUG = text("The product's name in addresses.", "espresso-beans")
CURRENCY = text("The ISO 4217 code of the currency.", "USD", pattern="^[A-Z]{3}$")
ORDER_STATUS = one_of("Where the order stands.", OrderStatus.values, "PENDING")


def count(about: str, example: int) -> Schema:
    return integer(about, example, minimum=0)


def product_fields() -> dict[str, Schema]:
    return {
        "id": PRODUCT_ID,
        "name": text("The name.", "Espresso beans"),
        "description": text("The description.", "Dark roast, 1 kg."),
        "price": number("In major units of the business's currency.", 12.5),
        "category": text("The merchant's own grouping.", "Coffee"),
        "isAvailable": boolean("The merchant's switch; it doesn't follow stock.", True),
        "imageUrl": text("A path below the service's address.", "/static/products/coffee.svg", pattern="^/"),
        "slug": PRODUCT_SLUG,
        "status": one_of("ARCHIVED ones are not listed.", ProductStatus.values, "ACTIVE"),
        "stock": or_null(integer("How many are left; null when it isn't tracked.", 40, minimum=0)),
        "createdAt": moment("When it was made.", "2026-10-01T08:00:00.000Z"),
        "updatedAt": moment("When it last changed."),
    }


def product() -> Schema:
    return record(**product_fields())


def review() -> Schema:
    return record(
        id=REVIEW_ID,
        productId=PRODUCT_ID,
        rating=integer("1 to 5.", 5, minimum=1, maximum=5),
        comment=text("What the customer wrote.", "Just right."),
        authorName=text("The name that the customer gave.", "Kim"),
        createdAt=moment("When it was written."),
    )


def review_stats() -> Schema:
    stars = {str(rating): count(f"Reviews with {rating}.", rating) for rating in range(1, 6)}
    return record(
        total=count("How many reviews there are.", 15),
        averageRating=or_null(number("Of all ratings; null when there is none.", 3.67, maximum=5)),
        distribution=record(**stars),
    )


def payment() -> Schema:
    """How an order is paid through an app."""
    return record(
        status=one_of("Where the payment stands.", PaymentStatus.values, "PENDING"),
        paymentUrl=or_null(text("Where the customer pays.", "https://acme.example/pay/77")),
        qrCode=or_null(text("What a QR code for the customer says.", "acme:pay/77")),
        invoiceId=or_null(text("The app's id of the payment.", "inv-77")),
        expiresAt=or_null(moment("Until when it can be paid.", "2026-11-20T15:34:05.123Z")),
    )


def order_line() -> Schema:
    return record(
        productId=PRODUCT_ID,
        name=text("The product's name when it was ordered.", "Espresso beans"),
        quantity=integer("How many.", 2, minimum=1),
        price=number("Of one, in major units.", 12.5),
    )


def customer() -> Schema:
    return record(
        name=text("The name.", "Kim Lee"),
        email=or_null(text("The e-mail address, if one was given.", "kim@example.com")),
        phone=or_null(text("The phone number, if one was given.", "+1 555 0100")),
    )


def order() -> Schema:
    paid = payment()
    described = "How it is paid through an app; null for CASH and CARD."
    return record(
        id=ORDER_ID,
        orderNumber=ORDER_NUMBER,
        status=ORDER_STATUS,
        items=listing("What was ordered.", order_line()),
        subtotal=number("The lines together, in major units.", 25),
        discount=number("What is taken off, a promo discount among it.", 0),
        deliveryFee=number("The part that is for delivery.", 3.5),
        amount=number("What the customer pays: subtotal - discount + deliveryFee.", 28.5),
        currency=CURRENCY,
        deliveryMethod=one_of("How the goods get there.", DeliveryMethod.values, "DELIVERY"),
        address=text("Where to; empty for PICKUP.", "1 Harbour Street"),
        paymentMethod=text("CASH, CARD, or the id of an app's payment method.", "CARD"),
        payment={**or_null(paid), "description": described, "examples": [None]},
        customer=customer(),
        note=text("What the customer added.", "Please ring twice."),
        isGuest=boolean("Whether the customer ordered without an account.", True),
        validation=one_of("Whether every app that checks orders was heard.", OrderValidation.values, "VALID"),
        createdAt=moment("When it was placed."),
        updatedAt=moment("When it last changed."),
    )


def payment_methods() -> Schema:
    method = record(
        id=text("What an order names in `paymentMethod`.", "acme-pay:wallet"),
        name=text("What the customer chooses.", "Acme Wallet"),
        description=or_null(text("A line below it.", "Pay with your phone.")),
        icon=or_null(text("A picture's address.", "https://acme.example/wallet.png")),
    )
    return record(methods=listing("The built-in ones first.", method))


def dashboard() -> Schema:
    by_status = {status: count(f"Orders that are {status}.", 1) for status in OrderStatus.values}
    day = record(
        date=text("A day of the business's time zone.", "2026-11-20", format="date"),
        orders=count("Orders placed that day.", 7),
        revenue=number("Without cancelled orders.", 171.0),
    )
    best = record(
        productId=PRODUCT_ID,
        name=text("The product's name.", "Espresso beans"),
        quantity=count("How many were ordered.", 12),
        revenue=number("What they brought.", 150.0),
    )
    return record(
        currency=CURRENCY,
        days=integer("How many days the figures cover, today included.", 30, minimum=1, maximum=90),
        totalOrders=count("Orders placed, cancelled ones too.", 7),
        totalRevenue=number("Without cancelled orders.", 171.0),
        averageOrderValue=or_null(number("Without cancelled orders; null when there is none.", 28.5)),
        ordersByStatus=record(**by_status),
        topProducts=listing("The products that brought most.", best),
        daily=listing("One for each day, the oldest first.", day),
    )


def business() -> Schema:
    return record(
        id=BUSINESS_ID,
        slug=text("The business's name in addresses.", "miras-coffee"),
        storefrontUrl=text("The shop.", "https://platform.example/store/miras-coffee/", format="uri"),
        name=text("The name.", "Mira's Coffee"),
        type=text("What kind of business it is, in the merchant's words.", "Cafe"),
        address=text("The address.", "1 Harbour Street"),
        currency=CURRENCY,
        locale=text("The language of the shop.", "en"),
        timezone=text("An IANA time zone.", "UTC"),
        isSandbox=boolean("Whether it is a developer's sandbox.", False),
        createdAt=moment("When it was opened.", "2026-10-01T08:00:00.000Z"),
    )


def page() -> Schema:
    return record(
        id=PAGE_ID,
        slug=text("The page's name in addresses.", "about"),
        title=text("The title.", "About us"),
        content=text("HTML.", "<p>We roast on Mondays.</p>"),
        createdAt=moment("When it was made.", "2026-10-01T08:00:00.000Z"),
        updatedAt=moment("When it last changed."),
    )
