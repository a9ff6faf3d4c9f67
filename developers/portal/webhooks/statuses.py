"""The state of webhook endpoints, and of a test of one, as their pages show them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Count,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
    Value,
    When,
    Window,
)
from django.db.models.functions import Cast, Concat, RowNumber
from django.http import HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils import timezone

from common.db.compiled import AmongIds, AmongTexts, Compiled, Param
from common.db.long_lists import COUNTED_EXACTLY, found_lately, number_of
from common.ids import parse_id
from common.times import duration
from developers.portal.webhooks.last_day_strip import Strip
from installations.models import SCOPE_FIELDS, with_versions
from marketplace.models import App
from webhooks import catalogue, health
from webhooks.enums import WAITING, DeliveryStatus, Stage
from webhooks.insight.diagnosis import diagnose
from webhooks.insight.last_day import LastDay, last_days
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import events_of


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


def current_webhooks(app: Any) -> QuerySet[Webhook]:
    """Webhooks of active installations, newest first."""
    found = _around(*with_versions("installation__"))
    return found.filter(installation__app=app, installation__uninstalled_at=None)


def _around(*related: str) -> QuerySet[Webhook]:
    around = Webhook.objects.kept().select_related(*related, "installation__business")
    return around.defer("secret", "installation__webhook_secret").order_by("-id")


def _with_times() -> QuerySet[Webhook]:
    deliveries = Delivery.objects.filter(webhook=OuterRef("pk"))
    succeeded = deliveries.filter(status=DeliveryStatus.SUCCEEDED).order_by("-finished_at")
    waiting = deliveries.filter(status__in=WAITING, due_at__isnull=False).order_by("due_at")
    shown = [field.name for field in Webhook._meta.concrete_fields if field.name != "secret"]
    shown += [f"installation__{name}" for name in SCOPE_FIELDS if not name.startswith("app__")]
    return (
        _around("installation__runs")
        .only(*shown, "installation__business__name")
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
_APP: Final[Any] = Param("app", UUIDField())
_WANTED: Final[Any] = Param("wanted", UUIDField())
_URL: Final[Any] = Param("url", CharField())


def _at_url(**bounds: Any) -> QuerySet[Any]:
    return current_webhooks(_APP).filter(url=_URL, **bounds).values_list("pk")


_CURRENT: Final[Compiled[Any]] = Compiled(_at_url)
_FROM: Final[Compiled[Any]] = Compiled(lambda: _at_url(pk__lte=_WANTED))
_OLDER: Final[Compiled[Any]] = Compiled(lambda: _at_url(pk__lt=_WANTED))
_NEWER: Final[Compiled[Any]] = Compiled(lambda: _at_url(pk__gt=_WANTED).order_by("id"))


def newest_ids(
    app: App,
    *,
    url: str,
    limit: int,
    offset: int,
    before: UUID | None = None,
    after: UUID | None = None,
    is_long: bool = False,
) -> list[UUID]:
    """Those of a page of the endpoints at one URL. They are read first: the look-ups in deliveries would be made for all rows before the page too.

    `before` and `after` are the last of the page before it and the first of the page behind it. A late page costs as much as the first
    one then, while `offset` reads all webhooks before it. In a list that `is_long` it does so once a minute: the page begins where it did.
    """
    if before:
        rows = _OLDER.rows(limit=limit, app=app.pk, url=url, wanted=before)
    elif after:
        rows = _NEWER.rows(limit=limit, app=app.pk, url=url, wanted=after)[::-1]
    elif offset and is_long:
        begin = found_lately(_CURRENT, limit=1, offset=offset, app=app.pk, url=url)
        rows = _FROM.rows(limit=limit, app=app.pk, url=url, wanted=begin[0][0]) if begin else []
    else:
        rows = _CURRENT.rows(limit=limit, offset=offset, app=app.pk, url=url)
    return [pk for (pk,) in rows]


def webhook_statuses(
    app: App, ids: Sequence[UUID], days: Mapping[UUID, LastDay] | None = None
) -> list[WebhookStatus]:
    """At most five statements, however many webhooks: one with an index lookup per time and webhook, one for all held
    events, and up to three for the last 24 hours, where these aren't known (`days`)."""
    if not ids:
        return []
    now = timezone.now()
    shown = _SHOWN.rows(ids=ids)
    for each in shown:
        each.installation.app = app
    held = _held(shown)
    if days is None:
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
    seen = diagnosis.seen if diagnosis else f"your endpoint returned {attempt.http_status}"
    headline = f"{'Failed' if diagnosis else 'It works'}: {seen}, after {attempt.duration_ms:,} ms"
    return {"tested": attempt, "tested_headline": headline, "tested_diagnosis": diagnosis}


# --- Endpoints by URL --------------------------------------------------------------------------------

SHOWN: Final = 5  # endpoints of a URL; its own page has all
RATED: Final = 20  # endpoints of a URL whose last day is summed up
NOBODY: Final = UUID(int=0)
_TROUBLED: Final = Q(disabled_at__isnull=False) | Q(failing_since__isnull=False)


class EndpointReader:
    """Reads the endpoints of an app. Of more than 10,000 it reads what was found in the last minute."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.number = number_of(_ALL, app=app.pk)

    def groups(self, *, limit: int, offset: int) -> list["EndpointGroup"]:
        """The app's Webhook URL first, then the URL to which an endpoint was added last."""
        return [EndpointGroup(*row) for row in self._found(_GROUPS, limit=limit, offset=offset)]

    def number_of_groups(self) -> int:
        return next((number for (number,) in self._found(_NUMBER_OF_GROUPS)), 0)

    def ids(
        self, groups: Sequence["EndpointGroup"], first: UUID | None
    ) -> dict[tuple[str, bool], list[UUID]]:
        """By URL and kind, in one statement: at most `RATED` of each. `first` comes first, then those in trouble, then the newest."""
        ids: dict[tuple[str, bool], list[UUID]] = defaultdict(list)
        urls = sorted({each.url for each in groups})
        for pk, url, is_app_defined in self._found(_RANKED, urls=urls, first=first or NOBODY) if urls else ():
            ids[url, is_app_defined].append(pk)
        return ids

    def _found(self, query: Compiled[Any], **values: Any) -> list[Any]:
        is_long = self.number > COUNTED_EXACTLY
        return (
            found_lately(query, app=self._app.pk, **values)
            if is_long
            else query.rows(app=self._app.pk, **values)
        )


class EndpointGroup(NamedTuple):
    """The endpoints at one URL, of which each store has its own."""

    url: str
    is_app_defined: bool
    number: int
    troubled: int  # failing or disabled


def _groups() -> QuerySet[Any]:
    found = current_webhooks(_APP).order_by().values("url", "is_app_defined")
    counted = found.annotate(
        number=Count("pk"), troubled=Count("pk", filter=_TROUBLED), newest=Max("created_at")
    )
    return counted.order_by("-is_app_defined", "-newest", "url").values_list(*EndpointGroup._fields)


def _number_of_groups() -> QuerySet[Any]:
    group = Concat(Cast("is_app_defined", CharField()), "url", output_field=CharField())
    rows = current_webhooks(_APP).order_by().values(every=Value(1))
    return rows.annotate(number=Count(group, distinct=True)).values_list("number")


def _ranked() -> QuerySet[Any]:
    first = Q(pk=Param("first", UUIDField()))
    trouble, is_other = (
        Case(When(each, then=Value(False)), default=Value(True), output_field=BooleanField())
        for each in (_TROUBLED, first)
    )
    rank = Window(RowNumber(), partition_by=["url", "is_app_defined"], order_by=[is_other, trouble, "-id"])
    found = current_webhooks(_APP).filter(AmongTexts("url", "urls")).order_by()
    ranked = found.annotate(rank=rank).filter(rank__lte=RATED).order_by("rank")
    return ranked.values_list("pk", "url", "is_app_defined")


_ALL: Final[Compiled[Any]] = Compiled(lambda: current_webhooks(_APP).order_by().values_list("pk"))
_GROUPS: Final[Compiled[Any]] = Compiled(_groups)
_NUMBER_OF_GROUPS: Final[Compiled[Any]] = Compiled(_number_of_groups)
_RANKED: Final[Compiled[Any]] = Compiled(_ranked)


def redirect_to_webhook(app: App, webhook: Webhook, **query: Any) -> HttpResponse:
    parameters = "".join(f"?{name}={value}" for name, value in query.items())
    return redirect(f"{resolve_url('portal:webhooks', app.slug)}{parameters}#webhook-{webhook.pk}")
