"""Reading webhooks, and the one rule of who may be sent what."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from common.errors import Conflict, NotFound
from common.ids import parse_id
from common.times import iso
from installations.models import Installation
from marketplace.models import App
from webhooks import catalogue, health
from webhooks.enums import WAITING, DeliveryStatus, ErasureState
from webhooks.models import Attempt, Delivery, Erasure, Webhook, WebhookQuerySet

MANY: Final = 1000


def webhooks_of(installation: Installation) -> WebhookQuerySet:
    """All that the app has not deleted, the inactive ones too, newest first. Their secrets are not read."""
    return Webhook.objects.kept().filter(installation=installation).defer("secret").order_by("-id")


def webhook_of(installation: Installation, webhook_id: object) -> Webhook:
    """The installation's webhook with this id. Raises NotFound for another's, a deleted one, or no id at all."""
    known_id = parse_id(webhook_id)
    webhook = known_id and Webhook.objects.kept().filter(installation=installation, id=known_id).first()
    if not webhook:
        raise NotFound("Webhook not found")
    return webhook


def events_of(webhook: Webhook, installation: Installation) -> list[str]:
    """The events that a webhook is registered for now.

    The app-defined one goes by its app as long as nobody gave it a list of its own. `installation` is the
    webhook's, read by `Installation.objects.with_app()`.
    """
    return webhook.events or events_of_app(installation)


def events_of_app(installation: Installation) -> list[str]:
    """What the app-defined webhook is sent: the app's `webhookEvents`, or all that the scopes allow now."""
    return installation.app.webhook_events or catalogue.allowed_by(installation.effective_scopes)


def may_learn_of(installation: Installation, event_type: str) -> bool:
    """Whether the installation's app may be told of this event now.

    It must still be installed, its app neither suspended nor deleted, and it must hold the event's scope.
    Reads what `Installation.objects.with_app()` brings.
    """
    app = installation.app
    if not installation.is_active or app.suspended_at is not None or app.deleted_at is not None:
        return False
    scope = catalogue.EVENTS[event_type].scope
    return scope is None or scope in installation.effective_scopes


def may_receive(webhook: Webhook, event_type: str) -> bool:
    """Whether this event may be sent to this webhook now."""
    if webhook.deleted_at is not None:
        return False
    if event_type == catalogue.DATA_ERASURE:
        return may_be_told_to_erase(webhook)
    return webhook.is_active and may_learn_of(webhook.installation, event_type)


def may_be_told_to_erase(webhook: Webhook) -> bool:
    """Whether the data erasure may go there: it is owed, and the app is not installed again.

    Neither a webhook that is switched off nor an app that is suspended or deleted stands in the way.
    """
    ended = webhook.installation
    owed = Erasure.objects.filter(installation=ended).exclude(state=ErasureState.CANCELLED)
    again = Installation.objects.active().filter(app=ended.app_id, business=ended.business_id)
    return bool(destination(webhook)) and owed.exists() and not again.exists()


def require_erasure_due(delivery: Delivery, now: datetime) -> None:
    """Raise Conflict where an erasure's delivery may not be sent at will: too early, or no longer wanted."""
    erasure = Erasure.objects.filter(event=delivery.event_id).first()
    if erasure is None or erasure.state == ErasureState.CANCELLED:
        raise Conflict("The app was installed again, so nothing is to be erased.")
    if erasure.due_at > now:
        raise Conflict(f"The merchant may install the app again until {iso(erasure.due_at)}.")


def destination(webhook: Webhook) -> str:
    """The URL to send to now; empty for an app-defined webhook whose app has no Webhook URL at present."""
    return webhook.installation.webhook_url if webhook.is_app_defined else webhook.url


def erasure_state(installation: Installation) -> ErasureState | None:
    """How far the erasure after the uninstall has come; None while the app is installed."""
    state = Erasure.objects.filter(installation=installation).values_list("state", flat=True).first()
    return ErasureState(state) if state else None


def erasures_of(app: App) -> QuerySet[Erasure]:
    """All erasures that an app owed or owes, the newest first, with installation and business."""
    return (
        Erasure.objects.filter(installation__app=app)
        .select_related("installation__business")
        .defer("installation__webhook_secret")
        .order_by("-id")
    )


def must_wait(webhook: Webhook) -> bool:
    """Whether what may not be sent to this webhook is held for it, since it was disabled automatically."""
    return webhook.disabled_at is not None and webhook.deleted_at is None and webhook.installation.is_active


# For the merchant's pages


def failing_since(installations: Iterable[Installation], now: datetime) -> dict[UUID, datetime]:
    """Which of these installations' apps do not take what they are sent, and since when.

    Only those whose developer is told of it by the same rule (`webhooks.health`): for at least 24 hours, or
    disabled. One statement.
    """
    news = Q(disabled_at__isnull=False) | Q(is_active=True, failing_since__lte=now - health.WARNED_AFTER)
    failing = Webhook.objects.kept().filter(news, installation__in=[each.pk for each in installations])
    began = Min(Coalesce("failing_since", "disabled_at"))
    return dict(
        failing.order_by().values("installation").annotate(began=began).values_list("installation", "began")
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """How an installation's app takes what it is sent."""

    last_at: datetime | None  # the newest that it confirmed; rows are kept for 30 days
    given_up: int  # in the last seven days; no more than `MANY` are counted
    failing_since: datetime | None


def taken(installation: Installation, now: datetime) -> Taken:
    """Read from the end of each webhook's index, so that it costs the same whatever was delivered before."""
    succeeded = Delivery.objects.filter(webhook=OuterRef("pk"), status=DeliveryStatus.SUCCEEDED)
    newest = succeeded.order_by("-finished_at").values("finished_at")[:1]
    own = Webhook.objects.filter(installation=installation)
    given_up = Delivery.objects.filter(
        webhook__in=own, status=DeliveryStatus.EXHAUSTED, finished_at__gte=now - timedelta(days=7)
    )
    return Taken(
        last_at=max(filter(None, own.values_list(Subquery(newest), flat=True)), default=None),
        given_up=given_up[:MANY].count(),
        failing_since=failing_since([installation], now).get(installation.pk),
    )


@dataclass(frozen=True, slots=True)
class ErasureStory:
    """A data erasure with its attempts; of those the rows are kept for 30 days, the history keeps the proof."""

    erasure: Erasure
    attempts: list[Attempt]
    next_at: datetime | None


def erasure_story(installation: Installation) -> ErasureStory | None:
    """None while the app is installed."""
    erasure = Erasure.objects.filter(installation=installation).first()
    if erasure is None:
        return None
    if erasure.event_id is None:
        return ErasureStory(erasure, [], None)
    attempts = Attempt.objects.filter(delivery__event=erasure.event_id).order_by("attempted_at", "id")
    waiting = Delivery.objects.filter(event=erasure.event_id, status__in=WAITING)
    return ErasureStory(erasure, list(attempts), waiting.aggregate(next=Min("due_at"))["next"])
