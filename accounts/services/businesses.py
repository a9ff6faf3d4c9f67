"""Opening a business, and changing it."""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Final, TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.utils import timezone as clock
from django.utils.crypto import get_random_string
from django.utils.text import slugify

from accounts.enums import Role
from accounts.models import Business, User
from accounts.public_names import check_public_name
from accounts.signals import business_created
from common.errors import Conflict, Invalid, check_fields

# The columns that a caller fills, and their names on the wire.
WIRE_NAMES = {
    "name": "name",
    "type": "type",
    "address": "address",
    "currency": "currency",
    "locale": "locale",
    "timezone": "timezone",
}

# A store's slug is a part of its host name, where these names mean something to programs, or to people.
RESERVED_SLUGS = frozenset(
    "abuse account accounts admin administrator api app apps assets auth autoconfig autodiscover billing cdn console dashboard "
    "developer developers dns docs extension-platform ftp git health healthz help hostmaster imap internal isatap localhost login mail "
    "mailer-daemon marketplace media merchant metrics mta-sts mx no-reply noreply ns ns1 ns2 oauth official openpgpkey payment payments "
    "platform pop pop3 portal postmaster readyz root secure security signin smtp sso staff staging static status support system "
    "vpn webmail webmaster wpad www www1 www2".split()
)
SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")  # a part of a host name (RFC 1123)
COUNTED_SLUGS = 9
MOST_STORES = 10  # of a person; sandboxes, test stores and those of checks aside
MAX_BASE = 56  # characters; the longest ending has 7
SLUG_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that two people read differently


def create_business(
    *,
    owner: User,
    name: str,
    type: str = "",  # noqa: A002  as the column and the wire call it
    address: str = "",
    currency: str = "USD",
    locale: str = "en",
    timezone: str = "UTC",
    is_sandbox: bool = False,
    expires_at: datetime | None = None,
    with_samples: bool = True,
    now: datetime | None = None,
) -> Business:
    """Open a business under a free slug made from its name, and tell `business_created`.

    With `expires_at` it is a throwaway store, of which an owner may have several. A sandbox gets sample data `with_samples`.

    Raises `Invalid` naming each bad field, and `Conflict` where the owner has a sandbox already, or `MOST_STORES`. The name of a
    sandbox is made of its owner's, who chose none.
    """
    business = Business(
        owner=owner,
        name=name.strip(),
        type=type.strip(),
        address=address.strip(),
        currency=currency,
        locale=locale,
        timezone=timezone,
        is_sandbox=is_sandbox,
        expires_at=expires_at,
        created_at=now or clock.now(),
    )
    check_fields(business, WIRE_NAMES)
    if not is_sandbox:
        _check_name(business.name)
    with transaction.atomic():
        if not is_sandbox:
            _require_room(owner)
        insert_under_free_slug(business)
        business_created.send(
            sender=Business, business=business, with_samples=with_samples, now=business.created_at
        )
    return business


class BusinessChanges(TypedDict, total=False):
    name: str
    type: str
    address: str
    currency: str
    locale: str
    timezone: str


def update_business(*, business: Business, **changes: Unpack[BusinessChanges]) -> None:
    """Change what the owner may change. The slug stays, because links contain it. Raises `Invalid` naming each bad field."""
    before = business.name
    for column, value in changes.items():
        setattr(business, column, str(value).strip())
    check_fields(business, {column: WIRE_NAMES[column] for column in changes})
    if business.name != before:  # a name of before there was this rule stays
        _check_name(business.name)
    business.save(update_fields=list(changes))


def _require_room(owner: User) -> None:
    """Raise `Conflict` for one store too many. Two openings at once wait for each other."""
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)
    if Business.objects.owned_by(owner).filter(is_sandbox=False).count() >= MOST_STORES:
        raise Conflict(f"A person has at most {MOST_STORES} stores.", code="too_many_stores")


def _check_name(name: str) -> None:
    """Shoppers read it in mails that come from the platform."""
    try:
        check_public_name(name)
    except ValueError as problem:
        raise Invalid.field("name", str(problem)) from None


def insert_under_free_slug(business: Business) -> None:
    """Try slugs until one is free. Two openings at once may choose the same: the unique column decides."""
    for slug in _slugs(business.name):
        if _is_taken(slug):
            continue
        business.slug = slug
        try:
            with transaction.atomic():
                business.save(force_insert=True)
        except IntegrityError as error:
            if not _is_taken(slug):
                raise Conflict("This developer already has a sandbox store.") from error
        else:
            return


def _slugs(name: str) -> Iterator[str]:
    """`harbour-bakery`, `harbour-bakery-2`, …, and random endings if many have the name.

    Each can be a part of a host name (RFC 1123): at most 63 characters, without underscores. A reserved one has an ending.
    """
    base = slugify(name.replace("_", " "))[:MAX_BASE].strip("-") or "store"
    if base not in RESERVED_SLUGS:
        yield base
    for number in range(2, COUNTED_SLUGS + 1):
        yield f"{base}-{number}"
    for _ in count():
        yield f"{base}-{get_random_string(6, SLUG_ALPHABET)}"


def _is_taken(slug: str) -> bool:
    return Business.objects.filter(slug=slug).exists()


# Stores that exist for one check or test of an app. The account that owns them can't be used: it has no password, and no mail
# reaches its address. Neither it nor its stores are in a list.


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


COPY: Final = " (copy)"
COPY_SLUG: Final = 17  # of 31 letters: 84 random bits


def open_copy(*, store: Business, expires_at: datetime, now: datetime | None = None) -> Business:
    """An empty throwaway store that looks like this one, under a slug that can't be guessed. It has no address of the store's."""
    business = Business(
        owner=_owner(),
        name=store.name[: 120 - len(COPY)] + COPY,
        slug=get_random_string(COPY_SLUG, SLUG_ALPHABET),
        type=store.type,
        currency=store.currency,
        locale=store.locale,
        timezone=store.timezone,
        is_sandbox=True,
        copy_of=store,
        expires_at=expires_at,
        created_at=now or clock.now(),
    )
    with transaction.atomic():
        business.save(force_insert=True)
        business_created.send(sender=Business, business=business, with_samples=False, now=business.created_at)
    return business


def _owner() -> User:
    """Two first checks at once may both try to create it: the address is unique."""
    owner, created = User.objects.get_or_create(
        email=OWNER_EMAIL, defaults={"name": OWNER_NAME, "role": Role.MERCHANT}
    )
    if created:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner
