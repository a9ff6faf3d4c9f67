"""Every event that can be sent: its name, the scope it needs, when it is sent, and what its `data` holds.

Registration, publishing, the public documentation and the tests all read this table. `webhooks.messages.payloads` builds
the `data`; the tests validate each payload against the JSON Schema that the documentation makes of its serializer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from rest_framework.serializers import Serializer

from common.rest.fields import example_of
from common.times import duration
from marketplace.scopes import NAMEABLE_EVENTS, SCOPE_OF_EVENT
from stores.serializers import ProductSerializer, ReviewSerializer
from webhooks.messages import payloads


@dataclass(frozen=True, slots=True)
class EventType:
    name: str
    group: str
    sentence: str  # when it is sent, for developers
    data: type[Serializer]
    values: Mapping[str, Any] = field(default_factory=dict)  # of this event, in the example

    @property
    def scope(self) -> str | None:
        """The scope that an app must hold to receive it; None if it needs none."""
        return SCOPE_OF_EVENT.get(self.name)

    @property
    def example(self) -> dict[str, Any]:
        """A `data` as it is sent."""
        return {**example_of(self.data()), **self.values}


WEBHOOK_TEST = "webhook.test"
DATA_ERASURE = "business.data_erasure"
CUSTOMER_ERASURE = "customer.data_erasure"
INSTALLATION_UPDATED = "installation.updated"
# These are sent whatever is switched off, paused, disabled, suspended or uninstalled.
ERASURES = (DATA_ERASURE, CUSTOMER_ERASURE)
# A pause doesn't hold these. That the store has paused the app is itself something that it learns by one.
THROUGH_A_PAUSE = (*ERASURES, INSTALLATION_UPDATED)

EVENTS: dict[str, EventType] = {
    event.name: event
    for event in (
        EventType("order.created", "Orders", "An order was placed.", payloads.OrderCreated),
        EventType("order.status_changed", "Orders", "An order's status changed.", payloads.OrderMoved),
        EventType(
            "order.delivered",
            "Orders",
            "An order was delivered. Sent in addition to order.status_changed.",
            payloads.OrderMoved,
            {"previousStatus": "IN_DELIVERY", "status": "DELIVERED"},
        ),
        EventType(
            "order.cancelled",
            "Orders",
            "An order was cancelled. Sent in addition to order.status_changed.",
            payloads.OrderMoved,
            {"status": "CANCELLED"},
        ),
        EventType(
            "order.refunded",
            "Orders",
            "The store recorded that it gave back some of an order's money, or all of it.",
            payloads.OrderRefunded,
        ),
        EventType(
            "payment.completed", "Payments", "A payment made through an app succeeded.", payloads.PaymentEnded
        ),
        EventType(
            "payment.expired",
            "Payments",
            "A payment made through an app was not completed in time.",
            payloads.PaymentEnded,
            {"status": "EXPIRED"},
        ),
        EventType("product.created", "Products", "A product was added.", ProductSerializer),
        EventType(
            "product.updated",
            "Products",
            "The merchant edited or archived a product. A change of stock by an order doesn't count.",
            payloads.ProductUpdated,
        ),
        EventType("product.deleted", "Products", "A product was deleted.", payloads.ProductDeleted),
        EventType(
            "product.out_of_stock",
            "Inventory",
            "A product's stock reached 0.",
            payloads.StockCrossed,
            {"stock": 0},
        ),
        EventType(
            "product.low_stock",
            "Inventory",
            "A product's stock fell below its threshold, and some is left.",
            payloads.StockCrossed,
        ),
        EventType(
            "product.back_in_stock",
            "Inventory",
            "A product that had run out is in stock again.",
            payloads.BackInStock,
            {"stock": 25},
        ),
        EventType("review.created", "Reviews", "A customer reviewed a product.", ReviewSerializer),
        EventType("review.deleted", "Reviews", "A review was removed.", payloads.ReviewDeleted),
        EventType(
            INSTALLATION_UPDATED,
            "Installation",
            "The merchant changed your app's settings, permissions or switches in the store, or paused or resumed it. Sent to that "
            "installation alone, also while it is paused.",
            payloads.InstallationUpdated,
        ),
        EventType(
            DATA_ERASURE,
            "Lifecycle",
            f"Sent {duration(timedelta(seconds=settings.DATA_ERASURE_DELAY))} after a business uninstalled the app: "
            "delete all of its data, then return 2xx.",
            payloads.DataErasure,
        ),
        EventType(
            CUSTOMER_ERASURE,
            "Lifecycle",
            "A store erased one of its customers: delete what you have of this person, then return 2xx. Sent to each app that "
            "could read the store's orders or reviews.",
            payloads.CustomerErased,
        ),
        EventType(
            WEBHOOK_TEST, "Test", "You asked for a test of a webhook. Sent once only.", payloads.WebhookTested
        ),
    )
}

UNNAMEABLE: dict[str, str] = {
    WEBHOOK_TEST: "every webhook receives it when you test the webhook.",
    "app.uninstalled": "it is internal. business.data_erasure notifies your app of an uninstall.",
}

# The names that a registration may list, in the catalog's order.
SUBSCRIBABLE: tuple[str, ...] = tuple(name for name in EVENTS if name in NAMEABLE_EVENTS)


def without_scope(events: Iterable[str], scopes: Sequence[str]) -> list[str]:
    """The events that an app with these scopes doesn't receive, in the order given."""
    return [name for name in events if (scope := EVENTS[name].scope) is not None and scope not in scopes]


def allowed_by(scopes: Sequence[str]) -> list[str]:
    """Every event that an app with these scopes may register for and receive, in the catalog's order."""
    withheld = set(without_scope(SUBSCRIBABLE, scopes))
    return [name for name in SUBSCRIBABLE if name not in withheld]
