"""Opening an account."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.views import RedirectURLMixin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic.edit import FormView

from accounts import limits
from accounts.enums import SELF_REGISTERED
from accounts.forms import RegisterForm
from accounts.services import Registration
from accounts.views.refusals import too_many
from common.errors import TooManyRequests


@method_decorator([sensitive_post_parameters("password"), never_cache], name="dispatch")
class RegisterView(RedirectURLMixin, FormView):
    """After registering one is signed in, and led on to `next` where it leads to this site."""

    template_name = "accounts/register.html"
    form_class = RegisterForm

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect(self.get_success_url())
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            limits.registration(request)
        except TooManyRequests as error:
            return too_many(self, error)
        return super().post(request, *args, **kwargs)

    def get_initial(self) -> dict[str, Any]:
        role = self.request.GET.get("role", "").upper()
        return {"role": role} if role in SELF_REGISTERED else {}

    def form_valid(self, form: RegisterForm) -> HttpResponse:
        made = form.register()
        if made is None:
            return self.form_invalid(form)
        login(self.request, made.user)
        messages.success(self.request, _welcome(made))
        return redirect(self.get_success_url())

    def get_default_redirect_url(self) -> str:
        return resolve_url(settings.LOGIN_REDIRECT_URL)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"next": self.get_redirect_url()}


def _welcome(made: Registration) -> str:
    if made.business.is_sandbox:
        return f"Welcome, {made.user.name}. Your sandbox shop is ready, with products, orders and reviews to try."
    return f"Welcome, {made.user.name}. {made.business.name} is open."
