"""Explains from the stored rows why an event did not arrive, or when it did.

Past states that no row keeps (a list of events or a filter that was edited, an endpoint that was switched off and on again) are
named as such, never guessed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

import orjson
from django.db.models import Q
from django.utils import timezone

from accounts.models import Business
from common.times import shifted
from installations.enums import GRANTING
from installations.models import HistoryEntry, Installation
from marketplace.enums import ReviewKind
from marketplace.models import App, ReviewEntry
from webhooks import catalogue
from webhooks.enums import DeliveryStatus, HeldReason
from webhooks.filters.judging import stopped_by
from webhooks.models import Delivery, Event, Webhook
from webhooks.queries import events_of, filter_of
from webhooks.services.retention import KEPT

WITHIN: Final = timedelta(minutes=15)  # before and after the time that was asked for
MOST_EVENTS: Final = 10


class Cause(StrEnum):
    OLDER_THAN_KEPT = "older than kept"
    NOT_INSTALLED_YET = "not installed yet"
    UNINSTALLED = "uninstalled"
    APP_SUSPENDED = "app suspended"
    SCOPE_MISSING = "scope missing"
    SCOPE_GRANTED_LATER = "scope granted later"
    NOTHING_HAPPENED = "nothing happened"
    NO_WEBHOOK = "no webhook"
    REGISTERED_LATER = "registered later"
    DELETED = "deleted"
    NOT_SUBSCRIBED = "not subscribed"
    SWITCHED_OFF = "switched off"
    FILTERED = "filtered"
    NOT_LISTENING_THEN = (
        "not listening then"  # off, not subscribed or filtered at the time; none of these now
    )
    HELD_DISABLED = "held: disabled"
    HELD_PAUSED = "held: paused"
    CANCELLED = "cancelled"
    WAITING = "waiting"
    RETRYING = "retrying"
    DELIVERED = "delivered"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True)
class Reason:
    """`at` is the time that belongs to the cause: of the uninstall, the next attempt, the response. `condition` is what a filter asks
    for, as `field op value`.
    """

    cause: Cause
    at: datetime | None = None
    event: Event | None = None
    webhook: Webhook | None = None
    delivery: Delivery | None = None
    condition: str = ""


def explain(
    *, app: App, business: Business, event_type: str, at: datetime, now: datetime | None = None
) -> list[Reason]:
    """Why events of a type, within 15 minutes of a time, did or didn't arrive. Never empty.

    One reason for each event and webhook, or a single one where no event can be shown. Events that the app had no
    right to learn of are not looked for, so an answer never tells that they happened.
    """
    now = now or timezone.now()
    if shifted(at, WITHIN) < now - KEPT:
        return [Reason(Cause.OLDER_THAN_KEPT)]
    installation = _installation_at(app, business, at)
    if installation is None:
        return [_not_installed(app, business, at)]
    rights = _Rights.of(installation, event_type)
    webhooks = _webhooks(installation)
    around = _events(installation, event_type, at)
    found = _deliveries(around, webhooks)
    sent = {event_id for event_id, _ in found}
    events = [event for event in around if event.pk in sent or rights.lacking(event.occurred_at) is None]
    if not events:
        return [rights.lacking(max(at, installation.installed_at)) or Reason(Cause.NOTHING_HAPPENED)]
    if not webhooks:
        return [Reason(Cause.NO_WEBHOOK, event=event) for event in events]
    return [
        _of_delivery(event, webhook, found[event.pk, webhook.pk])
        if (event.pk, webhook.pk) in found
        else _why_none(rights, event, webhook)
        for event in events
        for webhook in webhooks
    ]


# The installation and its rights


def _installation_at(app: App, business: Business, at: datetime) -> Installation | None:
    """The one that was installed at that time, or else the newest that was within 15 minutes of it."""
    still_there = Q(uninstalled_at=None) | Q(uninstalled_at__gt=shifted(at, -WITHIN))
    around = Q(installed_at__lte=shifted(at, WITHIN)) & still_there
    rows = Installation.objects.with_app().filter(around, app=app, business=business)
    found = list(rows.defer("webhook_secret").order_by("-installed_at", "-id"))
    return next((each for each in found if _was_installed(each, at)), found[0] if found else None)


def _was_installed(installation: Installation, at: datetime) -> bool:
    ended_at = installation.uninstalled_at
    return installation.installed_at <= at and (ended_at is None or ended_at > at)


def _not_installed(app: App, business: Business, at: datetime) -> Reason:
    own = Installation.objects.filter(app=app, business=business)
    ended = own.filter(uninstalled_at__lte=at).order_by("-uninstalled_at").first()
    if ended:
        return Reason(Cause.UNINSTALLED, ended.uninstalled_at)
    first = own.order_by("installed_at").first()
    return Reason(Cause.NOT_INSTALLED_YET, first.installed_at if first else None)


@dataclass(frozen=True, slots=True)
class _Rights:
    """When the app had the right to learn of events of one type. Entries are ordered oldest first."""

    installation: Installation
    scope: str | None
    suspensions: list[ReviewEntry]
    grants: list[HistoryEntry]

    @classmethod
    def of(cls, installation: Installation, event_type: str) -> Self:
        kinds = (ReviewKind.SUSPENDED, ReviewKind.REINSTATED)
        log = ReviewEntry.objects.filter(app=installation.app_id, kind__in=kinds).order_by("at", "id")
        grants = HistoryEntry.objects.filter(installation=installation, kind__in=GRANTING).order_by(
            "at", "id"
        )
        return cls(installation, catalogue.EVENTS[event_type].scope, list(log), list(grants))

    def lacking(self, at: datetime) -> Reason | None:
        """Why the app had no right to events of that time; None if it had."""
        installed = self.installation
        if installed.installed_at > at:
            return Reason(Cause.NOT_INSTALLED_YET, installed.installed_at)
        if installed.uninstalled_at is not None and installed.uninstalled_at <= at:
            return Reason(Cause.UNINSTALLED, installed.uninstalled_at)
        last = next((entry for entry in reversed(self.suspensions) if entry.at <= at), None)
        if last and last.kind == ReviewKind.SUSPENDED:
            return Reason(Cause.APP_SUSPENDED, last.at)
        if self.scope is None:
            return None
        if self.scope not in installed.effective_scopes:
            return Reason(Cause.SCOPE_MISSING)
        return self._granted_later(at)

    def _granted_later(self, at: datetime) -> Reason | None:
        """A test install of the developer's own follows the app's scopes, whose past is not kept."""
        if self.installation.follows_working_copy:
            return None
        before = [entry for entry in self.grants if entry.at <= at]
        if not before or self.scope in before[-1].scopes:
            return None
        later = next(
            (entry.at for entry in self.grants if entry.at > at and self.scope in entry.scopes), None
        )
        return Reason(Cause.SCOPE_GRANTED_LATER, later) if later else None


# Events and deliveries


def _events(installation: Installation, event_type: str, at: datetime) -> list[Event]:
    """The newest events around that time, whether the app had the right to them or not."""
    rows = Event.objects.filter(
        Q(installation=None) | Q(installation=installation),
        business=installation.business_id,
        type=event_type,
        occurred_at__gte=shifted(at, -WITHIN),
        occurred_at__lte=shifted(at, WITHIN),
    )
    return list(rows.order_by("-occurred_at", "-id")[:MOST_EVENTS])


def _webhooks(installation: Installation) -> list[Webhook]:
    """Oldest first, without the one that an uninstall may add to ask for the erasure."""
    rows = Webhook.objects.filter(installation=installation)
    if installation.uninstalled_at is not None:
        rows = rows.filter(created_at__lt=installation.uninstalled_at)
    return list(rows.defer("secret").order_by("id"))


def _deliveries(events: Iterable[Event], webhooks: Iterable[Webhook]) -> dict[tuple[UUID, UUID], Delivery]:
    rows = Delivery.objects.filter(event__in=list(events), webhook__in=list(webhooks))
    return {(each.event_id, each.webhook_id): each for each in rows}


def _of_delivery(event: Event, webhook: Webhook, delivery: Delivery) -> Reason:
    cause, at = _state(delivery)
    return Reason(cause, at, event, webhook, delivery)


def _state(delivery: Delivery) -> tuple[Cause, datetime | None]:
    match delivery.status:
        case DeliveryStatus.PENDING:
            return Cause.WAITING, delivery.due_at
        case DeliveryStatus.RETRYING:
            return Cause.RETRYING, delivery.due_at
        case DeliveryStatus.SUCCEEDED:
            return Cause.DELIVERED, delivery.finished_at
        case DeliveryStatus.EXHAUSTED:
            return Cause.EXHAUSTED, delivery.finished_at
        case DeliveryStatus.HELD:
            is_paused = delivery.held_reason == HeldReason.PAUSED
            return (Cause.HELD_PAUSED if is_paused else Cause.HELD_DISABLED), None
    return Cause.CANCELLED, delivery.finished_at


def _why_none(rights: _Rights, event: Event, webhook: Webhook) -> Reason:
    """Why there is no delivery of an event to a webhook."""
    happened, installation = event.occurred_at, rights.installation
    if webhook.created_at > happened:
        return Reason(Cause.REGISTERED_LATER, webhook.created_at, event, webhook)
    if webhook.deleted_at is not None and webhook.deleted_at <= happened:
        return Reason(Cause.DELETED, webhook.deleted_at, event, webhook)
    if event.type not in events_of(webhook, installation):
        return Reason(Cause.NOT_SUBSCRIBED, None, event, webhook)
    is_off = not webhook.is_active and webhook.disabled_at is None
    if is_off and webhook.deleted_at is None and installation.is_active:
        return Reason(Cause.SWITCHED_OFF, None, event, webhook)
    filter_text = filter_of(webhook, installation)
    if filter_text and (condition := stopped_by(filter_text, event.type, orjson.loads(event.data))):
        return Reason(Cause.FILTERED, None, event, webhook, condition=condition)
    return Reason(Cause.NOT_LISTENING_THEN, None, event, webhook)
