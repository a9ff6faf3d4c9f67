"""Turns signals of lower-level apps into events, in the transaction of the change. Connected by `WebhooksConfig`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.models import User
from common.errors import ErrorDetail
from installations import signals as installation_signals
from installations.models import Installation
from marketplace.models import App
from marketplace.signals import app_suspended, app_updated, developer_left, fields_to_check
from stores import signals as store_signals
from stores.customers import Copies, Person
from stores.enums import OrderStatus, StockCrossing
from stores.models import CustomerErasure
from stores.records import OrderRecord, PaymentRecord, ProductRecord, ReviewRecord
from webhooks.engine import listeners
from webhooks.filters import rules
from webhooks.messages import payloads
from webhooks.services import customer_erasure, erasure
from webhooks.services.app_defined import create_missing, follow_app
from webhooks.services.deliveries import cancel_all, hold_paused, send_paused
from webhooks.services.publishing import publish
from webhooks.services.registration import end_webhooks

# Statuses with a second event besides order.status_changed.
EVENT_OF_STATUS = {
    OrderStatus.DELIVERED: "order.delivered",
    OrderStatus.CANCELLED: "order.cancelled",
}


@receiver(store_signals.order_created)
def on_order_created(order: OrderRecord, now: datetime, **_: Any) -> None:
    publish(
        business_id=order.business_id, event_type="order.created", data=payloads.order_created(order), now=now
    )


@receiver(store_signals.order_status_changed)
def on_order_status_changed(order: OrderRecord, previous: str, now: datetime, **_: Any) -> None:
    data = payloads.order_moved(order, previous, now)
    publish(business_id=order.business_id, event_type="order.status_changed", data=data, now=now)
    special = EVENT_OF_STATUS.get(OrderStatus(order.status))
    if special:
        publish(business_id=order.business_id, event_type=special, data=data, now=now)


@receiver(store_signals.order_refunded)
def on_order_refunded(order: OrderRecord, amount: int, reason: str, now: datetime, **_: Any) -> None:
    data = payloads.order_refunded(order, amount=amount, reason=reason, now=now)
    publish(business_id=order.business_id, event_type="order.refunded", data=data, now=now)


@receiver(store_signals.payment_completed)
def on_payment_completed(payment: PaymentRecord, now: datetime, **_: Any) -> None:
    _publish_payment("payment.completed", payment, now)


@receiver(store_signals.payment_expired)
def on_payment_expired(payment: PaymentRecord, now: datetime, **_: Any) -> None:
    _publish_payment("payment.expired", payment, now)


def _publish_payment(event_type: str, payment: PaymentRecord, now: datetime) -> None:
    data = payloads.payment(payment, now)
    publish(business_id=payment.business_id, event_type=event_type, data=data, now=now)


@receiver(store_signals.product_created)
def on_product_created(product: ProductRecord, now: datetime, **_: Any) -> None:
    _publish_product("product.created", product, payloads.product_created(product), now)


@receiver(store_signals.product_updated)
def on_product_updated(product: ProductRecord, changed_fields: list[str], now: datetime, **_: Any) -> None:
    _publish_product("product.updated", product, payloads.product_updated(product, changed_fields), now)


@receiver(store_signals.product_deleted)
def on_product_deleted(product: ProductRecord, now: datetime, **_: Any) -> None:
    _publish_product("product.deleted", product, payloads.product_deleted(product, now), now)


@receiver(store_signals.stock_crossed)
def on_stock_crossed(product: ProductRecord, crossing: StockCrossing, now: datetime, **_: Any) -> None:
    _publish_product(f"product.{crossing.value}", product, payloads.stock_crossed(product), now)


def _publish_product(event_type: str, product: ProductRecord, data: payloads.Data, now: datetime) -> None:
    publish(business_id=product.business_id, event_type=event_type, data=data, now=now)


@receiver(store_signals.review_created)
def on_review_created(review: ReviewRecord, now: datetime, **_: Any) -> None:
    data = payloads.review_created(review)
    publish(business_id=review.business_id, event_type="review.created", data=data, now=now)


@receiver(store_signals.review_deleted)
def on_review_deleted(review: ReviewRecord, now: datetime, **_: Any) -> None:
    data = payloads.review_deleted(review, now)
    publish(business_id=review.business_id, event_type="review.deleted", data=data, now=now)


@receiver(store_signals.copies_to_erase)
def on_copies_to_erase(copies: Copies, **_: Any) -> None:
    customer_erasure.erase_copies(copies)


@receiver(store_signals.customer_erased)
def on_customer_erased(
    erasure: CustomerErasure, person: Person, copies: Copies, since: datetime, now: datetime, **_: Any
) -> None:
    customer_erasure.ask_apps(erasure=erasure, person=person, copies=copies, since=since, now=now)


@receiver([installation_signals.installation_created, installation_signals.installation_changed])
def on_installation(installation: Installation, now: datetime, **_: Any) -> None:
    follow_app(installations=[installation], now=now)


@receiver(installation_signals.approval_begun)
def on_approval_begun(app: App, now: datetime, **_: Any) -> None:
    create_missing(app=app, now=now)


@receiver(installation_signals.approval_followed)
def on_approval_followed(installations: Sequence[Installation], now: datetime, **_: Any) -> None:
    follow_app(installations=installations, now=now)


@receiver(fields_to_check)
def on_fields_to_check(webhook_events: Sequence[str], webhook_filter: Any, **_: Any) -> list[ErrorDetail]:
    return rules.problems_of(webhook_filter, webhook_events, "webhook_filter")


@receiver(app_updated)
def on_app_updated(app: App, changed: Collection[str], now: datetime, **_: Any) -> None:
    """Only the test install on the developer's own sandbox uses the working copy's Webhook URL."""
    if "webhook_url" not in changed:
        return
    tests = Installation.objects.active().with_app().filter(app=app, is_test=True)
    own = [installation for installation in tests if installation.follows_working_copy]
    follow_app(installations=own, now=now)


@receiver(app_suspended)
def on_app_suspended(app: App, now: datetime, **_: Any) -> None:
    cancel_all(app=app, now=now)


@receiver(installation_signals.installation_paused)
def on_installation_paused(installation: Installation, now: datetime, **_: Any) -> None:
    hold_paused(installation=installation, now=now)


@receiver(installation_signals.installation_resumed)
def on_installation_resumed(installation: Installation, now: datetime, **_: Any) -> None:
    send_paused(installation=installation, now=now)


@receiver(installation_signals.installation_removed)
def on_installation_removed(installation: Installation, now: datetime, **_: Any) -> None:
    end_webhooks(installation=installation, now=now)
    erasure.schedule(installation=installation, now=now)


@receiver(installation_signals.installation_created)
def on_installation_created(installation: Installation, now: datetime, **_: Any) -> None:
    erasure.cancel(app=installation.app, business=installation.business, now=now)


@receiver(developer_left)
def end_listener(app: App, user: User, **_: Any) -> None:
    """Requests that it hasn't answered go to the URL."""
    listeners.detach_person(user, app=app)
