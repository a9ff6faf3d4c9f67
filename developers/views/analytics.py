"""An app's figures of the last thirty days: a page with charts, and the days as CSV."""

import csv
from dataclasses import dataclass
from datetime import UTC, date

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from developers.analytics import Analytics, analytics
from developers.charts import Chart, bar_chart
from developers.views.access import app_page
from marketplace.models import App, AppVersion

CSV_HEAD = (
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
    return render(request, "developers/analytics.html", context)


@require_safe
@app_page
def analytics_csv(request: HttpRequest, app: App) -> HttpResponse:
    """Thirty lines, the oldest day first."""
    figures = analytics(app)
    name = f"{app.slug}-{figures.installs[-1].date.isoformat()}.csv"
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
    writer = csv.writer(response)
    writer.writerow(CSV_HEAD)
    for day, sent in zip(figures.installs, figures.deliveries, strict=True):
        latency = f"{sent.duration_ms / sent.answered:.1f}" if sent.answered else ""
        writer.writerow(
            [day.date.isoformat(), day.installs, day.uninstalls, sent.successful, sent.failed, latency]
        )
    return response


def _approvals(app: App, *, since: date) -> list[tuple[date, str]]:
    versions = AppVersion.objects.filter(app=app).order_by("approved_at")
    days = (
        (at.astimezone(UTC).date(), version) for at, version in versions.values_list("approved_at", "version")
    )
    return [(day, f"Version {version} approved") for day, version in days if day >= since]


# Figures


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: str
    change: str
    meaning: str


def figure_cards(figures: Analytics) -> list[Figure]:
    """The four of the page, each with what changed and what it means."""
    now, before = figures.delivered, figures.before
    return [
        Figure(
            "Total installs",
            f"{figures.total_installs:,}",
            f"{figures.installed:,} in the last 30 days",
            "Every install by a merchant there has been, those that have ended included.",
        ),
        Figure(
            "Active installs",
            f"{figures.active_installs:,}",
            _active_change(figures.installed - figures.uninstalled),
            "Installs that have not been uninstalled.",
        ),
        Figure(
            "Webhook success rate",
            "None sent" if now.success_rate is None else percent(now.success_rate),
            _rate_change(now.success_rate, before.success_rate),
            "Deliveries whose newest attempt was answered 2xx, of all that were attempted.",
        ),
        Figure(
            "Average webhook latency",
            "No answer" if now.average_latency_ms is None else f"{now.average_latency_ms:,.0f} ms",
            _latency_change(now.average_latency_ms, before.average_latency_ms),
            "From sending an attempt to the end of its answer, over all attempts that got one.",
        ),
    ]


def percent(rate: float) -> str:
    """`99.2 %`. Only all is 100 %, and only none is 0 %."""
    shown = min(max(round(100 * rate, 1), 0.1), 99.9) if 0 < rate < 1 else 100 * rate
    return f"{shown:.1f} %" if 0 < rate < 1 else f"{shown:.0f} %"


def _active_change(change: int) -> str:
    if change == 0:
        return "As many as 30 days ago"
    return f"{abs(change):,} {'more' if change > 0 else 'fewer'} than 30 days ago"


def _rate_change(now: float | None, before: float | None) -> str:
    if now is None or before is None:
        return "Nothing to compare with 30 days before" if now is not None else "In the last 30 days"
    points = round(100 * (now - before), 1)
    if points == 0:
        return "As in the 30 days before"
    return f"{abs(points):.1f} points {'higher' if points > 0 else 'lower'} than in the 30 days before"


def _latency_change(now: float | None, before: float | None) -> str:
    if now is None or before is None:
        return "Nothing to compare with 30 days before" if now is not None else "In the last 30 days"
    change = round(now) - round(before)
    if change == 0:
        return "As in the 30 days before"
    return f"{abs(change):,} ms {'slower' if change > 0 else 'faster'} than in the 30 days before"


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
