"""What a merchant types about the shop itself: filters of lists, products, stock, the store's settings."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import Business
from common.errors import ServiceError
from common.forms import Switch
from stores.enums import OrderStatus
from stores.fields import MoneyField
from stores.models import Product

MAX_SEARCH = 100  # characters
MOST_STOCK = 2_147_483_647  # what the column holds


def tell(
    form: forms.Form,
    error: ServiceError,
    *,
    names: Mapping[str, str] | None = None,
    conflict: str | None = None,
) -> None:
    """Put what a service refused beside the fields. `names` maps the wire's names to the form's; `conflict`
    is the field of an error without details."""
    if not error.details:
        form.add_error(conflict, error.message)
    for detail in error.details:
        field = (names or {}).get(detail["field"], detail["field"])
        form.add_error(field if field in form.fields else None, detail["message"])


# --- Filters ----------------------------------------------------------------------------------------


def _search(label: str, **attributes: str) -> forms.CharField:
    widget = forms.TextInput({"type": "search", "autocomplete": "off", **attributes})
    return forms.CharField(label=label, required=False, max_length=MAX_SEARCH, widget=widget)


def _choice(label: str, everything: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        required=False,
        choices=[("", everything), *choices],
        error_messages={"invalid_choice": "Choose one of the list."},
    )


class OrderFilter(forms.Form):
    use_required_attribute = False
    q = _search("Order number", inputmode="numeric")
    status = _choice("Status", "Any", [(str(value), str(label)) for value, label in OrderStatus.choices])

    def clean_q(self) -> str:
        return str(self.cleaned_data["q"]).removeprefix("#").strip()


class ProductFilter(forms.Form):
    q = _search("Search")
    category = forms.ChoiceField(
        label="Category",
        required=False,
        error_messages={"invalid_choice": "No product is in this category."},
    )
    show = _choice(
        "Show",
        "On the shelf",
        [
            ("available", "Available"),
            ("off", "Switched off"),
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
        error_messages={"invalid_choice": "Choose one of the list."},
    )
    product = forms.UUIDField(
        required=False, widget=forms.HiddenInput, error_messages={"invalid": "There is no such product."}
    )


# --- Products ---------------------------------------------------------------------------------------


def _pieces(label: str, help_text: str = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=0,
        max_value=MOST_STOCK,
        help_text=help_text,
        widget=forms.TextInput({"inputmode": "numeric", "autocomplete": "off"}),
        error_messages={
            "invalid": "Enter a whole number, such as 12.",
            "min_value": "Enter 0 or more.",
            "max_value": "Enter a smaller number.",
        },
    )


class ProductForm(forms.Form):
    """A product's columns under their own names; the services check what only they can know.

    With a `product` it is edited: the page carries what it has shown, so that only what the person changed is
    written, and what others changed meanwhile stays.
    """

    name = forms.CharField(max_length=200, error_messages={"required": "Enter a name."})
    slug = forms.SlugField(
        label="Address",
        max_length=200,
        required=False,
        help_text="The last part of the product's address. Left empty, it is made from the name.",
        widget=forms.TextInput(
            {"class": "mono", "autocomplete": "off", "spellcheck": "false", "data-slug-from": "id_name"}
        ),
        error_messages={"invalid": "Use letters, digits and hyphens."},
    )
    description = forms.CharField(required=False, widget=forms.Textarea({"rows": 4}))
    category = forms.CharField(
        max_length=80, required=False, widget=forms.TextInput({"list": "categories", "autocomplete": "off"})
    )
    image = forms.CharField(
        label="Picture",
        max_length=200,
        required=False,
        help_text="Where it is on this site, such as /static/images/product.svg. "
        "Without one, a neutral picture is shown.",
        widget=forms.TextInput({"class": "mono", "autocomplete": "off", "spellcheck": "false"}),
    )
    is_available = forms.BooleanField(
        label="Available",
        required=False,
        initial=True,
        widget=Switch,
        help_text="Off: shoppers see it, and can't buy it.",
    )
    stock = _pieces("Stock", "How many pieces there are. Leave it empty where you don't count.")
    low_stock_threshold = _pieces("Low below", "With fewer pieces than this, the product counts as low.")

    field_order = (
        "name", "slug", "price", "description", "category", "image", "is_available", "stock",
        "low_stock_threshold",
    )  # fmt: skip

    def __init__(
        self, *args: Any, business: Business, product: Product | None = None, **options: Any
    ) -> None:
        if product:
            names = ("price", *self.base_fields)
            options["initial"] = {name: getattr(product, name) for name in names}
        super().__init__(*args, **options)
        self.fields["price"] = MoneyField(
            label=f"Price in {business.currency}",
            currency=business.currency,
            error_messages={"required": "Enter a price."},
        )
        self.order_fields(self.field_order)
        if product:
            self.fields["slug"].help_text = "The last part of the product's address. Left empty, it stays."
        for field in self.fields.values():
            field.show_hidden_initial = product is not None

    @property
    def changes(self) -> dict[str, Any]:
        """What the person changed. An address that was emptied stays what it was."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data}
        return {name: value for name, value in changed.items() if name != "slug" or value}

    @property
    def stock_seen(self) -> int | None:
        """The stock that the page had shown."""
        return seen_stock(self.data.get(self["stock"].html_initial_name))


class StockForm(forms.Form):
    """A product's stock, changed in the list. `seen` is what the list had shown."""

    stock = _pieces("Stock")
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    @property
    def stock_seen(self) -> int | None:
        return seen_stock(self.cleaned_data["seen"])


def seen_stock(text: str | None) -> int | None:
    """The number that a page has carried along; None where it showed none."""
    return (
        int(text)
        if text and text.isascii() and text.isdigit() and len(text) <= len(str(MOST_STOCK))
        else None
    )


# --- The store --------------------------------------------------------------------------------------


class StoreForm(forms.Form):
    def __init__(self, *args: Any, business: Business, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["delivery_fee"] = MoneyField(
            label=f"Delivery fee in {business.currency}",
            currency=business.currency,
            help_text="For one order that is delivered, whatever is in it. Pickup is free. "
            "It holds for orders from now on.",
            error_messages={"required": "Enter a fee; 0 where delivery is free."},
        )
