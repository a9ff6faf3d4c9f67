"""An app's figures of the last hours or days: a page with charts, and the same as CSV."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from common.templatetags.links import address
from common.templatetags.ui import percent
from common.web.charts import Chart, Mark, Point, Scale, Series, chart
from common.web.csv_files import CsvLines
from common.web.methods import require_safe
from developers.portal.access import app_page
from developers.portal.apps.axis import Axis, filtered
from developers.portal.apps.health import Figure, running, way_of
from developers.portal.apps.plots import TIMES, approvals, latency_lines, milliseconds
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


def figure_cards(figures: Analytics, span: str) -> list[Figure]:
    """The page's four figures, each compared with as long a span before."""
    now, before = figures.delivered, figures.before
    each_day = [DeliveryFigures.of([day]) for day in figures.deliveries]
    gained = figures.installed - figures.uninstalled
    rate, latency = (
        _way(now.success_rate, before.success_rate),
        _way(now.average_latency_ms, before.average_latency_ms),
    )
    return [
        Figure(
            "Total installs",
            f"{figures.total_installs:,}",
            "All installs ever, including uninstalled ones.",
            f"{figures.installed:,} in the last {span}",
            line=running(figures.total_installs, [day.installs for day in figures.installs]),
        ),
        Figure(
            "Active installs",
            f"{figures.active_installs:,}",
            "Installs that haven't been uninstalled.",
            _active_change(gained, span),
            way_of(gained, 0),
            gained < 0,
            running(figures.active_installs, [day.installs - day.uninstalls for day in figures.installs]),
        ),
        Figure(
            "Webhook success rate",
            "None sent" if now.success_rate is None else percent(now.success_rate),
            "Share of deliveries whose latest attempt was answered 2xx.",
            _rate_change(now.success_rate, before.success_rate, span),
            rate,
            rate == "down",
            [day.success_rate for day in each_day],
        ),
        Figure(
            "Average webhook latency",
            "No response" if now.average_latency_ms is None else f"{now.average_latency_ms:,.0f} ms",
            "From sending an attempt to the end of the response. Attempts without a response don't count.",
            _latency_change(now.average_latency_ms, before.average_latency_ms, span),
            latency,
            latency == "up",
            [day.average_latency_ms for day in each_day],
        ),
    ]


def _way(now: float | None, before: float | None) -> str:
    return "" if now is None or before is None else way_of(now, before)


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
        chart(
            "rate",
            "Webhook success rate",
            series=[_rate(figures)],
            write="{:g}%".format,
            scale=Scale(is_rate=True),
            **sent,
        ),
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
            scale=TIMES,
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
        Series("Successful", "first", [day.successful for day in figures.deliveries]),
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
