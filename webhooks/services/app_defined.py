"""The webhook that an app's Webhook URL brings to each of its installations (contract section 5)."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from installations.models import Installation
from webhooks.health import begin_anew
from webhooks.models import Webhook
from webhooks.services.deliveries import cancel_waiting, follow_url


@transaction.atomic
def follow_app(*, installation: Installation, now: datetime | None = None) -> Webhook | None:
    """Bring the app-defined webhook of an installation in line with the app's Webhook URL as it sees it.

    A URL brings the webhook into being, another one moves it, none switches it off until there is one again. To
    be called whenever one of these may have changed; it changes nothing where they agree. Returns the webhook,
    None where there never was a URL or the installation has ended.

    `installation` is read by `Installation.objects.with_app()`.
    """
    now = now or timezone.now()
    if not installation.is_active:
        return None
    webhook = _existing(installation)
    if webhook is None:
        return _created(installation, now) if installation.webhook_url else None
    if installation.webhook_url:
        _move(webhook, installation.webhook_url, now)
    elif webhook.is_active:
        _switch_off(webhook, now)
    return webhook


def _existing(installation: Installation) -> Webhook | None:
    rows = Webhook.objects.defer("secret").filter(installation=installation, is_app_defined=True)
    return rows.select_for_update(no_key=True).first()


def _created(installation: Installation, now: datetime) -> Webhook:
    """`events` stays empty: it follows the app's list until somebody chooses others. Two who get here at once
    can't both insert, and the constraint makes the later one go by the row of the first."""
    values = {"url": installation.webhook_url, "secret": installation.webhook_secret, "created_at": now}
    return Webhook.objects.get_or_create(installation=installation, is_app_defined=True, defaults=values)[0]


def _move(webhook: Webhook, url: str, now: datetime) -> None:
    if webhook.url == url and not webhook.lacks_url:
        return
    webhook.url = url
    if webhook.lacks_url:
        webhook.lacks_url, webhook.is_active = False, True
    begin_anew(webhook, now)
    webhook.save()
    follow_url(webhook=webhook)


def _switch_off(webhook: Webhook, now: datetime) -> None:
    """The URL stays on the row, as the one it had."""
    webhook.is_active, webhook.lacks_url = False, True
    webhook.save(update_fields=["is_active", "lacks_url"])
    cancel_waiting(webhooks=Webhook.objects.filter(pk=webhook.pk), now=now)
