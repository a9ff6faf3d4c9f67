"""The endpoints for apps, as those who call them want to know them (`common.api_reference`)."""

from appapi.serializers import (
    MAX_LINES,
    CustomerBody,
    ItemBody,
    OrderBody,
    PaymentBody,
    RecoverBody,
    StatusBody,
    WebhookBody,
    WebhookChanges,
)
from common.api_reference import NO_NUL, WHOLE, Bodies, Operation, counted, page_of, paging, ref, since, words
from common.json_schema import Schema, boolean, integer, moment, number, one_of, record, text
from marketplace.scopes import SCOPES
from stores import schemas
from stores.dashboard import DEFAULT_DAYS, MAX_DAYS
from stores.enums import SETTLED, DeliveryMethod, OrderStatus
from webhooks import wire_schemas
from webhooks.catalogue import SUBSCRIBABLE
from webhooks.enums import DeliveryStatus

PRODUCTS, ORDERS, REVIEWS, BUSINESS = "Products", "Orders", "Reviews", "Business and site"
INSTALLATION, WEBHOOKS = "Installation", "Webhooks"
GROUPS = {
    PRODUCTS: "What the shop sells.",
    ORDERS: "What customers ordered: reading, placing, moving along.",
    REVIEWS: "What customers say of products.",
    BUSINESS: "The shop itself: its figures, its details, its pages.",
    INSTALLATION: "The app on this business.",
    WEBHOOKS: "Where the platform tells an app of events, and what became of each delivery. The token alone opens "
    "these; an event is delivered while the app holds its scope.",
}


def installation() -> Schema:
    return record(
        installationId=wire_schemas.INSTALLATION_ID,
        businessId=schemas.BUSINESS_ID,
        isTestInstall=boolean("Whether it is a test install on a sandbox.", True),
        needsReConsent=boolean("Whether the merchant has yet to agree to added scopes.", False),
        scopes={
            "type": "array",
            "description": "What the token may do at this moment.",
            "items": {"type": "string", "enum": list(SCOPES)},
            "examples": [["read_products", "read_orders"]],
        },
        settings={
            "type": "object",
            "description": "The defaults of the app's settings schema, overlaid by what the merchant chose.",
            "examples": [{"greeting": "Hello"}],
        },
        installedAt=moment("When it was installed."),
    )


RECORDS: dict[str, Schema] = {
    "Product": schemas.product(),
    "Order": schemas.order(),
    "PaymentMethods": schemas.payment_methods(),
    "Review": schemas.review(),
    "ReviewStats": schemas.review_stats(),
    "Dashboard": schemas.dashboard(),
    "Business": schemas.business(),
    "Page": schemas.page(),
    "Installation": installation(),
    "Webhook": wire_schemas.webhook(),
    "CreatedWebhook": wire_schemas.new_webhook(),
    "WebhookTestResult": wire_schemas.test_result(),
    "Delivery": wire_schemas.delivery(),
    "DeliveryWithAttempts": wire_schemas.delivery_with_attempts(),
}

_URL = text("Where to send to: HTTPS, a public address.", "https://app.example.com/events", format="uri")
_EVENTS: Schema = {
    "minItems": 1,
    "items": {"enum": list(SUBSCRIBABLE)},
    "description": "What to be told of; a repeated name counts once.",
    "examples": [["order.created", "order.cancelled"]],
}


def _given(name: str) -> Schema:
    """Where the text `name` is neither left out nor blank."""
    return {"properties": {name: {"type": "string", "pattern": r"\S"}}, "required": [name]}


BODIES: Bodies = {
    ItemBody: {
        "productId": schemas.PRODUCT_ID,
        "quantity": integer("How many. Lines of the same product are joined.", 2),
    },
    CustomerBody: {
        "name": text("The customer's name.", "Kim Lee"),
        "email": text("An e-mail address.", "kim@example.com"),
        "phone": text("A phone number. One of the two must be given.", "+1 555 0100"),
        WHOLE: {"anyOf": [_given("email"), _given("phone")]},
    },
    OrderBody: {
        "items": {"description": "What is ordered.", "minItems": 1, "maxItems": MAX_LINES},
        "customer": {"description": "Who orders."},
        "deliveryMethod": one_of("How the goods get there.", DeliveryMethod.values, "DELIVERY"),
        "address": text("Where to; required for DELIVERY.", "1 Harbour Street"),
        "paymentMethod": text("CASH, CARD, or an id that the checkout offers.", "CASH"),
        "promoDiscount": number(
            "In major units, with no more decimals than the currency has; at most the subtotal.", 0
        ),
        "note": text("For the merchant.", "Please ring twice."),
        WHOLE: {
            "if": {"properties": {"deliveryMethod": {"const": "DELIVERY"}}, "required": ["deliveryMethod"]},
            "then": _given("address"),
        },
    },
    StatusBody: {"status": one_of("The status that it gets.", OrderStatus.values, "CONFIRMED")},
    PaymentBody: {
        "status": one_of("How it ended.", SETTLED, "COMPLETED"),
        "reference": text("Your own word for it.", "charge-901", pattern=NO_NUL),
    },
    WebhookBody: {
        "url": _URL,
        "events": _EVENTS,
        "description": text("What the app calls it.", "Order bell", pattern=NO_NUL),
    },
    WebhookChanges: {
        "url": _URL,
        "events": _EVENTS,
        "description": text("What the app calls it.", "Order bell", pattern=NO_NUL),
        "isActive": boolean("Off cancels what waits; on ends an automatic disabling.", True),
    },
    RecoverBody: {
        "since": since("Deliveries created from this moment on,"),
        "until": since("and, if given, up to this one.", "2026-11-20T15:04:05Z"),
    },
}

_MOVED = "The order can't go from its status to this one."
_IDEMPOTENCY_KEY = text(
    "A name of your own for this order. Sent again within 24 hours it gets the first answer again.",
    "cart-4711",
    minLength=1,
    maxLength=255,
    pattern=r"^[!-~]([ -~]*[!-~])?$",
)

OPERATIONS: dict[str, Operation] = {
    "GET /app-api/products": Operation(
        "listProducts", PRODUCTS, "List products",
        "Unavailable ones are listed, archived ones are not.",
        answer=page_of("Product"),
        query=paging(50, 100) | {
            "category": words("The category, exactly.", "Coffee"),
            "isAvailable": boolean("Only those that are, or are not, available.", True),
            "search": words("Part of name or description.", "beans"),
            "updatedSince": since("Changed at this moment or later."),
        },
    ),
    "GET /app-api/products/{productId}": Operation(
        "getProduct", PRODUCTS, "Get a product", "Archived ones too.", answer=ref("Product"),
    ),
    "GET /app-api/products/slug/{slug}": Operation(
        "getProductBySlug", PRODUCTS, "Get a product by its slug", answer=ref("Product"),
    ),
    "GET /app-api/orders": Operation(
        "listOrders", ORDERS, "List orders",
        answer=page_of("Order"),
        query=paging(20, 50) | {
            "status": one_of("Only these.", OrderStatus.values, "PENDING"),
            "createdAfter": since("Placed after this moment."),
            "createdBefore": since("Placed before this moment.", "2026-12-01T00:00:00Z"),
            "updatedSince": since("Changed at this moment or later."),
        },
    ),
    "POST /app-api/orders": Operation(
        "createOrder", ORDERS, "Place a guest order",
        "The apps of the shop are asked as they are in its checkout. With an `Idempotency-Key` the order is placed "
        "once, however often the request is sent: the same key with another body is a 409.",
        status=201,
        answer=ref("Order"),
        answered="The order, PENDING.",
        body=OrderBody,
        headers={"Idempotency-Key": _IDEMPOTENCY_KEY},
        answer_headers={
            "Idempotent-Replayed": text("The answer is the first one, given again.", "true", enum=["true"])
        },
        errors={
            404: "There is no such product.",
            409: "A product is unavailable or out of stock; or the idempotency key was used otherwise.",
            422: "An app of the merchant refuses the order; `message` is its reason.",
        },
    ),
    "GET /app-api/orders/{orderId}": Operation(
        "getOrder", ORDERS, "Get an order", answer=ref("Order"),
    ),
    "PATCH /app-api/orders/{orderId}/status": Operation(
        "changeOrderStatus", ORDERS, "Move an order along",
        "Forward along PENDING, CONFIRMED, PREPARING, READY, IN_DELIVERY, DELIVERED, skipping stages or not; "
        "CANCELLED from any but DELIVERED. The status that it has already changes nothing.",
        answer=ref("Order"),
        body=StatusBody,
        errors={409: _MOVED},
    ),
    "PATCH /app-api/orders/{orderId}/payment": Operation(
        "settlePayment", ORDERS, "Tell how a payment ended",
        "By the app whose `checkout.create_payment` made it. A payment that has ended stays so.",
        answer=ref("Order"),
        body=PaymentBody,
        errors={
            403: "The token lacks the scope `write_orders`; or the payment is not this app's.",
            409: "The payment has ended otherwise.",
        },
    ),
    "GET /app-api/payment-methods": Operation(
        "listPaymentMethods", ORDERS, "List payment methods",
        "What the checkout would offer now: the built-in ones, then those of apps, which are asked.",
        answer=ref("PaymentMethods"),
    ),
    "GET /app-api/reviews": Operation(
        "listReviews", REVIEWS, "List reviews",
        answer=page_of("Review"),
        query=paging(10, 50) | {
            "productId": words("Only of this product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02"),
        },
    ),
    "GET /app-api/reviews/stats": Operation(
        "getReviewStats", REVIEWS, "Get review statistics", answer=ref("ReviewStats"),
    ),
    "GET /app-api/analytics/dashboard": Operation(
        "getDashboard", BUSINESS, "Get sales figures", "Cancelled orders are counted but carry no revenue.",
        answer=ref("Dashboard"),
        query={
            "days": integer(
                "How many days, today included.", DEFAULT_DAYS, minimum=1, maximum=MAX_DAYS, default=DEFAULT_DAYS
            )
        },
    ),
    "GET /app-api/business": Operation(
        "getBusiness", BUSINESS, "Get the business", answer=ref("Business"),
    ),
    "GET /app-api/pages": Operation(
        "listPages", BUSINESS, "List site pages", "Published ones.",
        answer=page_of("Page"), query=paging(50, 100),
    ),
    "GET /app-api/pages/{slug}": Operation(
        "getPage", BUSINESS, "Get a site page", answer=ref("Page"),
    ),
    "GET /app-api/installation": Operation(
        "getInstallation", INSTALLATION, "Get the installation", answer=ref("Installation"),
    ),
    "GET /webhooks": Operation(
        "listWebhooks", WEBHOOKS, "List webhooks", "Inactive ones too.",
        answer=page_of("Webhook"), query=paging(50, 100),
    ),
    "POST /webhooks": Operation(
        "createWebhook", WEBHOOKS, "Register a webhook",
        "An installation has at most 20. The `secret` is shown in this answer and nowhere else.",
        status=201,
        answer=ref("CreatedWebhook"),
        body=WebhookBody,
        errors={409: "The installation has 20 webhooks already."},
    ),
    "GET /webhooks/{webhookId}": Operation(
        "getWebhook", WEBHOOKS, "Get a webhook", answer=ref("Webhook"),
    ),
    "PATCH /webhooks/{webhookId}": Operation(
        "changeWebhook", WEBHOOKS, "Change a webhook",
        answer=ref("Webhook"),
        body=WebhookChanges,
        body_required=False,
        errors={409: "The app-defined webhook follows the app's Webhook URL, which is changed with the app."},
        example={"isActive": True, "events": ["order.created"]},
    ),
    "DELETE /webhooks/{webhookId}": Operation(
        "deleteWebhook", WEBHOOKS, "Delete a webhook", "What waits for it is cancelled.",
        status=204,
        errors={409: "The app-defined webhook can be switched off but not deleted."},
    ),
    "POST /webhooks/{webhookId}/test": Operation(
        "testWebhook", WEBHOOKS, "Test a webhook",
        "Sends `webhook.test` now, once, and waits for the endpoint, at most ten seconds. The answer is 200 whatever "
        "the endpoint did.",
        answer=ref("WebhookTestResult"),
    ),
    "GET /webhooks/{webhookId}/deliveries": Operation(
        "listDeliveries", WEBHOOKS, "List a webhook's deliveries",
        answer=page_of("Delivery"),
        query=paging(50, 100) | {"status": one_of("Only these.", DeliveryStatus.values, "EXHAUSTED")},
    ),
    "GET /webhooks/{webhookId}/deliveries/{deliveryId}": Operation(
        "getDelivery", WEBHOOKS, "Get a delivery with its attempts", answer=ref("DeliveryWithAttempts"),
    ),
    "POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver": Operation(
        "redeliver", WEBHOOKS, "Send a delivery again", "Under the same `X-Service-Event-Id`, with a new schedule.",
        status=202,
        answer=ref("Delivery"),
        errors={409: "The webhook is inactive, or the delivery was a test."},
    ),
    "POST /webhooks/{webhookId}/recover": Operation(
        "recoverDeliveries", WEBHOOKS, "Send again what failed or was held",
        "Every EXHAUSTED or HELD delivery created in that time, ten a second; RETRYING ones become due at once.",
        status=202,
        answer=counted("How many go out again."),
        body=RecoverBody,
        errors={409: "The webhook is inactive."},
    ),
}  # fmt: skip
