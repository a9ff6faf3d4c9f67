"""A forgotten password: Django's four steps, and the mail sent by a worker."""

import logging

from django.contrib.auth.views import PasswordResetConfirmView as ConfirmView
from django.http import HttpResponse
from django.urls import reverse_lazy
from django.views.generic.edit import FormView
from kombu.exceptions import OperationalError

from accounts import limits
from accounts.forms import PasswordResetForm
from accounts.services import send_password_reset
from accounts.tasks import mail_password_reset
from accounts.views.refusals import too_many
from common.errors import TooManyRequests

log = logging.getLogger(__name__)


class PasswordResetView(FormView):
    """Says the same, after the same time, whether the address has an account or not."""

    template_name = "accounts/password_reset.html"
    form_class = PasswordResetForm
    success_url = reverse_lazy("accounts:password_reset_done")

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        email = form.cleaned_data["email"]
        try:
            limits.password_reset(self.request, email)
        except TooManyRequests as error:
            return too_many(self, error)
        _send(email)
        return super().form_valid(form)


class PasswordResetConfirmView(ConfirmView):
    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:password_reset_complete")


def _send(email: str) -> None:
    """By a worker: the time that sending takes would tell which addresses have accounts."""
    try:
        mail_password_reset.delay(email)
    except OperationalError:
        log.warning("the broker does not answer: the mail is sent from here", exc_info=True)
        send_password_reset(email=email)
