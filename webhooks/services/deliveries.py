"""What happens to deliveries besides being sent."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from common.errors import Conflict
from webhooks import catalogue
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.kick import kick
from webhooks.models import Delivery, Webhook
from webhooks.queries import require_erasure_due

RECOVERED_PER_SECOND: Final = 10  # per webhook; what is new comes in between
STEP: Final = timedelta(seconds=1) / RECOVERED_PER_SECOND
GIVEN_UP: Final = (DeliveryStatus.EXHAUSTED, DeliveryStatus.HELD)

# How a finished delivery starts its schedule anew. A raised fence drops what is known of earlier attempts.
_ANEW: Final[dict[str, Any]] = {
    "status": DeliveryStatus.PENDING,
    "attempts_made": 0,
    "finished_at": None,
    "lease_until": None,
    "fence": F("fence") + 1,
}

# Switching off


def cancel_waiting(*, webhooks: QuerySet[Webhook], now: datetime) -> int:
    """Turn what still waits for these webhooks into CANCELLED. Returns how many.

    A raised fence makes the result of an attempt under way come too late to change that. The erasure is none
    of this: it goes out although webhook and installation have ended.
    """
    return _take_away(Q(webhook__in=webhooks, status__in=WAITING), DeliveryStatus.CANCELLED, now)


def cancel_held(*, webhooks: QuerySet[Webhook], now: datetime) -> int:
    """Turn what is held for webhooks that can't be switched on any more into CANCELLED. Returns how many."""
    return _take_away(Q(webhook__in=webhooks, status=DeliveryStatus.HELD), DeliveryStatus.CANCELLED, now)


def hold_waiting(*, webhook: Webhook) -> int:
    """Turn what still waits for a webhook that is being disabled into HELD. Returns how many."""
    return _take_away(Q(webhook=webhook, status__in=WAITING), DeliveryStatus.HELD, None)


def cancel_erasure(*, event_id: UUID, now: datetime) -> int:
    """Turn what waits of a data erasure that is no longer wanted into CANCELLED. Returns how many."""
    return _change(Delivery.objects.filter(event=event_id, status__in=WAITING), DeliveryStatus.CANCELLED, now)


def _take_away(which: Q, status: DeliveryStatus, finished_at: datetime | None) -> int:
    """From the dispatcher, whatever it is doing."""
    return _change(
        Delivery.objects.filter(which).exclude(event__type=catalogue.DATA_ERASURE), status, finished_at
    )


@transaction.atomic
def _change(rows: QuerySet[Delivery], status: DeliveryStatus, finished_at: datetime | None) -> int:
    _lock(rows)
    return rows.update(
        status=status, due_at=None, lease_until=None, fence=F("fence") + 1, finished_at=finished_at
    )


@transaction.atomic
def follow_url(*, webhooks: QuerySet[Webhook], endpoint: int) -> int:
    """Take what waits for these webhooks along to the endpoint that they have now. Part of a change of their URL."""
    waiting = Delivery.objects.filter(webhook__in=webhooks, status__in=WAITING).exclude(endpoint=endpoint)
    return Delivery.objects.filter(id__in=_lock(waiting)).update(endpoint=endpoint)


def _lock(rows: QuerySet[Delivery]) -> list[UUID]:
    """In the order of the dispatcher's own writes, so that the two can't wait for each other in a circle."""
    return list(rows.order_by("id").select_for_update(of=("self",)).values_list("id", flat=True))


# Sending again


@transaction.atomic
def redeliver(*, delivery: Delivery, now: datetime | None = None) -> Delivery:
    """Send a delivery again, under its own id; the delivery as it is then.

    Its schedule begins anew, and its attempts are numbered on. One that waits just becomes due, and one that
    is being sent at this moment is left to that. Raises `Conflict` where the webhook is not active (an
    erasure that is due goes out all the same) and for a `webhook.test`, which is sent once.
    """
    now = now or timezone.now()
    webhook = _locked(delivery.webhook_id)
    again = (
        Delivery.objects.select_for_update(of=("self",))
        .select_related("event", "webhook")
        .get(pk=delivery.pk)
    )
    if again.event.type == catalogue.WEBHOOK_TEST:
        raise Conflict("A test is sent once. Test the webhook again instead.")
    if again.event.type == catalogue.DATA_ERASURE:
        require_erasure_due(again, now)
    else:
        _require_active(webhook)
    if again.status in WAITING:
        _make_due(Delivery.objects.filter(pk=again.pk), now)
    else:
        _remember_success(webhook, again)
        Delivery.objects.filter(pk=again.pk).update(due_at=now, endpoint=webhook.endpoint, **_ANEW)
    transaction.on_commit(kick, robust=True)
    again.refresh_from_db(fields=["status", "due_at", "attempts_made", "finished_at", "lease_until", "fence"])
    return again


@transaction.atomic
def recover(
    *, webhook: Webhook, since: datetime, until: datetime | None = None, now: datetime | None = None
) -> int:
    """Send again what was given up or held, of the deliveries created from `since` to `until`, both included.

    EXHAUSTED and HELD ones start anew, the oldest first, ten a second; RETRYING ones become due at once.
    Tests are left out. Returns how many deliveries go out because of the call: repeated, it finds none.
    Raises `Conflict` where the webhook is not active.
    """
    now = now or timezone.now()
    webhook = _locked(webhook.pk)
    _require_active(webhook)
    created = Q(webhook=webhook, created_at__gte=since) & (Q(created_at__lte=until) if until else Q())
    rows = Delivery.objects.filter(created).exclude(event__type=catalogue.WEBHOOK_TEST)
    sooner = _make_due(rows.filter(status=DeliveryStatus.RETRYING), now)
    given_up = _lock(rows.filter(status__in=GIVEN_UP))
    anew = _spread(given_up, webhook.endpoint, _first_free_moment(webhook, now))
    transaction.on_commit(kick, robust=True)
    return sooner + anew


def _locked(webhook_id: UUID) -> Webhook:
    """So that nobody switches the webhook off between our look and our write."""
    return Webhook.objects.defer("secret").select_for_update(no_key=True).get(pk=webhook_id)


def _require_active(webhook: Webhook) -> None:
    if webhook.deleted_at is not None or not webhook.is_active:
        raise Conflict("The webhook is not active. Switch it on first.")


def _make_due(rows: QuerySet[Delivery], now: datetime) -> int:
    """A leased row is being sent already, and its result says when it is due again."""
    waiting = rows.filter(status__in=WAITING, lease_until=None)
    _lock(waiting)
    return waiting.update(due_at=now)


def _remember_success(webhook: Webhook, delivery: Delivery) -> None:
    """The row is about to forget that it was a success, and with it that the endpoint worked."""
    if delivery.status == DeliveryStatus.SUCCEEDED and delivery.finished_at:
        webhook.judged_from = max(delivery.finished_at, webhook.judged_from or delivery.finished_at)
        webhook.save(update_fields=["judged_from"])


def _first_free_moment(webhook: Webhook, now: datetime) -> datetime:
    """After what an earlier call spread over the time to come, so that the rate holds over calls."""
    pending = Delivery.objects.filter(webhook=webhook, status=DeliveryStatus.PENDING, due_at__gt=now)
    last: datetime | None = pending.aggregate(last=Max("due_at"))["last"]
    return last + STEP if last else now


_SPREAD = """
UPDATE webhooks_delivery AS delivery
SET status = 'PENDING', attempts_made = 0, finished_at = NULL, lease_until = NULL, fence = fence + 1,
    endpoint = %s, due_at = %s + make_interval(secs => (again.place - 1) * %s)
FROM unnest(%s::uuid[]) WITH ORDINALITY AS again (id, place) WHERE delivery.id = again.id
"""


def _spread(ids: list[UUID], endpoint: int, start: datetime) -> int:
    """Start these locked deliveries anew, one `STEP` after the other."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_SPREAD, [endpoint, start, STEP.total_seconds(), ids])
        return len(ids)
    rows = list(Delivery.objects.filter(id__in=ids).order_by("id"))
    for place, row in enumerate(rows):
        row.status, row.due_at = DeliveryStatus.PENDING, start + place * STEP
        row.attempts_made, row.finished_at, row.lease_until = 0, None, None
        row.endpoint, row.fence = endpoint, row.fence + 1
    Delivery.objects.bulk_update(
        rows, ["endpoint", "status", "due_at", "attempts_made", "finished_at", "lease_until", "fence"]
    )
    return len(rows)
