"""An app's Client ID, and the client secret that is seen once."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.views.decorators.http import require_http_methods, require_safe

from developers import once
from developers.forms import RegenerateForm
from developers.views.access import app_page, current_developer
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from developers.views.secrets import client_secret_page, shown_before
from marketplace.models import App
from marketplace.services.apps import rotate_client_secret


@require_safe
@app_page
def credentials(request: HttpRequest, app: App) -> HttpResponse:
    return render(request, "developers/credentials.html", {"app": app})


@require_http_methods(GET_OR_POST)
@app_page
def client_secret(request: HttpRequest, app: App) -> HttpResponse:
    """Asks before a new secret ends the old one, then shows the new one."""
    form = RegenerateForm(request.POST if request.method == "POST" else None, app=app)
    if form.is_bound and form.is_valid():
        return _regenerate(request, app, form.cleaned_data["once"])
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/client_secret_confirm.html", {"app": app, "form": form}, status=status)


def _regenerate(request: HttpRequest, app: App, token: str) -> HttpResponse:
    if earlier := once.claim(current_developer(request), token):
        again = resolve_url("portal:client_secret", app.slug)
        return shown_before(request, app, what="client secret", at=earlier, again=again)
    return client_secret_page(request, app, rotate_client_secret(app=app), is_new=False)
