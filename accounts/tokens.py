"""The developer's JWT: an access token for an hour, and a refresh token that works once.

`settings.SIMPLE_JWT` holds the lifetimes. Both tokens name their `SignIn`, carry nothing else about the person but the
id, and end with the sign-in. All refresh tokens of a sign-in are one family: a used one that comes a second time has been
copied, so the whole family ends (RFC 9700 section 4.14.2).
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from rest_framework_simplejwt.backends import TokenBackend
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, Token
from rest_framework_simplejwt.utils import datetime_from_epoch

from accounts.enums import SecurityEventKind
from accounts.models import SignIn, User
from accounts.origins import NOWHERE, Origin
from accounts.services import security_log
from common.errors import Unauthenticated
from common.ids import new_id

AnyToken = TypeVar("AnyToken", bound=Token)

SIGN_IN_CLAIM = "sid"
DEVELOPER_API = "Developer API"
ENDED = "This sign-in has ended. Sign in again."
SPENT = "The refresh token is no longer valid. Sign in again."


@dataclass(frozen=True, slots=True)
class TokenPair:
    access: str
    refresh: str
    expires_in: int  # seconds that `access` lives


def issue(user: User, origin: Origin = NOWHERE) -> TokenPair:
    """The first pair of a new sign-in."""
    sign_in = SignIn(
        id=new_id(),
        user=user,
        auth_hash=user.get_session_auth_hash(),
        device=origin.device,
        network=origin.network,
    )
    token = _refresh_token(sign_in)
    with transaction.atomic():
        sign_in.save(force_insert=True)
        security_log.record(
            user_id=user.pk, kind=SecurityEventKind.SIGNED_IN, about=DEVELOPER_API, origin=origin
        )
    return _pair(token)


def rotate(raw: str) -> TokenPair:
    """A new pair for a refresh token, which is used up by it. Raises `Unauthenticated`.

    Of two requests with one token at once, the condition of the UPDATE lets one through; the other is a second use.
    """
    old = _read_refresh_token(raw)
    sign_in = sign_in_of(old)
    token = _refresh_token(sign_in)
    rotated = SignIn.objects.filter(
        pk=sign_in.pk, refresh_jti=old[api_settings.JTI_CLAIM], ended_at=None
    ).update(
        refresh_jti=sign_in.refresh_jti,
        expires_at=sign_in.expires_at,
        last_seen_at=timezone.now(),
        auth_hash=sign_in.user.get_session_auth_hash(),  # with a new SECRET_KEY it is another one
    )
    if not rotated:
        _end_family(sign_in)
        raise Unauthenticated(SPENT, code="refresh_token_invalid")
    return _pair(token)


def revoke(raw: str) -> None:
    """End the sign-in of a refresh token. Raises `Unauthenticated` for a token that doesn't work anyway."""
    token = _read_refresh_token(raw)
    sign_in = sign_in_of(token)
    if sign_in.refresh_jti != token[api_settings.JTI_CLAIM]:
        _end_family(sign_in)
        raise Unauthenticated(SPENT, code="refresh_token_invalid")
    _end(sign_in, SecurityEventKind.SIGNED_OUT)


def _end_family(sign_in: SignIn) -> None:
    _end(sign_in, SecurityEventKind.REFRESH_TOKEN_REUSED)


@transaction.atomic
def _end(sign_in: SignIn, kind: SecurityEventKind) -> None:
    """From now on no token of this sign-in works."""
    if SignIn.objects.filter(pk=sign_in.pk, ended_at=None).update(ended_at=timezone.now()):
        origin = Origin(sign_in.device, sign_in.network)
        security_log.record(user_id=sign_in.user_id, kind=kind, about=DEVELOPER_API, origin=origin)


def read_access_token(raw: str) -> User:
    """Whose access token this is, by one query. Raises `Unauthenticated`."""
    try:
        return sign_in_of(_read(AccessToken, raw)).user
    except ExpiredTokenError as error:
        raise Unauthenticated(
            "The access token has expired. Get a new one with POST /auth/refresh.",
            code="token_expired",
        ) from error
    except TokenError as error:
        raise Unauthenticated("The access token is not valid.", code="invalid_token") from error


def sign_in_of(token: Token) -> SignIn:
    """The sign-in that a token names, with its user, while it lasts. Raises `Unauthenticated`."""
    try:
        sign_in = SignIn.objects.usable(timezone.now()).select_related("user").get(pk=token[SIGN_IN_CLAIM])
    except (KeyError, SignIn.DoesNotExist, ValidationError) as error:
        raise Unauthenticated(ENDED, code="sign_in_ended") from error
    if sign_in.auth_hash not in sign_in.user.session_hashes():
        raise Unauthenticated("The password has changed. Sign in again.", code="password_changed")
    return sign_in


def _read(kind: type[AnyToken], raw: str) -> AnyToken:
    """The token, signed with `SECRET_KEY` or one of the keys before it. Raises `TokenError`."""
    try:
        return kind(raw)  # type: ignore[arg-type]
    except ExpiredTokenError:
        raise
    except TokenError:
        for key in settings.SECRET_KEY_FALLBACKS:
            with suppress(TokenError):
                return _signed_with(key, kind)(raw)  # type: ignore[arg-type]
        raise


def _signed_with(key: str, kind: type[AnyToken]) -> type[AnyToken]:
    """The library takes the key from the class."""
    return type(kind.__name__, (kind,), {"_token_backend": TokenBackend(api_settings.ALGORITHM, key)})


def _read_refresh_token(raw: str) -> RefreshToken:
    try:
        return _read(RefreshToken, raw)
    except TokenError as error:
        raise Unauthenticated(SPENT, code="refresh_token_invalid") from error


def _refresh_token(sign_in: SignIn) -> RefreshToken:
    """The sign-in's next refresh token, noted on the row, which is not saved."""
    token = RefreshToken.for_user(sign_in.user)
    token[SIGN_IN_CLAIM] = str(sign_in.pk)
    sign_in.refresh_jti = token[api_settings.JTI_CLAIM]
    sign_in.expires_at = datetime_from_epoch(token["exp"])
    return token


def _pair(refresh: RefreshToken) -> TokenPair:
    lifetime = api_settings.ACCESS_TOKEN_LIFETIME
    return TokenPair(str(refresh.access_token), str(refresh), int(lifetime.total_seconds()))
