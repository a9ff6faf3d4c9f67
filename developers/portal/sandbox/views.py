"""An app on its developer's sandbox store: install, token, changes that cause events, test events, uninstall."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Business
from accounts.services.confirmation import require_confirmed
from common.errors import Conflict, Invalid, ServiceError
from common.strangers import NoPlace, may_wait_for_strangers
from common.web.forms.pages import SecretForm, form_page, refusals_shown, saved
from common.web.live import live_part, live_version
from common.web.methods import GET_OR_POST, require_safe
from common.web.requests import is_own_page
from developers import limits
from developers.portal.access import app_page, current_developer
from developers.portal.sandbox import changes as test_store
from developers.portal.sandbox.first_calls import already_shown, first_calls
from developers.portal.webhooks.inbox_entries import newest_entries
from installations import services
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from marketplace.scopes import SCOPES, in_order
from webhooks.engine import listeners
from webhooks.queries import filtering, stopped
from webhooks.services import inboxes
from webhooks.services.sandbox import changes as sandbox_changes
from webhooks.services.sandbox.samples import send_sample

NOTHING_SENT: Final = (
    "Nothing was sent: no active webhook on your sandbox store is registered for {event}, or the install lacks the scope "
    "for it."
)


@require_http_methods(GET_OR_POST)
@app_page
def test_install(request: HttpRequest, app: App) -> HttpResponse:
    """The test store. POST installs the app, or issues a new token if it is installed already."""
    form = SecretForm(request.POST if request.method == "POST" else None)
    again = partial(_already_installed, request, app)
    if response := saved(request, form, lambda: _install(request, app), again=again):
        return response
    developer = current_developer(request)
    effects = _effects(request, app)
    installation = effects["installation"]
    held = app.scopes if installation is None else installation.effective_scopes
    sandbox = Business.objects.sandbox_of(developer)
    context = effects | {
        "form": form,
        "scopes": [SCOPES[name] for name in held],
        "lacking": in_order(set(app.scopes) - set(held)),
        "sandbox": sandbox,
        "groups": test_store.groups(),
        "sample_events": test_store.sample_events(installation) if installation else (),
        "shows_events": "events" in request.GET,
        "scenarios": sandbox_changes.SCENARIOS.values(),
        "erasure": None if installation else sandbox_changes.waiting_erasure(app, sandbox),
        "erasure_delay": settings.DATA_ERASURE_DELAY,
    }
    return form_page(request, "developers/portal/sandbox/install.html", context)


def _already_installed(request: HttpRequest, app: App, first: datetime) -> HttpResponse:
    create_url = resolve_url("portal:test_install", app.slug)
    return already_shown(request, app, what="access token", at=first, create_url=create_url)


def _install(request: HttpRequest, app: App) -> HttpResponse:
    developer = current_developer(request)
    require_confirmed(developer)
    try:
        issued = services.test_install(app=app, developer=developer)
    except ServiceError as error:
        messages.error(request, error.message)
        return redirect("portal:test_install", app.slug)
    try:
        if inboxes.inbox_of(app):
            inboxes.open_inbox(installation=issued.installation)  # a new install has no webhooks yet
    except ServiceError as error:
        messages.warning(request, f"The inbox isn't connected: {error.message}")
    context = {
        "app": app,
        "issued": issued,
        "calls": first_calls(issued.installation, issued.access_token),
        "next_url": resolve_url("portal:test_install", app.slug),
    }
    return render(request, "developers/portal/sandbox/token.html", context)


@may_wait_for_strangers
@require_POST
@app_page
def test_change(request: HttpRequest, app: App) -> HttpResponse:
    """Carry out one change on the sandbox store, or all of a scenario."""
    installation = sandbox_installation(app=app, developer=current_developer(request))
    scenario = sandbox_changes.SCENARIOS.get(request.POST.get("scenario", ""))
    act = sandbox_changes.CHANGES.get(request.POST.get("act", ""))
    if installation is None:
        messages.error(request, "Install the app on your sandbox store first.")
    elif scenario:
        limits.count_changes(current_developer(request), len(scenario.acts))
        _play(request, installation, scenario.acts, scenario.title)
    elif act:
        limits.count_changes(current_developer(request))
        _play(request, installation, [act.key], act.title)
    else:
        raise Invalid.field("act", "Choose a change or a scenario of the page Test store.")
    return redirect(f"{resolve_url('portal:test_install', app.slug)}#effects")


def _play(request: HttpRequest, installation: Installation, acts: Sequence[str], title: str) -> None:
    with refusals_shown(request, NoPlace):
        test_store.remember(request, sandbox_changes.play(installation, acts, title))


@require_safe
@app_page
def test_effects(request: HttpRequest, app: App) -> HttpResponse:
    """The right side of the test store, for its script, which asks again and again. 204 while nothing has changed."""
    return live_part(request, "developers/portal/sandbox/effects.html", _effects(request, app))


def _effects(request: HttpRequest, app: App) -> dict[str, Any]:
    """What the last run caused, and the newest entries of the inbox."""
    installation = sandbox_installation(app=app, developer=current_developer(request))
    inbox = inboxes.inbox_of(app)
    webhook = inboxes.webhook_of_inbox(inbox, installation) if inbox and installation else None
    run = test_store.last_run(request, app)
    results = sandbox_changes.results(run, installation) if run else []
    entries = newest_entries(inbox, limit=5) if inbox else []
    is_listened = installation is not None and bool(listeners.find({app.pk: listeners.own(installation)}))
    states = [
        f"{delivery.pk}{delivery.status}{delivery.attempt_count}"
        for step in results
        for outcome in step.outcomes
        for delivery in outcome.deliveries
    ]
    return {
        "app": app,
        "installation": installation,
        "inbox": inbox,
        "receives": webhook is not None and webhook.is_active,
        "run": run,
        "results": results,
        "entries": entries,
        "is_listened": is_listened,
        "version": live_version(is_listened, *states, *(entry.id for entry in entries)),
    }


@require_POST
@app_page
def erase_now(request: HttpRequest, app: App) -> HttpResponse:
    """Send the data erasure of the last test install now instead of in 48 hours."""
    limits.count_changes(current_developer(request))
    with refusals_shown(request, Conflict):
        sandbox_changes.erase_now(app, Business.objects.sandbox_of(current_developer(request)))
        messages.success(request, "business.data_erasure is being sent.")
    return redirect("portal:test_install", app.slug)


@require_http_methods(GET_OR_POST)
@app_page
def test_uninstall(request: HttpRequest, app: App) -> HttpResponse:
    """Lists what uninstalling removes, and asks for confirmation."""
    developer = current_developer(request)
    if request.method == "POST":
        with refusals_shown(request, Conflict):
            services.test_uninstall(app=app, developer=developer)
            messages.success(request, f"{app.name} was uninstalled. Its access token no longer works.")
        return redirect("portal:test_install", app.slug)
    installation = sandbox_installation(app=app, developer=developer)
    if installation is None:
        return redirect("portal:test_install", app.slug)
    context = {"app": app, "installation": installation, "erasure_delay": settings.DATA_ERASURE_DELAY}
    return render(request, "developers/portal/sandbox/uninstall.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def test_event(request: HttpRequest, app: App) -> HttpResponse:
    """Sends an event with sample data and shows its deliveries. This address once was a page, so GET leads to where events are."""
    here = f"{resolve_url('portal:test_install', app.slug)}?events#test-event"
    if request.method != "POST":
        return redirect(here)
    limits.count_changes(current_developer(request))
    event_type, back = request.POST.get("event", ""), request.POST.get("next", "")
    back = back if is_own_page(back, request) else here
    try:
        event, deliveries = send_sample(app=app, developer=current_developer(request), event_type=event_type)
    except Conflict as error:
        messages.error(request, error.message)
        return redirect(back)
    assert event.installation is not None
    filtered = " ".join(stopped(filtering(event.installation), event.installation, event))
    if not deliveries:
        messages.warning(request, filtered or NOTHING_SENT.format(event=event_type))
        return redirect(back)
    endpoints = "1 endpoint" if deliveries == 1 else f"{deliveries} endpoints"
    installation = sandbox_installation(app=app, developer=current_developer(request))
    if installation and installation.paused_at:
        messages.warning(
            request, f"{event_type} is held for {endpoints}: your sandbox store has paused the app."
        )
    else:
        messages.success(request, f"{event_type} is being sent to {endpoints}. {filtered}".rstrip())
    return redirect(f"{resolve_url('portal:deliveries', app.slug)}?q={event.pk}")
