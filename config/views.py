"""Pages of the site itself: the front page, theme, licences, and the answer to an unknown path."""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.shortcuts import render
from django.urls import resolve
from django.utils.http import escape_leading_slashes, url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from common.middleware import error_response, is_api_path
from marketplace import listing
from marketplace.forms import ListingForm

THEMES = ("light", "dark")
APPS_AT_HOME = 4
THEME_COOKIE_AGE = 365 * 24 * 3600  # seconds


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context = {"search": ListingForm()["q"], "apps": list(listing.find(listing.Wanted())[:APPS_AT_HOME])}
    return render(request, "home.html", context)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember light or dark in a cookie (anything else forgets it), and go back to the page."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure()):
        target = "/"
    response = HttpResponseRedirect(target)
    choice = request.POST.get("theme")
    if choice in THEMES:
        response.set_cookie(
            "theme", choice, max_age=THEME_COOKIE_AGE, secure=settings.SECURE_BY_TLS, samesite="Lax"
        )
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


@cache
def vendored() -> list[dict[str, Any]]:
    """Files of others that the site serves, each with the text of its licence, by package."""
    folder = settings.BASE_DIR / "static" / "vendor"
    entries: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text())
    return [entry | {"text": (folder / entry["license_file"]).read_text()} for entry in entries]


@require_safe
def licenses(request: HttpRequest) -> HttpResponse:
    return render(request, "licenses.html", {"entries": vendored()})


@csrf_exempt
def not_found(request: HttpRequest) -> HttpResponse:
    """Stands last among the routes, so that `DEBUG` has no page of its own for an unknown path.

    Since every path leads somewhere by that, Django can't tell which page lacks its closing slash; here it is added.
    """
    if request.method in ("GET", "HEAD") and _lacks_slash(request.path_info):
        target = request.get_full_path(force_append_slash=True)
        return HttpResponsePermanentRedirect(escape_leading_slashes(target))
    return error_response(request, 404, f"There is nothing at {request.path}.")


def _lacks_slash(path: str) -> bool:
    """Whether a page has this path with a slash behind it. API paths have their own rule (`ApiPathMiddleware`)."""
    if path.endswith("/") or is_api_path(path):
        return False
    return resolve(f"{path}/").func is not not_found
