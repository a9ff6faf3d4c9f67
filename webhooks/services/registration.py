"""Registers, changes and deletes webhooks for apps, and ends them with the installation."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from common.db.rows import get_or_not_found
from common.errors import Conflict, ErrorDetail, Invalid
from common.http.url_policy import InvalidUrl, check_destination_url
from common.secrets import new_webhook_secret
from installations.models import Installation, with_versions
from webhooks import catalogue
from webhooks.filters import rules
from webhooks.health import reset
from webhooks.models import Webhook
from webhooks.queries import destination, events_of, filter_of
from webhooks.services.deliveries import cancel_held, cancel_waiting, follow_url

MAX_WEBHOOKS = 20  # per installation, besides the app-defined one


def create_webhook(
    *,
    installation: Installation,
    url: str,
    events: Sequence[str],
    filter_: dict[str, Any] | None = None,
    description: str | None = None,
    now: datetime | None = None,
) -> tuple[Webhook, str]:
    """Register a URL for events. Returns the webhook and its secret, which is never shown again.

    Repeated events count once. Raises Invalid with every problem of `url`, `events` and `filter`, and Conflict for the
    21st webhook or once the app is uninstalled.
    """
    check(url=url, events=events, filter_=filter_)
    with transaction.atomic():
        # The lock keeps the count valid, and an uninstall out.
        locked = Installation.objects.select_for_update(no_key=True).get(pk=installation.pk)
        _require_room(locked)
        webhook = Webhook.objects.create(
            installation=installation,
            url=url,
            secret=new_webhook_secret(test=locked.is_test),
            events=list(dict.fromkeys(events)),
            filter=_written(filter_),
            description=description or "",
            created_at=now or timezone.now(),
        )
    return webhook, webhook.secret


def change_webhook(*, webhook: Webhook, changes: Mapping[str, Any], now: datetime | None = None) -> Webhook:
    """Change any of `url`, `events`, `filter`, `description` and `is_active`. Returns the changed webhook.

    Switching it off cancels its waiting deliveries. Switching it on ends an automatic disabling, but held deliveries
    stay held until `recover`. Values that stay the same change nothing.

    Raises Invalid; Conflict for another URL or filter of the app-defined webhook, or for switching that on while the app has no
    Webhook URL; and NotFound if the webhook has been deleted in the meantime.
    """
    moves = changes.get("url", webhook.url) != webhook.url
    problems = (
        url_problems(changes["url"]) if moves else []
    )  # before the transaction: a look-up may take seconds
    with transaction.atomic():
        locked = _locked(webhook)
        _refuse(problems + _problems_of_changes(locked, changes))
        _set_url(locked, changes.get("url", locked.url), now := now or timezone.now())
        _set_filter(locked, changes)
        if "events" in changes:
            locked.events = list(dict.fromkeys(changes["events"]))
        locked.description = changes.get("description", locked.description) or ""
        if changes.get("is_active", locked.is_active) != locked.is_active:
            _switch(locked, changes["is_active"], now)
        elif not changes.get("is_active", True):
            locked.lacks_url = False  # the app wants it off, so a new Webhook URL doesn't switch it on
        locked.save()
        follow_url(webhooks=Webhook.objects.filter(pk=locked.pk), endpoint=locked.endpoint)
    return locked


@transaction.atomic
def delete_webhook(*, webhook: Webhook, now: datetime | None = None) -> None:
    """Delete a webhook and cancel its waiting and held deliveries.

    Raises Conflict for the app-defined one, and NotFound if it has been deleted in the meantime.
    """
    if webhook.is_app_defined:
        raise Conflict(
            "The app-defined webhook can be changed but not deleted. Switch it off instead.",
            code="webhook_not_deletable",
        )
    locked = _locked(webhook)
    locked.is_active, locked.deleted_at = False, now or timezone.now()
    locked.save(update_fields=["is_active", "deleted_at"])
    _end_deliveries(Webhook.objects.filter(pk=locked.pk), locked.deleted_at)


@transaction.atomic
def end_webhooks(*, installation: Installation, now: datetime | None = None) -> None:
    """Switch off all webhooks of an ended installation, and cancel their waiting and held deliveries."""
    webhooks = Webhook.objects.filter(installation=installation)
    webhooks.filter(is_active=True).update(is_active=False)
    _end_deliveries(webhooks, now or timezone.now())


def _end_deliveries(webhooks: QuerySet[Webhook], now: datetime) -> None:
    cancel_waiting(webhooks=webhooks, now=now)
    cancel_held(webhooks=webhooks, now=now)


def check(*, url: str, events: Sequence[str], filter_: Any = None) -> None:
    """Raise Invalid with all problems. Resolving the host may take two seconds, so don't call it in a transaction."""
    _refuse(url_problems(url) + event_problems(events) + rules.problems_of(filter_, events))


def _problems_of_changes(webhook: Webhook, changes: Mapping[str, Any]) -> list[ErrorDetail]:
    """Of events and filter, which are checked together whenever one of them becomes another."""
    events, saved = events_of(webhook, webhook.installation), filter_of(webhook, webhook.installation)
    given = changes.get("filter", saved and orjson.loads(saved))
    problems = event_problems(changes["events"]) if "events" in changes else []
    if changes.get("events", events) != events or not _is_same(given, saved):
        problems += rules.problems_of(given, changes.get("events", events))
    return problems


def _refuse(problems: Sequence[ErrorDetail]) -> None:
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
        return [{"field": "events", "message": "List at least one event."}]
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
        raise Conflict("The app is no longer installed.", code="not_installed")
    if Webhook.objects.kept().filter(installation=installation, is_app_defined=False).count() >= MAX_WEBHOOKS:
        raise Conflict(
            f"An installation has at most {MAX_WEBHOOKS} webhooks. Delete one first.",
            code="too_many_webhooks",
        )


def _locked(webhook: Webhook) -> Webhook:
    kept = Webhook.objects.kept().select_for_update(of=("self",), no_key=True)
    rows = kept.select_related(*with_versions("installation__"), "installation__business")
    return get_or_not_found(rows, webhook.pk, "Webhook not found")


def _set_url(webhook: Webhook, url: str, now: datetime) -> None:
    if url == webhook.url:
        return
    if webhook.is_app_defined:
        raise Conflict(
            "The URL of this webhook is the app's Webhook URL. Change it there.", code="webhook_url_fixed"
        )
    webhook.url = url
    reset(webhook, now)


def _set_filter(webhook: Webhook, changes: Mapping[str, Any]) -> None:
    if "filter" not in changes or _is_same(changes["filter"], filter_of(webhook, webhook.installation)):
        return
    if webhook.is_app_defined:
        raise Conflict(
            "The filter of this webhook is the app's webhookFilter. Change it there.",
            code="webhook_filter_fixed",
        )
    webhook.filter = _written(changes["filter"])


def _is_same(given: dict[str, Any] | None, saved: str | None) -> bool:
    """Whatever the order of keys."""
    kept = saved and orjson.loads(saved)
    return orjson.dumps(given, option=orjson.OPT_SORT_KEYS) == orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)


def _written(given: dict[str, Any] | None) -> str | None:
    return None if given is None else orjson.dumps(given).decode()


def _switch(webhook: Webhook, on: bool, now: datetime) -> None:
    if not on:
        webhook.is_active = False
        cancel_waiting(webhooks=Webhook.objects.filter(pk=webhook.pk), now=now)
        return
    if not destination(webhook):
        raise Conflict("The app has no Webhook URL to send events to. Set one first.", code="no_webhook_url")
    webhook.is_active, webhook.lacks_url = True, False
    webhook.disabled_reason, webhook.disabled_at = "", None
    reset(webhook, now)
