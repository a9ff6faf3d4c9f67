"""The forms of the sign-in pages."""

import struct
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.forms import ChangePasswordForm, LoginForm, ResetPasswordKeyForm, SetPasswordForm
from allauth.account.forms import ReauthenticateForm as PasswordProofForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.http import HttpRequest
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from accounts.enums import Role
from accounts.models import User
from accounts.services import Registration, choose_new_password, register, second_factor
from accounts.services.outbox import mails_of, wants_mail
from accounts.services.profile import mail_reset
from accounts.services.registration import register_in_vain
from accounts.sign_in.origins import origin_of
from accounts.sign_in.provider import passwords_for
from accounts.validators import timezone_choices
from common import lengths
from common.contacts import validate_email
from common.errors import Invalid
from common.money import currency_choices
from common.web.forms.edits import EditForm
from common.web.forms.fields import LongChoiceField, LongSelect, RadioCards, TypedEmailField, limited
from common.web.forms.pages import add_service_errors

HELP_ON_CHOOSING = "At least 8 characters. Avoid common passwords."
ROLE_CARDS = [(Role.DEVELOPER, "I build apps"), (Role.MERCHANT, "I run a store")]
ROLE_SENTENCES = {
    Role.DEVELOPER.value: "You get a sandbox store to test them.",
    Role.MERCHANT.value: "You get a store and apps to extend it.",
}


def _email_field(**attributes: str) -> TypedEmailField:
    return TypedEmailField(
        label="E-mail",
        max_length=lengths.EMAIL,
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
        max_length=lengths.PASSWORD,
        widget=forms.PasswordInput(attrs=attributes),
        error_messages={"required": message},
    )


@limited(password=lengths.PASSWORD)
class SignInForm(LoginForm):
    """The library's form with a field called `email`, as in the API."""

    email = _email_field(autocomplete="username")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["login"]
        # An address of before there was the rule still signs in, so this rule counts only where no account is found.
        email = self.fields["email"]
        email.validators = [each for each in email.validators if each is not validate_email]
        self.fields["password"] = _password_field("Enter your password.", autocomplete="current-password")

    def user_credentials(self) -> dict[str, str]:
        return {"email": self.cleaned_data["email"], "password": self.cleaned_data["password"]}

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["login"] = self.cleaned_data.get(
            "email", ""
        )  # which the library reads when it refuses
        try:
            return super().clean()
        except forms.ValidationError:
            try:
                validate_email(self.cleaned_data["login"])
            except forms.ValidationError as error:
                raise forms.ValidationError({"email": error.messages}) from error
            raise


class StaffSignInForm(SignInForm):
    """For the administration alone: to others a right password is a wrong one."""

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if self.user is not None and not passwords_for(self.user):
            raise get_account_adapter().validation_error("email_password_mismatch")
        return data


def role_field() -> forms.ChoiceField:
    """What a new person comes for."""
    return forms.ChoiceField(
        label="What brings you here?",
        choices=ROLE_CARDS,
        initial=Role.DEVELOPER,
        widget=RadioCards(about=ROLE_SENTENCES),
        error_messages={"required": "Choose what brings you here."},
    )


class RegisterForm(forms.Form):
    """Makes the account when it is valid; what the services refuse becomes an error of its field."""

    role = role_field()
    name = forms.CharField(
        label="Your name",
        max_length=lengths.PERSON,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    email = _email_field(autocomplete="username")
    password = _password_field("Choose a password.", HELP_ON_CHOOSING, autocomplete="new-password")
    business_name = forms.CharField(
        label="Store name",
        max_length=lengths.PERSON,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        error_messages={"required": "Enter a store name."},
    )
    currency = LongChoiceField(
        label="Store currency",
        choices=currency_choices,
        initial="USD",
        help_text="Used for prices, orders and reports.",
    )
    timezone = LongChoiceField(
        label="Time zone",
        choices=timezone_choices,
        initial="UTC",
        help_text="Used for times and for the days of your reports.",
        widget=LongSelect(attrs={"data-own-timezone": ""}),
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
        """A worker looks for the account."""
        mail_reset(email=self.cleaned_data["email"])


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


@limited(password1=lengths.PASSWORD, password2=lengths.PASSWORD)
class NewPasswordForm(NewPasswordFields, ResetPasswordKeyForm):
    """The second page of a password reset, behind the mailed link."""

    def save(self) -> None:
        choose_new_password(user=self.user, password=self.cleaned_data["password1"])


@limited(oldpassword=lengths.PASSWORD, password1=lengths.PASSWORD, password2=lengths.PASSWORD)
class PasswordChangeForm(NewPasswordFields, ChangePasswordForm):
    """For people who have a password."""


@limited(password1=lengths.PASSWORD, password2=lengths.PASSWORD)
class PasswordSetForm(NewPasswordFields, SetPasswordForm):
    """For people who have none, and sign in with a passkey."""


@limited(password=lengths.PASSWORD)
class ProveByPasswordForm(PasswordProofForm):
    """For people who are signed in."""


@limited(code=lengths.IDENTIFIER)
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


@limited(code=lengths.IDENTIFIER)
class AddAppForm(ActivateTOTPForm):
    """Sets up an authenticator app."""


class CredentialField(forms.JSONField):
    """What a browser says for a passkey: the JSON of WebAuthn's `PublicKeyCredential.toJSON()`.

    The library's forms expect some shapes of it, and fail for others.
    """

    widget = forms.HiddenInput

    def __init__(self, answer: type[AuthenticationResponse | RegistrationResponse]) -> None:
        super().__init__()
        self.max_length = lengths.JSON
        self.answer = answer

    def to_python(self, value: str | None) -> Any:
        """The object, which `answer` can read. Raises `ValidationError`."""
        wrong = forms.ValidationError(self.error_messages["invalid"], code="invalid", params={"value": ""})
        if value and len(value) > lengths.JSON:
            raise wrong
        try:
            found = super().to_python(value)
            if found is not None:
                self.answer.from_dict(found)
        except (TypeError, ValueError, LookupError, AttributeError, RecursionError, struct.error) as error:
            raise wrong from error
        return found


class PasskeySignInForm(LoginWebAuthnForm):
    credential = CredentialField(AuthenticationResponse)


class SecondStepPasskeyForm(AuthenticateWebAuthnForm):
    credential = CredentialField(AuthenticationResponse)


class ProveByPasskeyForm(ReauthenticateWebAuthnForm):
    """For people who are signed in."""

    credential = CredentialField(AuthenticationResponse)


@limited(name=60)
class AddPasskeyForm(AddWebAuthnForm):
    credential = CredentialField(RegistrationResponse)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = "Name"
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
        kinds = mails_of(user)
        wanted = [kind.value for kind in kinds if wants_mail(user, kind)]
        super().__init__(data, initial={"mails": wanted})
        field: Any = self.fields["mails"]
        field.choices = [(kind.value, kind.label) for kind in kinds]
