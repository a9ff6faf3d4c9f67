"""An app on its developer's sandbox: install, token, first calls, uninstall."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods

from accounts.models import Business
from common.errors import Conflict
from developers import once
from developers.first_calls import first_calls
from developers.forms import OnceForm
from developers.views.access import app_page, current_developer
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from developers.views.secrets import secret_page, shown_before
from installations import services
from installations.queries import sandbox_installation
from marketplace.models import App
from marketplace.scopes import SCOPES


@require_http_methods(GET_OR_POST)
@app_page
def test_install(request: HttpRequest, app: App) -> HttpResponse:
    """What stands on the sandbox; POST installs, or issues a new token where it is installed."""
    form = OnceForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        return _install(request, app, form.cleaned_data["once"])
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
    return render(request, "developers/test_install.html", context, status=status)


def _install(request: HttpRequest, app: App, token: str) -> HttpResponse:
    developer = current_developer(request)
    if earlier := once.claim(developer, token):
        again = resolve_url("portal:test_install", app.slug)
        return shown_before(request, app, what="access token", at=earlier, again=again)
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
    return secret_page(request, "developers/test_token.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def test_uninstall(request: HttpRequest, app: App) -> HttpResponse:
    """Asks first, and says what goes and when."""
    developer = current_developer(request)
    if request.method == "POST":
        return _uninstall(request, app)
    installation = sandbox_installation(app=app, developer=developer)
    if installation is None:
        return redirect("portal:test_install", app.slug)
    return render(request, "developers/test_uninstall.html", {"app": app, "installation": installation})


def _uninstall(request: HttpRequest, app: App) -> HttpResponse:
    try:
        services.test_uninstall(app=app, developer=current_developer(request))
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{app.name} is uninstalled from your sandbox. Its access token is dead.")
    return redirect("portal:test_install", app.slug)
