"""How an app's webhooks stand: what the portal says of each."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils import timezone

from common.errors import NotFound
from common.ids import parse_id
from marketplace.models import App
from webhooks import catalogue, health
from webhooks.enums import WAITING, DeliveryStatus, Stage
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import events_of

MOST_COUNTED: Final = 1000


@dataclass(frozen=True, slots=True)
class Standing:
    """A webhook with what is known of its deliveries."""

    webhook: Webhook
    kind: str  # of the pill
    icon: str
    words: str
    reason: str
    events: list[str]
    without_scope: list[str]
    last_success: datetime | None
    next_attempt: datetime | None
    held: int
    disables_at: datetime | None  # once the developer is to be warned


def current_webhooks(app: App) -> QuerySet[Webhook]:
    """Of installations that have not ended; the newest first."""
    rows = Webhook.objects.kept().filter(installation__app=app, installation__uninstalled_at=None)
    around = rows.select_related("installation__app__approved_version", "installation__business")
    return around.defer("secret", "installation__webhook_secret").order_by("-id")


def own_webhook(app: App, webhook_id: object) -> Webhook:
    """Raises NotFound for another app's, a deleted one, or one of an installation that has ended."""
    parsed = parse_id(webhook_id)
    found = current_webhooks(app).filter(pk=parsed).first() if parsed else None
    if found is None:
        raise NotFound("Webhook not found")
    return found


def standings(webhooks: QuerySet[Webhook], now: datetime | None = None) -> list[Standing]:
    """Two statements, however many: a look into an index for each of its times, and what is held for all."""
    now = now or timezone.now()
    of_it = Delivery.objects.filter(webhook=OuterRef("pk"))
    succeeded = of_it.filter(status=DeliveryStatus.SUCCEEDED).order_by("-finished_at")
    waiting = of_it.filter(status__in=WAITING, due_at__isnull=False).order_by("due_at")
    rows = webhooks.annotate(
        last_success=Subquery(succeeded.values("finished_at")[:1]),
        next_attempt=Subquery(waiting.values("due_at")[:1]),
    )
    shown = list(rows)
    held = _held(shown)
    return [_standing(webhook, held.get(webhook.pk, 0), now) for webhook in shown]


def _standing(webhook: Webhook, held: int, now: datetime) -> Standing:
    kind, icon, words, reason = _state(webhook, now)
    warned = health.stage(webhook, now) in (Stage.FAILING, Stage.FAILING_LONGER)
    events = events_of(webhook, webhook.installation)
    return Standing(
        webhook=webhook,
        kind=kind,
        icon=icon,
        words=words,
        reason=reason,
        events=events,
        without_scope=catalogue.without_scope(events, webhook.installation.effective_scopes),
        last_success=webhook.last_success,  # type: ignore[attr-defined]
        next_attempt=webhook.next_attempt,  # type: ignore[attr-defined]
        held=held,
        disables_at=health.disables_at(webhook) if warned else None,
    )


def _state(webhook: Webhook, now: datetime) -> tuple[str, str, str, str]:
    """Kind, icon, word, and the reason where there is one to give."""
    if webhook.disabled_at is not None:
        return "bad", "power", "Switched off", webhook.disabled_reason
    if webhook.lacks_url:
        return "neutral", "pause", "Off", "The app has no Webhook URL. It comes back with one."
    if not webhook.is_active:
        return "neutral", "pause", "Paused", "Events are not recorded for it while it is paused."
    if webhook.failing_since is not None:
        return "warn", "triangle-alert", "Failing", f"No success for {_span(now - webhook.failing_since)}."
    return "ok", "check", "Active", ""


def _span(time: timedelta) -> str:
    hours = int(time.total_seconds() // 3600)
    return f"{hours} hours" if hours > 1 else "some time"


def _held(webhooks: Iterable[Webhook]) -> dict[UUID, int]:
    held = Delivery.objects.filter(webhook__in=webhooks, status=DeliveryStatus.HELD).order_by()
    return dict(held.values_list("webhook").annotate(number=Count("pk")))


def count_waiting(webhook: Webhook) -> int:
    waiting = Delivery.objects.filter(webhook=webhook, status__in=WAITING)
    return len(waiting.values_list("pk")[:MOST_COUNTED])


def test_result(app: App, delivery_id: object) -> Attempt | None:
    """The attempt of a `webhook.test`, with delivery and webhook; None where there is no such one."""
    parsed = parse_id(delivery_id)
    if parsed is None:
        return None
    attempts = Attempt.objects.filter(delivery=parsed, delivery__webhook__installation__app=app)
    tests = attempts.filter(delivery__event__type=catalogue.WEBHOOK_TEST)
    return tests.select_related("delivery__webhook").defer("delivery__webhook__secret").first()
