"""Forms about the store itself: filters of lists, products, stock, settings."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms

from accounts.models import Business, BusinessQuerySet, User
from accounts.services import create_business
from accounts.validators import timezone_choices, timezone_label
from common.currencies import currency_choices, currency_label
from common.errors import Invalid
from common.web.forms import Switch, add_service_errors
from common.web.picture_fields import PictureField, PicturesField
from merchants.money_field import MoneyField
from stores.enums import Accent, OrderStatus
from stores.models import Product, ProductPicture, StoreSettings
from stores.services.pictures import decode
from stores.services.product_pictures import MAX_ALT, MAX_PICTURES, PictureChanges

ABOUT_TIME_ZONES = "Used for the times on your pages and the days of your reports."
MAX_SEARCH = 100  # characters
MOST_STOCK = 2_147_483_647  # what the column holds


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


def _day(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": "Enter a day such as 2026-11-20."},
    )


class OrderFilter(forms.Form):
    use_required_attribute = False
    q = _search("Number or customer", placeholder="Number, name, e-mail or phone")
    status = _choice("Status", "Any", [(str(value), str(label)) for value, label in OrderStatus.choices])
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
            "status": chosen["status"],
            "search": chosen["q"],
            "first_day": chosen["since"],
            "last_day": chosen["until"],
        }


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
    pictures = PicturesField(
        decode=decode,
        most=MAX_PICTURES,
        label="Upload pictures",
        help_text=f"PNG, JPEG or WebP, at most 5 MiB each and {MAX_PICTURES} for a product.",
    )
    is_available = forms.BooleanField(
        label="Available",
        required=False,
        initial=True,
        widget=Switch,
        help_text="If off, shoppers see it but can't buy it.",
    )
    stock = _pieces("Stock", "Leave it empty to not track the stock.")
    low_stock_threshold = _pieces("Low stock threshold", "With fewer pieces, the product counts as low.")

    field_order = (
        "name", "description", "price", "pictures", "category", "stock", "low_stock_threshold",
        "is_available", "slug",
    )  # fmt: skip

    def __init__(
        self,
        *args: Any,
        business: Business,
        product: Product | None = None,
        pictures: Sequence[ProductPicture] = (),
        **options: Any,
    ) -> None:
        self.columns = ("price", *(name for name in self.base_fields if name != "pictures"))
        if product:
            options["initial"] = {name: getattr(product, name) for name in self.columns}
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
        for name in self.columns:
            self.fields[name].show_hidden_initial = product is not None
        self.own_pictures = pictures
        for position, picture in enumerate(pictures, 1):
            self._add_picture(picture, position)
        self.has_older_picture = bool(product and product.image and not pictures)
        if self.has_older_picture:
            self.fields["remove_older_picture"] = forms.BooleanField(label="Remove picture", required=False)

    def _add_picture(self, picture: ProductPicture, position: int) -> None:
        places = [(str(place), str(place)) for place in range(1, len(self.own_pictures) + 1)]
        self.fields[f"alt_{picture.pk}"] = forms.CharField(
            label=f"Description of picture {position}",
            max_length=MAX_ALT,
            required=False,
            initial=picture.alt,
        )
        self.fields[f"position_{picture.pk}"] = forms.TypedChoiceField(
            label=f"Position of picture {position}",
            choices=places,
            coerce=int,
            empty_value=None,
            required=False,
            initial=str(position),
        )
        self.fields[f"remove_{picture.pk}"] = forms.BooleanField(
            label=f"Remove picture {position}", required=False
        )

    @property
    def picture_rows(self) -> list[dict[str, Any]]:
        """The product's pictures with their fields."""
        return [
            {
                "picture": picture,
                "alt": self[f"alt_{picture.pk}"],
                "position": self[f"position_{picture.pk}"],
                "remove": self[f"remove_{picture.pk}"],
            }
            for picture in self.own_pictures
        ]

    @property
    def picture_changes(self) -> PictureChanges | None:
        """None if nothing about the pictures was changed."""
        cleaned, before = self.cleaned_data, [picture.pk for picture in self.own_pictures]
        alts = {pk: cleaned[f"alt_{pk}"] for pk in before if f"alt_{pk}" in self.data}
        positions = {pk: cleaned[f"position_{pk}"] or place for place, pk in enumerate(before, 1)}
        changes = PictureChanges(
            new=cleaned["pictures"],
            alts={picture.pk: picture.alt for picture in self.own_pictures} | alts,
            order=_reordered(before, positions),
            removed=frozenset(pk for pk in before if cleaned[f"remove_{pk}"]),
        )
        unchanged = PictureChanges(new=[], alts={p.pk: p.alt for p in self.own_pictures}, order=before)
        return None if changes == unchanged else changes

    @property
    def changes(self) -> dict[str, Any]:
        """What the person changed. An address that was emptied stays what it was."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data if name in self.columns}
        if self.cleaned_data.get("remove_older_picture"):
            changed["image"] = ""
        return {name: value for name, value in changed.items() if name != "slug" or value}

    @property
    def new_product(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in (*self.columns, "pictures")}

    @property
    def stock_seen(self) -> int | None:
        """The stock that the page had shown."""
        return seen_stock(self.data.get(self["stock"].html_initial_name))


def _reordered(before: list[UUID], positions: Mapping[UUID, int]) -> list[UUID]:
    """The pictures by their chosen positions, from 1. One that was moved comes before the one whose position it takes if it
    was moved up, and after it if it was moved down."""
    old = {pk: place for place, pk in enumerate(before, 1)}

    def rank(pk: UUID) -> tuple[int, int]:
        wanted = positions[pk]
        return wanted, (wanted > old[pk]) - (wanted < old[pk])

    return sorted(before, key=rank)


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


class _AboutStore(forms.Form):
    """What shoppers see of the store itself."""

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
        help_text="Shoppers see it in your store, for pickup and questions.",
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "street-address"}),
    )


class StoreForm(_AboutStore):
    """Settings of the store. Saving changes only what the person changed."""

    logo = PictureField(decode=decode, label="Logo", help_text="PNG, JPEG or WebP, at most 5 MiB.")
    remove_logo = forms.BooleanField(label="Remove logo", required=False)
    accent = forms.ChoiceField(
        label="Color",
        choices=Accent.choices,
        widget=forms.RadioSelect,
        help_text="For buttons and links. Each color is easy to read in light and dark.",
        error_messages={"required": "Choose a color."},
    )
    tagline = forms.CharField(
        max_length=120,
        required=False,
        help_text="One line about your store, for its home page and search engines.",
    )
    hero_text = forms.CharField(
        label="Welcome text",
        max_length=400,
        required=False,
        help_text="At the top of your home page.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    hero_picture = PictureField(
        decode=decode,
        label="Welcome picture",
        help_text="Wide, at least 1,200 pixels. PNG, JPEG or WebP, at most 5 MiB.",
    )
    remove_hero_picture = forms.BooleanField(label="Remove picture", required=False)
    hero_alt = forms.CharField(
        label="What the welcome picture shows",
        max_length=200,
        required=False,
        help_text="For customers who can’t see it, such as “Loaves on the counter”. Empty if it’s only decoration.",
    )
    timezone = forms.ChoiceField(
        label="Time zone",
        choices=timezone_choices,
        help_text=f"{ABOUT_TIME_ZONES} A change applies to earlier days, too.",
    )

    def __init__(
        self,
        *args: Any,
        business: Business,
        current: StoreSettings,
        currency_is_fixed: bool,
        **options: Any,
    ) -> None:
        options["initial"] = {
            "name": business.name, "type": business.type, "address": business.address,
            "timezone": business.timezone, "currency": business.currency, "accent": current.accent,
            "tagline": current.tagline, "hero_text": current.hero_text,
            "hero_alt": current.hero_picture.alt if current.hero_picture else "", "delivery_fee": current.delivery_fee,
        }  # fmt: skip
        super().__init__(*args, **options)
        if business.timezone not in {name for _, names in timezone_choices() for name, _ in names}:
            own = (business.timezone, timezone_label(business.timezone))
            self.fields["timezone"].choices = [own, *timezone_choices()]  # type: ignore[attr-defined]
        self.fields["currency"] = forms.ChoiceField(
            label="Currency",
            choices=currency_choices,
            disabled=currency_is_fixed,
            help_text="Your store has orders in this currency, so you can't change it."
            if currency_is_fixed
            else "You can't change it after the first order. Prices keep their numbers.",
        )
        if currency_is_fixed:
            self.fields["currency"].choices = [(business.currency, currency_label(business.currency))]  # type: ignore[attr-defined]
        self.fields["delivery_fee"] = MoneyField(
            label=f"Delivery fee in {business.currency}",
            currency=business.currency,
            help_text="A flat fee per delivery order. Pickup is free. Changes apply to new orders.",
            error_messages={"required": "Enter a fee, or 0 for free delivery."},
        )

    @property
    def changes(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.changed_data}


class ShopForm(forms.Form):
    """The business to install on, for a merchant with several."""

    business = forms.ModelChoiceField(Business.objects.none(), label="Store", empty_label=None)

    def __init__(self, *args: Any, businesses: BusinessQuerySet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["business"].queryset = businesses  # type: ignore[attr-defined]


class BusinessForm(_AboutStore):
    """Another business of a merchant; what the service refuses becomes an error of its field."""

    currency = forms.ChoiceField(
        label="Currency",
        choices=currency_choices,
        initial="USD",
        help_text="Used for prices, orders and reports. You can't change it after the first order.",
    )
    timezone = forms.ChoiceField(
        label="Time zone",
        choices=timezone_choices,
        initial="UTC",
        help_text=ABOUT_TIME_ZONES,
        widget=forms.Select(attrs={"data-own-timezone": ""}),
    )

    def open_for(self, owner: User) -> Business | None:
        """The new business, or None with the errors added to their fields."""
        try:
            return create_business(owner=owner, **self.cleaned_data)
        except Invalid as error:
            add_service_errors(self, error)
        return None
