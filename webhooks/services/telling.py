"""Telling developers that their webhooks fail, by e-mail: after 24 hours, after 48, and when one is disabled."""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from marketplace.models import App
from webhooks import health
from webhooks.enums import Stage
from webhooks.models import Webhook

log = logging.getLogger(__name__)

# Installations of one app share its Webhook URL, and thousands of them may begin to fail within an hour.
ONE_MAIL_PER_APP_IN: Final = timedelta(hours=1)
NAMED: Final = 20  # webhooks in one mail


def tell_developers(*, now: datetime | None = None) -> int:
    """Mail to each developer what they don't know yet of the health of an app's webhooks. Returns the mails.

    One mail for an app in an hour, about all of its webhooks. What is told is written down first and the mail
    sent on commit, so that nobody is told twice; a mail server that fails is logged, and the portal still shows
    the same.
    """
    now = now or timezone.now()
    apps = _untold(now).order_by().values_list("installation__app", flat=True).distinct()
    return sum(_tell(app_id, now) for app_id in list(apps))


def _untold(now: datetime) -> QuerySet[Webhook]:
    """Those that have come further than their developer was told."""
    failing = Q(is_active=True, failing_since__lte=now - health.WARNED_AFTER, told_stage__lt=Stage.FAILING)
    longer = Q(
        is_active=True,
        failing_since__lte=now - health.WARNED_AGAIN_AFTER,
        told_stage__lt=Stage.FAILING_LONGER,
    )
    disabled = Q(disabled_at__isnull=False, told_stage__lt=Stage.DISABLED)
    news = Webhook.objects.kept().defer("secret").filter(failing | longer | disabled)
    return news.filter(installation__uninstalled_at=None, installation__app__deleted_at=None)


@transaction.atomic
def _tell(app_id: UUID, now: datetime) -> bool:
    app = App.objects.select_related("developer").get(pk=app_id)
    webhooks = (
        _untold(now).filter(installation__app=app).order_by("id").select_for_update(of=("self",), no_key=True)
    )
    news = list(webhooks)
    if not news or _told_lately(app, now):
        return False
    for webhook in news:
        webhook.told_stage, webhook.told_at = health.stage(webhook, now), now
    Webhook.objects.bulk_update(news, ["told_stage", "told_at"], batch_size=500)
    transaction.on_commit(partial(_mail, app, news))
    return True


def _told_lately(app: App, now: datetime) -> bool:
    told = Webhook.objects.filter(installation__app=app, told_at__gt=now - ONE_MAIL_PER_APP_IN)
    return told.exists()


def _mail(app: App, webhooks: Sequence[Webhook]) -> None:
    disabled = any(webhook.told_stage == Stage.DISABLED for webhook in webhooks)
    context = {
        "app": app,
        "groups": _groups(webhooks),
        "rest": max(0, len(webhooks) - NAMED),
        "disabled": disabled,
        "portal": f"{settings.BASE_URL}/portal/apps/{app.slug}/",
    }
    subject = f"{app.name}: webhooks {'have been disabled' if disabled else 'are failing'}"
    try:
        send_mail(subject, render_to_string("webhooks/mail/health.txt", context), None, [app.developer.email])
    except Exception:
        log.exception("The developer of %s could not be told of its webhooks.", app.slug)


def _groups(webhooks: Iterable[Webhook]) -> list[tuple[Stage, list[Webhook]]]:
    """The worst first."""
    named = sorted(webhooks, key=lambda webhook: -webhook.told_stage)[:NAMED]
    return [
        (Stage(stage), list(group)) for stage, group in groupby(named, key=lambda webhook: webhook.told_stage)
    ]
