"""How often one may sign in, register and ask for a new password. Each raises `TooManyRequests`."""

from django.http import HttpRequest

from accounts.models import normalize_email
from common.auth_limits import limit, limit_by_address

PER_ACCOUNT = 10  # a minute


def registration(request: HttpRequest) -> None:
    limit_by_address(request, "register")


def sign_in_from_address(request: HttpRequest) -> None:
    limit_by_address(request, "sign-in")


def sign_in_to_account(request: HttpRequest, email: str) -> None:
    """Counted whether there is such an account or not: the answer must not tell."""
    limit(request, "sign-in-account", key=normalize_email(email), per_minute=PER_ACCOUNT)


def password_reset(request: HttpRequest, email: str) -> None:
    """Nobody's mailbox is to be filled by strangers."""
    limit_by_address(request, "password-reset")
    limit(request, "password-reset-account", key=normalize_email(email), per_minute=PER_ACCOUNT)
