"""What `layouts/list.html` reads of the merchant's lists, and what they search and filter by."""

from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.urls import reverse

from common.web.forms.fields import LongChoiceField
from common.web.pagination import page_request
from merchants.store.queries import VIEWS
from stores.enums import OrderStatus


def list_context(
    request: HttpRequest, thing: str, icon: str, form: forms.Form | None = None
) -> dict[str, Any]:
    """Of the list of a `thing`, such as "order", which `form` filters. A view adds `rows` and their `total`."""
    return {
        "thing": thing,
        "icon": icon,
        "list_url": reverse(f"merchants:{thing}s") + store_query(request),
        "form": form,
        "filtered": form is not None and any(map(request.GET.get, form.fields)),
        "page_request": page_request(request.GET, default=ROWS, maximum=ROWS),
    }


def store_query(request: HttpRequest, joint: str = "?") -> str:
    """After the address of a link: the store, if that of this page names it."""
    named = request.GET.get(NAMED_BY)
    return f"{joint}{urlencode({NAMED_BY: named})}" if named else ""


NAMED_BY: Final = "store"  # in the address: the slug of the business that the page shows
ROWS: Final = 25  # on a page of a list


# --- Searches and filters ----------------------------------------------------------------------------

MAX_SEARCH = 100  # characters


def _search(label: str, **attributes: str) -> forms.CharField:
    widget = forms.TextInput({"type": "search", "autocomplete": "off", **attributes})
    return forms.CharField(label=label, required=False, max_length=MAX_SEARCH, widget=widget)


def _choice(label: str, everything: str, choices: list[tuple[str, str]]) -> LongChoiceField:
    return LongChoiceField(
        label=label,
        required=False,
        choices=[("", everything), *choices],
        error_messages={"invalid_choice": "Choose an option from the list."},
    )


def _day(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": "Enter a day such as 2026-11-20."},
    )


class OrderFilter(forms.Form):
    """`view` is one of the saved views, which the page has as tabs."""

    use_required_attribute = False
    view = forms.ChoiceField(
        required=False,
        choices=[("", "All"), *((name, view.label) for name, view in VIEWS.items())],
        widget=forms.HiddenInput,
        error_messages={"invalid_choice": "There is no such view."},
    )
    q = _search("Number or customer", placeholder="Number, name, e-mail or phone")
    status = _choice("Status", "Any", [(str(value), str(label)) for value, label in OrderStatus.choices])
    payment = _choice("Payment", "Any", [("paid", "Paid"), ("unpaid", "Unpaid"), ("online", "Unpaid online")])
    since = _day("From")
    until = _day("To")

    def clean_q(self) -> str:
        return str(self.cleaned_data["q"]).strip().removeprefix("#").strip()

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        since, until = chosen.get("since"), chosen.get("until")
        if since and until and since > until:
            self.add_error("until", "Choose a day that isn't before the first one.")
        return chosen

    @property
    def wanted(self) -> dict[str, Any]:
        """The arguments of `orders_found`."""
        chosen = self.cleaned_data
        return {
            "view": chosen["view"],
            "status": chosen["status"],
            "payment": chosen["payment"],
            "search": chosen["q"],
            "first_day": chosen["since"],
            "last_day": chosen["until"],
        }


class ProductFilter(forms.Form):
    q = _search("Search")
    category = LongChoiceField(
        label="Category",
        required=False,
        error_messages={"invalid_choice": "No product is in this category."},
    )
    show = _choice(
        "Show",
        "Not archived",
        [
            ("available", "Available"),
            ("off", "Unavailable"),
            ("low", "Low or sold out"),
            ("out", "Sold out"),
            ("archived", "Archived"),
        ],
    )

    def __init__(self, *args: Any, categories: list[str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["category"].choices = [("", "All"), *((name, name) for name in categories)]  # type: ignore[attr-defined]


class ReviewFilter(forms.Form):
    q = _search("Product")
    rating = forms.TypedChoiceField(
        label="Rating",
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", "Any"), *((n, f"{n} star{'s' if n > 1 else ''}") for n in (5, 4, 3, 2, 1))],
        error_messages={"invalid_choice": "Choose an option from the list."},
    )
    product = forms.UUIDField(
        required=False, widget=forms.HiddenInput, error_messages={"invalid": "This product doesn't exist."}
    )
