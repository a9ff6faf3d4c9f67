"""Work of accounts that happens behind a request, or daily."""

from celery import shared_task
from django.core.management import call_command

from accounts.services import passwords


@shared_task
def mail_password_reset(email: str) -> None:
    passwords.send_password_reset(email=email)


@shared_task
def remove_ended_sign_ins() -> None:
    """Sessions and refresh tokens that can't be used any more."""
    call_command("clearsessions")
    call_command("flushexpiredtokens")
