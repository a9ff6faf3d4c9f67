"""The second factor of signing in: an authenticator app, passkeys, and recovery codes."""

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from accounts.enums import SecurityEventKind
from accounts.models import User
from accounts.origins import NOWHERE, Origin
from accounts.services import security_log
from accounts.services.security_mails import mail_security_change


def has_second_factor(user: User) -> bool:
    """Recovery codes alone are none: they come with an authenticator app or a passkey."""
    return Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES).exists()


def must_set_up(user: User) -> bool:
    """Whether the person needs a second factor and has none. Staff need one, except in `DEBUG`."""
    is_staff = user.is_staff or user.is_superuser
    return bool(settings.SECOND_FACTOR_FOR_STAFF) and is_staff and not has_second_factor(user)


@transaction.atomic
def remove(*, user: User, actor: User | None = None, origin: Origin = NOWHERE) -> bool:
    """Remove the second factor of a person who lost it, and tell the person. False if there was none."""
    removed, _ = Authenticator.objects.filter(user=user).delete()
    if not removed:
        return False
    security_log.record(
        user_id=user.pk, kind=SecurityEventKind.SECOND_FACTOR_REMOVED, about="All", actor=actor, origin=origin
    )
    mail_security_change(
        user=user,
        change="An administrator removed your second factor: authenticator app, passkeys and recovery codes.",
    )
    return True


def use_code(*, user: User, code: str) -> bool:
    """Whether this is a code of the person's authenticator app or a recovery code. Each works once."""
    typed = Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.WEBAUTHN)
    for authenticator in typed:
        if authenticator.wrap().validate_code(code):
            authenticator.record_usage()
            return True
    return False
