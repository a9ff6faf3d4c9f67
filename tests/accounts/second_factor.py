"""What an authenticator app does."""

import time

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value

from accounts.models import User

PERIOD = 30  # seconds


def set_up_app(user: User) -> str:
    """The key of an authenticator app that the person has set up."""
    secret = generate_totp_secret()
    TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return secret


def code(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, int(time.time()) // PERIOD))


def recovery_codes(user: User) -> list[str]:
    return RecoveryCodes.activate(user).get_unused_codes()
