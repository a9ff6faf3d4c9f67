"""A new password by mail."""

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm


def send_password_reset(*, email: str) -> None:
    """Mail a link that works once. Nothing is sent to an unknown address or a closed account."""
    form = PasswordResetForm({"email": email})
    if form.is_valid():
        form.save(
            # The link must lead here, whatever Host the one who asked has sent.
            domain_override=settings.BASE_URL,
            subject_template_name="accounts/password_reset_subject.txt",
            email_template_name="accounts/password_reset_email.txt",
            extra_email_context={"base_url": settings.BASE_URL},
        )
