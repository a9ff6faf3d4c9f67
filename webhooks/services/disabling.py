"""Disables webhooks whose endpoints have failed for too long (contract, section 5).

A periodic task judges them once a minute from the rows of deliveries and attempts, so recording attempts costs nothing
extra. A missed or repeated run does no harm.
"""

from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from webhooks import catalogue, health
from webhooks.enums import DeliveryStatus, HeldReason, Stage
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.services.deliveries import hold_waiting

STATE: Final = ("failing_since", "notified_stage", "notified_at")


def judge_webhooks(*, now: datetime | None = None) -> int:
    """Note which webhooks fail and which have recovered, and disable those that have failed for too long.

    Returns how many were disabled. Tests don't count, nor do attempts from before the webhook was last switched on or
    its URL last changed.
    """
    now = now or timezone.now()
    for webhook in suspects(now):
        note_health(webhook=webhook, now=now)
    failed = [(webhook, health.GONE) for webhook in _gone()] + [
        (webhook, health.FAILED) for webhook in _failed(now)
    ]
    return sum(disable(webhook=webhook, reason=reason, now=now) for webhook, reason in failed)


@transaction.atomic
def note_health(*, webhook: Webhook, now: datetime) -> None:
    """Save since when every attempt has failed."""
    locked = _locked(webhook)
    if locked is None:
        return
    before, success = locked.failing_since, _last_success(locked)
    if locked.failing_since and success and success >= locked.failing_since:
        locked.failing_since, locked.notified_stage, locked.notified_at = None, Stage.WELL, None
    if locked.failing_since is None:
        locked.failing_since = _first_failure(
            locked, max(filter(None, (success, locked.judged_from)), default=None)
        )
    if locked.failing_since != before:
        locked.save(update_fields=STATE)


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


def suspects(now: datetime) -> QuerySet[Webhook]:
    """The webhooks that are known to fail, or have a failed delivery since their last success."""
    own = (
        Delivery.objects.filter(webhook=OuterRef("pk")).exclude(event_type=catalogue.WEBHOOK_TEST).order_by()
    )
    succeeded = own.filter(status=DeliveryStatus.SUCCEEDED).order_by("-finished_at")
    retrying = own.filter(status=DeliveryStatus.RETRYING)
    earliest = Value(now - health.DISABLED_AFTER)
    since = Coalesce(Greatest(Subquery(succeeded.values("finished_at")[:1]), earliest), earliest)
    given_up = own.filter(status=DeliveryStatus.EXHAUSTED, finished_at__gt=OuterRef("since"))
    may_fail = Q(failing_since__isnull=False) | Exists(retrying) | Exists(given_up)
    return _watched().annotate(since=since).filter(may_fail)


def _judged(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook).exclude(event_type=catalogue.WEBHOOK_TEST)


def _last_success(webhook: Webhook) -> datetime | None:
    succeeded = _judged(webhook).filter(status=DeliveryStatus.SUCCEEDED).order_by("-finished_at")
    return succeeded.values_list("finished_at", flat=True).first()


def _first_failure(webhook: Webhook, after: datetime | None) -> datetime | None:
    """The time of the first attempt after `after`. All of these failed."""
    failed = _judged(webhook).filter(status__in=(DeliveryStatus.RETRYING, DeliveryStatus.EXHAUSTED))
    attempts = Attempt.objects.all()
    if after:
        failed = failed.filter(Q(finished_at=None) | Q(finished_at__gt=after))
        attempts = attempts.filter(attempted_at__gt=after)
    found: datetime | None = attempts.filter(delivery__in=failed).aggregate(first=Min("attempted_at"))[
        "first"
    ]
    return found


def _gone() -> list[Webhook]:
    """The webhooks that answered 410 to two attempts at least ten minutes apart, with no success in between."""
    gone = (
        Attempt.objects.filter(
            http_status=410,
            delivery__webhook__in=_watched().values("pk"),
            attempted_at__gte=F("delivery__webhook__failing_since"),
        )
        .exclude(delivery__event__type=catalogue.WEBHOOK_TEST)
        .values("delivery__webhook")
        .annotate(first=Min("attempted_at"), last=Max("attempted_at"))
    )
    ids = [row["delivery__webhook"] for row in gone if row["last"] - row["first"] >= health.GONE_APART]
    return list(_watched().filter(pk__in=ids))


def _failed(now: datetime) -> list[Webhook]:
    """The webhooks that have failed for 72 hours, with enough deliveries and attempts to be sure."""
    failing = _watched().filter(failing_since__lte=now - health.DISABLED_AFTER)
    return [webhook for webhook in failing if _failed_enough(webhook)]


def _failed_enough(webhook: Webhook) -> bool:
    """Whether enough deliveries and attempts failed since it began to fail. Counts no further than needed."""
    since = webhook.failing_since
    given_up = _judged(webhook).filter(status=DeliveryStatus.EXHAUSTED, finished_at__gte=since)
    if given_up[: health.EXHAUSTED_AT_LEAST].count() < health.EXHAUSTED_AT_LEAST:
        return False
    attempts = Attempt.objects.filter(delivery__in=_judged(webhook), attempted_at__gte=since)
    return attempts[: health.FAILED_AT_LEAST].count() >= health.FAILED_AT_LEAST
