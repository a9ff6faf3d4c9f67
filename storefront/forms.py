"""Forms for shoppers."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms

from common.web.forms.widgets import RadioCards, RadioLines
from stores.enums import BuiltInPayment, DeliveryMethod
from stores.hookpoints import PaymentMethod
from stores.services.carts import MAX_QUANTITY

MAX_NOTE = 1000  # characters
MAX_COMMENT = 2000
MAX_LOCALITY = 120

# What the merchant takes outside the service: name, and a sentence.
BUILT_IN = {str(each): (each.label, "When you receive your order.") for each in BuiltInPayment}


class QuantityForm(forms.Form):
    quantity = forms.IntegerField(
        label="Quantity",
        min_value=1,
        max_value=MAX_QUANTITY,
        initial=1,
        widget=forms.NumberInput({"inputmode": "numeric"}),
        error_messages={
            "required": "Enter how many you want.",
            "invalid": "Enter a whole number, such as 2.",
            "min_value": "Enter at least 1.",
            "max_value": f"Enter at most {MAX_QUANTITY}.",
        },
    )


class ReviewForm(forms.Form):
    rating = forms.TypedChoiceField(
        label="Rating",
        coerce=int,
        choices=[
            (5, "5 – excellent"),
            (4, "4 – good"),
            (3, "3 – fair"),
            (2, "2 – poor"),
            (1, "1 – bad"),
        ],
        widget=RadioLines,
        error_messages={"required": "Choose a rating from 1 to 5."},
    )
    comment = forms.CharField(
        label="Comment",
        required=False,
        max_length=MAX_COMMENT,
        widget=forms.Textarea({"rows": 4}),
    )
    author_name = forms.CharField(
        label="Your name",
        max_length=120,
        help_text="Shown with the review.",
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter the name to show with your review."},
    )
    author_email = forms.EmailField(
        label="E-mail",
        required=False,
        max_length=254,
        help_text="Never shown. With it the store finds your review if you ask for a copy of your data, or to erase it.",
        widget=forms.EmailInput({"autocomplete": "email"}),
        error_messages={"invalid": "Enter an e-mail address such as name@example.com."},
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
        label="Payment",
        error_messages={
            "required": "Choose how to pay.",
            "invalid_choice": "Choose one of these payment methods.",
        },
    )

    def __init__(self, *args: Any, methods: Sequence[PaymentMethod] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        field = cast(forms.ChoiceField, self.fields["payment_method"])
        names = {value: name for value, (name, _) in BUILT_IN.items()}
        about = {value: words for value, (_, words) in BUILT_IN.items()}
        names |= {method.id: method.name for method in methods}
        about |= {method.id: method.description or "" for method in methods}
        icons = {method.id: method.icon for method in methods if method.icon}
        field.widget = MethodLines(about=about, icons=icons)
        field.choices = list(names.items())
        field.initial = BuiltInPayment.CASH


class CheckoutForm(PaymentForm):
    """`seen` is the subtotal that the page showed, in minor units."""

    customer_name = forms.CharField(
        label="Name",
        max_length=120,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    customer_email = forms.EmailField(
        label="E-mail",
        required=False,
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "email"}),
        error_messages={"invalid": "Enter an e-mail address such as name@example.com."},
    )
    customer_phone = forms.CharField(
        label="Phone",
        required=False,
        max_length=40,
        widget=forms.TextInput({"type": "tel", "autocomplete": "tel"}),
    )
    delivery_method = forms.ChoiceField(
        label="Delivery or pickup?",
        choices=[(DeliveryMethod.PICKUP, "Pickup"), (DeliveryMethod.DELIVERY, "Delivery")],
        initial=DeliveryMethod.PICKUP,
        widget=RadioCards,
        error_messages={"required": "Choose delivery or pickup."},
    )
    address = forms.CharField(
        label="Address",
        max_length=500,
        error_messages={"required": "Enter the address to deliver to."},
        widget=forms.Textarea({"autocomplete": "street-address", "rows": 2}),
    )
    locality = forms.CharField(
        label="Town",
        required=False,
        max_length=MAX_LOCALITY,
        widget=forms.TextInput({"autocomplete": "address-level2"}),
    )
    note = forms.CharField(
        label="Note to the store",
        required=False,
        max_length=MAX_NOTE,
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
            self.add_error("customer_email", "Enter an e-mail address or a phone number.")
        return typed
