"""Pages of the site itself: theme, licenses, security.txt and the answer to an unknown path."""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.shortcuts import render
from django.urls import resolve
from django.utils.http import escape_leading_slashes
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from common import brand
from common.web.errors import error_response, is_api_path
from common.web.methods import at_no_page, require_safe
from common.web.own_pages import is_own_page
from config.pages.styleguide import for_staff
from stores.addresses import store_url

THEMES = ("light", "dark")
THEME_COOKIE_AGE = 365 * 24 * 3600  # seconds


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Save the choice of light or dark in a cookie, or delete it for any other value, and go back to the page."""
    target = request.POST.get("next", "")
    if not is_own_page(target, request):
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
    """Third-party files that the site serves, by package, with the text of their license."""
    folder = settings.BASE_DIR / "static" / "vendor"
    packages: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in json.loads((folder / "manifest.json").read_text()):
        text = (folder / entry["license_file"]).read_text()
        package = packages.setdefault(
            (entry["package"], entry["license_file"]), entry | {"text": text, "files": []}
        )
        package["files"].append(entry["file"])
    return list(packages.values())


@require_safe
def licenses(request: HttpRequest) -> HttpResponse:
    return render(request, "licenses.html", {"entries": vendored()})


@require_safe
def brand_part(request: HttpRequest, name: str) -> HttpResponse:
    """The operator's logo, or the sheet with the operator's color. Their names change with their content."""
    found = brand.part(brand.PATH + name)
    if found is None:
        return not_found(request)
    content, kind = found
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    }
    return HttpResponse(content, content_type=kind, headers=headers)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Where to report a vulnerability (RFC 9116)."""
    if not settings.SECURITY_TXT:
        return not_found(request)
    return HttpResponse(settings.SECURITY_TXT, content_type="text/plain; charset=utf-8")


@require_safe
@for_staff
def no_server(request: HttpRequest) -> HttpResponse:
    """Where the install of an app ends that is made up for the demo."""
    return render(request, "no_server.html")


@csrf_exempt  # the stores' host decides
def to_store(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect to the store's host, with path, query, method and body."""
    rest = request.get_full_path().removeprefix(f"/store/{slug}").removeprefix("/")
    return HttpResponseRedirect(store_url(slug) + rest, preserve_request=True)


@csrf_exempt
@at_no_page
def not_found(request: HttpRequest) -> HttpResponse:
    """Answer an unknown path. It is the last route, so that Django's own page for `DEBUG` isn't used.

    Because it matches every path, Django can't add a missing trailing slash, so it is added here.
    """
    if request.method in ("GET", "HEAD") and _lacks_slash(request.path_info):
        target = request.get_full_path(force_append_slash=True)
        return HttpResponsePermanentRedirect(escape_leading_slashes(target))
    message = _("There is nothing at %(path)s.") % {"path": request.path}
    if request.zone == "stores":  # type: ignore[attr-defined]
        message += " " + _("The platform is at %(address)s.") % {"address": settings.BASE_URL}
    return error_response(request, 404, message, code="unknown_path")


def _lacks_slash(path: str) -> bool:
    """Whether a page exists at this path plus a slash. API paths have their own rule (`ApiMiddleware`)."""
    if path.endswith("/") or is_api_path(path):
        return False
    return resolve(f"{path}/").func is not not_found
