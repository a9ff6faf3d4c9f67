"""The caller of the developer API (contract section 2), by developer token or JWT: an access token for an hour, and a refresh token
that works once.

Both tokens name their `SignIn`, carry nothing else about the person but the id, and end with the sign-in. All refresh tokens of a sign-in are one family: a used one that comes a second time has been
copied, so the whole family ends (RFC 9700 section 4.14.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import jwt
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.enums import SecurityEventKind, TokenRight
from accounts.models import DeveloperToken, SignIn, User
from accounts.services import security_log
from accounts.services.developer_tokens import usable_token
from accounts.sign_in.origins import NOWHERE, Origin
from common.errors import NotAllowed, Unauthenticated
from common.ids import new_id
from common.secrets import DEVELOPER_TOKEN_PREFIX
from common.web import requests

Claims = dict[str, Any]

ACCESS_LIFETIME: Final = timedelta(hours=1)
REFRESH_LIFETIME: Final = timedelta(days=30)
ALGORITHM: Final = "HS256"
ACCESS, REFRESH = "access", "refresh"  # of `token_type`
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
    pair = _next_pair(sign_in)
    with transaction.atomic():
        sign_in.save(force_insert=True)
        security_log.record(
            user_id=user.pk, kind=SecurityEventKind.SIGNED_IN, about=DEVELOPER_API, origin=origin
        )
    return pair


def rotate(raw: str) -> TokenPair:
    """A new pair for a refresh token, which is used up by it. Raises `Unauthenticated`.

    Of two requests with one token at once, the condition of the UPDATE lets one through; the other is a second use.
    """
    old = _read_refresh_token(raw)
    sign_in = sign_in_of(old)
    pair = _next_pair(sign_in)
    rotated = SignIn.objects.filter(pk=sign_in.pk, refresh_jti=old["jti"], ended_at=None).update(
        refresh_jti=sign_in.refresh_jti,
        expires_at=sign_in.expires_at,
        last_seen_at=timezone.now(),
        auth_hash=sign_in.user.get_session_auth_hash(),  # with a new SECRET_KEY it is another one
    )
    if not rotated:
        _end_family(sign_in)
        raise Unauthenticated(SPENT, code="refresh_token_invalid")
    return pair


def revoke(raw: str) -> None:
    """End the sign-in of a refresh token. Raises `Unauthenticated` for a token that doesn't work anyway."""
    token = _read_refresh_token(raw)
    sign_in = sign_in_of(token)
    if sign_in.refresh_jti != token["jti"]:
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
        return sign_in_of(_read(ACCESS, raw)).user
    except jwt.ExpiredSignatureError as error:
        raise Unauthenticated(
            "The access token has expired. Get a new one with POST /auth/refresh.",
            code="token_expired",
        ) from error
    except jwt.InvalidTokenError as error:
        raise Unauthenticated("The access token is not valid.", code="invalid_token") from error


def sign_in_of(token: Claims) -> SignIn:
    """The sign-in that a token names, with its user, while it lasts. Raises `Unauthenticated`."""
    try:
        sign_in = SignIn.objects.usable(timezone.now()).select_related("user").get(pk=token["sid"])
    except (KeyError, SignIn.DoesNotExist, ValidationError) as error:
        raise Unauthenticated(ENDED, code="sign_in_ended") from error
    if sign_in.auth_hash not in sign_in.user.session_hashes():
        raise Unauthenticated("The password has changed. Sign in again.", code="password_changed")
    return sign_in


def _read(kind: str, raw: str) -> Claims:
    """The claims, signed with `SECRET_KEY` or one of the keys before it. Raises `jwt.InvalidTokenError`."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    for position, key in enumerate(keys, start=1):
        try:
            options: Any = {"require": ["exp", "jti"]}
            claims: Claims = jwt.decode(raw, key, algorithms=[ALGORITHM], options=options)
        except jwt.InvalidSignatureError:
            if position == len(keys):
                raise
        else:
            break
    if claims.get("token_type") != kind:
        raise jwt.InvalidTokenError(f"This is no {kind} token.")
    return claims


def _read_refresh_token(raw: str) -> Claims:
    try:
        return _read(REFRESH, raw)
    except jwt.InvalidTokenError as error:
        raise Unauthenticated(SPENT, code="refresh_token_invalid") from error


def _next_pair(sign_in: SignIn) -> TokenPair:
    """The sign-in's next tokens. The refresh token is noted on the row, which is not saved."""
    now = timezone.now().replace(microsecond=0)
    sign_in.refresh_jti, sign_in.expires_at = uuid4().hex, now + REFRESH_LIFETIME
    return TokenPair(
        access=_signed(ACCESS, sign_in, uuid4().hex, now, now + ACCESS_LIFETIME),
        refresh=_signed(REFRESH, sign_in, sign_in.refresh_jti, now, sign_in.expires_at),
        expires_in=int(ACCESS_LIFETIME.total_seconds()),
    )


def _signed(kind: str, sign_in: SignIn, jti: str, now: datetime, until: datetime) -> str:
    claims = {
        "token_type": kind,
        "exp": until,
        "iat": now,
        "jti": jti,
        "user_id": str(sign_in.user_id),
        "sid": str(sign_in.pk),
    }
    return jwt.encode(claims, settings.SECRET_KEY, algorithm=ALGORITHM)


# --- The caller of the developer API -----------------------------------------------------------------

ADVICE = "Send the access token of /auth/login or a developer token"
LACKS_RIGHT = (
    "This developer token doesn't have the right “{right}”. Create one with it at {page}, or use the access token of "
    "/auth/login."
)


class DeveloperAuthentication(BaseAuthentication):
    """`Authorization: Bearer`, with an access token of /auth/login or a developer token; anything else is a 401.

    `request.auth` becomes the `DeveloperToken`, or the text of the access token.
    """

    def authenticate(self, request: Request) -> tuple[User, DeveloperToken | str]:
        token = requests.token_of(request.META.get("HTTP_AUTHORIZATION", ""))
        if not token:
            raise Unauthenticated(f"{ADVICE}: Authorization: Bearer <token>.", code="missing_token")
        if token.startswith("fbat_"):
            raise Unauthenticated(f"This is an app's access token. {ADVICE}.", code="wrong_kind_of_token")
        if token.startswith(DEVELOPER_TOKEN_PREFIX):
            found = usable_token(token)
            return found.user, found
        return read_access_token(token), token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class IsDeveloper(BasePermission):
    message = "Only developer accounts can use this API."
    code = "wrong_role"

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, User) and request.user.is_developer


class HasTokenRight(BasePermission):
    """Whether a developer token has the right that the view's `token_rights` name for the method, if they do.

    A person's own sign-in has every right.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        rights: Mapping[str, TokenRight] = getattr(view, "token_rights", {})
        right = rights.get(request.method or "")
        if right is None or not isinstance(request.auth, DeveloperToken) or right in request.auth.rights:
            return True
        raise NotAllowed(
            LACKS_RIGHT.format(right=right.value, page=settings.BASE_URL + reverse("accounts:tokens")),
            code="missing_token_right",
        )
