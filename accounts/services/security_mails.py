"""The mail that tells people what has changed in their account's security."""

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.models import User
from common.background import enqueue_after_commit

SUBJECT = "The security of your account at Extension Platform has changed"


def mail_security_change(*, user: User, change: str, address: str = "") -> None:
    """Have a worker mail the sentence `change` to its person. `address` is where the change came from."""
    facts = {
        "change": change,
        "base_url": settings.BASE_URL,
        "at": timezone.now(),
        "address": address,
    }
    body = render_to_string("accounts/mail/security_change.txt", facts)
    enqueue_after_commit("accounts.tasks.send_mail", SUBJECT, body, user.email, run_here=True)
