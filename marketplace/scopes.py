"""The table of scopes: what each allows, with descriptions for people and names for programs.

Authentication, the consent page, the documentation and the tests all read it. Endpoints and events outside the table
need no scope.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    name: str
    sentence: str  # for a merchant: "Can …"
    endpoints: tuple[str, ...]  # "METHOD path" of the app API
    events: tuple[str, ...] = ()
    # For the consent page, under "Can see", "Can change" and "Gets notified of".
    title: str = ""
    detail: str = ""
    updates: str = ""
    in_short: str = ""  # what merchants read first of a sensitive one
    sensitive: str = ""  # why reviewers must look closely, if they must

    @property
    def writes(self) -> bool:
        return self.name.startswith("write_")


SCOPES: dict[str, Scope] = {
    scope.name: scope
    for scope in (
        Scope(
            "read_products",
            "See your products, their prices and stock",
            ("GET /app-api/products", "GET /app-api/products/:id", "GET /app-api/products/slug/:slug"),
            (
                "product.created",
                "product.updated",
                "product.deleted",
                "product.out_of_stock",
                "product.low_stock",
                "product.back_in_stock",
            ),
            title="Your products",
            detail="Names, descriptions, pictures, prices, and how many are in stock.",
            updates="New, changed and deleted products, and changes in stock",
        ),
        Scope(
            "read_orders",
            "See your orders with your customers' names and contact details",
            ("GET /app-api/orders", "GET /app-api/orders/:id"),
            (
                "order.created",
                "order.status_changed",
                "order.delivered",
                "order.cancelled",
                "order.refunded",
                "payment.completed",
                "payment.expired",
            ),
            title="Your orders and customers",
            detail="What was ordered, paid and refunded, with names, e-mail addresses, phone numbers and delivery addresses. At checkout it "
            "recognizes a customer who comes again.",
            updates="New orders, each change of an order and its payment, and refunds with their reasons",
            in_short="Reads customers’ contact details",
            sensitive="Names and contact details of customers",
        ),
        Scope(
            "write_orders",
            "Place orders, update their status and settle the payments it made",
            (
                "POST /app-api/orders",
                "PATCH /app-api/orders/:id/status",
                "PATCH /app-api/orders/:id/payment",
                "PATCH /app-api/orders/:id/attributes",
                "GET /app-api/payment-methods",
            ),
            title="Your orders",
            detail="Place orders, update their status or cancel them, settle the payments it made, and add details of its own.",
            in_short="Changes orders and payments",
            sensitive="Changes orders and payments",
        ),
        Scope(
            "read_reviews",
            "See what customers say about your products",
            ("GET /app-api/reviews", "GET /app-api/reviews/stats"),
            ("review.created", "review.deleted"),
            title="Your product reviews",
            detail="Ratings, comments and the names of their authors.",
            updates="New and deleted reviews",
        ),
        Scope(
            "read_analytics",
            "See your sales figures",
            ("GET /app-api/analytics/dashboard",),
            title="Your sales figures",
            detail="Orders, revenue and best-selling products, day by day.",
        ),
        Scope(
            "read_business",
            "See your store's name, address and settings",
            ("GET /app-api/business",),
            title="Your store's details",
            detail="Name, address, currency, language and time zone.",
        ),
        Scope(
            "read_pages",
            "See the pages of your store",
            ("GET /app-api/pages", "GET /app-api/pages/:slug"),
            title="Your store's pages",
            detail="The text of the pages you have published.",
        ),
    )
}

READS_CUSTOMERS = "read_orders"
ABOUT_PEOPLE = (
    "read_orders",
    "write_orders",
    "read_reviews",
)  # an app with one should say where the data goes

# Delivered without any scope.
EVENTS_WITHOUT_SCOPE = ("installation.updated", "business.data_erasure", "customer.data_erasure")

SCOPE_OF_EVENT: dict[str, str] = {event: scope.name for scope in SCOPES.values() for event in scope.events}

# Events that apps and webhooks may list, at every door: all but `webhook.test` and the internal `app.uninstalled`.
NAMEABLE_EVENTS = (*SCOPE_OF_EVENT, *EVENTS_WITHOUT_SCOPE)


def in_order(names: Iterable[str]) -> list[str]:
    """Scope names without repeats, in the table's order."""
    wanted = set(names)
    return [name for name in SCOPES if name in wanted]


def unknown(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in SCOPES]
