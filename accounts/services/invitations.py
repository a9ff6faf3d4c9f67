"""Which addresses can be invited, and how many a person may invite."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from accounts.models import User
from common.contacts import NotAContact, email_key, kept_email_key
from common.errors import Invalid, NotFound, TooManyRequests
from common.times import duration
from common.web.limits import consume

# How many a person may send. How many mails one address gets is limited for all people together (`sign_in.limits.may_mail`).
A_MINUTE: Final = 10
A_DAY: Final = 100
DAY: Final = 24 * 3600  # seconds


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
