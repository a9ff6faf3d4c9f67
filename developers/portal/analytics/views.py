"""An app's figures of the last hours or days: a page with charts, and the same as CSV."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils import timezone

from common.templatetags.ui import percent
from common.web.charts import Chart, Mark, Point, Series, chart
from common.web.csv_files import CsvLines
from common.web.methods import require_safe
from developers.portal.access import app_page
from developers.portal.apps.axis import filtered, minute
from marketplace.models import App, AppVersion
from webhooks.insight.analytics import HOUR, THIRTY_DAYS, Analytics, Span, analytics
from webhooks.services.counting import midnight
from webhooks.services.retention import KEPT

CSV_HEADER: Final = (
    "date", "installs", "uninstalls", "successful_deliveries", "failed_deliveries", "average_latency_ms",
)  # fmt: skip
RANGES: Final = {"24h": Span(24, HOUR), "7d": Span(7), "30d": THIRTY_DAYS, "90d": Span(90)}
"""By the name in the page's address."""


def words(span: Span) -> str:
    return f"{span.number} {'hours' if span.is_hours else 'days'}"


def _span(request: HttpRequest) -> Span:
    return RANGES.get(request.GET.get("range", ""), THIRTY_DAYS)


@require_safe
@app_page
def analytics_page(request: HttpRequest, app: App) -> HttpResponse:
    span = _span(request)
    figures = analytics(app, span)
    context = {
        "app": app,
        "span": span,
        "words": words(span),
        "ranges": [(name, words(each), each == span) for name, each in RANGES.items()],
        "analytics": figures,
        "figures": figure_cards(figures, words(span)),
        "charts": charts(app, figures, span),
    }
    return render(request, "developers/portal/analytics/analytics.html", context)


@require_safe
@app_page
def analytics_csv(request: HttpRequest, app: App) -> HttpResponse:
    """A line for each day or hour, the oldest first."""
    figures = analytics(app, _span(request))
    name = f"{app.slug}-{figures.installs[-1].date:%Y-%m-%d}.csv"
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
    file = CsvLines()
    response.write(file.line(CSV_HEADER))
    for day, sent in zip(figures.installs, figures.deliveries, strict=True):
        latency = f"{sent.duration_ms / sent.answered:.1f}" if sent.answered else ""
        cells = [day.date.isoformat(), day.installs, day.uninstalls, sent.successful, sent.failed, latency]
        response.write(file.line(cells))
    return response


def _approvals(app: App, begins: list[date], span: Span) -> list[Mark]:
    """Those of the span, each at the day or hour that it was in."""
    marks = []
    for at, version in (
        AppVersion.objects.filter(app=app).order_by("approved_at").values_list("approved_at", "version")
    ):
        hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        begin = hour if span.is_hours else hour.date()
        if begin in begins:
            marks.append(Mark(begin, f"Version {version} approved"))
    return marks


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: str
    change: str
    meaning: str


def figure_cards(figures: Analytics, span: str) -> list[Figure]:
    """The page's four figures, each compared with as long a span before."""
    now, before = figures.delivered, figures.before
    return [
        Figure(
            "Total installs",
            f"{figures.total_installs:,}",
            f"{figures.installed:,} in the last {span}",
            "All installs ever, including uninstalled ones.",
        ),
        Figure(
            "Active installs",
            f"{figures.active_installs:,}",
            _active_change(figures.installed - figures.uninstalled, span),
            "Installs that haven't been uninstalled.",
        ),
        Figure(
            "Webhook success rate",
            "None sent" if now.success_rate is None else percent(now.success_rate),
            _rate_change(now.success_rate, before.success_rate, span),
            "Share of deliveries whose latest attempt was answered 2xx.",
        ),
        Figure(
            "Average webhook latency",
            "No response" if now.average_latency_ms is None else f"{now.average_latency_ms:,.0f} ms",
            _latency_change(now.average_latency_ms, before.average_latency_ms, span),
            "From sending an attempt to the end of the response. Attempts without a response don't count.",
        ),
    ]


def _active_change(change: int, span: str) -> str:
    if change == 0:
        return f"Same as {span} ago"
    return f"{abs(change):,} {'more' if change > 0 else 'fewer'} than {span} ago"


def _rate_change(now: float | None, before: float | None, span: str) -> str:
    if now is None or before is None:
        return _without_comparison(now, span)
    points = round(100 * (now - before), 1)
    if points == 0:
        return f"Same as in the previous {span}"
    return f"{abs(points):.1f} points {'higher' if points > 0 else 'lower'} than in the previous {span}"


def _latency_change(now: float | None, before: float | None, span: str) -> str:
    if now is None or before is None:
        return _without_comparison(now, span)
    change = round(now) - round(before)
    if change == 0:
        return f"Same as in the previous {span}"
    return f"{abs(change):,} ms {'slower' if change > 0 else 'faster'} than in the previous {span}"


def _without_comparison(now: float | None, span: str) -> str:
    return f"In the last {span}" if now is None else f"No data for the previous {span}"


# Charts


def charts(app: App, figures: Analytics, span: Span) -> list[Chart]:
    """Installs and deliveries. Deliveries lead to their rows, as long as those are kept."""
    installs, deliveries = figures.installs, figures.deliveries
    each, approvals = (
        "hour" if span.is_hours else "day",
        _approvals(app, [day.date for day in installs], span),
    )
    link = filtered(resolve_url("portal:deliveries", app.slug))
    kept_since = timezone.now() - KEPT
    return [
        chart(
            "installs",
            f"Installs and uninstalls per {each}",
            [Point(day.date) for day in installs],
            (
                Series("Installs", "first", [day.installs for day in installs]),
                Series("Uninstalls", "second", [day.uninstalls for day in installs]),
            ),
            empty=f"No installs or uninstalls in the last {words(span)}.",
            marks=approvals,
        ),
        chart(
            "deliveries",
            f"Webhook deliveries per {each}",
            [_point(day.date, span, link, kept_since) for day in deliveries],
            (
                Series("Successful", "ok", [day.successful for day in deliveries]),
                Series("Failed", "bad", [day.failed for day in deliveries]),
            ),
            empty=f"No deliveries in the last {words(span)}.",
            marks=approvals,
        ),
    ]


def _point(at: date, span: Span, link: Callable[[dict[str, Any]], str], kept_since: datetime) -> Point:
    begin = at if isinstance(at, datetime) else midnight(at)
    if begin < kept_since:
        return Point(at)
    return Point(at, link({"since": minute(begin), "until": minute(begin + span.step)}))
