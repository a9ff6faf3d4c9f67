"""An app's figures over a period: a page with charts, and its days as CSV."""

from dataclasses import dataclass, replace
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils import timezone

from common.templatetags.ui import percent
from common.web.charts import Chart, Mark, Number, Point, Series, chart
from common.web.csv_files import CsvLines
from common.web.methods import require_safe
from developers.portal.access import app_page
from developers.portal.apps.axis import Axis, filtered
from developers.portal.apps.plots import latency_in_stores, milliseconds
from installations.queries import reasons_of
from marketplace.models import App
from webhooks.insight.analytics import MONTH, PERIODS, Analytics, DeliveryFigures, Period, analytics
from webhooks.services.retention import KEPT

CSV_HEADER: Final = (
    "date", "installs", "uninstalls", "successful_deliveries", "failed_deliveries", "average_latency_ms",
)  # fmt: skip


REASONS: Final = 10
RANGES: Final = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}


@require_safe
@app_page
def analytics_page(request: HttpRequest, app: App) -> HttpResponse:
    period = _period(request)
    figures, words = analytics(app, period=period), RANGES[period.name]
    context = {
        "app": app,
        "analytics": figures,
        "period": period,
        "words": words,
        "ranges": RANGES.items(),
        "figures": figure_cards(figures, words),
        "charts": charts(app, figures, period),
        "reasons": reasons_of(app, period.begins()[0], most=REASONS),
    }
    return render(request, "developers/portal/analytics/analytics.html", context)


@require_safe
@app_page
def analytics_csv(request: HttpRequest, app: App) -> HttpResponse:
    """A line for each day or hour, the oldest first."""
    period = _period(request)
    figures = analytics(app, period=period)
    name = f"{app.slug}-{period.begins()[-1].date().isoformat()}.csv"
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


def _period(request: HttpRequest) -> Period:
    return PERIODS.get(request.GET.get("range", ""), MONTH)


def _approvals(app: App, axis: Axis) -> list[Mark]:
    versions = app.versions.filter(approved_at__gte=axis.first).order_by("approved_at")
    return [
        Mark(axis.at(axis.begins[number]), f"Version {version} approved")
        for at, version in versions.values_list("approved_at", "version")
        if (number := axis.number_of(at)) is not None
    ]


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: str
    change: str
    meaning: str
    trend: str = ""  # `ok` where the change is for the better, `bad` where for the worse


def figure_cards(figures: Analytics, words: str) -> list[Figure]:
    """The page's four figures, each compared with as much time before."""
    now, before = figures.delivered, figures.before
    rate, latency = _rate_change(now, before), _latency_change(now, before)
    gained = figures.installed - figures.uninstalled
    return [
        Figure(
            "Total installs",
            f"{figures.total_installs:,}",
            f"{figures.installed:,} in the last {words}",
            "All installs ever, including uninstalled ones.",
        ),
        Figure(
            "Active installs",
            f"{figures.active_installs:,}",
            _said(
                gained,
                f"{abs(gained):,} {'more' if gained > 0 else 'fewer'} than {words} ago",
                f"as {words} ago",
            ),
            "Installs that haven't been uninstalled.",
            _trend(gained),
        ),
        Figure(
            "Webhook success rate",
            "None sent" if now.success_rate is None else percent(now.success_rate),
            _compared(rate, now.success_rate, "{:.1f} points", ("higher", "lower"), words),
            "Share of deliveries whose latest attempt was answered 2xx.",
            _trend(rate or 0),
        ),
        Figure(
            "Average webhook latency",
            "No response" if now.average_latency_ms is None else f"{now.average_latency_ms:,.0f} ms",
            _compared(latency, now.average_latency_ms, "{:,} ms", ("slower", "faster"), words),
            "From sending an attempt to the end of the response. Attempts without a response don't count.",
            _trend(-(latency or 0)),
        ),
    ]


def _rate_change(now: DeliveryFigures, before: DeliveryFigures) -> float | None:
    """In points. None without anything to compare."""
    if now.success_rate is None or before.success_rate is None:
        return None
    return round(100 * (now.success_rate - before.success_rate), 1)


def _latency_change(now: DeliveryFigures, before: DeliveryFigures) -> int | None:
    if now.average_latency_ms is None or before.average_latency_ms is None:
        return None
    return round(now.average_latency_ms) - round(before.average_latency_ms)


def _trend(gain: float) -> str:
    return "ok" if gain > 0 else "bad" if gain < 0 else ""


def _compared(
    change: float | None, now: float | None, amount: str, names: tuple[str, str], words: str
) -> str:
    if change is None:
        return f"In the last {words}" if now is None else f"No data for the previous {words}"
    said = f"{amount.format(abs(change))} {names[change < 0]} than in the previous {words}"
    return _said(change, said, f"as in the previous {words}")


def _said(change: float, said: str, same: str) -> str:
    return said if change else f"Same {same}"


# Charts


def charts(app: App, figures: Analytics, period: Period) -> list[Chart]:
    """Days lead to their deliveries, as long as these are kept."""
    axis, words = Axis.of_period(period), RANGES[period.name]
    marks = _approvals(app, axis)
    installs, deliveries = figures.installs, figures.deliveries
    leading = axis.points(filtered(resolve_url("portal:deliveries", app.slug)))
    points = [
        point if begin >= timezone.now() - KEPT else Point(point.at)
        for point, begin in zip(leading, axis.begins, strict=True)
    ]
    rates = [DeliveryFigures.of([day]).success_rate for day in deliveries]
    overall, each = figures.delivered.success_rate, "hour" if period.is_hours else "day"
    return [
        chart(
            "installs",
            f"Installs and uninstalls per {each}",
            [Point(point.at) for point in points],
            (
                Series("Installs", "first", [day.installs for day in installs]),
                Series("Uninstalls", "second", [day.uninstalls for day in installs]),
            ),
            empty=f"No installs or uninstalls in the last {words}.",
            marks=marks,
        ),
        chart(
            "deliveries",
            f"Webhook deliveries per {each}",
            points,
            (
                Series("Successful", "ok", [day.successful for day in deliveries]),
                Series("Failed", "bad", [day.failed for day in deliveries]),
            ),
            empty=f"No deliveries in the last {words}.",
            marks=marks,
            is_stacked=True,
        ),
        chart(
            "rate",
            "Webhook success rate",
            points,
            [
                Series(
                    "Answered 2xx",
                    "first",
                    [None if rate is None else round(100 * rate, 1) for rate in rates],
                    is_line=True,
                    total="" if overall is None else percent(overall),
                )
            ],
            empty=f"No deliveries in the last {words}.",
            marks=marks,
            write="{:g}%".format,
        ),
        chart(
            "latency",
            "Webhook latency",
            points,
            _latency(app, axis),
            empty=f"No response in the last {words}.",
            marks=marks,
            write=milliseconds,
        ),
    ]


def _latency(app: App, axis: Axis) -> list[Series]:
    """Of the days of which attempts are kept; nothing before."""
    kept = Axis(axis.begins[-MONTH.points :], axis.step)
    missing: list[Number | None] = [None] * (len(axis.begins) - len(kept.begins))
    return [replace(each, values=[*missing, *each.values]) for each in latency_in_stores(app, kept)]
