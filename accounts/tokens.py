"""The developer's JWT: an access token of an hour, and a refresh token that works once.

`settings.SIMPLE_JWT` holds the lifetimes. Both tokens end with a change of the password.
"""

from dataclasses import dataclass
from typing import cast

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import constant_time_compare
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, Token
from rest_framework_simplejwt.utils import get_md5_hash_password

from accounts.models import User
from common.errors import Unauthenticated


@dataclass(frozen=True, slots=True)
class TokenPair:
    access: str
    refresh: str
    expires_in: int  # seconds that `access` lives


def issue(user: User) -> TokenPair:
    refresh = RefreshToken.for_user(user)
    _forget_text(refresh)
    lifetime = api_settings.ACCESS_TOKEN_LIFETIME
    return TokenPair(str(refresh.access_token), str(refresh), int(lifetime.total_seconds()))


@transaction.atomic
def rotate(raw: str) -> TokenPair:
    """A new pair for a refresh token, which is spent by it. Raises `Unauthenticated`."""
    token = _spend(raw)
    return issue(user_of(token))


@transaction.atomic
def revoke(raw: str) -> None:
    """End a refresh token. Raises `Unauthenticated` for one that does not work anyway."""
    _spend(raw)


def read_access_token(raw: str) -> User:
    """Whose access token this is. Raises `Unauthenticated`."""
    try:
        return user_of(AccessToken(raw))  # type: ignore[arg-type]
    except ExpiredTokenError as error:
        raise Unauthenticated("The access token has expired. POST /auth/refresh gives a new one.") from error
    except TokenError as error:
        raise Unauthenticated("The access token is not valid.") from error


def user_of(token: Token) -> User:
    """The active person whom a token names, with the password of that time still in force."""
    try:
        user = User.objects.get(pk=token[api_settings.USER_ID_CLAIM], is_active=True)
    except (KeyError, User.DoesNotExist, ValidationError) as error:
        raise Unauthenticated("The account of this token is closed.") from error
    stamp = token.get(api_settings.REVOKE_TOKEN_CLAIM) or ""
    if not constant_time_compare(stamp, get_md5_hash_password(user.password)):
        raise Unauthenticated("The password has changed since. Sign in again.")
    return user


def _spend(raw: str) -> RefreshToken:
    """Mark a refresh token used. Of two that come at once, the unique column lets one through."""
    try:
        token = RefreshToken(raw)  # type: ignore[arg-type]
        # Annotated as the row alone; it is what get_or_create answers.
        _, first = cast("tuple[object, bool]", token.blacklist())
    except TokenError as error:
        raise Unauthenticated("The refresh token is not valid any more. Sign in again.") from error
    if not first:
        raise Unauthenticated("The refresh token is not valid any more. Sign in again.")
    return token


def _forget_text(token: RefreshToken) -> None:
    """The library keeps each refresh token in clear; its id is enough, and a backup then signs nobody in."""
    OutstandingToken.objects.filter(jti=token[api_settings.JTI_CLAIM]).update(token="")
