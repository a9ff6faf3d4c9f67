"""An app's figures of the last 30 days: a page with charts, and the days as CSV."""

from dataclasses import dataclass
from datetime import UTC, date
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common.templatetags.ui import percent
from common.web.charts import Chart, Mark, Point, Series, chart
from common.web.csv_files import CsvLines
from common.web.methods import require_safe
from developers.portal.access import app_page
from marketplace.models import App, AppVersion
from webhooks.insight.analytics import Analytics, analytics

CSV_HEADER: Final = (
    "date", "installs", "uninstalls", "successful_deliveries", "failed_deliveries", "average_latency_ms",
)  # fmt: skip


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


def _approvals(app: App, *, since: date) -> list[Mark]:
    versions = AppVersion.objects.filter(app=app).order_by("approved_at")
    days = (
        (at.astimezone(UTC).date(), version) for at, version in versions.values_list("approved_at", "version")
    )
    return [Mark(day, f"Version {version} approved") for day, version in days if day >= since]


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


def charts(figures: Analytics, approvals: list[Mark]) -> list[Chart]:
    installs, deliveries = figures.installs, figures.deliveries
    return [
        chart(
            "installs",
            "Installs and uninstalls per day",
            [Point(day.date) for day in installs],
            (
                Series("Installs", "first", [day.installs for day in installs]),
                Series("Uninstalls", "second", [day.uninstalls for day in installs]),
            ),
            empty="No installs or uninstalls in the last 30 days.",
            marks=approvals,
        ),
        chart(
            "deliveries",
            "Webhook deliveries per day",
            [Point(day.date) for day in deliveries],
            (
                Series("Successful", "ok", [day.successful for day in deliveries]),
                Series("Failed", "bad", [day.failed for day in deliveries]),
            ),
            empty="No deliveries in the last 30 days.",
            marks=approvals,
        ),
    ]
