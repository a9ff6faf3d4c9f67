"""Mails about an account, its apps and its stores, for the transaction of what they are about."""

from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import User
from accounts.services.outbox import post
from accounts.sign_in.origins import Origin, device_name
from accounts.sign_in.provider import label
from common.mails.letters import letter


def mail_security_change(*, user: User, change: str, address: str = "", device: str = "") -> None:
    """Have a worker mail the sentence `change` to its person. `address` and `device` are where the change came from."""
    facts = {
        "change": change,
        "base_url": settings.BASE_URL,
        "at": timezone.now(),
        "address": address,
        "device": device,
    }
    subject = f"The security of your account at {settings.PLATFORM_NAME} has changed"
    mail_later(subject=subject, template="accounts/mail/security_change.txt", context=facts, to=user.email)


def mail_wrong_codes(*, user: User, count: int, origin: Origin) -> None:
    """Have a worker tell a person that wrong codes followed the right password."""
    facts = {
        "count": count,
        "base_url": settings.BASE_URL,
        "at": timezone.now(),
        "address": origin.network,
        "device": device_name(origin.device),
    }
    subject = f"Wrong codes were entered for your account at {settings.PLATFORM_NAME}"
    mail_later(subject=subject, template="accounts/mail/wrong_codes.txt", context=facts, to=user.email)


def mail_later(*, subject: str, template: str, context: dict[str, Any], to: str) -> None:
    post(letter(subject=subject, to=to, template=template, context=context | no_passwords()), kind="account")


def no_passwords() -> dict[str, Any]:
    """What mails say where people sign in by the operator's identity provider alone."""
    return {} if settings.PASSWORD_SIGN_IN else {"no_passwords": True, "label": label()}
