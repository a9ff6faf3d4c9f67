"""Pages that show a credential: once, in the answer to the form that made it, and nowhere else."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.cache import add_never_cache_headers

from marketplace.models import App

CONFLICT = 409


def secret_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Kept by no cache and no history: `Cache-Control: no-store`."""
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response


def client_secret_page(request: HttpRequest, app: App, secret: str, *, is_new: bool) -> HttpResponse:
    env = f"CLIENT_ID={app.client_id}\nCLIENT_SECRET={secret}"
    next_url = resolve_url("portal:app" if is_new else "portal:credentials", app.slug)
    context = {"app": app, "secret": secret, "env": env, "is_new": is_new, "next_url": next_url}
    return secret_page(request, "developers/client_secret.html", context)


def shown_before(request: HttpRequest, app: App, *, what: str, at: datetime, again: str) -> HttpResponse:
    """The same form once more, after a reload or by the Back button: nothing was done again.

    `what` was shown `at` that time; `again` is where a new one can be made.
    """
    context = {"app": app, "what": what, "at": at, "again": again}
    return render(request, "developers/secret_gone.html", context, status=CONFLICT)
