"""An app on its developer's sandbox store: install, token, first calls, test events, uninstall."""

from typing import Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods

from accounts.models import Business
from common.errors import Conflict, ServiceError
from developers.portal import form_tokens
from developers.portal.delivery_forms import TestEventForm
from developers.portal.first_calls import first_calls
from developers.portal.forms import OneTimeForm
from developers.portal.views.access import GET_OR_POST, UNPROCESSABLE, app_page, current_developer
from developers.portal.views.secrets import already_shown, secret_page
from installations import services
from installations.queries import sandbox_installation
from marketplace.models import App
from marketplace.scopes import SCOPES
from webhooks.services.samples import send_sample

NOTHING_SENT: Final = (
    "Nothing was sent: no active webhook on your sandbox store is registered for {event}, or the install lacks the scope "
    "for it."
)


@require_http_methods(GET_OR_POST)
@app_page
def test_install(request: HttpRequest, app: App) -> HttpResponse:
    """Shows the test install. POST installs the app, or issues a new token if it is installed already."""
    form = OneTimeForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        return _install(request, app, form.cleaned_data["form_token"])
    developer = current_developer(request)
    installation = sandbox_installation(app=app, developer=developer)
    held = app.scopes if installation is None else installation.effective_scopes
    context = {
        "app": app,
        "form": form,
        "installation": installation,
        "scopes": [SCOPES[name] for name in held],
        "sandbox": Business.objects.sandbox_of(developer),
    }
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/portal/test_install.html", context, status=status)


def _install(request: HttpRequest, app: App, token: str) -> HttpResponse:
    developer = current_developer(request)
    if earlier := form_tokens.claim(developer, token):
        create_url = resolve_url("portal:test_install", app.slug)
        return already_shown(request, app, what="access token", at=earlier, create_url=create_url)
    try:
        issued = services.test_install(app=app, developer=developer)
    except Conflict as error:
        messages.error(request, error.message)
        return redirect("portal:test_install", app.slug)
    context = {
        "app": app,
        "issued": issued,
        "calls": first_calls(issued.installation, issued.access_token),
        "next_url": resolve_url("portal:app", app.slug),
    }
    return secret_page(request, "developers/portal/test_token.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def test_uninstall(request: HttpRequest, app: App) -> HttpResponse:
    """Lists what uninstalling removes, and asks for confirmation."""
    developer = current_developer(request)
    if request.method == "POST":
        return _uninstall(request, app)
    installation = sandbox_installation(app=app, developer=developer)
    if installation is None:
        return redirect("portal:test_install", app.slug)
    context = {"app": app, "installation": installation, "erasure_delay": settings.DATA_ERASURE_DELAY}
    return render(request, "developers/portal/test_uninstall.html", context)


def _uninstall(request: HttpRequest, app: App) -> HttpResponse:
    try:
        services.test_uninstall(app=app, developer=current_developer(request))
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{app.name} was uninstalled. Its access token no longer works.")
    return redirect("portal:test_install", app.slug)


@require_http_methods(GET_OR_POST)
@app_page
def test_event(request: HttpRequest, app: App) -> HttpResponse:
    """Asks which event to send, then shows its deliveries in the list."""
    form = TestEventForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        return _send(request, app, form.cleaned_data["event"])
    installation = sandbox_installation(app=app, developer=current_developer(request))
    context = {"app": app, "form": form, "installation": installation}
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/portal/test_event.html", context, status=status)


def _send(request: HttpRequest, app: App, event_type: str) -> HttpResponse:
    try:
        event, deliveries = send_sample(app=app, developer=current_developer(request), event_type=event_type)
    except ServiceError as error:
        messages.error(request, error.message)
        return redirect("portal:test_event", app.slug)
    if not deliveries:
        messages.warning(request, NOTHING_SENT.format(event=event_type))
        return redirect("portal:test_event", app.slug)
    endpoints = "1 endpoint" if deliveries == 1 else f"{deliveries} endpoints"
    installation = sandbox_installation(app=app, developer=current_developer(request))
    if installation and installation.paused_at:
        messages.warning(
            request, f"{event_type} is held for {endpoints}: your sandbox store has paused the app."
        )
    else:
        messages.success(request, f"{event_type} is being sent to {endpoints}.")
    return redirect(f"{resolve_url('portal:deliveries', app.slug)}?q={event.pk}")
