"""The page of a release: how far it is, how well the new version works, and what can be done with it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from common.web.charts import Chart, Number, Point, Scale, Series, chart
from common.web.forms.pages import refusals_shown
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.apps.plots import TIMES
from developers.portal.release.progress import stores_reached
from extensions.releases.health import MOST, calls_until, figures_of, floor
from extensions.releases.watch import shown
from marketplace.enums import ReleaseMode, ReleaseState
from marketplace.models import STEPS, App, Release
from marketplace.queries import release_of
from marketplace.services import releases

_UNITS: Final = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_OfCalls = Callable[[dict[str, Any]], Number | None]
_Said = Callable[[Any], str]
_VERSIONS: Final = (("new", "New version", "first"), ("old", "Old version", "second"))
DONE: Final = {
    "advance": "The next step has begun.",
    "halt": "Halted. No more stores get this version.",
    "resume": "Resumed. The step begins again.",
    "back": "Taken back. Every store runs the version before.",
}
_STEPS: Final = {str(each) for each in STEPS}
_MOVES: Final[dict[str, Callable[..., Release]]] = {
    "advance": releases.advance,
    "halt": releases.halt,
    "resume": releases.resume,
}


@require_safe
@app_page
def release(request: HttpRequest, app: App) -> HttpResponse:
    found = release_of(app)
    context: dict[str, Any] = {"app": app, "release": found}
    if found is not None:
        history = found.final_health or figures_of(found)
        figures = shown(app, found, timezone.now(), history)
        context |= {
            "figures": figures,
            "plots": plots_of(found, history),
            "steps": [(each, each <= found.percent) for each in STEPS],
            "actions": releases.actions_of(app, found),
            "earlier": found.earlier,
            "total": sum(figures["stores"].values()),
        }
        if figures["state"] in (ReleaseState.ROLLING, ReleaseState.HALTED):
            context["reached"] = stores_reached(found)
    return render(request, "developers/portal/release/release.html", context)


@require_POST
@app_page
def move(request: HttpRequest, app: App) -> HttpResponse:
    """**Advance**, **Halt** or **Resume**; a reason is for programs. The state may have changed since the page was shown; then it says so.
    The page names the step that it showed, so that a second press on **Advance** doesn't skip one.
    """
    action, step = request.POST.get("action", ""), request.POST.get("step", "")
    if action in _MOVES:
        only = {"step": int(step)} if action == "advance" and step in _STEPS else {}
        with refusals_shown(request):
            _MOVES[action](app=app, by=current_developer(request), **only)
            messages.success(request, DONE[action])
    return redirect("portal:release", app.slug)


@require_http_methods(GET_OR_POST)
@app_page
def take_back(request: HttpRequest, app: App) -> HttpResponse:
    """Asks first, because every store changes."""
    if request.method == "POST":
        with refusals_shown(request):
            releases.take_back(app=app, by=current_developer(request))
            messages.success(request, DONE["back"])
        return redirect("portal:release", app.slug)
    found = release_of(app)
    if found is None or "back" not in releases.actions_of(app, found):
        return redirect("portal:release", app.slug)
    context = {"app": app, "release": found, "earlier": found.earlier}
    return render(request, "developers/portal/release/take_back.html", context)


# The two plots of a release: what failed, and how long calls took, of the new version and of the old one in
# the same hours or days.


def plots_of(release: Release, figures: dict[str, Any]) -> tuple[Chart, Chart]:
    """`figures` are those of `extensions.releases.health.figures_of`."""
    begins = _begins(release, figures["unit"])
    points = [Point(at if figures["unit"] == "hour" else at.date()) for at in begins]
    by_time = {datetime.fromisoformat(part["at"]): part for part in figures["history"]}
    versions = _VERSIONS[:1] if release.mode == ReleaseMode.ALL else _VERSIONS
    is_over = begins[-1] < floor(timezone.now(), figures["unit"])
    has_calls = any(figures[version]["calls"] for version, *_ in versions)

    def drawn(
        title: str, value: _OfCalls, total: _Said, write: _Said, empty: str, scale: Scale | None = None
    ) -> Chart:
        series = [
            Series(
                name, css, [value(by_time[at][version]) if at in by_time else None for at in begins],
                is_line=True, total=total(figures[version]),
            )
            for version, name, css in versions
        ]  # fmt: skip
        return chart(
            title.lower(), title, points, series, is_over=is_over, write=write, empty=empty, scale=scale
        )

    return (
        drawn("Failures", _share, _failed, _percent, "No failures." if has_calls else "No calls."),
        drawn("p95", _p95, lambda calls: _milliseconds(_p95(calls)), _milliseconds, "No calls.", TIMES),
    )


def _begins(release: Release, unit: str) -> list[datetime]:
    first, last = floor(release.started_at, unit), floor(calls_until(release), unit)
    number = (last - first) // _UNITS[unit] + 1
    return [last - ago * _UNITS[unit] for ago in range(min(number, MOST) - 1, -1, -1)]


def _share(calls: dict[str, Any]) -> Number | None:
    return 100 * calls["failureRate"] if calls["calls"] else None


def _p95(calls: dict[str, Any]) -> Number | None:
    p95: int | None = calls["p95Ms"]
    return p95


def _failed(calls: dict[str, Any]) -> str:
    return f"{calls['failed']:,} of {calls['calls']:,}"


def _percent(value: Number) -> str:
    return f"{round(value, 1):g}%"


def _milliseconds(value: Number | None) -> str:
    return "–" if value is None else f"{value:,} ms"
