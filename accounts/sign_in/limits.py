"""How often people may try to sign in, register and ask for a new password. Each raises `TooManyRequests`; `may_mail` alone answers.

Attempts to sign in are counted as failures before the secret is looked at, so parallel guesses are counted too.
`signed_in` undoes that. They are counted by account and network: a stranger's guesses never keep the owner out. Codes of a
second factor, which come after the right password, count for the account as well (`services.second_factor`).
"""

import logging
from enum import StrEnum
from typing import Final

from django.http import HttpRequest

from common.contacts import kept_email_key
from common.errors import TooManyRequests
from common.observability.metrics import MAILS
from common.web import limits
from common.web.client_address import client_subnet

log = logging.getLogger(__name__)

PER_ACCOUNT: Final = 10  # a minute at first, see `limit_failures`
HOUR: Final = 3600  # seconds
DAY: Final = 24 * HOUR


class UnaskedMail(StrEnum):
    """Mails that a stranger can cause, to an address that the stranger names."""

    ACCOUNT_EXISTS = "account-exists"
    PASSWORD_RESET = "password-reset"  # noqa: S105
    CONFIRMATION = "confirmation"
    CONNECTION = "connection"
    INVITATION = "invitation"
    ORDER = "order"


MAILS_AN_HOUR: Final = 3
MAILS_A_DAY: Final = 10
# Anybody can order under any address, but a canteen's or an office's own orders are many, and their mails hold the only link to each.
ORDER_MAILS_AN_HOUR: Final = 120
ORDER_MAILS_A_DAY: Final = 500


def registration(request: HttpRequest) -> None:
    limits.limit_by_address(request, "register")


def sign_in_from_address(request: HttpRequest) -> None:
    limits.limit_attempts(request, "sign-in")
    request.sign_in_was_counted = True  # type: ignore[attr-defined]


def sign_in_to_account(request: HttpRequest, email: str) -> None:
    """Count a password or a second factor, whether there is such an account or not: the answer must not tell."""
    limits.limit_failures("sign-in-account", key=_who(request, email), per_window=PER_ACCOUNT)


def signed_in(request: HttpRequest, email: str) -> None:
    """Everything was right: the failures before it no longer count."""
    limits.forget_failures("sign-in-account", key=_who(request, email))
    if getattr(request, "sign_in_was_counted", False):  # it isn't where people are signed in as they register
        limits.undo_attempt(request, "sign-in")


def mail_request(request: HttpRequest) -> None:
    """Count a request for a link by mail, whatever the address."""
    limits.limit_by_address(request, "password-reset")


def may_mail(kind: UnaskedMail, email: str) -> bool:
    """Count a mail to an address. False if it has had enough of this kind (contract, section 15, "Mails to strangers").

    Ask right before sending, in a worker: the person who caused the mail must not learn of it, from the answer or its time.
    """
    is_order = kind == UnaskedMail.ORDER
    windows = (
        (HOUR, ORDER_MAILS_AN_HOUR if is_order else MAILS_AN_HOUR),
        (DAY, ORDER_MAILS_A_DAY if is_order else MAILS_A_DAY),
    )
    try:
        for seconds, most in windows:
            limits.limit_in(f"mail-{kind}-{seconds}", key=kept_email_key(email), most=most, seconds=seconds)
    except TooManyRequests:
        MAILS.labels("limited").inc()
        log.info("A mail of the kind %s was not sent: its address has had enough.", kind)
        return False
    return True


def _who(request: HttpRequest, email: str) -> str:
    return f"{kept_email_key(email)} {client_subnet(request)}"
