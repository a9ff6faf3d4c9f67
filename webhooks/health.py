"""How a webhook's health is judged: the rule of automatic disabling (contract section 5) in figures and words."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from webhooks.enums import Stage
from webhooks.models import Webhook

WARNED_AFTER: Final = timedelta(hours=24)
WARNED_AGAIN_AFTER: Final = timedelta(hours=48)
DISABLED_AFTER: Final = timedelta(hours=72)  # without a success, and with at least
EXHAUSTED_AT_LEAST: Final = 3  # deliveries given up and
FAILED_AT_LEAST: Final = 20  # failed attempts in that time; or
GONE_APART: Final = timedelta(minutes=10)  # between two attempts that were answered 410

GONE: Final = "The endpoint answered 410 Gone to attempts at least 10 minutes apart."
FAILED: Final = "No delivery has succeeded for 72 hours, while at least 3 were given up after at least 20 failed attempts."


def begin_anew(webhook: Webhook, now: datetime) -> None:
    """Forget how the webhook did so far, since it has a new URL or a new start. The caller saves."""
    webhook.judged_from, webhook.failing_since = now, None
    if webhook.disabled_at is None:
        webhook.told_stage, webhook.told_at = Stage.WELL, None


def begin_all_anew(webhooks: QuerySet[Webhook], now: datetime) -> None:
    """The same for many at once, and saved."""
    webhooks.update(judged_from=now, failing_since=None)
    webhooks.filter(disabled_at=None).update(told_stage=Stage.WELL, told_at=None)


def stage(webhook: Webhook, now: datetime) -> Stage:
    """How far it has come. The developer is told at each step."""
    if webhook.disabled_at is not None:
        return Stage.DISABLED
    if webhook.failing_since is None or not webhook.is_active:
        return Stage.WELL
    failing_for = now - webhook.failing_since
    if failing_for >= WARNED_AGAIN_AFTER:
        return Stage.FAILING_LONGER
    return Stage.FAILING if failing_for >= WARNED_AFTER else Stage.WELL


def disables_at(webhook: Webhook) -> datetime | None:
    """When it will be disabled at the earliest if it goes on like this; None while it is well or off."""
    if webhook.failing_since is None or not webhook.is_active:
        return None
    return webhook.failing_since + DISABLED_AFTER
