"""An app's webhooks: their status, a test, pause and resume; and the data erasures sent to its Webhook URL."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, OuterRef, QuerySet, Subquery, UUIDField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from common.db.compiled import AmongIds, Compiled, Param
from common.db.finders import get_or_not_found
from common.db.totals import total_of
from common.errors import ServiceError
from common.ids import parse_id
from common.strangers import may_wait_for_strangers
from common.times import duration
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries import descriptions as delivery_descriptions
from developers.portal.deliveries.log import counted
from developers.portal.sandbox.changes import sample_events
from developers.portal.sandbox.first_calls import registration_call
from developers.portal.webhooks.last_day_strip import Strip
from developers.portal.webhooks.rows import endpoint_rows
from installations.models import with_versions
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks import catalogue, health
from webhooks.engine import retry
from webhooks.enums import WAITING, DeliveryStatus, Stage
from webhooks.insight.diagnosis import diagnose
from webhooks.insight.last_day import last_days
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import RepeatedUrl, erasures_of, events_of, repeats
from webhooks.services.registration import change_webhook
from webhooks.services.sandbox.testing import send_test

PER_PAGE: Final = 20


@dataclass(frozen=True, slots=True)
class WebhookStatus:
    """A webhook with the state of its deliveries."""

    webhook: Webhook
    kind: str  # of the pill
    icon: str
    label: str
    reason: str
    events: list[str]
    without_scope: list[str]
    last_success: datetime | None
    next_attempt: datetime | None
    held: int
    disables_at: datetime | None  # set once the developer must be warned
    strip: Strip  # of the last 24 hours


@require_safe
@app_page
def webhook_list(request: HttpRequest, app: App) -> HttpResponse:
    """The URL names the test whose result is shown, so that a reload sends nothing."""
    wanted = page_request(request.GET, default=PER_PAGE, maximum=PER_PAGE)
    webhooks = current_webhooks(app)
    # The ids first: the look-ups in deliveries would be made for all rows before the page too.
    shown = [pk for (pk,) in _CURRENT.rows(limit=wanted.limit, offset=wanted.offset, app=app.pk)]
    endpoints = webhook_statuses(shown)
    installation = sandbox_installation(app=app, developer=current_developer(request))
    is_all = wanted.page == 1 and len(shown) < wanted.limit
    total = len(shown) if is_all else total_of(webhooks)
    tested = test_result(app, request.GET.get("tested"))
    context = {
        "app": app,
        "endpoints": endpoint_rows(request, app, endpoints, installation, tested, is_open=total == 1),
        "failing": [each for each in endpoints if each.disables_at],
        "repeats": _repeats(endpoints),
        "total": total,
        "page_request": wanted,
        "installation": installation,
        "sample_events": sample_events(installation) if installation else (),
        "curl": registration_call(app),
        "plan": delivery_descriptions.retry_schedule(),
        "most_attempts": len(retry.delays()) + 1,
        "disabled_when": (health.GONE, health.FAILED),
        "warned_after": f"{duration(health.WARNED_AFTER)} and {duration(health.WARNED_AGAIN_AFTER)}",
    }
    return render(request, "developers/portal/webhooks/list.html", context)


def _repeats(endpoints: Iterable[WebhookStatus]) -> list[tuple[RepeatedUrl, int]]:
    """What endpoints on this page send twice, each with the number of stores where they do."""
    installations = {each.webhook.installation_id: each.webhook.installation for each in endpoints}
    stores = Counter(repeats(installations.values()))
    return list(stores.items())


def current_webhooks(app: Any) -> QuerySet[Webhook]:
    """Webhooks of active installations, newest first."""
    return _with_installation().filter(installation__app=app, installation__uninstalled_at=None)


def _with_installation() -> QuerySet[Webhook]:
    around = Webhook.objects.kept().select_related(*with_versions("installation__"), "installation__business")
    return around.defer("secret", "installation__webhook_secret").order_by("-id")


def _with_times() -> QuerySet[Webhook]:
    deliveries = Delivery.objects.filter(webhook=OuterRef("pk"))
    succeeded = deliveries.filter(status=DeliveryStatus.SUCCEEDED).order_by("-finished_at")
    waiting = deliveries.filter(status__in=WAITING, due_at__isnull=False).order_by("due_at")
    return (
        _with_installation()
        .filter(AmongIds("id", "ids"))
        .annotate(
            last_success=Subquery(succeeded.values("finished_at")[:1]),
            next_attempt=Subquery(waiting.values("due_at")[:1]),
        )
    )


_SHOWN: Final = Compiled(_with_times, prepared_as="portal_webhooks")
_HELD: Final[Compiled[Any]] = Compiled(
    lambda: (
        Delivery.objects.filter(AmongIds("webhook", "ids"), status=DeliveryStatus.HELD)
        .order_by()
        .values_list("webhook")
        .annotate(number=Count("pk"))
    ),
    prepared_as="portal_held",
)
_CURRENT: Final[Compiled[Any]] = Compiled(
    lambda: current_webhooks(Param("app", UUIDField())).values_list("pk")
)


def webhook_statuses(ids: Sequence[UUID]) -> list[WebhookStatus]:
    """Three statements, however many webhooks: one with an index lookup per time and webhook, one for all held events,
    and one for the last 24 hours."""
    now = timezone.now()
    shown = _SHOWN.rows(ids=ids)
    held = _held(shown)
    days = last_days([webhook.pk for webhook in shown], now)
    return [_status(webhook, held.get(webhook.pk, 0), Strip(days[webhook.pk]), now) for webhook in shown]


def _status(webhook: Webhook, held: int, strip: Strip, now: datetime) -> WebhookStatus:
    kind, icon, label, reason = _state(webhook, now)
    warned = health.stage(webhook, now) in (Stage.FAILING, Stage.FAILING_LONGER)
    events = events_of(webhook, webhook.installation)
    return WebhookStatus(
        webhook=webhook,
        kind=kind,
        icon=icon,
        label=label,
        reason=reason,
        events=events,
        without_scope=catalogue.without_scope(events, webhook.installation.effective_scopes),
        last_success=webhook.last_success,  # type: ignore[attr-defined]
        next_attempt=webhook.next_attempt,  # type: ignore[attr-defined]
        held=held,
        disables_at=health.disables_at(webhook) if warned else None,
        strip=strip,
    )


def _state(webhook: Webhook, now: datetime) -> tuple[str, str, str, str]:
    """Kind, icon and label of the pill, and a reason that may be empty."""
    if webhook.disabled_at is not None:
        return "bad", "power", "Disabled", webhook.disabled_reason
    if webhook.is_active and webhook.installation.app.suspended_at is not None:
        return (
            "bad",
            "ban",
            "Suspended",
            "The app is suspended. Nothing is sent, and nothing is kept for later.",
        )
    if webhook.is_active and webhook.installation.paused_at is not None:
        return (
            "neutral",
            "pause",
            "Paused by the store",
            "Events are held and sent when the store resumes the app.",
        )
    if webhook.lacks_url:
        return "neutral", "pause", "Off", "The app has no Webhook URL. Set one to turn this webhook on."
    if not webhook.is_active:
        return "neutral", "pause", "Paused", "Events aren't recorded for this webhook while it's paused."
    if webhook.failing_since is not None:
        return "warn", "triangle-alert", "Failing", f"No success for {duration(now - webhook.failing_since)}."
    return "ok", "check", "Active", ""


def _held(webhooks: Iterable[Webhook]) -> dict[UUID, int]:
    return dict(_HELD.rows(ids=[each.pk for each in webhooks]))


def test_result(app: App, delivery_id: str | None) -> dict[str, Any]:
    """Template values for the attempt of a `webhook.test`; empty if the app has no such delivery."""
    parsed = parse_id(delivery_id)
    if parsed is None:
        return {}
    attempts = Attempt.objects.filter(delivery=parsed, delivery__webhook__installation__app=app)
    tests = attempts.filter(delivery__event__type=catalogue.WEBHOOK_TEST)
    attempt = tests.select_related("delivery__webhook").defer("delivery__webhook__secret").first()
    if attempt is None:
        return {}
    diagnosis = diagnose(attempt.http_status, attempt.error_class)
    seen = diagnosis.seen if diagnosis else f"your endpoint answered {attempt.http_status}"
    headline = f"{'Failed' if diagnosis else 'It works'}: {seen}, after {attempt.duration_ms:,} ms"
    return {"tested": attempt, "tested_headline": headline, "tested_diagnosis": diagnosis}


@may_wait_for_strangers
@require_POST
@app_page
def webhook_test(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Waits for the endpoint, at most ten seconds."""
    webhook = _own_webhook(app, webhook_id)
    try:
        result = send_test(webhook=webhook)
    except ServiceError as error:
        messages.error(request, error.message)
        return redirect_to_webhook(app, webhook)
    return redirect_to_webhook(app, webhook, tested=result.event_id)


@require_http_methods(GET_OR_POST)
@app_page
def webhook_pause(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Asks first, because a pause cancels waiting deliveries."""
    webhook = _own_webhook(app, webhook_id)
    if request.method == "POST":
        _switch(request, webhook, on=False)
        return redirect_to_webhook(app, webhook)
    waiting = counted(Delivery.objects.filter(webhook=webhook, status__in=WAITING))
    context = {"app": app, "webhook": webhook, "waiting": waiting}
    return render(request, "developers/portal/webhooks/pause.html", context)


@require_POST
@app_page
def webhook_resume(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    webhook = _own_webhook(app, webhook_id)
    _switch(request, webhook, on=True)
    return redirect_to_webhook(app, webhook)


def _own_webhook(app: App, webhook_id: str) -> Webhook:
    """Raises `NotFound`, also if the webhook is deleted, another app's, or its installation has ended."""
    return get_or_not_found(current_webhooks(app), webhook_id, "Webhook not found")


def _switch(request: HttpRequest, webhook: Webhook, *, on: bool) -> None:
    try:
        change_webhook(webhook=webhook, changes={"is_active": on})
    except ServiceError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{webhook.url} {'receives new events again' if on else 'is paused'}.")


def redirect_to_webhook(app: App, webhook: Webhook, **query: Any) -> HttpResponse:
    parameters = "".join(f"?{name}={value}" for name, value in query.items())
    return redirect(f"{resolve_url('portal:webhooks', app.slug)}{parameters}#webhook-{webhook.pk}")


@require_safe
@app_page
def erasure_list(request: HttpRequest, app: App) -> HttpResponse:
    wanted = page_request(request.GET)
    erasures = erasures_of(app)
    context = {
        "app": app,
        "delay": settings.DATA_ERASURE_DELAY,
        "erasures": erasures[wanted.window],
        "total": total_of(erasures),
        "page_request": wanted,
    }
    return render(request, "developers/portal/sandbox/erasures.html", context)
