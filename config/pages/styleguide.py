"""`/_styleguide/`: every front-end component on one page."""

from collections.abc import Callable
from functools import wraps

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from common.web.forms.fields import CheckboxLines, RadioCards, SwitchInput
from common.web.pagination import PageRequest


class StyleguideForm(forms.Form):
    """One field of each kind."""

    name = forms.CharField(
        max_length=80,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text="What merchants read.",
    )
    slug = forms.SlugField(
        required=False,
        max_length=80,
        widget=forms.TextInput({"data-slug-from": "id_name"}),
        help_text="Can't be changed later.",
    )
    description = forms.CharField(max_length=300, widget=forms.Textarea({"rows": 3}))
    password = forms.CharField(max_length=80, widget=forms.PasswordInput({"autocomplete": "new-password"}))
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
    colour = forms.CharField(
        required=False, max_length=7, widget=forms.TextInput({"type": "color", "value": "#3b4cca"})
    )
    stored = forms.BooleanField(label="I have stored this secret")
    active = forms.BooleanField(
        required=False, widget=SwitchInput, help_text="Off keeps everything, and sends nothing."
    )


class StyleguideFilters(forms.Form):
    """What a list may be filtered by."""

    q = forms.CharField(label="Event or order ID", required=False, max_length=80)
    status = forms.ChoiceField(required=False, choices=[("", "Any"), ("failed", "Failed")])


def for_staff(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Or for everyone with `DEBUG`."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not (settings.DEBUG or (request.user.is_authenticated and request.user.is_staff)):
            raise Http404
        return view(request)

    return guarded


@require_http_methods(["GET", "HEAD", "POST"])
@for_staff
def styleguide(request: HttpRequest) -> HttpResponse:
    """A POST shows the form with its errors."""
    wrong = StyleguideForm({"name": "Loyalty Stars", "slug": "Not a slug"}, prefix="wrong")
    context = {
        "form": StyleguideForm(request.POST or None),
        "filters": StyleguideFilters(prefix="filter"),
        "wrong": wrong,
        "now": timezone.now(),
        "page_request": PageRequest(page=2, limit=50),
        "kinds": ("ok", "warn", "bad", "info", "neutral"),
        "sizes": ("small", "", "large"),
    }
    return render(request, "styleguide.html", context)
