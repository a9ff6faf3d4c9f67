"""The forms of a store and of a business."""

from typing import Any

from django import forms
from django.conf import settings

from accounts.models import Business, BusinessQuerySet
from accounts.validators import timezone_choices, timezone_label
from common import lengths
from common.languages import language_of
from common.money import currency_choices, currency_label
from common.web.forms.edits import EditForm
from common.web.forms.fields import Lines, LongChoiceField, LongSelect, PictureField
from common.web.forms.pages import OneTimeForm
from merchants.money_field import MoneyField
from stores.enums import Accent, Headings
from stores.models import StoreSettings
from stores.services.catalogue.pictures import decode

ABOUT_TIME_ZONES = "Used for the times on your pages and the days of your reports."


# --- The store --------------------------------------------------------------------------------------


class _AboutStore(forms.Form):
    """What shoppers see of the store itself."""

    name = forms.CharField(
        label="Store name",
        max_length=lengths.PERSON,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        error_messages={"required": "Enter a store name."},
    )
    type = forms.CharField(
        label="Type", max_length=60, required=False, help_text="For example bakery or bookshop."
    )
    address = Lines(
        label="Address",
        max_length=lengths.ADDRESS,
        required=False,
        help_text="Shoppers see it in your store, for pickup and questions.",
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "street-address"}),
    )


class StoreForm(_AboutStore, EditForm):
    """Settings of the store."""

    logo = PictureField(decode=decode, label="Logo", help_text="PNG, JPEG or WebP, at most 5 MiB.")
    remove_logo = forms.BooleanField(label="Remove logo", required=False)
    accent = forms.ChoiceField(
        label="Color",
        choices=Accent.choices,
        widget=forms.RadioSelect,
        help_text="For buttons and links. Each color is easy to read in light and dark.",
        error_messages={"required": "Choose a color."},
    )
    headings = forms.ChoiceField(
        required=False,
        choices=Headings.choices,
        widget=forms.RadioSelect,
        help_text="The type of your store's name and headings.",
    )
    tagline = forms.CharField(
        max_length=120,
        required=False,
        help_text="One line about your store, for its home page and search engines.",
    )
    hero_text = Lines(
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
    locale = forms.ChoiceField(
        label="Language",
        required=False,
        help_text="In which your store and its mails speak to shoppers. Your own texts stay as they are.",
    )
    timezone = LongChoiceField(
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
            "locale": business.locale, "timezone": business.timezone, "currency": business.currency,
            "accent": current.accent, "headings": current.headings,
            "tagline": current.tagline, "hero_text": current.hero_text,
            "hero_alt": current.hero_picture.alt if current.hero_picture else "", "delivery_fee": current.delivery_fee,
        }  # fmt: skip
        super().__init__(*args, **options)
        self.fields["locale"].choices = _languages(business)  # type: ignore[attr-defined]
        self.fields["locale"].expected = True  # type: ignore[attr-defined]
        if business.timezone not in {name for _, names in timezone_choices() for name, _ in names}:
            own = (business.timezone, timezone_label(business.timezone))
            self.fields["timezone"].choices = [own, *timezone_choices()]  # type: ignore[attr-defined]
        self.fields["currency"] = LongChoiceField(
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

    def clean_locale(self) -> str:
        """As it is where it wasn't sent, as by a page of before there were languages."""
        return str(self.cleaned_data["locale"] or self.initial["locale"])

    def clean_headings(self) -> str:
        """As it is where it wasn't sent, as by a page of before there was a choice."""
        return str(self.cleaned_data["headings"] or self.initial["headings"])


def _languages(business: Business) -> list[tuple[str, str]]:
    """Those that a store can speak, and the locale that an operator has given it: `de-CH` is German with Swiss prices."""
    known = dict(settings.LANGUAGES)
    if business.locale not in known:
        known[business.locale] = f"{known[language_of(business.locale)]} ({business.locale})"
    return list(known.items())


class ShopForm(forms.Form):
    """The business to install on, for a merchant with several."""

    business = forms.ModelChoiceField(Business.objects.none(), label="Store", empty_label=None)

    def __init__(self, *args: Any, businesses: BusinessQuerySet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["business"].queryset = businesses  # type: ignore[attr-defined]


class BusinessForm(_AboutStore, OneTimeForm):
    """Another business of a merchant."""

    currency = LongChoiceField(
        label="Currency",
        choices=currency_choices,
        initial="USD",
        help_text="Used for prices, orders and reports. You can't change it after the first order.",
    )
    timezone = LongChoiceField(
        label="Time zone",
        choices=timezone_choices,
        initial="UTC",
        help_text=ABOUT_TIME_ZONES,
        widget=LongSelect(attrs={"data-own-timezone": ""}),
    )
