"""Stores that exist for one check or test of an app, and the account that owns them.

The account can't be used: it has no password, and no mail reaches its address. Neither it nor its stores are in a list.
"""

from datetime import datetime
from typing import Final

from django.utils.crypto import get_random_string

from accounts.enums import Role
from accounts.models import Business, User
from accounts.services.businesses import SLUG_ALPHABET, create_business

OWNER_EMAIL: Final = "app-checks@platform.invalid"  # RFC 2606: never a real address
OWNER_NAME: Final = "App checks"


def open_throwaway_store(
    *, purpose: str, expires_at: datetime, with_samples: bool = True, now: datetime | None = None
) -> Business:
    """A sandbox store whose name begins with `purpose`. The scheduler deletes it after its time."""
    return create_business(
        owner=_owner(),
        name=f"{purpose} {get_random_string(10, SLUG_ALPHABET)}",
        is_sandbox=True,
        expires_at=expires_at,
        with_samples=with_samples,
        now=now,
    )


def _owner() -> User:
    """Two first checks at once may both try to create it: the address is unique."""
    owner, created = User.objects.get_or_create(
        email=OWNER_EMAIL, defaults={"name": OWNER_NAME, "role": Role.MERCHANT}
    )
    if created:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner
