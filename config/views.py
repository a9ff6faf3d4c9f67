"""Pages of the site itself: the front page, the style guide, licences, and the answer to an unknown path."""

import json
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from common.forms import CheckboxLines, RadioCards, Switch
from common.middleware import error_response
from common.pages import PageRequest

THEMES = ("light", "dark")
THEME_COOKIE_AGE = 365 * 24 * 3600  # seconds


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html")


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
        choices=[("DEVELOPER", "I build apps"), ("MERCHANT", "I run a shop")],
        widget=RadioCards(about={"DEVELOPER": "You get a sandbox shop.", "MERCHANT": "You get a shop."}),
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
        required=False, widget=Switch, help_text="Off keeps everything, and sends nothing."
    )


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    """Every component on one page: for staff, and for everybody in `DEBUG`."""
    if not (settings.DEBUG or (request.user.is_authenticated and request.user.is_staff)):
        raise Http404
    wrong = StyleguideForm({"name": "Loyalty Stars", "slug": "Not a slug"}, prefix="wrong")
    context = {
        "fields": StyleguideForm(),
        "wrong": wrong,
        "now": timezone.now(),
        "page_request": PageRequest(page=2, limit=50),
        "kinds": ("ok", "warn", "bad", "info", "neutral"),
        "sizes": ("small", "", "large"),
    }
    return render(request, "styleguide.html", context)


@csrf_exempt
def not_found(request: HttpRequest) -> HttpResponse:
    """Stands last among the routes, so that `DEBUG` has no page of its own for an unknown path."""
    return error_response(request, 404, f"There is nothing at {request.path}.")
