"""Disables webhooks whose endpoints have failed for too long (contract, section 5).

A periodic task judges them once a minute from the rows of deliveries and attempts, so recording attempts costs nothing
extra. A missed or repeated run does no harm. It begins with what failed, so webhooks that work cost nothing.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from common.db.rows import for_each
from webhooks import catalogue, health
from webhooks.enums import FAILING, DeliveryStatus, HeldReason, Stage
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.services.deliveries import hold_waiting

STATE: Final = ("failing_since", "notified_stage", "notified_at")
BATCH: Final = 500  # webhooks that are locked at once, for milliseconds
_MADE: Final = Coalesce("due_at", "attempted_at")  # by the clock of its store
LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)  # before any attempt


def judge_webhooks(*, now: datetime | None = None) -> int:
    """Note which webhooks fail and which have recovered, and disable those that have failed for too long.

    Returns how many were disabled. Tests don't count, nor do attempts from before the webhook was last switched on or
    its URL last changed.
    """
    now = now or timezone.now()
    ids = list(suspects(now).order_by("pk").values_list("pk", flat=True))
    batches = (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
    for_each(batches, lambda batch: note_health(ids=batch, now=now), task="judge_webhooks")
    return sum(
        for_each(rows, partial(_disable, reason=reason, now=now), task="judge_webhooks")
        for reason, rows in ((health.GONE, _gone()), (health.FAILED, _failed(now)))
    )


def _disable(webhook: Webhook, reason: str, now: datetime) -> bool:
    return disable(webhook=webhook, reason=reason, now=now)


@transaction.atomic
def note_health(*, ids: Sequence[UUID], now: datetime) -> None:
    """Save since when every attempt has failed, and forget it for those that have succeeded since."""
    locked = _failing(_changing(_watched().filter(pk__in=ids), now)).order_by("pk")
    webhooks = list(locked.select_for_update(of=("self",), no_key=True))
    for webhook in webhooks:
        if webhook.failing_since:
            webhook.notified_stage, webhook.notified_at = Stage.WELL, None
        webhook.failing_since = webhook.first_failure  # type: ignore[attr-defined]
    Webhook.objects.bulk_update(webhooks, STATE)


@transaction.atomic
def disable(*, webhook: Webhook, reason: str, now: datetime) -> bool:
    """Switch a webhook off and hold its waiting deliveries. False if it has changed since it was judged."""
    locked = _locked(webhook)
    if locked is None or locked.failing_since != webhook.failing_since:
        return False
    locked.is_active, locked.disabled_reason, locked.disabled_at = False, reason, now
    locked.save(update_fields=["is_active", "disabled_reason", "disabled_at"])
    hold_waiting(webhooks=Webhook.objects.filter(pk=locked.pk), reason=HeldReason.DISABLED)
    return True


def _locked(webhook: Webhook) -> Webhook | None:
    """None if it has been switched off or deleted in the meantime."""
    rows = Webhook.objects.kept().defer("secret").select_for_update(no_key=True)
    return rows.filter(pk=webhook.pk, is_active=True).first()


def _watched() -> QuerySet[Webhook]:
    rows = Webhook.objects.kept().defer("secret")
    return rows.filter(is_active=True, installation__uninstalled_at=None)


# The webhooks with a failed delivery, each looked up behind the one before it in the index `delivery_failed`, however many
# deliveries of each failed. The condition is that of the index.
_WITH_FAILURES: Final = """
WITH RECURSIVE failed AS (
    SELECT * FROM ({first}) AS first
    UNION ALL
    SELECT ({next}) FROM failed WHERE webhook_id IS NOT NULL
)
SELECT webhook_id FROM failed WHERE webhook_id IS NOT NULL
"""
_FAILED: Final = """
SELECT webhook_id FROM webhooks_delivery
WHERE status IN ('RETRYING', 'EXHAUSTED') AND event_type <> 'webhook.test' {after}
ORDER BY webhook_id LIMIT 1
"""
_FAILING: Final = "SELECT id FROM webhooks_webhook WHERE failing_since IS NOT NULL"


def _may_fail() -> RawSQL:
    """SQL for the ids of the webhooks that are known to fail, or have a failed delivery."""
    found = _WITH_FAILURES.format(
        first=_FAILED.format(after=""), next=_FAILED.format(after="AND webhook_id > failed.webhook_id")
    )
    return RawSQL(f"SELECT * FROM ({found}) AS failed UNION {_FAILING}", [])  # noqa: S608, S611  no values


def suspects(now: datetime) -> QuerySet[Webhook]:
    """The webhooks whose state changes, found by what failed."""
    return _changing(_watched().filter(pk__in=_may_fail()), now)


def _changing(webhooks: QuerySet[Webhook], now: datetime) -> QuerySet[Webhook]:
    """Those that have a failed delivery since their last success, or a success since they fail. Annotates `success`, the time
    of the last one.
    """
    retrying = _judged(status=DeliveryStatus.RETRYING)
    earliest = Value(now - health.DISABLED_AFTER)
    since = Coalesce(Greatest(F("success"), earliest), earliest)
    given_up = _judged(status=DeliveryStatus.EXHAUSTED, finished_at__gt=OuterRef("since"))
    begins = Q(failing_since=None) & (Exists(retrying) | Exists(given_up))
    ends = Q(success__gte=F("failing_since"))
    succeeded = _judged(status=DeliveryStatus.SUCCEEDED).order_by("-finished_at")
    success = Subquery(succeeded.values("finished_at")[:1])
    return webhooks.annotate(success=success, since=since).filter(begins | ends)


def _judged(**conditions: Any) -> QuerySet[Delivery]:
    """The deliveries of the webhook that a query around this one is about."""
    rows = Delivery.objects.filter(webhook=OuterRef("pk"), **conditions).order_by()
    return rows.exclude(event_type=catalogue.WEBHOOK_TEST)


def _failing(webhooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    """Annotate `first_failure`: the time of the first attempt since the last success, or since the webhook is judged. All of
    these failed.
    """
    judged_from = Coalesce("judged_from", Value(LONG_AGO))
    after = Greatest(Coalesce("success", Value(LONG_AGO)), judged_from)
    failed = Attempt.objects.filter(
        Q(delivery__finished_at=None) | Q(delivery__finished_at__gt=OuterRef("after")),
        delivery__webhook=OuterRef("pk"),
        delivery__status__in=FAILING,
        attempted_at__gt=OuterRef("after"),
    ).exclude(delivery__event_type=catalogue.WEBHOOK_TEST)
    first = failed.order_by().values("delivery__webhook").annotate(first=Min(_MADE)).values("first")
    return webhooks.annotate(after=after).annotate(first_failure=Subquery(first))


def _gone() -> list[Webhook]:
    """The webhooks that answered 410 to two attempts at least ten minutes apart, with no success in between."""
    gone = (
        Attempt.objects.filter(
            http_status=410,
            delivery__webhook__in=_watched().values("pk"),
            attempted_at__gte=F("delivery__webhook__failing_since"),
        )
        .exclude(delivery__event_type=catalogue.WEBHOOK_TEST)
        .values("delivery__webhook")
        .annotate(first=Min(_MADE), last=Max(_MADE))
    )
    ids = [row["delivery__webhook"] for row in gone if row["last"] - row["first"] >= health.GONE_APART]
    return list(_watched().filter(pk__in=ids))


def _failed(now: datetime) -> list[Webhook]:
    """The webhooks that have failed for 72 hours, with enough deliveries and attempts to be sure. Counts no further."""
    given_up = _judged(status=DeliveryStatus.EXHAUSTED, finished_at__gte=OuterRef("failing_since"))
    attempts = Attempt.objects.filter(
        delivery__webhook=OuterRef("pk"), attempted_at__gte=OuterRef("failing_since")
    ).exclude(delivery__event_type=catalogue.WEBHOOK_TEST)
    enough = Exists(_at_least(health.EXHAUSTED_AT_LEAST, given_up)) & Exists(
        _at_least(health.FAILED_AT_LEAST, attempts)
    )
    return list(_watched().filter(enough, failing_since__lte=now - health.DISABLED_AFTER))


def _at_least(count: int, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Has a row if there are so many."""
    return rows[count - 1 : count]
