"""Setting up a second factor, and using it to sign in or to prove again who one is."""

from typing import Any, cast

from allauth.account.views import ReauthenticateView as PasswordView
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.base.views import ReauthenticateView as CodeView
from allauth.mfa.webauthn import views as webauthn
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.forms import (
    AddPasskeyForm,
    PasskeySignInForm,
    ProveByCodeForm,
    ProveByPasskeyForm,
    ProveByPasswordForm,
    SecondStepForm,
    SecondStepPasskeyForm,
)
from accounts.models import User
from accounts.services.connections import is_connected
from accounts.services.second_factor import must_set_up, signs_in_alone
from accounts.sign_in import limits
from accounts.sign_in.adapter import WRONG_PASSKEY, passkey_domain
from accounts.sign_in.provider import passwords_for
from accounts.views.sign_in import LimitedForm
from common.errors import TooManyRequests

NOT_ALONE = "Your password was reset after you added this passkey. Sign in with your e-mail address and password, then use the passkey."


class SecurityView(IndexView):
    """The page with everything that protects an account."""

    template_name = "accounts/security.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "must_set_up": must_set_up(self.request.user),
            "passkeys_possible": passkey_domain() is not None,
            "may_have_password": passwords_for(self.request.user),
            "is_connected": is_connected(cast(User, self.request.user)),
        }


class AddPasskeyView(webauthn.AddWebAuthnView):
    template_name = "accounts/passkey_add.html"
    form_class = AddPasskeyForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if passkey_domain() is None:
            messages.error(request, "Passkeys need a domain name. This site is at an IP address.")
            return redirect("mfa_index")
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response


class SecondStepView(AuthenticateView):
    """The step after the password, for people with a second factor."""

    form_class = SecondStepForm
    webauthn_form_class = SecondStepPasskeyForm
    template_name = "accounts/second_step.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            limits.sign_in_from_address(request)
            limits.sign_in_to_account(request, self.stage.login.user.email)
            response: HttpResponse = super().post(request, *args, **kwargs)
        except TooManyRequests as error:
            self.auth_form = self.form_class(user=self.stage.login.user)  # showing a sent code would check it
            context = self.get_context_data(refusal=error.message)
            return self.render_to_response(context, status=error.status, headers=error.headers)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        methods = {each.type for each in self.stage.login.user.authenticator_set.all()}
        return super().get_context_data(**kwargs) | kwargs | {"methods": methods}


class PasskeySignInView(webauthn.LoginWebAuthnView):
    """Signing in with a passkey alone: the device has checked its owner."""

    form_class = PasskeySignInForm

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            limits.sign_in_from_address(request)
        except TooManyRequests as error:
            messages.error(request, error.message)
            return redirect("account_login")
        response: HttpResponse = super().post(request, *args, **kwargs)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        if not signs_in_alone(form.cleaned_data["credential"]):
            messages.error(self.request, NOT_ALONE)
            return redirect("account_login")
        response: HttpResponse = super().form_valid(form)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        messages.error(self.request, WRONG_PASSKEY)
        return redirect("account_login")


class ProveByPasswordView(LimitedForm, PasswordView):
    """The adapter's `reauthenticate` counts by account."""

    form_class = ProveByPasswordForm
    template_name = "accounts/prove.html"

    def count_attempt(self, request: HttpRequest) -> None:
        limits.sign_in_from_address(request)


class ProveByCodeView(LimitedForm, CodeView):
    form_class = ProveByCodeForm
    template_name = "accounts/prove.html"

    def count_attempt(self, request: HttpRequest) -> None:
        limits.sign_in_from_address(request)
        limits.sign_in_to_account(request, _email(request))

    def form_valid(self, form: Any) -> HttpResponse:
        limits.signed_in(self.request, _email(self.request))
        response: HttpResponse = super().form_valid(form)
        return response


class ProveByPasskeyView(webauthn.ReauthenticateWebAuthnView):
    form_class = ProveByPasskeyForm
    template_name = "accounts/prove.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form, refusal=WRONG_PASSKEY))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | kwargs


def _email(request: HttpRequest) -> str:
    assert isinstance(request.user, User)
    return request.user.email
