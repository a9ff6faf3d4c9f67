"""Pages of the site itself: theme, licenses, security.txt, what crawlers read, the style guide, and the answer to an unknown path."""

import json
from datetime import datetime
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import resolve, reverse
from django.utils import timezone
from django.utils.http import escape_leading_slashes
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from common.web.errors import error_response, is_api_path
from common.web.forms import CheckboxLines, RadioCards, SwitchInput
from common.web.methods import at_no_page, require_safe
from common.web.own_pages import is_own_page
from common.web.pagination import PageRequest
from developers.docs import navigation
from marketplace.models import App
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
    """Third-party files that the site serves, by package, with the text of their licence."""
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
def security_txt(request: HttpRequest) -> HttpResponse:
    """Where to report a vulnerability (RFC 9116)."""
    if not settings.SECURITY_TXT:
        return not_found(request)
    return HttpResponse(settings.SECURITY_TXT, content_type="text/plain; charset=utf-8")


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
    message = f"There is nothing at {request.path}."
    if request.zone == "stores":  # type: ignore[attr-defined]
        message += f" The platform is at {settings.BASE_URL}."
    return error_response(request, 404, message, code="unknown_path")


def _lacks_slash(path: str) -> bool:
    """Whether a page exists at this path plus a slash. API paths have their own rule (`ApiMiddleware`)."""
    if path.endswith("/") or is_api_path(path):
        return False
    return resolve(f"{path}/").func is not not_found


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


class StyleguideForm(forms.Form):
    """One field of each kind."""

    name = forms.CharField(
        max_length=80,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text="What merchants read.",
    )
    slug = forms.SlugField(
        required=False,
        widget=forms.TextInput({"data-slug-from": "id_name"}),
        help_text="Can't be changed later.",
    )
    description = forms.CharField(max_length=300, widget=forms.Textarea({"rows": 3}))
    password = forms.CharField(widget=forms.PasswordInput({"autocomplete": "new-password"}))
    category = forms.ChoiceField(choices=[("shipping", "Shipping"), ("loyalty", "Loyalty")])
    icon = forms.FileField(required=False, help_text="PNG or JPEG, square, at most 2 MB.")
    role = forms.ChoiceField(
        choices=[("DEVELOPER", "I build apps"), ("MERCHANT", "I run a store")],
        widget=RadioCards(about={"DEVELOPER": "You get a sandbox store.", "MERCHANT": "You get a store."}),
    )
    scopes = forms.MultipleChoiceField(
        label="Permissions",
        choices=[("read_products", "See products"), ("read_orders", "See orders")],
        widget=CheckboxLines(
            about={"read_products": "Names, prices and stock.", "read_orders": "With customers' names."},
            names={"read_products": "read_products", "read_orders": "read_orders"},
        ),
    )
    colour = forms.CharField(required=False, widget=forms.TextInput({"type": "color", "value": "#3b4cca"}))
    stored = forms.BooleanField(label="I have stored this secret")
    active = forms.BooleanField(
        required=False, widget=SwitchInput, help_text="Off keeps everything, and sends nothing."
    )


@require_http_methods(["GET", "HEAD", "POST"])
def styleguide(request: HttpRequest) -> HttpResponse:
    """For staff, or everyone with `DEBUG`. A POST shows the form with its errors."""
    if not (settings.DEBUG or (request.user.is_authenticated and request.user.is_staff)):
        raise Http404
    wrong = StyleguideForm({"name": "Loyalty Stars", "slug": "Not a slug"}, prefix="wrong")
    context = {
        "form": StyleguideForm(request.POST or None),
        "wrong": wrong,
        "now": timezone.now(),
        "page_request": PageRequest(page=2, limit=50),
        "kinds": ("ok", "warn", "bad", "info", "neutral"),
        "sizes": ("small", "", "large"),
    }
    return render(request, "styleguide.html", context)
