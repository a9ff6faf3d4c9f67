"""Creating an app: one form, and one page with everything for the first call and the first webhook."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.views.decorators.http import require_http_methods

from common.db.finders import first_or_not_found
from common.errors import Invalid, ServiceError
from common.secrets import standard_webhooks_secret
from common.web.forms.kept import typed
from common.web.forms.pages import form_page, saved
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer, developer_page, enter_app
from developers.portal.apps.secrets import already_shown
from developers.portal.forms import CreateAppForm
from developers.portal.sandbox.first_calls import exchange_call, first_calls, first_path
from extensions.services.manifests import save_manifest
from installations.services import test_install
from installations.services.lifecycle import Issued
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.queries import own_apps
from marketplace.services.apps import IssuedApp, SlugTaken, create_app
from webhooks.services.inboxes import open_inbox


@require_http_methods(GET_OR_POST)
@developer_page
def app_create(request: HttpRequest) -> HttpResponse:
    """`?example=` chooses where to start from."""
    form = CreateAppForm(typed(request), initial={"example": request.GET.get("example", "")})

    def again(first: datetime) -> HttpResponse:
        named = own_apps(current_developer(request)).filter(name=form.cleaned_data["name"])
        app = first_or_not_found(named, "App not found")
        enter_app(request, app, AppRole.OWNER)
        create_url = resolve_url("portal:client_secret", app.slug)
        return already_shown(request, app, what="client secret", at=first, create_url=create_url)

    if response := saved(request, form, lambda: _create(request, form), again=again):
        return response
    return form_page(request, "developers/portal/apps/create.html", {"form": form})


def _create(request: HttpRequest, form: CreateAppForm) -> HttpResponse:
    """Create the app and install it on the sandbox store."""
    developer = current_developer(request)
    fields = {
        name: value for name, value in form.cleaned_data.items() if name not in ("example", "form_token")
    }
    try:
        created = create_app(developer=developer, **fields)
    except SlugTaken as taken:
        raise Invalid.field("slug", taken.message) from taken
    if (document := form.manifest()) is not None:
        _attempt(request, lambda: save_manifest(app=created.app, developer=developer, document=document))
    installed = test_install(app=created.app, developer=developer)
    _attempt(request, lambda: open_inbox(installation=installed.installation))
    enter_app(request, created.app, AppRole.OWNER)
    return render(request, "developers/portal/apps/created.html", _first_steps(created, installed, form))


def _attempt(request: HttpRequest, step: Callable[[], object]) -> None:
    """Carry out a step that the app can do without. If it is refused, the page says why."""
    try:
        step()
    except ServiceError as error:
        messages.warning(request, error.message)


def _first_steps(created: IssuedApp, installed: Issued, form: CreateAppForm) -> dict[str, Any]:
    app = created.app
    env = {  # as the command line writes them, and the templates of `new` read them
        "PLATFORM_URL": settings.BASE_URL,
        "CLIENT_ID": app.client_id,
        "CLIENT_SECRET": created.client_secret,
        "REDIRECT_URL": app.redirect_url,
        "BUSINESS_ID": installed.installation.business_id,
        "ACCESS_TOKEN": installed.access_token,
        "WEBHOOK_SECRET": installed.webhook_secret,
        "WEBHOOK_SECRET_STANDARD": standard_webhooks_secret(installed.webhook_secret),
    }
    return {
        "app": app,
        "client_secret": created.client_secret,
        "issued": installed,
        "env": "\n".join(f"{name}={value}" for name, value in env.items()),
        "calls": first_calls(installed.installation, installed.access_token),
        "first_path": first_path(installed.installation),
        "example": form.chosen_example,
        "next_url": resolve_url("portal:test_install", app.slug),
    }


@require_safe
@app_page
def redirect_result(request: HttpRequest, app: App) -> HttpResponse:
    """The built-in Redirect URL: shows the result of the consent page, and how to go on."""
    came = {name: request.GET[name] for name in RESULT if name in request.GET}
    redirect_uri = request.build_absolute_uri(request.path)
    context = {
        "app": app,
        "came": [(name, RESULT[name], value) for name, value in came.items()],
        "failed": "error" in came,
        "exchange": exchange_call(app, came["code"], redirect_uri) if "code" in came else "",
    }
    response = render(request, "developers/portal/apps/redirect_result.html", context)
    response["Referrer-Policy"] = "no-referrer"
    return response


RESULT = {
    "code": "The authorization code. It works once, for 60 seconds.",
    "state": "The state that your app sent. Check that it matches the one in the user's session.",
    "iss": "The issuer, this platform's address. Check it if your app works with several platforms.",
    "error": "Why there is no code.",
    "error_description": "The same in words.",
}
