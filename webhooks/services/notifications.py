"""Mails developers about failing webhooks: after 24 hours, after 48 hours, and when one is disabled."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.enums import MailKind
from accounts.services.outbox import post_each
from common.db.rows import for_each
from common.mails.letters import MailDraft
from marketplace.access import people_to_notify
from marketplace.models import App
from webhooks import health
from webhooks.enums import Stage
from webhooks.models import Webhook

# Installations of one app share its Webhook URL, and thousands of them may begin to fail within an hour.
ONE_MAIL_PER_APP_IN: Final = timedelta(hours=1)
LISTED: Final = 20  # webhooks in one mail


def notify_developers(*, now: datetime | None = None) -> int:
    """Mail developers about webhooks that have reached a new stage. Returns the number of apps.

    Each app gets at most one mail an hour, about all of its webhooks. The stage is saved with the mail in one transaction.
    """
    now = now or timezone.now()
    apps = unnotified(now).order_by().values_list("installation__app", flat=True).distinct()
    return for_each(list(apps), lambda app_id: _notify(app_id, now), task="notify_developers")


def unnotified(now: datetime) -> QuerySet[Webhook]:
    """The webhooks at a stage that their developer has not been notified of."""
    failing = Q(
        is_active=True, failing_since__lte=now - health.WARNED_AFTER, notified_stage__lt=Stage.FAILING
    )
    longer = Q(
        is_active=True,
        failing_since__lte=now - health.WARNED_AGAIN_AFTER,
        notified_stage__lt=Stage.FAILING_LONGER,
    )
    disabled = Q(disabled_at__isnull=False, notified_stage__lt=Stage.DISABLED)
    news = Webhook.objects.kept().defer("secret").filter(failing | longer | disabled)
    return news.filter(installation__uninstalled_at=None, installation__app__deleted_at=None)


@transaction.atomic
def _notify(app_id: UUID, now: datetime) -> bool:
    app = App.objects.select_related("developer").get(pk=app_id)
    rows = unnotified(now).filter(installation__app=app).order_by("id")
    news = list(rows.select_for_update(of=("self",), no_key=True))
    since = now - ONE_MAIL_PER_APP_IN
    if not news or Webhook.objects.filter(installation__app=app, notified_at__gt=since).exists():
        return False
    for webhook in news:
        webhook.notified_stage, webhook.notified_at = health.stage(webhook, now), now
    Webhook.objects.bulk_update(news, ["notified_stage", "notified_at"], batch_size=500)
    _mail(app, news)
    return True


def _mail(app: App, webhooks: Sequence[Webhook]) -> None:
    disabled = any(webhook.notified_stage == Stage.DISABLED for webhook in webhooks)
    context = {
        "app": app,
        "groups": _groups(webhooks),
        "rest": max(0, len(webhooks) - LISTED),
        "disabled": disabled,
        "page": f"{settings.BASE_URL}/portal/apps/{app.slug}/{'webhooks' if disabled else 'deliveries'}/",
    }
    subject = f"{app.name}: webhooks {'have been disabled' if disabled else 'are failing'}"
    draft = MailDraft(subject, "webhooks/mail/health.txt", context)
    post_each(people_to_notify(app), draft, kind=MailKind.FAILING_WEBHOOKS)


def _groups(webhooks: Iterable[Webhook]) -> list[tuple[Stage, list[Webhook]]]:
    """The worst stage first."""
    listed = sorted(webhooks, key=lambda webhook: -webhook.notified_stage)[:LISTED]
    return [
        (Stage(stage), list(group))
        for stage, group in groupby(listed, key=lambda webhook: webhook.notified_stage)
    ]
