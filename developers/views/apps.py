"""A developer's apps: the list, a new one, and each one's overview, details and end."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_safe

from common.errors import ServiceError
from common.pages import page_request
from developers import once
from developers.forms import CreateAppForm, EditAppForm, SlugForm, show_problems
from developers.queries import own_app_by_slug, own_apps, progress
from developers.views.access import app_page, current_developer, developer_page
from developers.views.secrets import client_secret_page, shown_before
from marketplace.enums import AppStatus
from marketplace.models import App
from marketplace.queries import with_last_submission
from marketplace.scopes import SCOPES
from marketplace.services.apps import create_app, delete_app, update_app

GET_OR_POST = ["GET", "HEAD", "POST"]
UNPROCESSABLE = 422
SAVED = "Saved."
SAVED_BESIDE_LIVE = "Saved as a draft. Merchants go on seeing the approved version until the next approval."


@require_safe
@developer_page
def app_list(request: HttpRequest) -> HttpResponse:
    wanted = page_request(request.GET, default=20, maximum=100)
    apps = with_last_submission(own_apps(current_developer(request)))
    context = {"apps": apps[wanted.window], "total": apps.count(), "page_request": wanted}
    return render(request, "developers/app_list.html", context)


@require_http_methods(GET_OR_POST)
@developer_page
def app_create(request: HttpRequest) -> HttpResponse:
    form = CreateAppForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        response = _create(request, form)
        if response is not None:
            return response
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/app_create.html", {"form": form}, status=status)


def _create(request: HttpRequest, form: CreateAppForm) -> HttpResponse | None:
    """The page with the new app's client secret; None where the service found something wrong."""
    developer = current_developer(request)
    fields = dict(form.cleaned_data)
    token = fields.pop("once")
    if earlier := once.claim(developer, token):
        app = own_app_by_slug(developer, fields["slug"])
        again = resolve_url("portal:client_secret", app.slug)
        return shown_before(request, app, what="client secret", at=earlier, again=again)
    try:
        issued = create_app(developer=developer, **fields)
    except ServiceError as error:
        once.release(developer, token)
        show_problems(form, error)
        return None
    return client_secret_page(request, issued.app, issued.client_secret, is_new=True)


@require_safe
@app_page
def app_overview(request: HttpRequest, app: App) -> HttpResponse:
    context = {
        "app": app,
        "scopes": [SCOPES[name] for name in app.scopes],
        "progress": progress(app),
        "has_pictures": bool(app.icon_id and app.screenshot_ids),
    }
    return render(request, "developers/app_overview.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def app_edit(request: HttpRequest, app: App) -> HttpResponse:
    is_post = request.method == "POST"
    form = EditAppForm(request.POST if is_post else None, request.FILES if is_post else None, app=app)
    if form.is_bound and form.is_valid() and (updated := _save(form)):
        beside_live = updated.status == AppStatus.DRAFT and updated.approved_version_id is not None
        messages.success(request, SAVED_BESIDE_LIVE if beside_live else SAVED)
        return redirect("portal:app_edit", app.slug)
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/app_edit.html", {"app": app, "form": form}, status=status)


def _save(form: EditAppForm) -> App | None:
    """The app as it is now; None where the service found something wrong, which the form says then."""
    try:
        return update_app(app=form.app, changes=form.changes())
    except ServiceError as error:
        show_problems(form, error)
        return None


@require_http_methods(GET_OR_POST)
@app_page
def app_delete(request: HttpRequest, app: App) -> HttpResponse:
    form = SlugForm(request.POST if request.method == "POST" else None, app=app)
    if form.is_bound and form.is_valid():
        delete_app(app=app)
        messages.success(request, f"{app.name} is deleted.")
        return redirect("portal:app_list")
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/app_delete.html", {"app": app, "form": form}, status=status)
