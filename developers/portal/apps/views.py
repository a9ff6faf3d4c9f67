"""A developer's apps: list, overview, details, credentials, deletion, and creating one: one form, and one page with everything for the first call
and the first webhook.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_http_methods

from accounts.sign_in.step_up import step_up
from common.db.rows import first_or_not_found
from common.db.transactions import of_one_moment
from common.errors import Invalid, ServiceError
from common.secrets import standard_webhooks_secret
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.live import is_shown, live_part, live_version
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from developers.portal import access
from developers.portal.apps import rows
from developers.portal.apps.axis import PlaceOfUse
from developers.portal.apps.details_form import EVENTS, LISTING, SECTIONS, EditAppForm, section_url
from developers.portal.apps.health import app_health, figures_of, newest_of
from developers.portal.apps.plots import delivered, plots_of
from developers.portal.examples import EXAMPLES
from developers.portal.forms import CreateAppForm, RegenerateForm, SlugForm
from developers.portal.sandbox.first_calls import (
    already_shown,
    client_secret_page,
    exchange_call,
    first_calls,
    first_path,
)
from developers.portal.webhooks.filter_field import is_previewed
from developers.readiness import progress
from extensions.services.manifests import save_manifest
from installations.queries import sandbox_installation
from installations.services import test_install
from installations.services.lifecycle import Issued
from marketplace.enums import AppRole, AppStatus
from marketplace.models import App
from marketplace.queries import own_apps
from marketplace.services.apps import (
    IssuedApp,
    SlugTaken,
    create_app,
    delete_app,
    rotate_client_secret,
    update_app,
)
from marketplace.services.members import is_offered_to, offered_to
from webhooks.services.inboxes import open_inbox

SHOWN = 3  # examples, for a person without an app
SAVED = "Saved."
SAVED_AS_DRAFT = "Saved as a draft. Merchants keep seeing the approved version until the next approval."


@require_safe
@access.developer_page
def app_list(request: HttpRequest) -> HttpResponse:
    wanted = page_request(request.GET, default=20, maximum=100)
    developer = access.current_developer(request)
    text = request.GET.get("q", "").strip()[:80]
    shown = rows.apps_by_attention(developer, wanted, text)
    part = {
        "rows": SimpleLazyObject(lambda: rows.rows_of(shown)),
        "version": live_version(*map(rows.state_of, shown)),
    }
    if request.GET.get("part") == "rows":
        return live_part(request, "developers/portal/apps/rows.html", part)
    is_all = wanted.page == 1 and len(shown) < wanted.limit
    total = len(shown) if is_all else rows.found_apps(developer, text).count()
    context = part | {
        "total": total,
        "text": text,
        "offers": offered_to(developer),
        "searchable": bool(text) or total >= rows.SEARCH_FROM,
        "page_request": wanted,
        "examples": list(EXAMPLES.values())[:SHOWN],
        "cli": f"extension-platform login {settings.BASE_URL}\nextension-platform new my-app --template flask",
    }
    return render(request, "developers/portal/apps/list.html", context)


@require_safe
@access.app_page
def app_overview(request: HttpRequest, app: App) -> HttpResponse:
    """`part=live` is what moves: the problems, the figures and the plots. All are of one moment."""
    first = PlaceOfUse.STORES if app.approved_version_id else PlaceOfUse.SANDBOX
    place = next((each for each in PlaceOfUse if each == request.GET.get("in")), first)
    is_live = request.GET.get("part") == "live"

    def read() -> dict[str, Any]:
        row = rows.row_now(app)
        sent = delivered(app, place, row.days)
        newest = newest_of(app, row)
        version = live_version(row.figures, newest, sent.succeeded, sent.retrying, sent.failed)
        if is_live and is_shown(request, version):
            return {"version": version}
        health, made = app_health(app, row, newest), progress(app)
        plots, installs = (
            plots_of(app, sent, health) if made.installed_at or health.is_in_stores else ((), ())
        )
        figures = figures_of(row, installs if place == PlaceOfUse.STORES else ())
        return {"version": version, "health": health, "progress": made, "plots": plots, "figures": figures}

    moving: dict[str, Any] = {"app": app, "place": place, "places": list(PlaceOfUse)} | of_one_moment(read)
    if is_live:
        return live_part(request, "developers/portal/apps/overview_live.html", moving)
    health, made = moving["health"], moving["progress"]
    context = moving | {
        # Its plots are empty, so the next steps come before them.
        "is_new": not health.is_in_stores and not (made.called_at and made.answer),
        "has_pictures": bool(app.icon_id and app.screenshot_ids),
        "has_own_url": not app.redirect_url.startswith(f"{settings.BASE_URL}/"),
        "offered": is_offered_to(access.current_developer(request), app),
    }
    return render(request, "developers/portal/apps/overview.html", context)


@require_http_methods(GET_OR_POST)
@access.app_page
def app_edit(request: HttpRequest, app: App, section: str = LISTING) -> HttpResponse:
    """A section of the listing. The first has no name in the URL."""
    if section not in SECTIONS:
        raise Http404
    form = EditAppForm(typed(request), request.FILES or None, app=app, section=section)

    def save() -> HttpResponse:
        updated = update_app(app=app, changes=form.changes)
        is_draft = updated.status == AppStatus.DRAFT and updated.approved_version_id is not None
        return done(request, SAVED_AS_DRAFT if is_draft else SAVED, section_url(app, section))

    is_preview = is_previewed(request)
    if not is_preview and (response := saved(request, form, save)):
        return response
    context = {
        **(_trial(request, app, form) if section == EVENTS else {}),
        "previewed": is_preview,
        "app": app,
        "form": form,
        "section": section,
        "section_name": SECTIONS[section],
        "sections": [(key, name, section_url(app, key)) for key, name in SECTIONS.items()],
    }
    return form_page(request, "developers/portal/apps/edit.html", context)


def _trial(request: HttpRequest, app: App, form: EditAppForm) -> dict[str, Any]:
    installation = sandbox_installation(app=app, developer=access.current_developer(request))
    return {"installation": installation, "trial": form.trial(installation) if installation else None}


@require_safe
@access.app_page
def credentials(request: HttpRequest, app: App) -> HttpResponse:
    return render(request, "developers/portal/apps/credentials.html", {"app": app})


@require_http_methods(GET_OR_POST)
@access.developers_page
@step_up
def client_secret(request: HttpRequest, app: App) -> HttpResponse:
    """Asks for confirmation, then replaces the client secret and shows the new one."""
    form = RegenerateForm(typed(request), app=app)

    def save() -> HttpResponse:
        return client_secret_page(
            request, app, rotate_client_secret(app=app, by=access.current_developer(request))
        )

    if response := saved(request, form, save, again=partial(_secret_already_shown, request, app)):
        return response
    context = {"app": app, "form": form}
    return form_page(request, "developers/portal/apps/client_secret_confirm.html", context)


def _secret_already_shown(request: HttpRequest, app: App, at: datetime) -> HttpResponse:
    create_url = resolve_url("portal:client_secret", app.slug)
    return already_shown(request, app, what="client secret", at=at, create_url=create_url)


@require_http_methods(GET_OR_POST)
@access.owners_page
def app_delete(request: HttpRequest, app: App) -> HttpResponse:
    form = SlugForm(typed(request), app=app)

    def save() -> HttpResponse:
        delete_app(app=app)
        return done(request, f"{app.name} was deleted.", "portal:app_list")

    if response := saved(request, form, save):
        return response
    return form_page(request, "developers/portal/apps/delete.html", {"app": app, "form": form})


# --- Creating an app ---------------------------------------------------------------------------------


@require_http_methods(GET_OR_POST)
@access.developer_page
def app_create(request: HttpRequest) -> HttpResponse:
    """`?example=` chooses where to start from."""
    form = CreateAppForm(typed(request), initial={"example": request.GET.get("example", "")})

    def again(first: datetime) -> HttpResponse:
        named = own_apps(access.current_developer(request)).filter(name=form.cleaned_data["name"])
        app = first_or_not_found(named, "App not found")
        access.enter_app(request, app, AppRole.OWNER)
        create_url = resolve_url("portal:client_secret", app.slug)
        return already_shown(request, app, what="client secret", at=first, create_url=create_url)

    if response := saved(request, form, lambda: _create(request, form), again=again):
        return response
    return form_page(request, "developers/portal/apps/create.html", {"form": form})


def _create(request: HttpRequest, form: CreateAppForm) -> HttpResponse:
    """Create the app and install it on the sandbox store."""
    developer = access.current_developer(request)
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
    access.enter_app(request, created.app, AppRole.OWNER)
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
@access.app_page
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
