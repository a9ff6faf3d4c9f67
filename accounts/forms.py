"""What people type to come in."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.http import HttpRequest

from accounts.enums import Role
from accounts.models import Business, User
from accounts.services import Registration, create_business, register
from accounts.validators import known_timezones
from common.currencies import CURRENCIES
from common.errors import Conflict, Invalid
from common.forms import RadioCards

WRONG_CREDENTIALS = "The e-mail address or the password is wrong."

ROLE_CARDS = [(Role.DEVELOPER, "I build apps"), (Role.MERCHANT, "I run a shop")]
ROLE_SENTENCES = {
    Role.DEVELOPER.value: "You get a sandbox shop to try them on.",
    Role.MERCHANT.value: "You get a shop, and apps to extend it with.",
}


def _email_field(**attributes: str) -> forms.EmailField:
    return forms.EmailField(
        label="E-mail",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocapitalize": "none", "spellcheck": "false", **attributes}),
        error_messages={
            "required": "Enter your e-mail address.",
            "invalid": "Enter an e-mail address such as name@example.com.",
        },
    )


def _password_field(message: str, help_text: str = "", **attributes: str) -> forms.CharField:
    return forms.CharField(
        label="Password",
        help_text=help_text,
        strip=False,
        widget=forms.PasswordInput(attrs=attributes),
        error_messages={"required": message},
    )


class SignInForm(forms.Form):
    email = _email_field(autocomplete="username")
    password = _password_field("Enter your password.", autocomplete="current-password")

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self._user: User | None = None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if "email" in data and "password" in data:
            user = authenticate(self.request, username=data["email"], password=data["password"])
            if not isinstance(user, User):
                raise forms.ValidationError(WRONG_CREDENTIALS)
            self._user = user
        return data

    def get_user(self) -> User | None:
        return self._user


class RegisterForm(forms.Form):
    """Makes the account when it is valid; what the services refuse becomes an error of its field."""

    role = forms.ChoiceField(
        label="What brings you here?",
        choices=ROLE_CARDS,
        initial=Role.DEVELOPER,
        widget=RadioCards(about=ROLE_SENTENCES),
        error_messages={"required": "Choose what brings you here."},
    )
    name = forms.CharField(
        label="Your name",
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    email = _email_field(autocomplete="username")
    password = _password_field(
        "Choose a password.", "At least 8 characters, and none that many use.", autocomplete="new-password"
    )
    business_name = forms.CharField(
        label="Name of your shop",
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        error_messages={"required": "Enter the name of your shop."},
    )
    currency = forms.ChoiceField(
        label="Currency of your shop",
        choices=[(code, code) for code in sorted(CURRENCIES)],
        initial="USD",
        help_text="Prices, orders and reports are in it.",
    )

    use_required_attribute = False  # the shop's fields stand in the page for developers, too

    # The services name fields as the API does.
    WIRE_NAMES = {"businessName": "business_name"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound:
            self.fields["business_name"].required = self.data.get("role") == Role.MERCHANT
            self.fields["currency"].required = False  # left out means dollars, as in the API

    def clean(self) -> dict[str, Any]:
        """Judge the password beside the other fields, so that all is told at once."""
        data = super().clean() or {}
        if "password" in data:
            person = User(email=data.get("email", ""), name=data.get("name", ""))
            try:
                validate_password(data["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        for name in ("business_name", "currency"):
            self.fields[name].required = True  # the label, which merchants read, must not say "(optional)"
        return data

    def register(self) -> Registration | None:
        """The new account, or None with the errors added to their fields."""
        data = self.cleaned_data
        try:
            return register(**(data | {"currency": data["currency"] or "USD"}))
        except Conflict as error:
            self.add_error("email", error.message)
        except Invalid as error:
            for detail in error.details:
                self.add_error(self.WIRE_NAMES.get(detail["field"], detail["field"]), detail["message"])
        return None


class PasswordResetForm(forms.Form):
    email = _email_field(autocomplete="username")


class BusinessForm(forms.Form):
    """Another business of a merchant; what the service refuses becomes an error of its field."""

    name = forms.CharField(
        label="Name of the shop",
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        error_messages={"required": "Enter the name of the shop."},
    )
    type = forms.CharField(
        label="What it is", max_length=60, required=False, help_text="Such as bakery or bookshop."
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
        help_text="Prices, orders and reports are in it.",
    )
    timezone = forms.ChoiceField(
        label="Time zone",
        choices=lambda: [(name, name.replace("_", " ")) for name in sorted(known_timezones())],
        initial="UTC",
        help_text="Days of reports begin in it, and your pages show times in it.",
    )

    def open_for(self, owner: User) -> Business | None:
        """The new business, or None with the errors added to their fields."""
        try:
            return create_business(owner=owner, **self.cleaned_data)
        except Invalid as error:
            for detail in error.details:
                self.add_error(detail["field"], detail["message"])
        return None
