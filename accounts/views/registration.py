"""Opening an account."""

from typing import Any

from allauth.account.utils import complete_signup
from allauth.account.views import SignupView
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.enums import SELF_REGISTERED
from accounts.forms import RegisterForm
from accounts.models import normalize_email
from accounts.services import Registration
from accounts.services.confirmation import mail_account_exists
from accounts.sign_in import limits
from accounts.views.refusals import LimitedForm
from common.errors import Conflict


class RegisterView(LimitedForm, SignupView):
    """Registers a person, and leads on to `next` where it leads to this site.

    Where addresses must be confirmed, the answer is the same for new and taken addresses, and a mail says more.
    Elsewhere the person is signed in.
    """

    template_name = "accounts/register.html"
    form_class = RegisterForm

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect(self.get_next_url() or settings.LOGIN_REDIRECT_URL)
        return super().get(request, *args, **kwargs)

    def count_attempt(self, request: HttpRequest) -> None:
        limits.registration(request)

    def get_initial(self) -> dict[str, Any]:
        role = self.request.GET.get("role", "").upper()
        return super().get_initial() | ({"role": role} if role in SELF_REGISTERED else {})

    def form_valid(self, form: RegisterForm) -> HttpResponse:
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

    def _address_taken(self, form: RegisterForm, error: Conflict) -> HttpResponse:
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
