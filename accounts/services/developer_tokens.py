"""Developer tokens: credentials for the developer API that scripts use, made and revoked by their owner."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import DeveloperToken, User
from accounts.services import security_log
from common.db.finders import get_or_not_found
from common.errors import Conflict, Invalid, NotFound, Unauthenticated
from common.secrets import digest, last_four, new_developer_token

LONGEST: Final = timedelta(days=365)
MOST_TOKENS: Final = 50
USED_EVERY: Final = timedelta(minutes=1)
TAKEN: Final = "You have a token with this name already."


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token with its text, which is nowhere else from now on."""

    token: DeveloperToken
    text: str


@transaction.atomic
def create_developer_token(
    *, user: User, name: str, lifetime: timedelta, now: datetime | None = None
) -> IssuedToken:
    """A new token. Raises `Invalid` for a bad name or lifetime, `Conflict` for a name in use or too many tokens."""
    now, name = now or timezone.now(), name.strip()
    if not name or len(name) > 80:
        raise Invalid.field("name", "Enter a name of at most 80 characters.")
    if not timedelta() < lifetime <= LONGEST:
        raise Invalid.field("lifetime", "A token expires within a year.")
    User.objects.select_for_update().get(pk=user.pk)  # two at once must not get the same name
    usable = DeveloperToken.objects.usable(now).filter(user=user)
    if usable.filter(name=name).exists():
        raise Conflict(TAKEN, code="token_name_taken")
    if usable.count() >= MOST_TOKENS:
        raise Conflict(
            f"You have {MOST_TOKENS} tokens. Revoke one that you no longer need.", code="too_many_tokens"
        )
    text = new_developer_token()
    token = DeveloperToken.objects.create(
        user=user,
        name=name,
        digest=digest(text),
        last_four=last_four(text),
        created_at=now,
        expires_at=now + lifetime,
    )
    security_log.record(user_id=user.pk, kind=SecurityEventKind.TOKEN_CREATED, about=name)
    return IssuedToken(token, text)


@transaction.atomic
def revoke_developer_token(*, user: User, token_id: str) -> DeveloperToken:
    """End a token at once. Raises `NotFound` for another person's; one that is revoked already stays so."""
    tokens = DeveloperToken.objects.filter(user=user)
    token = get_or_not_found(tokens, token_id, "There is no such token.")
    if not tokens.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        raise NotFound("This token was revoked already.")
    security_log.record(user_id=user.pk, kind=SecurityEventKind.TOKEN_REVOKED, about=token.name)
    return token


def owner_of(text: str) -> User:
    """Whose token this is, by one query, and one UPDATE a minute for its last use. Raises `Unauthenticated`."""
    now = timezone.now()
    token = (
        DeveloperToken.objects.usable(now)
        .filter(digest=digest(text), user__is_active=True)
        .select_related("user")
        .first()
    )
    if token is None:
        raise Unauthenticated(
            "The developer token is unknown, expired or revoked.", code="developer_token_revoked"
        )
    if token.last_used_at is None or now - token.last_used_at >= USED_EVERY:
        DeveloperToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user
