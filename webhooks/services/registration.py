"""Registering webhooks, and their end with the installation."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from common.errors import Conflict, ErrorDetail, Invalid
from common.secrets import new_webhook_secret
from common.url_policy import InvalidUrl, check_destination_url
from installations.models import Installation
from webhooks import catalogue
from webhooks.models import Webhook
from webhooks.services.deliveries import cancel_waiting

MAX_WEBHOOKS = 20  # per installation, the app-defined one not counted


def create_webhook(
    *,
    installation: Installation,
    url: str,
    events: Sequence[str],
    description: str | None = None,
    now: datetime | None = None,
) -> tuple[Webhook, str]:
    """Register a URL for events. Returns the webhook and its secret, which is never shown again.

    Repeated events count once. Raises Invalid with every problem of `url` and `events`, and Conflict for the
    21st webhook or once the app is uninstalled.
    """
    check(url=url, events=events)
    with transaction.atomic():
        # The lock makes the count hold, and keeps an uninstall from passing by.
        locked = Installation.objects.select_for_update(no_key=True).get(pk=installation.pk)
        _require_room(locked)
        webhook = Webhook.objects.create(
            installation=installation,
            url=url,
            secret=new_webhook_secret(test=locked.is_test),
            events=list(dict.fromkeys(events)),
            description=description or "",
            created_at=now or timezone.now(),
        )
    return webhook, webhook.secret


@transaction.atomic
def end_webhooks(*, installation: Installation, now: datetime | None = None) -> None:
    """Switch off all webhooks of an installation that has ended; what waits for them is CANCELLED."""
    webhooks = Webhook.objects.filter(installation=installation)
    webhooks.filter(is_active=True).update(is_active=False)
    cancel_waiting(webhooks=webhooks, now=now or timezone.now())


def check(*, url: str, events: Sequence[str]) -> None:
    """Raise Invalid with every problem at once. May take two seconds to look the host up: no transaction."""
    problems = url_problems(url) + event_problems(events)
    if problems:
        raise Invalid(" ".join(problem["message"] for problem in problems), problems)


def url_problems(url: str) -> list[ErrorDetail]:
    try:
        check_destination_url(url, debug=settings.DEBUG, allow_local=settings.ALLOW_LOCAL_DESTINATIONS)
    except InvalidUrl as problem:
        return [{"field": "url", "message": str(problem)}]
    return []


def event_problems(events: Sequence[str]) -> list[ErrorDetail]:
    if not events:
        return [{"field": "events", "message": "Name at least one event."}]
    return [
        {"field": f"events[{index}]", "message": _why_not(name)}
        for index, name in enumerate(events)
        if name not in catalogue.SUBSCRIBABLE
    ]


def _why_not(name: str) -> str:
    if name in catalogue.UNNAMEABLE:
        return f"{name} can't be registered for: {catalogue.UNNAMEABLE[name]}"
    return f"{name} is not an event. Events are: {', '.join(catalogue.SUBSCRIBABLE)}."


def _require_room(installation: Installation) -> None:
    if not installation.is_active:
        raise Conflict("The app is not installed any more.")
    if Webhook.objects.kept().filter(installation=installation, is_app_defined=False).count() >= MAX_WEBHOOKS:
        raise Conflict(f"An installation has at most {MAX_WEBHOOKS} webhooks. Delete one first.")
