"""Signing in and out, and the way home."""

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import NoReverseMatch, reverse

from accounts import limits
from accounts.forms import SignInForm
from accounts.models import User
from accounts.views.refusals import too_many
from common.errors import TooManyRequests


class SignInView(LoginView):
    """Keeps `next` where it leads to this site. Signing in gives the session a new key."""

    template_name = "accounts/login.html"
    form_class = SignInForm  # type: ignore[assignment]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated and not self.get_redirect_url():
            return redirect(settings.LOGIN_REDIRECT_URL)
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            limits.sign_in_from_address(request)
            limits.sign_in_to_account(request, request.POST.get("email", ""))
        except TooManyRequests as error:
            return too_many(self, error)
        return super().post(request, *args, **kwargs)


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Where people of each role begin (`settings.HOME_OF_ROLE`)."""
    assert isinstance(request.user, User)
    try:
        return redirect(reverse(settings.HOME_OF_ROLE[request.user.role]))
    except NoReverseMatch:
        return redirect("home")
