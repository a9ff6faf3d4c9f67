"""Reads webhooks, and decides which events an app may receive."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.db.models import (
    BooleanField,
    DateTimeField,
    ExpressionWrapper,
    F,
    FilteredRelation,
    Min,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
    Value,
)
from django.db.models.functions import Cast, Coalesce

from accounts.models import Business
from common.db.compiled import AmongIds, Compiled, EachOfIds, Param
from common.db.fields import HasItem
from common.db.long_lists import CountOfSome
from common.db.rows import get_or_not_found
from common.errors import Coded
from common.times import to_the_minute
from installations.models import Installation, InstallationQuerySet
from marketplace.models import App
from stores.models import CustomerErasure
from webhooks import catalogue, health
from webhooks.enums import WAITING, DeliveryStatus, ErasureState, HeldReason
from webhooks.filters.judging import stopped_by
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook, WebhookQuerySet

MANY: Final = 1000
# Of a test store's app-defined webhook while the app has no Webhook URL and somebody listens. The name never resolves (RFC 6761), so
# nothing reaches a stranger once the listener has ended.
LISTENED_URL: Final = "https://listener.invalid/webhooks"
SUSPENDED: Final = Coded(
    "The app is suspended. Nothing is sent until a reviewer lifts the suspension.", code="app_suspended"
)
CUSTOMER_ERASED: Final = Coded(
    "The delivery has ended, and its copy of the customer is erased. It can't be resent.",
    code="customer_erased",
)
PAUSED: Final = Coded(
    "The store has paused the app. Held deliveries are sent when the store resumes it.",
    code="held_while_paused",
)


def webhooks_of(installation: Installation) -> WebhookQuerySet:
    """All webhooks that the app has not deleted, inactive ones included, newest first. Secrets are not read."""
    return Webhook.objects.kept().filter(installation=installation).defer("secret").order_by("-id")


def webhook_of(installation: Installation, webhook_id: object) -> Webhook:
    """The installation's webhook. Raises NotFound for another installation's, a deleted one, or a malformed id."""
    kept = Webhook.objects.kept().filter(installation=installation)
    return get_or_not_found(kept, webhook_id, "Webhook not found")


def events_of(webhook: Webhook, installation: Installation) -> list[str]:
    """The events that a webhook is registered for now.

    An app-defined webhook without its own list uses the app's. `installation` is the webhook's, read by
    `Installation.objects.with_app()`.
    """
    return webhook.events or events_of_app(installation)


def events_of_app(installation: Installation) -> list[str]:
    """The events for the app-defined webhook: the app's `webhookEvents`, or all that the current scopes allow."""
    return installation.app.webhook_events or catalogue.allowed_by(installation.effective_scopes)


def filter_of(webhook: Webhook, installation: Installation) -> str | None:
    """The filter that decides which of these events the webhook gets, as JSON text. The app-defined one has the app's.

    `installation` is the webhook's, read by `Installation.objects.with_app()`.
    """
    return installation.app.webhook_filter if webhook.is_app_defined else webhook.filter


def stopped(webhooks: Iterable[Webhook], installation: Installation, event: Event) -> list[str]:
    """For each of an installation's webhooks whose filter keeps an event from it: which condition, in a sentence."""
    data = orjson.loads(event.data)
    found = [
        (webhook.url, stopped_by(filter_of(webhook, installation), event.type, data))
        for webhook in webhooks
        if event.type in events_of(webhook, installation)
    ]
    return [f"Not sent to {url}: its filter asks for {condition}." for url, condition in found if condition]


def filtering(installation: Installation) -> list[Webhook]:
    """The webhooks of an installation that events are recorded for, and that have a filter, oldest first."""
    receiving = Webhook.objects.kept().receiving().filter(installation=installation).defer("secret")
    return [each for each in receiving.order_by("id") if filter_of(each, installation) is not None]


def may_learn_of(installation: Installation, event_type: str) -> bool:
    """Whether the installation's app may receive this event now.

    The app must still be installed, neither suspended nor deleted, and hold the event's scope. `installation` is read
    by `Installation.objects.with_app()`.
    """
    if not installation.is_usable:
        return False
    scope = catalogue.EVENTS[event_type].scope
    return scope is None or scope in installation.effective_scopes


def entitled_to(event_type: str, installations: InstallationQuerySet) -> InstallationQuerySet:
    """Those for which `may_learn_of` is true: the same rule in SQL."""
    usable = installations.usable()
    scope = catalogue.EVENTS[event_type].scope
    return usable if scope is None else usable.holding(scope)


def naming(event_type: str, webhooks: WebhookQuerySet) -> WebhookQuerySet:
    """Those for which `events_of` has the event, whose app may learn of it: the same rule in SQL."""
    by_app = Q(HasItem("installation__app__webhook_events", event_type))
    if event_type in catalogue.SUBSCRIBABLE:
        by_app |= Q(installation__app__webhook_events=[])
    return webhooks.filter(Q(HasItem("events", event_type)) | (Q(events=[]) & by_app))


def may_receive(webhook: Webhook, event_type: str) -> bool:
    """Whether this event may be sent to this webhook now."""
    if webhook.deleted_at is not None:
        return False
    if event_type == catalogue.DATA_ERASURE:
        return may_receive_erasure(webhook)
    if event_type == catalogue.CUSTOMER_ERASURE:
        return bool(destination(webhook))
    if webhook.installation.paused_at is not None and event_type not in catalogue.THROUGH_A_PAUSE:
        return False
    return webhook.is_active and may_learn_of(webhook.installation, event_type)


def may_receive_erasure(webhook: Webhook) -> bool:
    """Whether the data erasure may be sent there: it is owed, and the app is not installed again.

    Inactive webhooks and suspended or deleted apps receive it too.
    """
    ended = webhook.installation
    owed = Erasure.objects.of_businesses().filter(installation=ended).exclude(state=ErasureState.CANCELLED)
    again = Installation.objects.active().filter(app=ended.app_id, business=ended.business_id)
    return bool(destination(webhook)) and owed.exists() and not again.exists()


def resend_refusal(delivery: Delivery, now: datetime) -> str:
    """Why a delivery, read with its event and webhook, can't be resent now. Empty if it can."""
    if delivery.event.type == catalogue.WEBHOOK_TEST:
        return Coded("A test is sent once. Test the webhook again instead.", code="test_not_resent")
    if delivery.event.type == catalogue.DATA_ERASURE:
        return _erasure_refusal(delivery, now)
    if delivery.event.type == catalogue.CUSTOMER_ERASURE:
        return "" if delivery.status in WAITING else CUSTOMER_ERASED
    return sending_refusal(delivery.webhook, delivery.event.type)


def sending_refusal(webhook: Webhook, event_type: str = "") -> str:
    """Why nothing but an erasure can be sent to this webhook now, or nothing of a type; empty if it can."""
    if webhook.installation.app.suspended_at is not None:
        return SUSPENDED
    if webhook.installation.paused_at is not None and event_type not in catalogue.THROUGH_A_PAUSE:
        return PAUSED
    if webhook.deleted_at is not None or not webhook.is_active:
        return Coded("The webhook is not active. Switch it on first.", code="webhook_inactive")
    return ""


def _erasure_refusal(delivery: Delivery, now: datetime) -> str:
    erasure = Erasure.objects.filter(event=delivery.event_id).first()
    if erasure is None or erasure.state == ErasureState.CANCELLED:
        return Coded("The app was installed again, so there is nothing to erase.", code="erasure_cancelled")
    if erasure.due_at > now:
        return Coded(
            f"It is due on {to_the_minute(erasure.due_at)}. Until then the app may be installed again.",
            code="erasure_not_due",
        )
    return ""


def destination(webhook: Webhook) -> str:
    """The URL to send to now. Empty for an app-defined webhook whose app has no Webhook URL, unless a listener has taken its place."""
    if not webhook.is_app_defined:
        return webhook.url
    return webhook.installation.webhook_url or (webhook.url if webhook.url == LISTENED_URL else "")


def erasures_of(app: App) -> QuerySet[Erasure]:
    """The erasures of businesses that an app was asked for, newest first, with installation and business."""
    return (
        Erasure.objects.of_businesses()
        # All have ended, and an index has these alone.
        .filter(installation__app=app, installation__uninstalled_at__isnull=False)
        .select_related("installation__business")
        .defer("installation__webhook_secret")
        .order_by("-id")
    )


def customer_erasures(business: Business) -> QuerySet[CustomerErasure]:
    """The customers that a store has erased, newest first, each with its `requests`: what became of it at each app."""
    asked = Erasure.objects.select_related("installation__app__approved_version", "installation__business")
    asked = asked.defer("installation__webhook_secret").order_by("installation__app__slug", "id")
    rows = CustomerErasure.objects.filter(business=business).select_related("by")
    return rows.prefetch_related(Prefetch("requests", asked)).order_by("-id")


def may_read_payload(delivery: Delivery) -> bool:
    """Whether the developer may read the event's data. Reads the delivery's event.

    Data that was sent once is theirs already. Other data is theirs only while the app may still receive it: not after
    an uninstall, and not without the scope. An erasure is for an app that had all of it to read.
    """
    if delivery.attempt_count > 0 or delivery.event.type in catalogue.ERASURES:
        return True
    installation = Installation.objects.with_terms().get(pk=delivery.webhook.installation_id)
    return may_learn_of(installation, delivery.event.type)


def reason_to_hold(webhook: Webhook, event_type: str) -> HeldReason | None:
    """Why an event that may not be sent to this webhook now is held for it; None if it will never be sent.

    Nothing is held for a suspended app.
    """
    installation = webhook.installation
    is_held = event_type not in catalogue.ERASURES
    if not is_held or webhook.deleted_at is not None or not installation.is_usable:
        return None
    if webhook.disabled_at is not None:
        return HeldReason.DISABLED
    is_paused = webhook.is_active and installation.paused_at is not None
    return HeldReason.PAUSED if is_paused and may_learn_of(installation, event_type) else None


# Events sent twice


@dataclass(frozen=True, slots=True)
class RepeatedUrl:
    """Events that several active webhooks of an installation send to the same URL."""

    url: str
    events: tuple[str, ...]  # in the catalog's order


def repeats(installations: Iterable[Installation]) -> list[RepeatedUrl]:
    """One statement. `installations` are read by `Installation.objects.with_app()`."""
    by_id = {installation.pk: installation for installation in installations}
    active = _ACTIVE.rows(ids=list(by_id))
    of_each = Counter([installation_id for installation_id, *_ in active])
    sent: dict[tuple[UUID, str], Counter[str]] = defaultdict(Counter)
    for installation_id, url, events, is_app_defined in active:
        if of_each[installation_id] > 1:
            installation = by_id[installation_id]
            where = installation.webhook_url if is_app_defined else url
            sent[installation_id, where].update(events or events_of_app(installation))
    found = []
    for (installation_id, url), counts in sent.items():
        allowed = catalogue.allowed_by(by_id[installation_id].effective_scopes)
        if twice := tuple(name for name in allowed if counts[name] > 1):
            found.append(RepeatedUrl(url, twice))
    return found


_ACTIVE: Final = Compiled(
    lambda: (
        Webhook.objects.kept()
        .filter(AmongIds("installation", "ids"), is_active=True)
        .order_by("id")
        .values_list("installation", "url", "events", "is_app_defined")
    ),
    prepared_as="webhooks_active",
)


# For the merchant's pages


def failing_since(installations: Iterable[Installation], now: datetime) -> dict[UUID, datetime]:
    """The installations that receive no updates, each with the time since when.

    Counts webhooks that have failed for at least 24 hours or are disabled, as the mails to developers do
    (`webhooks.health`). One statement.
    """
    return dict(_FAILING.rows(ids=[each.pk for each in installations], now=now))


def _failing() -> Any:
    failing = Webhook.objects.kept().filter(
        health.failing(Cast(Param("now", DateTimeField()), DateTimeField())), AmongIds("installation", "ids")
    )
    began = Min(Coalesce("failing_since", "disabled_at"))
    return (
        failing.order_by().values("installation").annotate(began=began).values_list("installation", "began")
    )


_FAILING: Final[Compiled[Any]] = Compiled(_failing, prepared_as="webhooks_failing")


@dataclass(frozen=True, slots=True)
class DeliveryHealth:
    """How well an installation's app receives updates."""

    last_at: datetime | None  # the last success within 30 days
    given_up: int  # in the last seven days, counted up to `MANY`
    missed_at: datetime | None = None  # the last of these


def delivery_health(installation: Installation, now: datetime) -> DeliveryHealth:
    """Reads only the end of each webhook's index, so the cost doesn't grow with the number of deliveries. One statement."""
    found = _HEALTH.rows(installation=installation.pk, since=now - timedelta(days=7))
    return DeliveryHealth(
        last_at=max((last for last, *_ in found if last), default=None),
        given_up=min(MANY, sum(number for _, number, _ in found)),
        missed_at=max((missed for *_, missed in found if missed), default=None),
    )


def _health() -> Any:
    since = Param("since", DateTimeField())
    sent = Delivery.objects.filter(webhook=OuterRef("pk"))
    newest = sent.filter(status=DeliveryStatus.SUCCEEDED).order_by("-finished_at").values("finished_at")[:1]
    given_up = sent.filter(status=DeliveryStatus.EXHAUSTED, finished_at__gte=since)
    counted = CountOfSome(given_up.order_by().values("pk")[:MANY])
    missed = Subquery(given_up.order_by("-finished_at").values("finished_at")[:1])
    own = Webhook.objects.filter(installation=Param("installation", UUIDField()))
    return own.values_list(Subquery(newest), counted, missed)


_HEALTH: Final[Compiled[Any]] = Compiled(_health, prepared_as="webhooks_delivery_health")


@dataclass(frozen=True, slots=True)
class ErasureStory:
    """A data erasure with its attempts. Attempts are kept for 30 days; the installation's history keeps the proof."""

    erasure: Erasure
    attempts: list[Attempt]
    next_at: datetime | None


def erasure_story(installation: Installation) -> ErasureStory | None:
    """None while the app is installed."""
    erasure = Erasure.objects.of_businesses().filter(installation=installation).first()
    if erasure is None:
        return None
    if erasure.event_id is None:
        return ErasureStory(erasure, [], None)
    attempts = Attempt.objects.filter(delivery__event=erasure.event_id).order_by("attempted_at", "number")
    waiting = Delivery.objects.filter(event=erasure.event_id, status__in=WAITING)
    return ErasureStory(erasure, list(attempts), waiting.aggregate(next=Min("due_at"))["next"])


def of_app_in_order(app: Any, *, oldest_first: bool = False) -> QuerySet[Delivery]:
    """An app's deliveries, the newest first, for a query that is planned once.

    The range and the order are those of one index alone. By `app_id = …` PostgreSQL takes an app for a quarter of all rows where
    there are four, and reads the newest of all apps instead (docs/decisions/0015).
    """
    order = ("-app_id", "id") if oldest_first else ("app_id", "-id")
    return Delivery.objects.filter(app_id__gte=app, app_id__lte=app).order_by(*order)


class DeliveryRow(NamedTuple):
    """A delivery as lists show it, with its webhook, its store, and what its last attempt came to."""

    pk: UUID
    event_type: str
    status: str
    due_at: datetime | None
    attempts_made: int
    attempt_count: int
    created_at: datetime
    webhook_id: UUID
    webhook_url: str
    webhook_description: str
    is_sendable: bool
    is_test: bool
    business_id: UUID
    store: str
    http_status: int | None
    error_class: str
    duration_ms: int | None  # None before the first attempt


def delivery_rows(ids: Collection[UUID]) -> list[DeliveryRow]:
    """Newest first."""
    if not ids:
        return []
    return [DeliveryRow(*row) for row in _ROWS.rows(ids=ids, oldest=min(ids), newest=max(ids))]


_SENDABLE: Final = Q(webhook__is_active=True, webhook__deleted_at=None, webhook__installation__paused_at=None)
# Values alone: instances of a delivery, its webhook, its store and its attempt take four times as long.
_ROWS: Final = Compiled(
    lambda: (
        Delivery.objects.filter(EachOfIds("id", "ids"))
        .annotate(
            last=FilteredRelation(
                "attempts",
                # The two ids leave out partitions.
                condition=Q(
                    attempts__number=F("attempt_count"),
                    attempts__delivery__gte=Param("oldest", UUIDField()),
                    attempts__delivery__lte=Param("newest", UUIDField()),
                ),
            )
        )
        .order_by("-id")
        .values_list(
            "pk", "event_type", "status", "due_at", "attempts_made", "attempt_count", "created_at",
            "webhook", "webhook__url", "webhook__description", ExpressionWrapper(_SENDABLE, BooleanField()),
            "webhook__installation__is_test", "business_id", "webhook__installation__business__name",
            "last__http_status", Coalesce("last__error_class", Value("")), "last__duration_ms",
        )
    ),
    prepared_as="webhooks_delivery_rows",
)  # fmt: skip
