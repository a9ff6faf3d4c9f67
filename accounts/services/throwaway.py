"""Stores that exist for one check of an app, and the account that owns them.

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


def open_throwaway_store(*, expires_at: datetime, now: datetime | None = None) -> Business:
    """A sandbox store with sample data. The caller deletes it."""
    name = f"Check {get_random_string(10, SLUG_ALPHABET)}"
    return create_business(owner=_owner(), name=name, is_sandbox=True, expires_at=expires_at, now=now)


def _owner() -> User:
    """Two first checks at once may both try to create it: the address is unique."""
    owner, created = User.objects.get_or_create(
        email=OWNER_EMAIL, defaults={"name": OWNER_NAME, "role": Role.MERCHANT}
    )
    if created:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner
