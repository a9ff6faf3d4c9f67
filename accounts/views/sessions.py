"""Signing in, and the way home."""

from typing import Any

from allauth.account.views import LoginView
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import NoReverseMatch, reverse

from accounts.forms import SignInForm
from accounts.models import User
from accounts.sign_in import limits
from accounts.sign_in.adapter import passkey_domain
from accounts.views.refusals import LimitedForm


class SignInView(LimitedForm, LoginView):
    """Keeps `next` where it leads to this site. Signing in gives the session a new key."""

    template_name = "accounts/login.html"
    form_class = SignInForm

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not self.get_next_url():
            return redirect(settings.LOGIN_REDIRECT_URL)
        return super().get(request, *args, **kwargs)

    def count_attempt(self, request: HttpRequest) -> None:
        limits.sign_in_from_address(request)
        limits.sign_in_to_account(request, request.POST.get("email", ""))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        here = {"next": self.get_next_url() or "", "passkeys_possible": passkey_domain() is not None}
        return super().get_context_data(**kwargs) | here


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Where people of each role begin (`settings.HOME_OF_ROLE`)."""
    assert isinstance(request.user, User)
    try:
        return redirect(reverse(settings.HOME_OF_ROLE[request.user.role]))
    except NoReverseMatch:
        return redirect("home")
