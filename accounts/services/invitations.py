"""Invitations by mail, of apps and of stores: who may get one, its link, and accepting it.

The link is signed with `SECRET_KEY` and holds the row and the address, so nothing of it is stored. It works for seven days and for that
address only, until it is accepted or taken back.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.core import signing
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Invitable, InvitableQuerySet, User
from accounts.services import confirmation
from common.contacts import NotAContact, email_key, kept_email_key
from common.errors import Invalid, NotFound, TooManyRequests
from common.times import duration
from common.web.limits.rate_limits import consume

# How many a person may send. How many mails one address gets is limited for all people together (`sign_in.limits.may_mail`).
A_MINUTE: Final = 10
A_DAY: Final = 100
DAY: Final = 24 * 3600  # seconds

Row = TypeVar("Row", bound=Invitable)


def check_email(email: str) -> None:
    """Raises `Invalid`."""
    try:
        email_key(email)
    except NotAContact as error:
        raise Invalid.field("email", str(error.message)) from None


def is_among(addresses: Iterable[str], email: str) -> bool:
    """Whether one of them is this address, in whatever spelling."""
    return kept_email_key(email) in map(kept_email_key, addresses)


def count(by: User) -> None:
    """Count an invitation of `by`, taken back or not. Raises `TooManyRequests`."""
    for state, what in (
        (consume(f"invite:{by.pk}", limit=A_MINUTE), "invitations a minute"),
        (consume(f"invite-day:{by.pk}", limit=A_DAY, window=DAY), "invitations a day"),
    ):
        if not state.allowed:
            raise TooManyRequests(
                f"That is more than {state.limit} {what}. Try again in {duration(timedelta(seconds=state.retry_after))}.",
                retry_after=state.retry_after,
                code="too_many_invitations",
            )


def lock_person(user: User) -> None:
    """Until the end of the transaction the account stays, so that who deletes it at this moment leaves no row behind.

    Raises `NotFound` if it is deleted. Lock the person before the app or the store, as a deletion does.
    """
    if User.objects.select_for_update(no_key=True).filter(pk=user.pk, deleted_at=None).first() is None:
        raise NotFound("This account was deleted.")


def token_of(row: Invitable, *, salt: str) -> str:
    return signing.dumps([str(row.pk), row.email], salt=salt)


def find(
    rows: InvitableQuerySet[Row], token: str, *, salt: str, gone: str, now: datetime | None = None
) -> Row:
    """The open invitation of a link. Raises `NotFound`, with the sentence `gone`, for one that was accepted, taken back or has expired."""
    try:
        row_id, email = signing.loads(token, salt=salt)
    except (signing.BadSignature, ValueError):
        raise NotFound(gone) from None
    open_rows: QuerySet[Row] = rows.standing(now or timezone.now()).filter(user=None)
    row = open_rows.filter(pk=row_id, email=email).first()
    if row is None:
        raise NotFound(gone)
    return row


def why_of_another(row: Invitable, user: User) -> str:
    """Why an invitation is not this person's; empty if it is."""
    if user.has_address(row.email):
        return ""
    return f"This invitation is for {row.email}, and you are signed in as {user.email}. Sign in with that address."


def fulfil(row: Invitable, user: User, now: datetime) -> None:
    """Make the invitation the person's row. The link came by mail, so it also confirms the address."""
    if not confirmation.is_confirmed(user):
        confirmation.confirm(user=user)
    row.user, row.email, row.since = user, "", now
    row.save(update_fields=["user", "email", "since"])
