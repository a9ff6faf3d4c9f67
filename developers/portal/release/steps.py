"""The page of a release: how far it is, how well the new version works, and what can be done with it."""

from collections.abc import Callable
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import ServiceError
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.release.plots import plots_of
from extensions.hooks import shadow
from extensions.releases.health import figures_of
from extensions.releases.watch import shown
from marketplace.models import STEPS, App, Release
from marketplace.queries import release_of
from marketplace.services import releases

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
            "shadow_failures": shadow.failures_of(found) if figures["shadow"] else [],
        }
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
        _try(request, lambda: _MOVES[action](app=app, by=current_developer(request), **only), action)
    return redirect("portal:release", app.slug)


@require_http_methods(GET_OR_POST)
@app_page
def take_back(request: HttpRequest, app: App) -> HttpResponse:
    """Asks first, because every store changes."""
    if request.method == "POST":
        _try(request, lambda: releases.take_back(app=app, by=current_developer(request)), "back")
        return redirect("portal:release", app.slug)
    found = release_of(app)
    if found is None or "back" not in releases.actions_of(app, found):
        return redirect("portal:release", app.slug)
    context = {"app": app, "release": found, "earlier": found.earlier}
    return render(request, "developers/portal/release/take_back.html", context)


def _try(request: HttpRequest, act: Callable[[], Release], action: str) -> None:
    try:
        act()
    except ServiceError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, DONE[action])
