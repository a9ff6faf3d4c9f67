"""Publishes sample events on a developer's sandbox, so that developers can see how their app handles them."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from accounts.models import Business, User
from common.errors import Conflict, Invalid
from common.times import iso
from installations.queries import sandbox_installation
from marketplace.models import App
from stores.models import Product, Review
from stores.queries import whole_orders
from stores.records import OrderRecord, ProductRecord, ReviewRecord
from stores.services.sandbox_changes import REFUND_REASON
from webhooks import catalogue
from webhooks.messages import payloads
from webhooks.models import Event
from webhooks.services.customer_erasure import write_event
from webhooks.services.publishing import publish_to

# These two are only sent by a test and an uninstall.
NEVER: Final = (catalogue.WEBHOOK_TEST, catalogue.DATA_ERASURE)
SAMPLES: Final = tuple(name for name in catalogue.EVENTS if name not in NEVER)


@transaction.atomic
def send_sample(
    *, app: App, developer: User, event_type: str, now: datetime | None = None
) -> tuple[Event, int]:
    """Publish an event with sample data, only to the app's installation on the developer's own sandbox.

    Returns the event and the number of its deliveries, which is 0 if no active webhook there lists the event or the
    app lacks its scope. The sandbox's own data doesn't change. Raises Invalid for an event that can't be sampled, and
    Conflict if the app is not installed there.
    """
    if event_type not in SAMPLES:
        raise Invalid.field("event", f"Must be one of: {', '.join(SAMPLES)}.")
    installation = sandbox_installation(app=app, developer=developer)
    if installation is None:
        raise Conflict(
            "The app is not installed on your sandbox. Install it there for testing first.",
            code="not_on_sandbox",
        )
    now = now or timezone.now()
    data = sample_data(installation.business, event_type, now)
    if event_type == catalogue.CUSTOMER_ERASURE:  # it goes where a real one would
        return write_event(installation=installation, data=data | {"appId": str(app.pk)}, now=now)
    if event_type == catalogue.INSTALLATION_UPDATED:
        data |= {"installationId": str(installation.pk), "scopes": installation.effective_scopes}
    return publish_to(installation=installation, event_type=event_type, data=data, now=now)


def sample_data(business: Business, event_type: str, now: datetime) -> dict[str, Any]:
    """The catalog's example with current times, and with a real record of the sandbox if there is one."""
    example = catalogue.EVENTS[event_type].example
    return {**example, **_facts(business, event_type, now), **_times(example, now)}


def _times(example: dict[str, Any], now: datetime) -> dict[str, str]:
    return {
        name: iso(now)
        for name in ("changedAt", "occurredAt", "deletedAt", "requestedAt", "refundedAt")
        if name in example
    }


def _facts(business: Business, event_type: str, now: datetime) -> dict[str, Any]:
    kind = event_type.partition(".")[0]
    if kind == "customer":  # the example's person, without records
        return {"businessId": str(business.pk)}
    if kind == "installation":
        return {}
    if kind in ("order", "payment"):
        return _of_order(business, event_type, now)
    return _of_product(business, event_type) if kind == "product" else _of_review(business, event_type)


def _of_order(business: Business, event_type: str, now: datetime) -> dict[str, Any]:
    order = whole_orders().filter(business=business).order_by("-id").first()
    if order is None:
        return {}
    record = OrderRecord.of(order)
    if event_type == "order.refunded":
        whole = record._replace(refunded=record.amount)
        return payloads.order_refunded(whole, amount=whole.amount, reason=REFUND_REASON, now=now)
    payload = payloads.order_created(record)
    shared = catalogue.EVENTS[event_type].example.keys() & payload.keys()
    return {name: payload[name] for name in shared}


def _of_product(business: Business, event_type: str) -> dict[str, Any]:
    """A deleted product can't be read, so product.deleted keeps the example's."""
    rows = Product.objects.filter(business=business)
    product = None if event_type == "product.deleted" else rows.order_by("-id").first()
    if product is None:
        return {}
    if event_type in ("product.created", "product.updated"):
        return payloads.product_created(ProductRecord.of(product, business.currency))
    return {"productId": str(product.id), "name": product.name}


def _of_review(business: Business, event_type: str) -> dict[str, Any]:
    rows = Review.objects.filter(business=business).order_by("-id")
    review = None if event_type == "review.deleted" else rows.first()
    return payloads.review_created(ReviewRecord.of(review)) if review else {}
