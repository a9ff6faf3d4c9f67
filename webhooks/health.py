"""The thresholds and reasons of automatic disabling (contract, section 5), and how far a webhook is from it."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Case, PositiveSmallIntegerField, Q, QuerySet, Value, When

from common.times import duration
from webhooks.enums import Stage
from webhooks.models import Webhook

WARNED_AFTER: Final = timedelta(hours=24)
WARNED_AGAIN_AFTER: Final = timedelta(hours=48)
# A webhook is disabled after this long without a success, with at least so many exhausted deliveries and failed attempts,
DISABLED_AFTER: Final = timedelta(hours=72)
EXHAUSTED_AT_LEAST: Final = 3
FAILED_AT_LEAST: Final = 20
# or after two attempts at least this far apart that were both answered 410.
GONE_APART: Final = timedelta(minutes=10)

GONE: Final = f"The endpoint answered 410 Gone to attempts at least {duration(GONE_APART)} apart."
FAILED: Final = (
    f"No delivery has succeeded for {DISABLED_AFTER // timedelta(hours=1)} hours. At least {EXHAUSTED_AT_LEAST} deliveries and "
    f"{FAILED_AT_LEAST} attempts failed in that time."
)


def reset(webhook: Webhook, now: datetime) -> None:
    """Disregard earlier failures, because the webhook has a new URL or was switched on. The caller saves."""
    webhook.judged_from, webhook.failing_since = now, None
    if webhook.disabled_at is None:
        webhook.notified_stage, webhook.notified_at = Stage.WELL, None


def reset_all(webhooks: QuerySet[Webhook], now: datetime, **changes: Any) -> None:
    """`reset` for many webhooks, and save them, with other changes, in one statement."""
    well = Value(Stage.WELL, output_field=PositiveSmallIntegerField())
    enabled = Q(disabled_at=None)
    webhooks.update(
        judged_from=now,
        failing_since=None,
        notified_stage=Case(When(enabled, then=well), default="notified_stage"),
        notified_at=Case(When(enabled, then=None), default="notified_at"),
        **changes,
    )


def stage(webhook: Webhook, now: datetime) -> Stage:
    """The webhook's current stage. The developer is notified of each one."""
    if webhook.disabled_at is not None:
        return Stage.DISABLED
    if webhook.failing_since is None or not webhook.is_active:
        return Stage.WELL
    failing_for = now - webhook.failing_since
    if failing_for >= WARNED_AGAIN_AFTER:
        return Stage.FAILING_LONGER
    return Stage.FAILING if failing_for >= WARNED_AFTER else Stage.WELL


def failing(now: Any) -> Q:
    """Whether the `stage` is at least `FAILING`: the same rule in SQL. `now` is a time, or its `Param`."""
    return Q(disabled_at__isnull=False) | Q(is_active=True, failing_since__lte=now - WARNED_AFTER)


def disables_at(webhook: Webhook) -> datetime | None:
    """The earliest time at which it may be disabled if it keeps failing. None while it works or is off."""
    if webhook.failing_since is None or not webhook.is_active:
        return None
    return webhook.failing_since + DISABLED_AFTER
