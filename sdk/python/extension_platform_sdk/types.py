"""Types of what an app sends and receives. Made by `python -m tools.sdk_types` from the OpenAPI document; don't edit.

``Order``, ``Product`` and the like are records of the app API; ``OrderCreated`` is the ``data`` of the event
``order.created``; ``OrderValidateData`` and ``OrderValidateAnswer`` belong to the hook ``order.validate``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Protocol, TypedDict, overload

if TYPE_CHECKING:
    from .envelope import HookCall, WebhookEvent

EventName = Literal[
    "business.data_erasure",
    "customer.data_erasure",
    "installation.updated",
    "order.cancelled",
    "order.created",
    "order.delivered",
    "order.refunded",
    "order.status_changed",
    "payment.completed",
    "payment.expired",
    "product.back_in_stock",
    "product.created",
    "product.deleted",
    "product.low_stock",
    "product.out_of_stock",
    "product.updated",
    "review.created",
    "review.deleted",
    "webhook.test",
]

HookPoint = Literal[
    "checkout.payment_methods",
    "checkout.create_payment",
    "checkout.shipping_rates",
    "order.validate",
    "order.calculate_discounts",
]

OrderStatus = Literal["PENDING", "CONFIRMED", "PREPARING", "READY", "IN_DELIVERY", "DELIVERED", "CANCELLED"]

SentEvent = Literal[
    "order.created",
    "order.status_changed",
    "order.delivered",
    "order.cancelled",
    "order.refunded",
    "payment.completed",
    "payment.expired",
    "product.created",
    "product.updated",
    "product.deleted",
    "product.out_of_stock",
    "product.low_stock",
    "product.back_in_stock",
    "review.created",
    "review.deleted",
    "installation.updated",
    "business.data_erasure",
    "customer.data_erasure",
]

Scope = Literal[
    "read_products",
    "read_orders",
    "write_orders",
    "read_reviews",
    "read_analytics",
    "read_business",
    "read_pages",
]

FilterConditionOp = Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "contains", "exists"]

DeliveryStatus = Literal["PENDING", "RETRYING", "SUCCEEDED", "EXHAUSTED", "HELD", "CANCELLED"]

AttemptErrorClass = Literal[
    "dns",
    "refused",
    "reset",
    "tls",
    "timeout_connect",
    "timeout_response",
    "blocked_address",
    "redirect",
    "protocol",
    "http_4xx",
    "http_5xx",
]


class Product(TypedDict):
    id: str
    name: str
    description: str
    price: float
    category: str
    isAvailable: bool
    imageUrl: str
    slug: str
    status: Literal["ACTIVE", "ARCHIVED"]
    stock: int | None
    createdAt: str
    updatedAt: str
    externalId: NotRequired[str]
    groupId: NotRequired[str | None]


class ProductList(TypedDict):
    data: list[Product]
    total: int
    page: int
    limit: int


class OrderLine(TypedDict):
    productId: str | None
    name: str
    quantity: int
    price: float


class Payment(TypedDict):
    status: Literal["PENDING", "COMPLETED", "FAILED", "EXPIRED"]
    paymentUrl: str | None
    qrCode: str | None
    invoiceId: str | None
    expiresAt: str | None


class Customer(TypedDict):
    name: str | None
    email: str | None
    phone: str | None
    key: str | None


class Order(TypedDict):
    id: str
    orderNumber: str
    status: OrderStatus
    items: list[OrderLine]
    subtotal: float
    discount: float
    deliveryFee: float
    amount: float
    refunded: float
    currency: str
    deliveryMethod: Literal["DELIVERY", "PICKUP"]
    address: str | None
    paymentMethod: str
    payment: Payment | None
    customer: Customer
    note: str | None
    isGuest: bool
    validation: Literal["VALID", "NOT_VALIDATED"]
    createdAt: str
    updatedAt: str
    attributes: dict[str, str]
    externalId: NotRequired[str]
    otherCharges: NotRequired[float]


class OrderList(TypedDict):
    data: list[Order]
    total: int
    page: int
    limit: int


class ItemBody(TypedDict):
    productId: str
    quantity: int


class CustomerBody(TypedDict):
    name: str
    email: NotRequired[str | None]
    phone: NotRequired[str | None]


class OrderBody(TypedDict):
    items: list[ItemBody]
    customer: CustomerBody
    deliveryMethod: Literal["DELIVERY", "PICKUP"]
    address: NotRequired[str | None]
    paymentMethod: str
    promoDiscount: NotRequired[float | None]
    note: NotRequired[str | None]
    attributes: NotRequired[dict[str, str | None]]


class StatusBody(TypedDict):
    status: OrderStatus


class PaymentBody(TypedDict):
    status: Literal["COMPLETED", "FAILED"]
    reference: NotRequired[str | None]


class AttributesBody(TypedDict):
    attributes: dict[str, str | None]


class PaymentMethod(TypedDict):
    id: str
    name: str
    description: str | None
    icon: str | None


class PaymentMethods(TypedDict):
    methods: list[PaymentMethod]


class Review(TypedDict):
    id: str
    productId: str
    rating: int
    comment: str | None
    authorName: str | None
    createdAt: str
    externalId: NotRequired[str]


class ReviewList(TypedDict):
    data: list[Review]
    total: int
    page: int
    limit: int


class ReviewStats(TypedDict):
    total: int
    averageRating: float | None
    distribution: dict[str, int]


class TopProduct(TypedDict):
    productId: str
    name: str
    quantity: int
    revenue: float


class SalesDay(TypedDict):
    date: str
    orders: int
    revenue: float


class Dashboard(TypedDict):
    currency: str
    days: int
    totalOrders: int
    totalRevenue: float
    averageOrderValue: float | None
    ordersByStatus: dict[str, int]
    topProducts: list[TopProduct]
    daily: list[SalesDay]


class Business(TypedDict):
    id: str
    slug: str
    storefrontUrl: str | None
    name: str
    type: str
    address: str
    currency: str
    locale: str
    timezone: str
    isSandbox: bool
    createdAt: str
    externalId: NotRequired[str]
    isConnected: NotRequired[bool]


class Page(TypedDict):
    id: str
    slug: str
    title: str
    content: str
    createdAt: str
    updatedAt: str
    externalId: NotRequired[str]


class PageList(TypedDict):
    data: list[Page]
    total: int
    page: int
    limit: int


class FeedEvent(TypedDict):
    id: str
    event: SentEvent
    timestamp: str
    data: dict[str, Any]
    cursor: str


class Feed(TypedDict):
    data: list[FeedEvent]
    nextCursor: str
    hasMore: bool


class ExportBody(TypedDict):
    resource: Literal["products", "orders"]


class RequestedExport(TypedDict):
    id: str
    status: Literal["PENDING", "READY", "FAILED"]


class Export(TypedDict):
    id: str
    resource: Literal["products", "orders"]
    status: Literal["PENDING", "READY", "FAILED"]
    rows: int | None
    url: str | None
    feedCursor: str | None
    expiresAt: str | None


class Installation(TypedDict):
    installationId: str
    businessId: str
    isTestInstall: bool
    needsReConsent: bool
    scopes: list[Scope]
    settings: dict[str, Any]
    installedAt: str


class FilterCondition(TypedDict):
    field: str
    op: FilterConditionOp
    value: NotRequired[str | float | bool | list[str | float | bool]]


class WebhookFilter(TypedDict):
    all: NotRequired[list[FilterCondition]]
    any: NotRequired[list[FilterCondition]]
    changed: NotRequired[list[str]]


class Webhook(TypedDict):
    id: str
    url: str
    events: list[SentEvent]
    filter: WebhookFilter | None
    description: str | None
    isActive: bool
    isAppDefined: bool
    eventsWithoutScope: list[SentEvent]
    disabledReason: str | None
    disabledAt: str | None
    createdAt: str


class WebhookList(TypedDict):
    data: list[Webhook]
    total: int
    page: int
    limit: int


class WebhookBody(TypedDict):
    url: str
    events: list[SentEvent]
    filter: NotRequired[WebhookFilter | None]
    description: NotRequired[str | None]


class CreatedWebhook(TypedDict):
    id: str
    url: str
    events: list[SentEvent]
    filter: WebhookFilter | None
    description: str | None
    isActive: bool
    isAppDefined: bool
    eventsWithoutScope: list[SentEvent]
    disabledReason: str | None
    disabledAt: str | None
    createdAt: str
    secret: str


class WebhookChanges(TypedDict):
    url: NotRequired[str]
    events: NotRequired[list[SentEvent]]
    filter: NotRequired[WebhookFilter | None]
    description: NotRequired[str | None]
    isActive: NotRequired[bool]


class Delivery(TypedDict):
    id: str
    eventId: str
    event: EventName
    webhookId: str
    installationId: str
    status: DeliveryStatus
    createdAt: str
    nextAttemptAt: str | None
    attemptCount: int


class DeliveryList(TypedDict):
    data: list[Delivery]
    total: int
    page: int
    limit: int


class Attempt(TypedDict):
    number: int
    attemptedAt: str
    httpStatus: int | None
    durationMs: int
    errorClass: AttemptErrorClass | None
    responseExcerpt: str | None


class DeliveryWithAttempts(TypedDict):
    id: str
    eventId: str
    event: EventName
    webhookId: str
    installationId: str
    status: DeliveryStatus
    createdAt: str
    nextAttemptAt: str | None
    payload: str | None
    attempts: list[Attempt]


class RecoverBody(TypedDict):
    since: str
    until: NotRequired[str | None]


class DeliveryCount(TypedDict):
    deliveries: int


class WebhookTestResult(TypedDict):
    success: bool
    httpStatus: int | None
    durationMs: int
    error: AttemptErrorClass | None
    eventId: str


class BusinessDataErasure(TypedDict):
    appId: str
    businessId: str
    uninstalledAt: str


class CustomerDataErasureCustomer(TypedDict):
    email: str | None
    phone: str | None


class CustomerDataErasure(TypedDict):
    appId: str
    businessId: str
    customer: CustomerDataErasureCustomer | None
    orderIds: list[str]
    reviewIds: list[str]
    requestedAt: str


class InstallationUpdatedSwitches(TypedDict):
    hooks: dict[str, bool]
    embeds: dict[str, bool]


class InstallationUpdated(TypedDict):
    installationId: str
    changed: list[Literal["settings", "scopes", "switches", "paused"]]
    settings: dict[str, Any]
    scopes: list[Scope]
    switches: InstallationUpdatedSwitches
    maxDiscountPercent: int
    paused: bool


class OrderCancelled(TypedDict):
    orderId: str
    orderNumber: str
    previousStatus: OrderStatus
    status: OrderStatus
    changedAt: str
    changedFields: list[str]
    externalId: NotRequired[str]


class OrderCreated(TypedDict):
    orderId: str
    orderNumber: str
    amount: float
    deliveryFee: float
    deliveryMethod: Literal["DELIVERY", "PICKUP"]
    paymentMethod: str
    isGuest: bool
    createdAt: str
    externalId: NotRequired[str]


class OrderDelivered(TypedDict):
    orderId: str
    orderNumber: str
    previousStatus: OrderStatus
    status: OrderStatus
    changedAt: str
    changedFields: list[str]
    externalId: NotRequired[str]


class OrderRefunded(TypedDict):
    orderId: str
    orderNumber: str
    amount: float
    refunded: float
    currency: str
    reason: str | None
    refundedAt: str
    externalId: NotRequired[str]


class OrderStatusChanged(TypedDict):
    orderId: str
    orderNumber: str
    previousStatus: OrderStatus
    status: OrderStatus
    changedAt: str
    changedFields: list[str]
    externalId: NotRequired[str]


class PaymentCompleted(TypedDict):
    orderId: str
    orderNumber: str
    invoiceId: str | None
    amount: float
    paymentMethod: str
    status: Literal["PENDING", "COMPLETED", "FAILED", "EXPIRED"]
    occurredAt: str
    externalId: NotRequired[str]


class PaymentExpired(TypedDict):
    orderId: str
    orderNumber: str
    invoiceId: str | None
    amount: float
    paymentMethod: str
    status: Literal["PENDING", "COMPLETED", "FAILED", "EXPIRED"]
    occurredAt: str
    externalId: NotRequired[str]


class ProductBackInStock(TypedDict):
    productId: str
    name: str
    stock: int | None
    threshold: int | None
    externalId: NotRequired[str]


class ProductCreated(TypedDict):
    id: str
    name: str
    description: str
    price: float
    category: str
    isAvailable: bool
    imageUrl: str
    slug: str
    status: Literal["ACTIVE", "ARCHIVED"]
    stock: int | None
    createdAt: str
    updatedAt: str
    externalId: NotRequired[str]
    groupId: NotRequired[str | None]


class ProductDeleted(TypedDict):
    id: str
    slug: str
    deletedAt: str
    externalId: NotRequired[str]


class ProductLowStock(TypedDict):
    productId: str
    name: str
    stock: int
    threshold: int | None
    externalId: NotRequired[str]


class ProductOutOfStock(TypedDict):
    productId: str
    name: str
    stock: int
    threshold: int | None
    externalId: NotRequired[str]


class ProductUpdated(TypedDict):
    id: str
    name: str
    description: str
    price: float
    category: str
    isAvailable: bool
    imageUrl: str
    slug: str
    status: Literal["ACTIVE", "ARCHIVED"]
    stock: int | None
    createdAt: str
    updatedAt: str
    externalId: NotRequired[str]
    groupId: NotRequired[str | None]
    changedFields: list[str]


class ReviewCreated(TypedDict):
    id: str
    productId: str
    rating: int
    comment: str | None
    authorName: str | None
    createdAt: str
    externalId: NotRequired[str]


class ReviewDeleted(TypedDict):
    id: str
    productId: str
    deletedAt: str
    externalId: NotRequired[str]


class WebhookTest(TypedDict):
    message: str
    webhookId: str


class CheckoutPaymentMethodsData(TypedDict):
    businessId: str


class CheckoutPaymentMethodsAnswerMethod(TypedDict):
    id: str
    name: str
    description: NotRequired[str | None]
    icon: NotRequired[str | None]


class CheckoutPaymentMethodsAnswer(TypedDict):
    methods: list[CheckoutPaymentMethodsAnswerMethod]


class CheckoutCreatePaymentData(TypedDict):
    orderId: str
    amount: str
    currency: str
    paymentMethodId: str
    businessId: str
    description: str


class CheckoutCreatePaymentAnswer(TypedDict):
    paymentUrl: NotRequired[str | None]
    qrCode: NotRequired[str | None]
    invoiceId: NotRequired[str | None]
    expiresAt: NotRequired[str | None]


class CheckoutShippingRatesData(TypedDict):
    deliveryMethod: Literal["DELIVERY", "PICKUP"]
    locality: NotRequired[str]
    subtotal: int
    builtInFee: int


class CheckoutShippingRatesAnswer(TypedDict):
    fee: int


class OrderValidateDataItem(TypedDict):
    productId: str
    quantity: int


class OrderValidateData(TypedDict):
    items: list[OrderValidateDataItem]
    subtotal: int
    deliveryMethod: Literal["DELIVERY", "PICKUP"]


class OrderValidateAnswer(TypedDict):
    valid: bool
    reason: NotRequired[str | None]


class OrderCalculateDiscountsDataItem(TypedDict):
    productId: str
    quantity: int


class OrderCalculateDiscountsData(TypedDict):
    items: list[OrderCalculateDiscountsDataItem]
    subtotal: int
    promoDiscount: int
    deliveryFee: int


class OrderCalculateDiscountsAnswer(TypedDict):
    discount: int
    reason: NotRequired[str | None]


class OnEvent(Protocol):
    """Registers a handler by event."""

    @overload
    def __call__(
        self, event: Literal["business.data_erasure"], /
    ) -> Callable[
        [Callable[[WebhookEvent[BusinessDataErasure]], object]],
        Callable[[WebhookEvent[BusinessDataErasure]], object],
    ]: ...
    @overload
    def __call__(
        self, event: Literal["customer.data_erasure"], /
    ) -> Callable[
        [Callable[[WebhookEvent[CustomerDataErasure]], object]],
        Callable[[WebhookEvent[CustomerDataErasure]], object],
    ]: ...
    @overload
    def __call__(
        self, event: Literal["installation.updated"], /
    ) -> Callable[
        [Callable[[WebhookEvent[InstallationUpdated]], object]],
        Callable[[WebhookEvent[InstallationUpdated]], object],
    ]: ...
    @overload
    def __call__(
        self, event: Literal["order.cancelled"], /
    ) -> Callable[
        [Callable[[WebhookEvent[OrderCancelled]], object]], Callable[[WebhookEvent[OrderCancelled]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["order.created"], /
    ) -> Callable[
        [Callable[[WebhookEvent[OrderCreated]], object]], Callable[[WebhookEvent[OrderCreated]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["order.delivered"], /
    ) -> Callable[
        [Callable[[WebhookEvent[OrderDelivered]], object]], Callable[[WebhookEvent[OrderDelivered]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["order.refunded"], /
    ) -> Callable[
        [Callable[[WebhookEvent[OrderRefunded]], object]], Callable[[WebhookEvent[OrderRefunded]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["order.status_changed"], /
    ) -> Callable[
        [Callable[[WebhookEvent[OrderStatusChanged]], object]],
        Callable[[WebhookEvent[OrderStatusChanged]], object],
    ]: ...
    @overload
    def __call__(
        self, event: Literal["payment.completed"], /
    ) -> Callable[
        [Callable[[WebhookEvent[PaymentCompleted]], object]],
        Callable[[WebhookEvent[PaymentCompleted]], object],
    ]: ...
    @overload
    def __call__(
        self, event: Literal["payment.expired"], /
    ) -> Callable[
        [Callable[[WebhookEvent[PaymentExpired]], object]], Callable[[WebhookEvent[PaymentExpired]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["product.back_in_stock"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ProductBackInStock]], object]],
        Callable[[WebhookEvent[ProductBackInStock]], object],
    ]: ...
    @overload
    def __call__(
        self, event: Literal["product.created"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ProductCreated]], object]], Callable[[WebhookEvent[ProductCreated]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["product.deleted"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ProductDeleted]], object]], Callable[[WebhookEvent[ProductDeleted]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["product.low_stock"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ProductLowStock]], object]], Callable[[WebhookEvent[ProductLowStock]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["product.out_of_stock"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ProductOutOfStock]], object]],
        Callable[[WebhookEvent[ProductOutOfStock]], object],
    ]: ...
    @overload
    def __call__(
        self, event: Literal["product.updated"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ProductUpdated]], object]], Callable[[WebhookEvent[ProductUpdated]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["review.created"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ReviewCreated]], object]], Callable[[WebhookEvent[ReviewCreated]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["review.deleted"], /
    ) -> Callable[
        [Callable[[WebhookEvent[ReviewDeleted]], object]], Callable[[WebhookEvent[ReviewDeleted]], object]
    ]: ...
    @overload
    def __call__(
        self, event: Literal["webhook.test"], /
    ) -> Callable[
        [Callable[[WebhookEvent[WebhookTest]], object]], Callable[[WebhookEvent[WebhookTest]], object]
    ]: ...
    @overload
    def __call__(
        self, first: EventName, second: EventName, /, *more: EventName
    ) -> Callable[[Callable[[WebhookEvent[Any]], object]], Callable[[WebhookEvent[Any]], object]]: ...


class OnHook(Protocol):
    """Registers a handler by hook point."""

    @overload
    def __call__(
        self, hook_point: Literal["checkout.payment_methods"], /
    ) -> Callable[
        [Callable[[HookCall[CheckoutPaymentMethodsData]], CheckoutPaymentMethodsAnswer]],
        Callable[[HookCall[CheckoutPaymentMethodsData]], CheckoutPaymentMethodsAnswer],
    ]: ...
    @overload
    def __call__(
        self, hook_point: Literal["checkout.create_payment"], /
    ) -> Callable[
        [Callable[[HookCall[CheckoutCreatePaymentData]], CheckoutCreatePaymentAnswer]],
        Callable[[HookCall[CheckoutCreatePaymentData]], CheckoutCreatePaymentAnswer],
    ]: ...
    @overload
    def __call__(
        self, hook_point: Literal["checkout.shipping_rates"], /
    ) -> Callable[
        [Callable[[HookCall[CheckoutShippingRatesData]], CheckoutShippingRatesAnswer]],
        Callable[[HookCall[CheckoutShippingRatesData]], CheckoutShippingRatesAnswer],
    ]: ...
    @overload
    def __call__(
        self, hook_point: Literal["order.validate"], /
    ) -> Callable[
        [Callable[[HookCall[OrderValidateData]], OrderValidateAnswer]],
        Callable[[HookCall[OrderValidateData]], OrderValidateAnswer],
    ]: ...
    @overload
    def __call__(
        self, hook_point: Literal["order.calculate_discounts"], /
    ) -> Callable[
        [Callable[[HookCall[OrderCalculateDiscountsData]], OrderCalculateDiscountsAnswer]],
        Callable[[HookCall[OrderCalculateDiscountsData]], OrderCalculateDiscountsAnswer],
    ]: ...
    @overload
    def __call__(
        self, first: HookPoint, second: HookPoint, /, *more: HookPoint
    ) -> Callable[[Callable[[HookCall[Any]], Any]], Callable[[HookCall[Any]], Any]]: ...
