"""Resetting and changing a password."""

from allauth.account import views as allauth
from django.http import HttpRequest, HttpResponse

from accounts.forms import NewPasswordForm, PasswordChangeForm, PasswordResetForm, PasswordSetForm
from accounts.models import User
from accounts.sign_in import limits
from accounts.views.refusals import LimitedForm, ShownAgain


class PasswordResetView(LimitedForm, allauth.PasswordResetView):
    """Says the same, after the same time, whether the address has an account or not."""

    template_name = "accounts/password_reset.html"
    form_class = PasswordResetForm

    def count_attempt(self, request: HttpRequest) -> None:
        limits.mail_request(request)


class PasswordResetFromKeyView(ShownAgain, allauth.PasswordResetFromKeyView):
    template_name = "accounts/password_reset_confirm.html"
    form_class = NewPasswordForm


class PasswordSetView(ShownAgain, allauth.PasswordSetView):
    template_name = "accounts/password_change.html"
    form_class = PasswordSetForm


class PasswordChangeView(LimitedForm, allauth.PasswordChangeView):
    template_name = "accounts/password_change.html"
    form_class = PasswordChangeForm

    def count_attempt(self, request: HttpRequest) -> None:
        assert isinstance(request.user, User)
        limits.sign_in_from_address(request)
        limits.sign_in_to_account(request, request.user.email)

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        limits.signed_in(self.request, form.user.email)
        response: HttpResponse = super().form_valid(form)
        return response
