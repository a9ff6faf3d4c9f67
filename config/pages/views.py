"""Pages of the site itself: theme, licenses, security.txt, robots.txt, sitemap.xml, the answer to an unknown path, and one search over all
that a person may open: apps, orders, things by id, pages and the documentation.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sitemaps import Sitemap
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.shortcuts import render
from django.urls import resolve, reverse
from django.utils.http import escape_leading_slashes
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from accounts.models import User
from common.db.folding import folded
from common.files import brand
from common.web.errors import error_response, is_api_path
from common.web.found import MOST, Found
from common.web.methods import at_no_page, require_safe
from common.web.requests import is_own_page
from config.pages.styleguide import for_staff
from developers.docs import navigation
from developers.docs.search import search as search_docs
from developers.portal.search import actions_in_portal, in_portal
from developers.review.submissions import actions_in_review, in_review
from marketplace.models import App
from merchants.search import actions_in_stores, in_marketplace, in_stores
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
    message = _("There’s no page at %(path)s. Check the address for a typo.") % {"path": request.path}
    if request.zone == "stores":  # type: ignore[attr-defined]
        message += " " + _("The platform is at %(address)s.") % {"address": settings.BASE_URL}
    return error_response(request, 404, message, code="unknown_path")


def _lacks_slash(path: str) -> bool:
    """Whether a page exists at this path plus a slash. API paths have their own rule (`ApiMiddleware`)."""
    if path.endswith("/") or is_api_path(path):
        return False
    return resolve(f"{path}/").func is not not_found


# --- For programs that read all pages ----------------------------------------------------------------

PRIVATE = (
    "/accounts/", "/admin/", "/app-api/", "/auth/", "/developer/", "/merchant/", "/oauth/", "/portal/", "/webhooks",
)  # fmt: skip


@require_safe
def robots_txt(request: HttpRequest) -> HttpResponse:
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in PRIVATE)]
    lines.append(f"Sitemap: {settings.BASE_URL}/sitemap.xml")
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


class _Pages(Sitemap):
    """The home page, the marketplace and the documentation, by their paths."""

    def items(self) -> list[str]:
        return [reverse("home"), reverse("merchants:marketplace"), *navigation.paths()]

    def location(self, item: str) -> str:
        return item


class _Listings(Sitemap):
    def items(self) -> QuerySet[App]:
        return App.objects.listed().select_related("approved_version").order_by("slug")

    def location(self, item: App) -> str:
        return reverse("merchants:listing", args=[item.slug])

    def lastmod(self, item: App) -> datetime | None:
        return item.approved_version.approved_at if item.approved_version else None


SITEMAPS: dict[str, Any] = {"pages": _Pages, "listings": _Listings}


# --- The search --------------------------------------------------------------------------------------

LONGEST = 100  # characters
MOST_OF_PATH = 500  # characters
MOST_OF_DOCS = 8  # where the documentation is searched first


@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """`?q=` finds. With `part` the answer is the list alone, for the search box, and with `docs` the documentation comes first.

    Strangers find the documentation and the marketplace. Without words it is what the person may do, at best on the page `at`.
    """
    text = " ".join(request.GET.get("q", "").split())[:LONGEST]
    acts = list(_actions(request.user, request.GET.get("at", "")[:MOST_OF_PATH])) if len(text) != 1 else []
    found = [each for each in acts if folded(text) in folded(each.title)]
    if text:
        in_docs = "docs" in request.GET
        others = list(_found(request.user, text.removeprefix("#"), in_docs))
        found = others + found if in_docs else found + others
    template = "search_results.html" if "part" in request.GET else "search.html"
    return render(request, template, {"query": text, "found": found})


def _actions(person: User | AnonymousUser, at: str) -> Iterator[Found]:
    if isinstance(person, User):
        yield from chain(actions_in_portal(person, at), actions_in_stores(person), actions_in_review(person))


def _found(person: User | AnonymousUser, text: str, docs_first: bool) -> Iterator[Found]:
    if docs_first:
        yield from _in_docs(text, MOST_OF_DOCS)
    if isinstance(person, User):
        yield from chain(in_portal(person, text), in_stores(person, text), in_review(person, text))
    yield from in_marketplace(text)
    if not docs_first:
        yield from _in_docs(text, MOST)


def _in_docs(text: str, most: int) -> Iterator[Found]:
    for each in search_docs(text, most):
        section = each.section
        yield Found("Documentation", section.name, section.trail, section.url, "book-open")
