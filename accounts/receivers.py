"""What follows from signing in and out on a page and from changes of the account, by whichever way."""

from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.contrib import messages
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import User, normalize_email
from accounts.services import connections, security_log
from accounts.sign_in import limits, pending
from accounts.sign_in.origins import origin_of
from accounts.sign_in.sessions import DEVICE, NETWORK, SIGNED_IN_AT
from common.errors import Conflict
from common.processes.background import enqueue_after_commit


@receiver(user_logged_in)
def begin_session(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    """The page about sessions shows where each one began, and earlier failures no longer count."""
    limits.signed_in(request, user.email)
    origin = origin_of(request)
    request.session[DEVICE], request.session[NETWORK] = origin
    request.session[SIGNED_IN_AT] = timezone.now().isoformat()
    security_log.record(user_id=user.pk, kind=SecurityEventKind.SIGNED_IN, origin=origin)
    _connect_by_link(request, user)


def _connect_by_link(request: HttpRequest, user: User) -> None:
    """After the mailed link, and after the second factor of who has one."""
    kept = pending.take(request)
    if kept is None or kept.user_id != str(user.pk):
        return
    try:
        connections.connect_by_link(user=user, identity=kept.identity, origin=origin_of(request))
    except Conflict as error:  # either side was connected in the meantime
        messages.error(request, error.message)


@receiver(user_logged_out)
def note_sign_out(sender: Any, request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        security_log.record(user_id=user.pk, kind=SecurityEventKind.SIGNED_OUT, origin=origin_of(request))


@receiver(user_login_failed)
def note_failed_sign_in(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **kwargs: Any
) -> None:
    """For pages and the API, whether there is such an account or not."""
    email = normalize_email(str(credentials.get("email") or credentials.get("username") or ""))[:254]
    enqueue_after_commit("accounts.tasks.record_failed_sign_in", email, *origin_of(request), expires=3600)


@receiver([password_changed, password_reset, password_set])
def note_new_password(sender: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
    security_log.record(user_id=user.pk, kind=SecurityEventKind.PASSWORD_CHANGED, origin=origin_of(request))


@receiver(authenticator_added)
def note_second_factor(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    _note_authenticator(SecurityEventKind.SECOND_FACTOR_ADDED, request, user, authenticator)


@receiver(authenticator_removed)
def note_second_factor_gone(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    _note_authenticator(SecurityEventKind.SECOND_FACTOR_REMOVED, request, user, authenticator)


@receiver(authenticator_reset)
def note_recovery_codes(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    _note_authenticator(SecurityEventKind.RECOVERY_CODES_CREATED, request, user, authenticator)


def _note_authenticator(
    kind: SecurityEventKind, request: HttpRequest, user: User, authenticator: Authenticator | None
) -> None:
    about = authenticator.get_type_display() if authenticator else "Second factor"
    security_log.record(user_id=user.pk, kind=kind, about=str(about), origin=origin_of(request))
