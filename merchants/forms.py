"""Forms about the store itself: filters of lists, products, stock, settings."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import Business, BusinessQuerySet, User
from accounts.services import create_business
from accounts.validators import known_timezones
from common.currencies import CURRENCIES
from common.errors import Invalid, ServiceError
from common.web.forms import Switch
from merchants.money_field import MoneyField
from stores.enums import OrderStatus
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
    """Show a service's errors at their fields. `names` maps names in the API to those in the form; `conflict` is the field
    for an error without details."""
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
        error_messages={"invalid_choice": "Choose an option from the list."},
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
        help_text="The last part of the product's address. Leave it empty to create it from the name.",
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
        help_text="A path on this site, such as /static/images/product.svg. "
        "Leave it empty to show a neutral picture.",
        widget=forms.TextInput({"class": "mono", "autocomplete": "off", "spellcheck": "false"}),
    )
    is_available = forms.BooleanField(
        label="Available",
        required=False,
        initial=True,
        widget=Switch,
        help_text="If off, shoppers see it but can't buy it.",
    )
    stock = _pieces("Stock", "The number of pieces. Leave it empty to not track the stock.")
    low_stock_threshold = _pieces("Low stock threshold", "With fewer pieces, the product counts as low.")

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
            self.fields[
                "slug"
            ].help_text = "The last part of the product's address. Leave it empty to keep it."
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
            help_text="A flat fee per delivery order. Pickup is free. Changes apply to new orders.",
            error_messages={"required": "Enter a fee, or 0 for free delivery."},
        )


class ShopForm(forms.Form):
    """The business to install on, for a merchant with several."""

    business = forms.ModelChoiceField(Business.objects.none(), label="Store", empty_label=None)

    def __init__(self, *args: Any, businesses: BusinessQuerySet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["business"].queryset = businesses  # type: ignore[attr-defined]


class BusinessForm(forms.Form):
    """Another business of a merchant; what the service refuses becomes an error of its field."""

    name = forms.CharField(
        label="Store name",
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        error_messages={"required": "Enter a store name."},
    )
    type = forms.CharField(
        label="Type", max_length=60, required=False, help_text="For example bakery or bookshop."
    )
    address = forms.CharField(
        label="Address",
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "street-address"}),
    )
    currency = forms.ChoiceField(
        label="Currency",
        choices=[(code, code) for code in sorted(CURRENCIES)],
        initial="USD",
        help_text="Used for prices, orders and reports.",
    )
    timezone = forms.ChoiceField(
        label="Time zone",
        choices=lambda: [(name, name.replace("_", " ")) for name in sorted(known_timezones())],
        initial="UTC",
        help_text="Used for the times on your pages and the days of your reports.",
    )

    def open_for(self, owner: User) -> Business | None:
        """The new business, or None with the errors added to their fields."""
        try:
            return create_business(owner=owner, **self.cleaned_data)
        except Invalid as error:
            for detail in error.details:
                self.add_error(detail["field"], detail["message"])
        return None
