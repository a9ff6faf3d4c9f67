"""Pages that show a credential once, in the response to the form that created it."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url

from marketplace.models import App

CONFLICT = 409


def client_secret_page(request: HttpRequest, app: App, secret: str) -> HttpResponse:
    env = f"CLIENT_ID={app.client_id}\nCLIENT_SECRET={secret}"
    next_url = resolve_url("portal:credentials", app.slug)
    context = {"app": app, "secret": secret, "env": env, "next_url": next_url}
    return render(request, "developers/portal/apps/client_secret.html", context)


def already_shown(
    request: HttpRequest, app: App, *, what: str, at: datetime, create_url: str
) -> HttpResponse:
    """The page for a form that was sent before, by a reload or the Back button. Nothing is created again.

    `what` was shown `at` that time. A new one can be created at `create_url`.
    """
    context = {"app": app, "what": what, "at": at, "create_url": create_url}
    return render(request, "developers/portal/apps/secret_gone.html", context, status=CONFLICT)
