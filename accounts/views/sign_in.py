"""Signing in and the way home, opening an account, confirming an address, passwords, and the second factor: setting it up, and using it
to sign in or to prove again who one is.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from allauth.account import views as allauth
from allauth.account.utils import complete_signup
from allauth.account.views import LoginView, SignupView
from allauth.account.views import ReauthenticateView as PasswordView
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.base.views import ReauthenticateView as CodeView
from allauth.mfa.webauthn import views as webauthn
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_POST
from django.views.generic.edit import FormView

from accounts import forms
from accounts.enums import SELF_REGISTERED
from accounts.models import User, normalize_email
from accounts.services import Registration
from accounts.services.confirmation import mail_account_exists, mail_confirmation
from accounts.services.connections import is_connected
from accounts.services.second_factor import must_set_up, signs_in_alone
from accounts.sign_in import limits, shops
from accounts.sign_in.adapter import WRONG_PASSKEY, passkey_domain
from accounts.sign_in.provider import passwords_for
from common.errors import Conflict, RetryLater, TooManyRequests
from common.web.forms.pages import refusals_shown
from common.web.requests import is_own_page

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class ShownAgain(FormView):
    """A form that is shown again when it can't be looked at now: too many attempts, or no place to hash a password."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().post(request, *args, **kwargs)
        except RetryLater as error:
            return _again(self, error)


class LimitedForm(ShownAgain, ABC):
    """A form whose posts are counted (`count_attempt`). Above the limit the page shows when to try again."""

    @abstractmethod
    def count_attempt(self, request: HttpRequest) -> None:
        """Raise `TooManyRequests` above a limit."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            self.count_attempt(request)
        except TooManyRequests as error:
            return _again(self, error)
        return super().post(request, *args, **kwargs)


def _again(view: FormView, error: RetryLater) -> HttpResponse:
    """The page again, with all that was typed but passwords, and when to come back."""
    kwargs = view.get_form_kwargs() | {"data": None, "files": None, "initial": view.request.POST.dict()}
    return view.render_to_response(
        view.get_context_data(form=view.get_form_class()(**kwargs), refusal=error.message),
        status=error.status,
        headers=error.headers,
    )


def with_passwords(view: View) -> View:
    """A page of sites on which everybody may have a password. On others it is a 404."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.PASSWORD_SIGN_IN:
            raise Http404
        return view(request, *args, **kwargs)

    return cast(View, guarded)


def for_own_password(view: View) -> View:
    """A page about the password of a person who may use one."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not passwords_for(request.user):
            raise Http404
        return view(request, *args, **kwargs)

    return cast(View, guarded)


class SignInView(LimitedForm, LoginView):
    """Keeps `next` where it leads to this site. Signing in gives the session a new key."""

    template_name = "accounts/login.html"
    form_class = forms.SignInForm
    asks_for_password = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.asks_for_password = self.asks_for_password and settings.PASSWORD_SIGN_IN
        return cast(HttpResponse, super().dispatch(request, *args, **kwargs))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.asks_for_password:
            raise Http404
        return super().post(request, *args, **kwargs)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not self.get_next_url():
            return redirect(settings.LOGIN_REDIRECT_URL)
        return super().get(request, *args, **kwargs)

    def count_attempt(self, request: HttpRequest) -> None:
        limits.sign_in_from_address(request)
        limits.sign_in_to_account(request, request.POST.get("email", ""))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        here = {
            "next": self.get_next_url() or "",
            "passkeys_possible": passkey_domain() is not None,
            "asks_for_password": self.asks_for_password,
            "connections": shops.offers(self.request, self.get_next_url() or ""),
        }
        return super().get_context_data(**kwargs) | here


class StaffSignInView(SignInView):
    """Signing in to the administration, where other people have no passwords. Elsewhere there is one page for everybody."""

    form_class = forms.StaffSignInForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if settings.PASSWORD_SIGN_IN:
            query = request.META.get("QUERY_STRING", "")
            return redirect(f"{reverse('account_login')}?{query}" if query else "account_login")
        return cast(HttpResponse, LoginView.dispatch(self, request, *args, **kwargs))


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Where people of each role begin (`settings.HOME_OF_ROLE`)."""
    assert isinstance(request.user, User)
    try:
        return redirect(reverse(settings.HOME_OF_ROLE[request.user.role]))
    except NoReverseMatch:
        return redirect("home")


class PasswordResetView(LimitedForm, allauth.PasswordResetView):
    """Says the same, after the same time, whether the address has an account or not."""

    template_name = "accounts/password_reset.html"
    form_class = forms.PasswordResetForm

    def count_attempt(self, request: HttpRequest) -> None:
        limits.mail_request(request)


class PasswordResetFromKeyView(ShownAgain, allauth.PasswordResetFromKeyView):
    template_name = "accounts/password_reset_confirm.html"
    form_class = forms.NewPasswordForm


class PasswordSetView(ShownAgain, allauth.PasswordSetView):
    template_name = "accounts/password_change.html"
    form_class = forms.PasswordSetForm


class PasswordChangeView(LimitedForm, allauth.PasswordChangeView):
    template_name = "accounts/password_change.html"
    form_class = forms.PasswordChangeForm

    def count_attempt(self, request: HttpRequest) -> None:
        assert isinstance(request.user, User)
        limits.sign_in_from_address(request)
        limits.sign_in_to_account(request, request.user.email)

    def form_valid(self, form: forms.PasswordChangeForm) -> HttpResponse:
        limits.signed_in(self.request, form.user.email)
        response: HttpResponse = super().form_valid(form)
        return response


class RegisterView(LimitedForm, SignupView):
    """Registers a person, and leads on to `next` where it leads to this site.

    Where addresses must be confirmed, the answer is the same for new and taken addresses, and a mail says more.
    Elsewhere the person is signed in.
    """

    template_name = "accounts/register.html"
    form_class = forms.RegisterForm

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect(self.get_next_url() or settings.LOGIN_REDIRECT_URL)
        return super().get(request, *args, **kwargs)

    def count_attempt(self, request: HttpRequest) -> None:
        limits.registration(request)

    def get_initial(self) -> dict[str, Any]:
        role = self.request.GET.get("role", "").upper()
        return super().get_initial() | ({"role": role} if role in SELF_REGISTERED else {})

    def form_valid(self, form: forms.RegisterForm) -> HttpResponse:
        next_url = self.get_next_url() or ""
        try:
            made = form.register(next_url=next_url)
        except Conflict as error:
            return self._address_taken(form, error)
        if made is None:
            return self.form_invalid(form)
        if settings.CONFIRM_ADDRESSES:
            return redirect("account_email_verification_sent")
        messages.success(self.request, _welcome(made))
        return complete_signup(self.request, made.user, None, next_url or None)

    def _address_taken(self, form: forms.RegisterForm, error: Conflict) -> HttpResponse:
        if not settings.CONFIRM_ADDRESSES:
            form.add_error("email", error.message)
            return self.form_invalid(form)
        form.register_in_vain()
        mail_account_exists(email=normalize_email(form.cleaned_data["email"]))
        return redirect("account_email_verification_sent")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"next": self.get_next_url() or ""}


def _welcome(made: Registration) -> str:
    if made.business.is_sandbox:
        return f"Welcome, {made.user.name}. Your sandbox store is ready, with products, orders and reviews to try."
    return f"Welcome, {made.user.name}. {made.business.name} is ready."


@require_POST
@login_required
def send_again(request: HttpRequest) -> HttpResponse:
    """Mail the link once more, and go back to the page that asked for it."""
    assert isinstance(request.user, User)
    back = request.POST.get("next", "")
    if not is_own_page(back, request):
        back = "accounts:home"
    with refusals_shown(request, TooManyRequests):
        limits.mail_request(request)
        mail_confirmation(email=request.user.email)
        messages.success(request, f"We sent the link to {request.user.email} again.")
    return redirect(back)


# --- The second factor -------------------------------------------------------------------------------

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
    form_class = forms.AddPasskeyForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if passkey_domain() is None:
            messages.error(request, "Passkeys need a domain name. This site is at an IP address.")
            return redirect("mfa_index")
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response


class SecondStepView(AuthenticateView):
    """The step after the password, for people with a second factor."""

    form_class = forms.SecondStepForm
    webauthn_form_class = forms.SecondStepPasskeyForm
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

    form_class = forms.PasskeySignInForm

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

    form_class = forms.ProveByPasswordForm
    template_name = "accounts/prove.html"

    def count_attempt(self, request: HttpRequest) -> None:
        limits.sign_in_from_address(request)


class ProveByCodeView(LimitedForm, CodeView):
    form_class = forms.ProveByCodeForm
    template_name = "accounts/prove.html"

    def count_attempt(self, request: HttpRequest) -> None:
        limits.sign_in_from_address(request)
        limits.sign_in_to_account(request, _email(request))

    def form_valid(self, form: Any) -> HttpResponse:
        limits.signed_in(self.request, _email(self.request))
        response: HttpResponse = super().form_valid(form)
        return response


class ProveByPasskeyView(webauthn.ReauthenticateWebAuthnView):
    form_class = forms.ProveByPasskeyForm
    template_name = "accounts/prove.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form, refusal=WRONG_PASSKEY))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | kwargs


def _email(request: HttpRequest) -> str:
    assert isinstance(request.user, User)
    return request.user.email
