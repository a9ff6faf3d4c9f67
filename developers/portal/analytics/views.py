"""An app's figures of the last 30 days: a page with charts, and the days as CSV.

A chart is drawn by `templates/developers/portal/analytics/chart.html`. Its geometry is in per cent of the plot, so that it fits
any width while its text keeps its size.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common.templatetags.ui import percent
from common.web.charts import Bar, Plot
from common.web.csv_files import CsvLines
from common.web.methods import require_safe
from developers.portal.access import app_page
from marketplace.models import App, AppVersion
from webhooks.insight.analytics import Analytics, analytics

CSV_HEADER: Final = (
    "date", "installs", "uninstalls", "successful_deliveries", "failed_deliveries", "average_latency_ms",
)  # fmt: skip
BAR_WIDTH: Final = 0.36  # of a day's width; each day has two bars


@require_safe
@app_page
def analytics_page(request: HttpRequest, app: App) -> HttpResponse:
    figures = analytics(app)
    context = {
        "app": app,
        "analytics": figures,
        "figures": figure_cards(figures),
        "charts": charts(figures, _approvals(app, since=figures.installs[0].date)),
    }
    return render(request, "developers/portal/analytics/analytics.html", context)


@require_safe
@app_page
def analytics_csv(request: HttpRequest, app: App) -> HttpResponse:
    """Thirty lines, oldest day first."""
    figures = analytics(app)
    name = f"{app.slug}-{figures.installs[-1].date.isoformat()}.csv"
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


def _approvals(app: App, *, since: date) -> list[tuple[date, str]]:
    versions = AppVersion.objects.filter(app=app).order_by("approved_at")
    days = (
        (at.astimezone(UTC).date(), version) for at, version in versions.values_list("approved_at", "version")
    )
    return [(day, f"Version {version} approved") for day, version in days if day >= since]


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: str
    change: str
    meaning: str


def figure_cards(figures: Analytics) -> list[Figure]:
    """The page's four figures, each compared with the 30 days before."""
    now, before = figures.delivered, figures.before
    return [
        Figure(
            "Total installs",
            f"{figures.total_installs:,}",
            f"{figures.installed:,} in the last 30 days",
            "All installs ever, including uninstalled ones.",
        ),
        Figure(
            "Active installs",
            f"{figures.active_installs:,}",
            _active_change(figures.installed - figures.uninstalled),
            "Installs that haven't been uninstalled.",
        ),
        Figure(
            "Webhook success rate",
            "None sent" if now.success_rate is None else percent(now.success_rate),
            _rate_change(now.success_rate, before.success_rate),
            "Share of deliveries whose latest attempt was answered 2xx.",
        ),
        Figure(
            "Average webhook latency",
            "No response" if now.average_latency_ms is None else f"{now.average_latency_ms:,.0f} ms",
            _latency_change(now.average_latency_ms, before.average_latency_ms),
            "From sending an attempt to the end of the response. Attempts without a response don't count.",
        ),
    ]


def _active_change(change: int) -> str:
    if change == 0:
        return "Same as 30 days ago"
    return f"{abs(change):,} {'more' if change > 0 else 'fewer'} than 30 days ago"


def _rate_change(now: float | None, before: float | None) -> str:
    if now is None or before is None:
        return _without_comparison(now)
    points = round(100 * (now - before), 1)
    if points == 0:
        return "Same as in the previous 30 days"
    return f"{abs(points):.1f} points {'higher' if points > 0 else 'lower'} than in the previous 30 days"


def _latency_change(now: float | None, before: float | None) -> str:
    if now is None or before is None:
        return _without_comparison(now)
    change = round(now) - round(before)
    if change == 0:
        return "Same as in the previous 30 days"
    return f"{abs(change):,} ms {'slower' if change > 0 else 'faster'} than in the previous 30 days"


def _without_comparison(now: float | None) -> str:
    return "In the last 30 days" if now is None else "No data for the previous 30 days"


# Charts


@dataclass(frozen=True, slots=True)
class ChartDay:
    date: date
    values: tuple[int, int]
    notes: tuple[str, ...]  # events of the day: "Version 1.4.0 approved"
    x: float
    middle: float
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    css: str
    total: int


@dataclass(frozen=True, slots=True)
class Chart:
    """Two series of counts over the same days, of which the last is today."""

    ident: str
    title: str
    series: tuple[Series, Series]
    days: tuple[ChartDay, ...]
    day_width: float
    scale: tuple[int, int, int]  # labels of the grid lines, from the top

    @property
    def today(self) -> ChartDay:
        return self.days[-1]

    @property
    def first(self) -> ChartDay:
        return self.days[0]

    @property
    def is_empty(self) -> bool:
        return not any(series.total for series in self.series)

    @property
    def noted(self) -> list[ChartDay]:
        return [day for day in self.days if day.notes]


def charts(figures: Analytics, approvals: list[tuple[date, str]]) -> list[Chart]:
    return [
        bar_chart(
            "installs",
            "Installs and uninstalls per day",
            (("Installs", "first"), ("Uninstalls", "second")),
            ((day.date, day.installs, day.uninstalls) for day in figures.installs),
            approvals,
        ),
        bar_chart(
            "deliveries",
            "Webhook deliveries per day",
            (("Successful", "ok"), ("Failed", "bad")),
            ((day.date, day.successful, day.failed) for day in figures.deliveries),
            approvals,
        ),
    ]


def bar_chart(
    ident: str,
    title: str,
    names: tuple[tuple[str, str], tuple[str, str]],
    values: Iterable[tuple[date, int, int]],
    notes: Iterable[tuple[date, str]] = (),
) -> Chart:
    """`names`: name and CSS class of each series. `values`: each day with a count of both. `notes`: days with a text."""
    counted = list(values)
    noted = list(notes)
    top = nice_top(max(max(first, second) for _, first, second in counted))
    width = 100 / len(counted)
    plot = Plot(step=width, width=BAR_WIDTH * width, start=(0.5 - BAR_WIDTH) * width, least=1, top=top)
    bars = plot.bars([each[1:] for each in counted], *(css for _, css in names))
    days = tuple(
        ChartDay(
            date=day,
            values=(first, second),
            notes=tuple(note for noted_day, note in noted if noted_day == day),
            x=number * width,
            middle=(number + 0.5) * width,
            bars=bars[number],
        )
        for number, (day, first, second) in enumerate(counted)
    )
    totals = (sum(day.values[0] for day in days), sum(day.values[1] for day in days))
    first_series, second_series = (
        Series(name, css, total) for (name, css), total in zip(names, totals, strict=True)
    )
    return Chart(ident, title, (first_series, second_series), days, width, (top, top // 2, 0))


def nice_top(highest: int) -> int:
    """The next of 2, 4, 10, 20, 40, 100 …, so that half of it is a whole number too."""
    unit = 1
    while True:
        for step in (2, 4, 10):
            if highest <= step * unit:
                return step * unit
        unit *= 10
