"""The mail that tells people what has changed in their account's security."""

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.models import User
from accounts.sign_in.origins import Origin, device_name
from common.processes.background import enqueue_after_commit

SUBJECT = "The security of your account at Extension Platform has changed"
WRONG_CODES = "Wrong codes were entered for your account at Extension Platform"


def mail_security_change(*, user: User, change: str, address: str = "", device: str = "") -> None:
    """Have a worker mail the sentence `change` to its person. `address` and `device` are where the change came from."""
    facts = {
        "change": change,
        "base_url": settings.BASE_URL,
        "at": timezone.now(),
        "address": address,
        "device": device,
    }
    body = render_to_string("accounts/mail/security_change.txt", facts)
    enqueue_after_commit("accounts.tasks.send_mail", SUBJECT, body, user.email, run_here=True)


def mail_wrong_codes(*, user: User, count: int, origin: Origin) -> None:
    """Have a worker tell a person that wrong codes followed the right password."""
    facts = {
        "count": count,
        "base_url": settings.BASE_URL,
        "at": timezone.now(),
        "address": origin.network,
        "device": device_name(origin.device),
    }
    body = render_to_string("accounts/mail/wrong_codes.txt", facts)
    enqueue_after_commit("accounts.tasks.send_mail", WRONG_CODES, body, user.email, run_here=True)
