"""A developer's apps: list, overview, details, credentials and deletion."""

from datetime import datetime

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods

from accounts.sign_in.step_up import step_up
from common.errors import ServiceError
from common.web.forms import one_time
from common.web.forms.pages import add_service_errors
from common.web.methods import require_safe
from common.web.pagination import page_request
from developers.portal.access import (
    GET_OR_POST,
    UNPROCESSABLE,
    app_page,
    current_developer,
    developer_page,
    developers_page,
    owners_page,
)
from developers.portal.apps.details_form import LISTING, SECTIONS, EditAppForm, section_url
from developers.portal.apps.health import app_health, has_merchants
from developers.portal.apps.rows import SEARCH_FROM, apps_by_attention, rows_of
from developers.portal.apps.secrets import already_shown, client_secret_page
from developers.portal.forms import RegenerateForm, SlugForm
from developers.portal.release.progress import progress
from marketplace.enums import AppStatus
from marketplace.models import App
from marketplace.scopes import SCOPES
from marketplace.services.apps import delete_app, rotate_client_secret, update_app
from marketplace.services.transfers import is_offered_to

SAVED = "Saved."
SAVED_AS_DRAFT = "Saved as a draft. Merchants keep seeing the approved version until the next approval."


@require_safe
@developer_page
def app_list(request: HttpRequest) -> HttpResponse:
    wanted = page_request(request.GET, default=20, maximum=100)
    developer = current_developer(request)
    text = request.GET.get("q", "").strip()[:80]
    apps = apps_by_attention(developer, text)
    total = apps.count()
    context = {
        "rows": rows_of(apps[wanted.window]),
        "total": total,
        "text": text,
        "searchable": bool(text) or total >= SEARCH_FROM,
        "page_request": wanted,
    }
    return render(request, "developers/portal/apps/list.html", context)


@require_safe
@app_page
def app_overview(request: HttpRequest, app: App) -> HttpResponse:
    context = {
        "app": app,
        "scopes": [SCOPES[name] for name in app.scopes],
        "progress": progress(app),
        "has_pictures": bool(app.icon_id and app.screenshot_ids),
        "has_own_url": not app.redirect_url.startswith(f"{settings.BASE_URL}/"),
        "health": app_health(app) if has_merchants(app) else None,
        "offered": is_offered_to(current_developer(request), app),
    }
    return render(request, "developers/portal/apps/overview.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def app_edit(request: HttpRequest, app: App, section: str = LISTING) -> HttpResponse:
    """A section of the details. The first has no name in the URL."""
    if section not in SECTIONS:
        raise Http404
    is_post = request.method == "POST"
    files = request.FILES if is_post else None
    form = EditAppForm(request.POST if is_post else None, files, app=app, section=section)
    if form.is_bound and form.is_valid() and (updated := _save(form)):
        is_draft = updated.status == AppStatus.DRAFT and updated.approved_version_id is not None
        messages.success(request, SAVED_AS_DRAFT if is_draft else SAVED)
        return redirect(section_url(app, section))
    context = {
        "app": app,
        "form": form,
        "section": section,
        "sections": [(key, name, section_url(app, key)) for key, name in SECTIONS.items()],
    }
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/portal/apps/edit.html", context, status=status)


def _save(form: EditAppForm) -> App | None:
    """The updated app. Returns None if the service refused, with its problems in the form."""
    try:
        return update_app(app=form.app, changes=form.changes())
    except ServiceError as error:
        add_service_errors(form, error)
        return None


@require_safe
@app_page
def credentials(request: HttpRequest, app: App) -> HttpResponse:
    return render(request, "developers/portal/apps/credentials.html", {"app": app})


@require_http_methods(GET_OR_POST)
@developers_page
@step_up
def client_secret(request: HttpRequest, app: App) -> HttpResponse:
    """Asks for confirmation, then replaces the client secret and shows the new one."""
    form = RegenerateForm(request.POST if request.method == "POST" else None, app=app)
    if form.is_bound and form.is_valid():
        if earlier := one_time.claim(current_developer(request), form.cleaned_data["form_token"]):
            return _secret_already_shown(request, app, earlier)
        return client_secret_page(request, app, rotate_client_secret(app=app, by=current_developer(request)))
    status = UNPROCESSABLE if form.is_bound else 200
    return render(
        request,
        "developers/portal/apps/client_secret_confirm.html",
        {"app": app, "form": form},
        status=status,
    )


def _secret_already_shown(request: HttpRequest, app: App, at: datetime) -> HttpResponse:
    create_url = resolve_url("portal:client_secret", app.slug)
    return already_shown(request, app, what="client secret", at=at, create_url=create_url)


@require_http_methods(GET_OR_POST)
@owners_page
def app_delete(request: HttpRequest, app: App) -> HttpResponse:
    form = SlugForm(request.POST if request.method == "POST" else None, app=app)
    if form.is_bound and form.is_valid():
        delete_app(app=app)
        messages.success(request, f"{app.name} was deleted.")
        return redirect("portal:app_list")
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/portal/apps/delete.html", {"app": app, "form": form}, status=status)
