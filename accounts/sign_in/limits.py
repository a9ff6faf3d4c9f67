"""How often people may try to sign in, register and ask for a new password. Each raises `TooManyRequests`.

Attempts to sign in are counted as failures before the secret is looked at, so parallel guesses are counted too.
`signed_in` undoes that. They are counted by account and network: a stranger's guesses never keep the owner out. Codes of a
second factor, which come after the right password, count for the account as well (`services.second_factor`).
"""

from typing import Final

from django.http import HttpRequest

from accounts.models import normalize_email
from common.web.limits.auth_limits import (
    forget_failures,
    limit,
    limit_attempts,
    limit_by_address,
    limit_failures,
    undo_attempt,
)
from common.web.limits.client_address import client_subnet

PER_ACCOUNT: Final = 10  # a minute at first, see `limit_failures`


def registration(request: HttpRequest) -> None:
    limit_by_address(request, "register")


def sign_in_from_address(request: HttpRequest) -> None:
    limit_attempts(request, "sign-in")
    request.sign_in_was_counted = True  # type: ignore[attr-defined]


def sign_in_to_account(request: HttpRequest, email: str) -> None:
    """Count a password or a second factor, whether there is such an account or not: the answer must not tell."""
    limit_failures("sign-in-account", key=_who(request, email), per_window=PER_ACCOUNT)


def signed_in(request: HttpRequest, email: str) -> None:
    """Everything was right: the failures before it no longer count."""
    forget_failures("sign-in-account", key=_who(request, email))
    if getattr(request, "sign_in_was_counted", False):  # it isn't where people are signed in as they register
        undo_attempt(request, "sign-in")


def password_reset(request: HttpRequest, email: str) -> None:
    """Strangers must not be able to fill a mailbox."""
    limit_by_address(request, "password-reset")
    limit(request, "password-reset-account", key=normalize_email(email), per_minute=PER_ACCOUNT)


def _who(request: HttpRequest, email: str) -> str:
    return f"{normalize_email(email)} {client_subnet(request)}"
