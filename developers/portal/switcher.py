"""The switcher of apps: from a page of one app to the same page of another."""

from typing import Any, Final, cast

from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from marketplace.models import App
from marketplace.queries import own_apps

MOST: Final = 12  # newest first; the list of apps has a search


def other_apps(request: HttpRequest, app: App) -> Any:
    """Names and links, read where a template shows them."""
    return SimpleLazyObject(lambda: _found(request, app))


def _found(request: HttpRequest, app: App) -> list[tuple[str, str]]:
    match = request.resolver_match
    is_of_all = match is not None and request.method == "GET" and set(match.kwargs) == {"slug"}
    name = match.view_name if match and is_of_all else "portal:app"
    others = own_apps(cast(User, request.user)).exclude(pk=app.pk)
    rows = others.select_related(None).values_list("name", "slug")[:MOST]
    return [(title, resolve_url(name, slug)) for title, slug in rows]
