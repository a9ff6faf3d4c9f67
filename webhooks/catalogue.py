"""Every event that can be sent: its name, the scope it needs, what it says, and the shape of its `data`.

Registration, publishing, the public documentation and the tests all read this table. `webhooks.payloads` builds
the `data`; a test holds each builder to the schema that stands here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from common.json_schema import Schema, document
from marketplace.scopes import SCOPE_OF_EVENT
from stores.schemas import product, review
from webhooks import schemas


@dataclass(frozen=True, slots=True)
class EventType:
    name: str
    group: str
    sentence: str  # when it is sent, for developers
    schema: Schema  # of `data`, JSON Schema Draft 2020-12

    @property
    def scope(self) -> str | None:
        """The scope that an app must hold to be told; None where it needs none."""
        return SCOPE_OF_EVENT.get(self.name)

    @property
    def example(self) -> dict[str, Any]:
        """A `data` that fits the schema."""
        example: dict[str, Any] = self.schema["examples"][0]
        return example


def _event(group: str, name: str, sentence: str, schema: Schema) -> EventType:
    return EventType(name, group, sentence, document(schema, title=name, description=sentence))


WEBHOOK_TEST = "webhook.test"
DATA_ERASURE = "business.data_erasure"

EVENTS: dict[str, EventType] = {
    event.name: event
    for event in (
        _event("Orders", "order.created", "An order was placed.", schemas.order_created()),
        _event(
            "Orders",
            "order.status_changed",
            "An order's status changed, whatever it is now.",
            schemas.order_moved(previous="PENDING", status="CONFIRMED"),
        ),
        _event(
            "Orders",
            "order.delivered",
            "An order was delivered. Comes besides order.status_changed.",
            schemas.order_moved(previous="IN_DELIVERY", status="DELIVERED"),
        ),
        _event(
            "Orders",
            "order.cancelled",
            "An order was cancelled. Comes besides order.status_changed.",
            schemas.order_moved(previous="PENDING", status="CANCELLED"),
        ),
        _event(
            "Payments",
            "payment.completed",
            "A payment made through an app was taken.",
            schemas.payment(status="COMPLETED"),
        ),
        _event(
            "Payments",
            "payment.expired",
            "A payment made through an app was not taken in time.",
            schemas.payment(status="EXPIRED"),
        ),
        _event("Products", "product.created", "A product was added.", product()),
        _event(
            "Products",
            "product.updated",
            "The merchant edited or archived a product. An order's change of stock doesn't count.",
            schemas.product_updated(),
        ),
        _event("Products", "product.deleted", "A product was deleted.", schemas.product_deleted()),
        _event(
            "Inventory",
            "product.out_of_stock",
            "A product's stock reached 0.",
            schemas.stock_crossed(stock=0),
        ),
        _event(
            "Inventory",
            "product.low_stock",
            "A product's stock fell below its threshold, and some is left.",
            schemas.stock_crossed(stock=4),
        ),
        _event(
            "Inventory",
            "product.back_in_stock",
            "A product that had run out is in stock again.",
            schemas.stock_crossed(stock=25),
        ),
        _event("Reviews", "review.created", "A customer reviewed a product.", review()),
        _event("Reviews", "review.deleted", "A review was removed.", schemas.review_deleted()),
        _event(
            "Lifecycle",
            DATA_ERASURE,
            "48 hours have passed since a business uninstalled the app: delete all that you stored of it, "
            "then answer 2xx.",
            schemas.data_erasure(),
        ),
        _event(
            "Test", WEBHOOK_TEST, "You asked for a test of a webhook. Sent once only.", schemas.test_event()
        ),
    )
}

UNNAMEABLE: dict[str, str] = {
    WEBHOOK_TEST: "every webhook gets it when it is tested.",
    "app.uninstalled": "it is internal; business.data_erasure tells your app of an uninstall.",
}

# The names that a registration may list, in the catalogue's order.
SUBSCRIBABLE: tuple[str, ...] = tuple(name for name in EVENTS if name not in UNNAMEABLE)


def without_scope(events: Iterable[str], scopes: Sequence[str]) -> list[str]:
    """Those of the events that an app with these scopes is not told of, in their order."""
    return [name for name in events if (scope := EVENTS[name].scope) is not None and scope not in scopes]


def allowed_by(scopes: Sequence[str]) -> list[str]:
    """Every event that an app with these scopes may register for and be told of, in the catalogue's order."""
    withheld = set(without_scope(SUBSCRIBABLE, scopes))
    return [name for name in SUBSCRIBABLE if name not in withheld]
