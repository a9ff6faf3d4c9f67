"""Cancels, holds, moves and resends deliveries. Sending itself is `webhooks.engine`."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from common.errors import Conflict
from common.times import after
from installations.models import Installation
from marketplace.models import App
from webhooks import catalogue
from webhooks.enums import WAITING, DeliveryStatus, HeldReason
from webhooks.health import reset_all
from webhooks.models import Delivery, Webhook
from webhooks.queries import resend_refusal, sending_refusal

RECOVERED_PER_SECOND: Final = 10  # per webhook, so that new deliveries fit in between
STEP: Final = timedelta(seconds=1) / RECOVERED_PER_SECOND
GIVEN_UP: Final = (DeliveryStatus.EXHAUSTED, DeliveryStatus.HELD)

# A test is sent once, and nothing is left of a customer once the delivery has ended.
NOT_RESENT: Final = (catalogue.WEBHOOK_TEST, catalogue.CUSTOMER_ERASURE)

# Restarts the schedule of a finished delivery. The incremented fence invalidates results of earlier attempts.
RESTARTED: Final[dict[str, Any]] = {
    "status": DeliveryStatus.PENDING,
    "attempts_made": 0,
    "finished_at": None,
    "lease_until": None,
    "fence": F("fence") + 1,
}

# Switching off


def cancel_waiting(*, webhooks: QuerySet[Webhook], now: datetime) -> int:
    """Cancel the waiting deliveries to these webhooks. Returns how many.

    The incremented fence invalidates the result of an attempt in flight. Erasures are left alone: they are sent
    although the webhook and the installation have ended.
    """
    return _stop_sending(Q(webhook__in=webhooks, status__in=WAITING), DeliveryStatus.CANCELLED, now)


def cancel_held(*, webhooks: QuerySet[Webhook], now: datetime) -> int:
    """Cancel the held deliveries to these webhooks. Returns how many."""
    return _stop_sending(Q(webhook__in=webhooks, status=DeliveryStatus.HELD), DeliveryStatus.CANCELLED, now)


def hold_waiting(*, webhooks: QuerySet[Webhook], reason: HeldReason) -> int:
    """Hold the waiting deliveries to webhooks that are being disabled or paused. Returns how many."""
    waiting = Q(webhook__in=webhooks, status__in=WAITING)
    if reason == HeldReason.PAUSED:
        waiting &= ~Q(event_type__in=catalogue.THROUGH_A_PAUSE)
    return _stop_sending(waiting, DeliveryStatus.HELD, None, held_reason=reason)


def cancel_erasure(*, event_id: UUID, now: datetime) -> int:
    """Cancel the waiting deliveries of a data erasure that is no longer wanted. Returns how many."""
    return _change(Delivery.objects.filter(event=event_id, status__in=WAITING), DeliveryStatus.CANCELLED, now)


def _stop_sending(which: Q, status: DeliveryStatus, finished_at: datetime | None, **fields: str) -> int:
    rows = Delivery.objects.filter(which).exclude(event_type__in=catalogue.ERASURES)
    return _change(rows, status, finished_at, **fields)


@transaction.atomic
def _change(
    rows: QuerySet[Delivery], status: DeliveryStatus, finished_at: datetime | None, **fields: str
) -> int:
    _lock(rows)
    return rows.update(
        status=status, due_at=None, lease_until=None, fence=F("fence") + 1, finished_at=finished_at, **fields
    )


@transaction.atomic
def follow_url(*, webhooks: QuerySet[Webhook], endpoint: int) -> int:
    """Move the waiting deliveries to the webhooks' current endpoint. Part of a change of their URL."""
    waiting = Delivery.objects.filter(webhook__in=webhooks, status__in=WAITING).exclude(endpoint=endpoint)
    return Delivery.objects.filter(id__in=_lock(waiting)).update(endpoint=endpoint)


def _lock(rows: QuerySet[Delivery]) -> list[UUID]:
    """Lock in the order of the dispatcher's own writes, so that the two can't deadlock."""
    return list(rows.order_by("id").select_for_update(of=("self",)).values_list("id", flat=True))


# A pause by the merchant, a suspension by a reviewer


@transaction.atomic
def cancel_all(*, app: App, now: datetime) -> None:
    """Cancel the waiting and held deliveries of an app that is being suspended. Only data erasures are kept."""
    webhooks = Webhook.objects.filter(installation__app=app)
    reset_all(webhooks.filter(is_active=True), now)
    cancel_waiting(webhooks=webhooks, now=now)
    cancel_held(webhooks=webhooks, now=now)


@transaction.atomic
def hold_paused(*, installation: Installation, now: datetime) -> None:
    """Hold the waiting deliveries of an app that is being paused. Earlier failures of its webhooks no longer count."""
    webhooks = Webhook.objects.kept().filter(installation=installation, is_active=True)
    reset_all(webhooks, now)
    hold_waiting(webhooks=webhooks, reason=HeldReason.PAUSED)


@transaction.atomic
def send_paused(*, installation: Installation, now: datetime) -> None:
    """Send the deliveries that a pause has held: for each webhook the oldest first, ten a second.

    If the webhook was disabled in the meantime, they stay held for its recovery. If the app switched it off, they are
    cancelled, like waiting ones.
    """
    held = Delivery.objects.filter(status=DeliveryStatus.HELD, held_reason=HeldReason.PAUSED)
    webhooks = Webhook.objects.kept().filter(installation=installation).defer("secret").order_by("id")
    for webhook in webhooks.select_for_update(no_key=True):
        own = held.filter(webhook=webhook)
        if webhook.is_active:
            _spread(_lock(own), webhook.endpoint, _first_free_moment(webhook, now))
        elif webhook.disabled_at is not None:
            own.update(held_reason=HeldReason.DISABLED)
        else:
            _change(own, DeliveryStatus.CANCELLED, now)


# Resending


@transaction.atomic
def redeliver(*, delivery: Delivery, now: datetime | None = None) -> Delivery:
    """Resend a delivery under its own id. Returns it as it is afterwards.

    A finished delivery restarts its schedule, and the numbers of its attempts continue. A waiting one becomes due now,
    unless it is being sent at this moment. Raises `Conflict` for an inactive webhook, a paused app or a suspended app,
    except for an erasure that is due, and for a `webhook.test`, which is sent once.
    """
    now = now or timezone.now()
    webhook = _locked(delivery.webhook_id)
    again = (
        Delivery.objects.select_for_update(of=("self",))
        .select_related("event", "webhook")
        .get(pk=delivery.pk)
    )
    if refusal := resend_refusal(again, now):
        raise Conflict(refusal)
    if again.status in WAITING:
        _make_due(Delivery.objects.filter(pk=again.pk), now)
    else:
        _remember_success(webhook, again)
        Delivery.objects.filter(pk=again.pk).update(due_at=now, endpoint=webhook.endpoint, **RESTARTED)
    again.refresh_from_db(fields=["status", "due_at", "attempts_made", "finished_at", "lease_until", "fence"])
    return again


@transaction.atomic
def recover(
    *,
    webhook: Webhook,
    since: datetime,
    until: datetime | None = None,
    among: Collection[UUID] | None = None,
    now: datetime | None = None,
) -> int:
    """Resend failed and held deliveries that were created from `since` to `until`, both included. Times of the API are cut to
    milliseconds, so `until` includes all of its millisecond.

    `among` limits this to some deliveries.

    EXHAUSTED and HELD ones restart their schedule, oldest first, ten a second. RETRYING ones become due at once. Tests
    are left out. Returns how many deliveries the call resends; a repeated call finds none. Raises `Conflict` for an
    inactive webhook, a paused app or a suspended app.
    """
    now = now or timezone.now()
    webhook = _locked(webhook.pk)
    _require_active(webhook)
    created = Q(webhook=webhook, created_at__gte=since)
    created &= Q(created_at__lt=after(until)) if until else Q()
    created &= Q() if among is None else Q(pk__in=among)
    rows = Delivery.objects.filter(created).exclude(event_type__in=NOT_RESENT)
    sooner = _make_due(rows.filter(status=DeliveryStatus.RETRYING), now)
    given_up = _lock(rows.filter(status__in=GIVEN_UP))
    restarted = _spread(given_up, webhook.endpoint, _first_free_moment(webhook, now))
    return sooner + restarted


def _locked(webhook_id: UUID) -> Webhook:
    """Lock the webhook, so that it can't be switched off between our read and our write."""
    return Webhook.objects.defer("secret").select_for_update(no_key=True).get(pk=webhook_id)


def _require_active(webhook: Webhook) -> None:
    if refusal := sending_refusal(webhook):
        raise Conflict(refusal)


def _make_due(rows: QuerySet[Delivery], now: datetime) -> int:
    """Leased rows are left out: they are being sent already, and the result sets their next due time."""
    waiting = rows.filter(status__in=WAITING, lease_until=None)
    _lock(waiting)
    return waiting.update(due_at=now)


def _remember_success(webhook: Webhook, delivery: Delivery) -> None:
    """Keep on the webhook when its endpoint last worked, because the restart clears it from the delivery."""
    if delivery.status == DeliveryStatus.SUCCEEDED and delivery.finished_at:
        webhook.judged_from = max(delivery.finished_at, webhook.judged_from or delivery.finished_at)
        webhook.save(update_fields=["judged_from"])


def _first_free_moment(webhook: Webhook, now: datetime) -> datetime:
    """The time after the last delivery that an earlier call scheduled, so that all calls together keep the rate."""
    pending = Delivery.objects.filter(webhook=webhook, status=DeliveryStatus.PENDING, due_at__gt=now)
    last: datetime | None = pending.aggregate(last=Max("due_at"))["last"]
    return last + STEP if last else now


_SPREAD = """
UPDATE webhooks_delivery AS delivery
SET status = 'PENDING', attempts_made = 0, finished_at = NULL, lease_until = NULL, fence = fence + 1,
    endpoint = %s, due_at = %s + make_interval(secs => (again.position - 1) * %s)
FROM unnest(%s::uuid[]) WITH ORDINALITY AS again (id, position) WHERE delivery.id = again.id
"""


def _spread(ids: list[UUID], endpoint: int, start: datetime) -> int:
    """Restart these locked deliveries, each one `STEP` after the one before."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_SPREAD, [endpoint, start, STEP.total_seconds(), ids])
        return len(ids)
    rows = list(Delivery.objects.filter(id__in=ids).order_by("id"))
    for position, row in enumerate(rows):
        row.status, row.due_at = DeliveryStatus.PENDING, start + position * STEP
        row.attempts_made, row.finished_at, row.lease_until = 0, None, None
        row.endpoint, row.fence = endpoint, row.fence + 1
    Delivery.objects.bulk_update(
        rows, ["endpoint", "status", "due_at", "attempts_made", "finished_at", "lease_until", "fence"]
    )
    return len(rows)
