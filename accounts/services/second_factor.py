"""The second factor of signing in: an authenticator app, passkeys, and recovery codes.

A person who guesses codes has the password already, or an open session, so wrong codes count for the account and not, like passwords, for
account and network. Too many refuse the codes of the app for a day; passkeys and recovery codes stay.
"""

from datetime import datetime, timedelta
from typing import Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import User, WrongCode
from accounts.services import security_log
from accounts.services.outbox import mail_security_change, mail_wrong_codes
from accounts.sign_in.origins import NOWHERE, Origin
from common.errors import TooManyRequests

MOST_WRONG: Final = 20
COUNTED_FOR: Final = timedelta(hours=24)
MAILED_AT: Final = 3  # wrong codes
BLOCKED: Final = (
    "Too many wrong codes for this account in 24 hours. Use a passkey or a recovery code. If the wrong codes weren’t yours, "
    "somebody knows your password: choose a new one."
)
NOT_ALONE: Final = "after_password"  # in the data of a passkey


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
    WrongCode.objects.filter(user=user).delete()  # or the next app would be refused for those of the last
    security_log.record(
        user_id=user.pk, kind=SecurityEventKind.SECOND_FACTOR_REMOVED, about="All", actor=actor, origin=origin
    )
    mail_security_change(
        user=user,
        change="An administrator removed your second factor: authenticator app, passkeys and recovery codes.",
    )
    return True


def use_code(*, user: User, code: str, origin: Origin = NOWHERE) -> Authenticator | None:
    """The authenticator whose code this is: the person's app, or the recovery codes. Each code works once.

    A wrong one is counted, before anything is compared, so that parallel guesses are. Raises `TooManyRequests` after
    `MOST_WRONG` in a day, for right codes of the app as well.
    """
    if not code:
        return None
    guess = WrongCode.objects.create(user=user)
    counted = WrongCode.objects.filter(user=user, at__gt=guess.at - COUNTED_FOR).order_by("-at", "-id")
    since = list(counted.values_list("at", flat=True)[: MOST_WRONG + 1])
    blocked = len(since) > MOST_WRONG
    found = _owner_of(code, user, only_recovery=blocked)
    if found or blocked:
        guess.delete()
    if found is None and blocked:
        raise TooManyRequests(BLOCKED, retry_after=_wait(since[-1], guess.at), code="too_many_wrong_codes")
    if found is None:
        _note_wrong(guess, origin)
    return found


def _owner_of(code: str, user: User, *, only_recovery: bool) -> Authenticator | None:
    kinds = [Authenticator.Type.RECOVERY_CODES]
    if not only_recovery:
        kinds.append(Authenticator.Type.TOTP)
    for authenticator in Authenticator.objects.filter(user=user, type__in=kinds):
        if authenticator.wrap().validate_code(code):
            return authenticator
    return None


def _wait(oldest: datetime, now: datetime) -> int:
    """Seconds until the oldest of the wrong codes no longer counts."""
    return max(1, int((oldest + COUNTED_FOR - now).total_seconds()) + 1)


@transaction.atomic
def _note_wrong(guess: WrongCode, origin: Origin) -> None:
    """Write the failure down, and tell the person once a day: the password is known to somebody."""
    user = User.objects.select_for_update().get(pk=guess.user_id)
    security_log.record(
        user_id=user.pk, kind=SecurityEventKind.SIGN_IN_FAILED, about="Second factor", origin=origin
    )
    counted = WrongCode.objects.filter(user=user, at__gt=timezone.now() - COUNTED_FOR)
    if counted.count() >= MAILED_AT and not counted.filter(is_mailed=True).exists():
        WrongCode.objects.filter(pk=guess.pk).update(is_mailed=True)
        mail_wrong_codes(user=user, count=counted.count(), origin=origin)


def forget_old_wrong_codes() -> None:
    WrongCode.objects.filter(at__lt=timezone.now() - COUNTED_FOR).delete()


def require_password_with_passkeys(*, user: User) -> None:
    """Let the passkeys that exist no longer sign in alone: somebody else may have added one."""
    for passkey in Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN):
        passkey.data[NOT_ALONE] = True
        passkey.save(update_fields=["data"])


def signs_in_alone(passkey: Authenticator) -> bool:
    return not passkey.data.get(NOT_ALONE)
