"""Forms for shoppers, and the payment methods that a checkout page showed, carried by the page itself."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.core import signing
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from accounts.models import Business
from common import lengths
from common.contacts import NO_PHONE
from common.web.forms.fields import Lines, RadioCards, RadioLines, TypedEmailField, TypedPhoneField
from stores import hookpoints
from stores.buyers.shoppers import Buyer
from stores.enums import BuiltInPayment, DeliveryMethod
from stores.hookpoints import Flow, PaymentMethod
from stores.services.carts import MAX_QUANTITY

MAX_LOCALITY = 120  # characters

# What the merchant takes outside the service: name, and a sentence.
_LATER = _("When you receive your order.")
BUILT_IN: dict[str, tuple[Promise, Promise]] = {
    BuiltInPayment.CASH: (_("Cash"), _LATER),
    BuiltInPayment.CARD: (_("Card"), _LATER),
}


class QuantityForm(forms.Form):
    quantity = forms.IntegerField(
        label=_("Quantity"),
        min_value=1,
        max_value=MAX_QUANTITY,
        initial=1,
        widget=forms.NumberInput({"inputmode": "numeric"}),
        error_messages={
            "required": _("Enter how many you want."),
            "invalid": _("Enter a whole number, such as 2."),
            "min_value": _("Enter at least 1."),
            "max_value": format_lazy(_("Enter at most {most}."), most=MAX_QUANTITY),
        },
    )


class ReviewForm(forms.Form):
    rating = forms.TypedChoiceField(
        label=_("Rating"),
        coerce=int,
        choices=[
            (5, _("5 – excellent")),
            (4, _("4 – good")),
            (3, _("3 – fair")),
            (2, _("2 – poor")),
            (1, _("1 – bad")),
        ],
        widget=RadioLines,
        error_messages={"required": _("Choose a rating from 1 to 5.")},
    )
    comment = Lines(
        label=_("Comment"),
        required=False,
        max_length=lengths.NOTE,
        widget=forms.Textarea({"rows": 4}),
    )
    author_name = forms.CharField(
        label=_("Your name"),
        max_length=lengths.PERSON,
        help_text=_("Shown with the review."),
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": _("Enter the name to show with your review.")},
    )
    author_email = TypedEmailField(
        label=_("E-mail"),
        required=False,
        max_length=lengths.EMAIL,
        help_text=_(
            "Never shown. With it the store finds your review if you ask for a copy of your data, or to erase it."
        ),
        widget=forms.EmailInput({"autocomplete": "email"}),
        error_messages={"invalid": _("Enter an e-mail address such as name@example.com.")},
    )


class MethodLines(RadioLines):
    """Payment methods, with the pictures of apps' methods."""

    def __init__(self, *, icons: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self.icons = icons

    def create_option(self, name: str, value: Any, *args: Any, **options: Any) -> dict[str, Any]:
        return super().create_option(name, value, *args, **options) | {"icon": self.icons.get(str(value), "")}


class PaymentForm(forms.Form):
    """The payment methods of the merchant and of apps."""

    payment_method = forms.ChoiceField(
        label=_("Payment"),
        error_messages={
            "required": _("Choose how to pay."),
            "invalid_choice": _("Choose one of these payment methods."),
        },
    )

    def __init__(self, *args: Any, methods: Sequence[PaymentMethod] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        field = cast(forms.ChoiceField, self.fields["payment_method"])
        names: dict[str, str | Promise] = {value: words[0] for value, words in BUILT_IN.items()}
        about: dict[str, str | Promise] = {value: words[1] for value, words in BUILT_IN.items()}
        names |= {method.id: method.name for method in methods}
        about |= {method.id: method.description or "" for method in methods}
        icons = {method.id: method.icon for method in methods if method.icon}
        field.widget = MethodLines(about=about, icons=icons)
        field.choices = list(names.items())
        field.initial = BuiltInPayment.CASH


class CheckoutForm(PaymentForm):
    """`seen` is the subtotal that the page showed, in minor units."""

    customer_name = forms.CharField(
        label=_("Name"),
        max_length=lengths.PERSON,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": _("Enter your name.")},
    )
    customer_email = TypedEmailField(
        label=_("E-mail"),
        required=False,
        max_length=lengths.EMAIL,
        widget=forms.EmailInput({"autocomplete": "email"}),
        error_messages={"invalid": _("Enter an e-mail address such as name@example.com.")},
    )
    customer_phone = TypedPhoneField(
        label=_("Phone"),
        required=False,
        max_length=lengths.PHONE,
        widget=forms.TextInput({"type": "tel", "autocomplete": "tel"}),
        error_messages={"invalid": NO_PHONE},
    )
    delivery_method = forms.ChoiceField(
        label=_("Delivery or pickup?"),
        choices=[(DeliveryMethod.PICKUP, _("Pickup")), (DeliveryMethod.DELIVERY, _("Delivery"))],
        initial=DeliveryMethod.PICKUP,
        widget=RadioCards,
        error_messages={"required": _("Choose delivery or pickup.")},
    )
    address = Lines(
        label=_("Address"),
        max_length=lengths.ADDRESS,
        error_messages={"required": _("Enter the address to deliver to.")},
        widget=forms.Textarea({"autocomplete": "street-address", "rows": 2}),
    )
    locality = forms.CharField(
        label=_("Town"),
        required=False,
        max_length=MAX_LOCALITY,
        widget=forms.TextInput({"autocomplete": "address-level2"}),
    )
    note = Lines(
        label=_("Note to the store"),
        required=False,
        max_length=lengths.NOTE,
        widget=forms.Textarea({"rows": 2}),
    )
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    field_order = (
        "customer_name", "customer_email", "customer_phone", "delivery_method", "address", "locality",
        "payment_method", "note",
    )  # fmt: skip

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("customer_email", "customer_phone"):
            self.fields[name].one_of = True  # type: ignore[attr-defined]

    def full_clean(self) -> None:
        """The address is only required for delivery."""
        address = self.fields["address"]
        address.required = self["delivery_method"].value() == DeliveryMethod.DELIVERY
        super().full_clean()
        address.required = True  # for its label, should the shopper choose delivery now

    def clean(self) -> dict[str, Any]:
        typed = super().clean() or self.cleaned_data
        contact_is_wrong = {"customer_email", "customer_phone"} & self.errors.keys()
        if not typed.get("customer_email") and not typed.get("customer_phone") and not contact_is_wrong:
            self.add_error("customer_email", _("Enter an e-mail address or a phone number."))
        return typed


# --- The payment methods that a page showed ----------------------------------------------------------

# A method of an app counts as offered if this shopper's page showed it (contract, section 9). So the page contains the signed
# list of its methods: placing the order needs no second call to the apps, and nothing is stored for abandoned pages.

MAX_AGE = timedelta(hours=24)


def seal_offers(business: Business, methods: Sequence[PaymentMethod]) -> str:
    return signing.dumps([asdict(method) for method in methods], salt=_salt(business), compress=True)


def methods_now(business: Business, buyer: Buyer) -> Sequence[PaymentMethod]:
    """Those that apps offer now."""
    return hookpoints.ask_payment_methods(business=business, flow=Flow.start(buyer=buyer))


def offered_on_page(business: Business, sealed: str, buyer: Buyer) -> Sequence[PaymentMethod]:
    """The methods in the page's list. Calls the apps again if the list is invalid or too old."""
    shown = shown_on_page(business, sealed)
    return methods_now(business, buyer) if shown is None else shown


def shown_on_page(business: Business, sealed: str) -> Sequence[PaymentMethod] | None:
    """The methods in the page's list, without calling apps. None if the list is invalid or too old."""
    try:
        found = signing.loads(sealed, salt=_salt(business), max_age=MAX_AGE)
        return [PaymentMethod(**method) for method in found]
    except (signing.BadSignature, TypeError, ValueError):
        return None


def _salt(business: Business) -> str:
    return f"storefront.offers:{business.pk}"
