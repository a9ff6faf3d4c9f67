"""The forms of the sign-in pages."""

from typing import Any
from unicodedata import category

from allauth.account.forms import ChangePasswordForm, LoginForm, ResetPasswordKeyForm, SetPasswordForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.http import HttpRequest

from accounts.enums import Role
from accounts.models import User
from accounts.services import Registration, choose_new_password, profile, register, second_factor
from accounts.services.registration import register_in_vain
from accounts.sign_in.origins import origin_of
from accounts.validators import timezone_choices
from common.errors import Invalid
from common.money import currency_choices
from common.processes.background import enqueue_after_commit
from common.web.forms.edits import EditForm
from common.web.forms.pages import add_service_errors
from common.web.forms.widgets import RadioCards

HELP_ON_CHOOSING = "At least 8 characters. Avoid common passwords."
ROLE_CARDS = [(Role.DEVELOPER, "I build apps"), (Role.MERCHANT, "I run a store")]
ROLE_SENTENCES = {
    Role.DEVELOPER.value: "You get a sandbox store to test them.",
    Role.MERCHANT.value: "You get a store and apps to extend it.",
}


class AddressField(forms.EmailField):
    """An e-mail address, without the characters of no width that come along when it is copied from a page or a mail."""

    def to_python(self, value: Any) -> Any:
        return super().to_python("".join(each for each in value or "" if category(each) != "Cf"))


def _email_field(**attributes: str) -> forms.EmailField:
    return AddressField(
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


class SignInForm(LoginForm):
    """The library's form with a field called `email`, as in the API."""

    email = _email_field(autocomplete="username")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["login"]
        self.fields["password"] = _password_field("Enter your password.", autocomplete="current-password")

    def user_credentials(self) -> dict[str, str]:
        return {"email": self.cleaned_data["email"], "password": self.cleaned_data["password"]}

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["login"] = self.cleaned_data.get(
            "email", ""
        )  # which the library reads when it refuses
        return super().clean()


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
    password = _password_field("Choose a password.", HELP_ON_CHOOSING, autocomplete="new-password")
    business_name = forms.CharField(
        label="Store name",
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        error_messages={"required": "Enter a store name."},
    )
    currency = forms.ChoiceField(
        label="Store currency",
        choices=currency_choices,
        initial="USD",
        help_text="Used for prices, orders and reports.",
    )
    timezone = forms.ChoiceField(
        label="Time zone",
        choices=timezone_choices,
        initial="UTC",
        help_text="Used for times and for the days of your reports.",
        widget=forms.Select(attrs={"data-own-timezone": ""}),
    )

    use_required_attribute = False  # developers have the store's fields on their page, too

    # The services name fields as the API does.
    WIRE_NAMES = {"businessName": "business_name"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound:
            self.fields["business_name"].required = self.data.get("role") == Role.MERCHANT
            for name in ("currency", "timezone"):
                self.fields[name].required = False  # left out means dollars and UTC, as in the API

    def clean(self) -> dict[str, Any]:
        """Check the password with the other fields, so that the page shows every problem at once."""
        data = super().clean() or {}
        if "password" in data:
            person = User(email=data.get("email", ""), name=data.get("name", ""))
            try:
                validate_password(data["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        for name in ("business_name", "currency", "timezone"):
            self.fields[name].required = True  # the label, which merchants read, must not say "(optional)"
        return data

    def register(self, *, next_url: str) -> Registration | None:
        """The new account, or None with the errors added to their fields. Raises `Conflict` for a taken address."""
        try:
            return register(**self._fields(), next_url=next_url)
        except Invalid as error:
            add_service_errors(self, error, names=self.WIRE_NAMES)
        return None

    def register_in_vain(self) -> None:
        """Take the time of a registration, and keep nothing of it."""
        register_in_vain(**self._fields())

    def _fields(self) -> dict[str, Any]:
        fields = dict(self.cleaned_data)
        zone = fields.pop("timezone")
        return fields | {"currency": fields["currency"] or "USD", "business_timezone": zone or "UTC"}


class PasswordResetForm(forms.Form):
    email = _email_field(autocomplete="username")

    def save(self, request: HttpRequest) -> None:
        """Have a worker look for the account: the time that this takes would tell whether there is one."""
        enqueue_after_commit("accounts.tasks.mail_password_reset", self.cleaned_data["email"], run_here=True)


class NewPasswordFields(forms.Form):
    """Our labels for the library's forms that ask for a new password twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first, second = self.fields["password1"], self.fields["password2"]
        first.label, first.help_text = "New password", HELP_ON_CHOOSING
        second.label = "New password, again"
        if old := self.fields.get("oldpassword"):
            old.label, old.help_text = "Current password", ""
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)


class NewPasswordForm(NewPasswordFields, ResetPasswordKeyForm):
    """The second page of a password reset, behind the mailed link."""

    def save(self) -> None:
        choose_new_password(user=self.user, password=self.cleaned_data["password1"])


class PasswordChangeForm(NewPasswordFields, ChangePasswordForm):
    """For people who have a password."""


class PasswordSetForm(NewPasswordFields, SetPasswordForm):
    """For people who have none, and sign in with a passkey."""


class CodeField(BaseAuthenticateForm):
    """The library's form for a code, which our own service checks and counts. Validating it raises `TooManyRequests`."""

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        found = second_factor.use_code(user=self.user, code=code, origin=origin_of(context.request))
        if found is None:
            raise get_adapter().validation_error("incorrect_code")
        found.user = self.user
        self.authenticator = found
        return code


class SecondStepForm(CodeField, AuthenticateForm):
    """After the password."""


class ProveByCodeForm(CodeField, ReauthenticateForm):
    """For people who are signed in."""


class AddPasskeyForm(AddWebAuthnForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label, self.fields["name"].max_length = "Name", 60
        alone = self.fields["passwordless"]
        alone.label = "Sign in with this passkey alone"
        alone.help_text = "Your device then checks your fingerprint, face or PIN."


class NoticesForm(EditForm):
    mails = forms.MultipleChoiceField(
        label="Send me an e-mail when",
        help_text="Mails about the security of your account are always sent.",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, data: Any = None, *, user: User) -> None:
        kinds = profile.mails_of(user)
        wanted = [kind.value for kind in kinds if profile.wants_mail(user, kind)]
        super().__init__(data, initial={"mails": wanted})
        field: Any = self.fields["mails"]
        field.choices = [(kind.value, kind.label) for kind in kinds]
