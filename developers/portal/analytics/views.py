"""An app's figures of the last hours or days: a page with charts, and the same as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from common.templatetags.links import address
from common.templatetags.ui import percent
from common.web.charts import Chart, Mark, Point, Series, chart
from common.web.csv_files import CsvLines
from common.web.methods import require_safe
from developers.portal.access import app_page
from developers.portal.apps.axis import Axis, filtered
from developers.portal.apps.plots import approvals, latency_lines, milliseconds
from installations.queries import reasons_of
from marketplace.models import App
from webhooks.insight.analytics import HOUR, THIRTY_DAYS, Analytics, DeliveryFigures, Span, analytics
from webhooks.services.retention import KEPT

REASONS: Final = 10  # of uninstalls
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
        "reasons": reasons_of(app, Axis.of_span(span, timezone.now()).first, most=REASONS),
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


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: str
    change: str
    meaning: str
    trend: str = ""  # `ok` where it changed for the better, `bad` where for the worse


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
            _trend(figures.installed, figures.uninstalled),
        ),
        Figure(
            "Webhook success rate",
            "None sent" if now.success_rate is None else percent(now.success_rate),
            _rate_change(now.success_rate, before.success_rate, span),
            "Share of deliveries whose latest attempt was answered 2xx.",
            _trend(now.success_rate, before.success_rate),
        ),
        Figure(
            "Average webhook latency",
            "No response" if now.average_latency_ms is None else f"{now.average_latency_ms:,.0f} ms",
            _latency_change(now.average_latency_ms, before.average_latency_ms, span),
            "From sending an attempt to the end of the response. Attempts without a response don't count.",
            _trend(before.average_latency_ms, now.average_latency_ms),
        ),
    ]


def _trend(good: float | None, bad: float | None) -> str:
    if good is None or bad is None or good == bad:
        return ""
    return "ok" if good > bad else "bad"


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
    """Days and hours lead to their deliveries, as long as those are kept."""
    now = timezone.now()
    axis = Axis.of_span(span, now)
    marks = approvals(app, axis)
    points = _points(app, axis, now)
    sent: dict[str, Any] = {
        "points": points,
        "marks": marks,
        "empty": f"No deliveries in the last {words(span)}.",
    }
    return [
        _installs(figures, span, [Point(point.at) for point in points], marks),
        _deliveries(figures, span, **sent),
        chart("rate", "Webhook success rate", series=[_rate(figures)], write="{:g}%".format, **sent),
        chart(
            "latency",
            "Webhook latency",
            points,
            latency_lines(
                [day.latency(0.5) for day in figures.deliveries],
                [day.latency(0.95) for day in figures.deliveries],
            ),
            empty=f"No response in the last {words(span)}.",
            marks=marks,
            write=milliseconds,
        ),
    ]


def _installs(figures: Analytics, span: Span, points: Sequence[Point], marks: Sequence[Mark]) -> Chart:
    return chart(
        "installs",
        f"Installs and uninstalls per {_unit(span)}",
        points,
        (
            Series("Installs", "first", [day.installs for day in figures.installs]),
            Series("Uninstalls", "second", [day.uninstalls for day in figures.installs]),
        ),
        empty=f"No installs or uninstalls in the last {words(span)}.",
        marks=marks,
    )


def _deliveries(figures: Analytics, span: Span, **options: Any) -> Chart:
    series = (
        Series("Successful", "ok", [day.successful for day in figures.deliveries]),
        Series("Retrying", "warn", [day.retrying for day in figures.deliveries]),
        Series("Failed", "bad", [day.given_up for day in figures.deliveries]),
    )
    title = f"Webhook deliveries per {_unit(span)}"
    return chart("deliveries", title, series=series, is_stacked=True, **options)


def _unit(span: Span) -> str:
    return "hour" if span.is_hours else "day"


def _points(app: App, axis: Axis, now: datetime) -> list[Point]:
    every = axis.points(filtered(address("portal:deliveries", app.slug)))
    return [
        point if begin >= now - KEPT else Point(point.at)
        for point, begin in zip(every, axis.begins, strict=True)
    ]


def _rate(figures: Analytics) -> Series:
    rates = [DeliveryFigures.of([day]).success_rate for day in figures.deliveries]
    overall = figures.delivered.success_rate
    return Series(
        "Answered 2xx",
        "first",
        [None if rate is None else round(100 * rate, 1) for rate in rates],
        is_line=True,
        total="" if overall is None else percent(overall),
    )
