"""The person who buys, as apps get to know them (contract, section 23, "Who buys").

A person is the normal form of an e-mail address, or of a phone number where no address was given (`common.contacts`). Each person of a store
has a random seed, and each installation a key that is made from it: the same for one person, and another at every other installation.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from accounts.models import Business
from common.contacts import NotAContact, email_key, kept_email_key, kept_phone_key, phone_key
from common.db.inserts import Insertion, Replacing, insertion
from stores.buyers.attributes import NONE, ByOwner
from stores.models import Order, Shopper

PREFIX: Final = "shp_"
KEY: Final = 16  # bytes
ORDERS_AGAIN: Final = Replacing(same=("business_id", "digest"), updated=("ordered_at",))
KEPT: Final = timedelta(days=90)  # without an order
BATCH: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Buyer:
    """A person who is about to order. `shopper` and `proven` are those of the browser's cart (`Cart`), None for orders by the API.

    `person` is what was typed, empty where nothing was; then it is the browser's `shopper`.
    """

    person: str = ""
    shopper: int | None = None
    proven: int | None = None
    attributes: ByOwner = field(default_factory=lambda: NONE)


NOBODY: Final = Buyer()


@dataclass(frozen=True, slots=True)
class SeenShopper:
    """A person whom apps may recognize. `is_proven`: this browser has shown that mails to the typed address reach it."""

    seed: bytes
    is_proven: bool

    def payload(self, installation_id: UUID) -> dict[str, Any]:
        return {"key": key_for(self.seed, installation_id), "proven": self.is_proven}


@dataclass(frozen=True, slots=True)
class OwnPart:
    """What one app alone reads of an order: its attributes, and by which key it knows the customer."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    customer_key: str | None = None


NO_PART: Final = OwnPart()


def person_of(email: str, phone: str) -> str:
    """The normal form of what was typed, empty for neither. A text without a normal form finds no person."""
    for typed, key_of in ((email, email_key), (phone, phone_key)):
        try:
            if typed.strip():
                return key_of(typed)
        except NotAContact:
            continue
    return ""


def person_of_order(order: Any) -> str:
    """That of an order, or of a row with these columns. Empty once the customer is erased."""
    email, phone = order.customer_email_key, order.customer_phone_key
    if email is None:  # written by a process of a version before there were keys
        email, phone = kept_email_key(order.customer_email), kept_phone_key(order.customer_phone)
    return email or phone or ""


def digest_of(business_id: UUID, person: str) -> str:
    """What finds a person's row. It differs from store to store, so that no one can follow a person through them."""
    return hashlib.sha256(f"{business_id}:{person}".encode()).hexdigest()


def key_for(seed: bytes, installation_id: UUID) -> str:
    """The person's key at one installation: `shp_` and 128 bits."""
    return PREFIX + hmac.digest(seed, installation_id.bytes, "sha256")[:KEY].hex()


def keys_of(business_id: UUID, installation_id: UUID, people: Collection[str]) -> Mapping[str, str]:
    """The keys of some people at an installation. Those whom no order or hook has made known have none. One statement, or none."""
    digests = {digest_of(business_id, person): person for person in people if person}
    if not digests:
        return {}
    rows = Shopper.objects.filter(business=business_id, digest__in=list(digests))
    return {
        digests[digest]: key_for(bytes(seed), installation_id)
        for digest, seed in rows.values_list("digest", "seed")
    }


# --- Seeds -------------------------------------------------------------------------------------------


def seen(*, business: Business, buyer: Buyer, now: datetime | None = None) -> SeenShopper | None:
    """The person about whom apps are asked now, who gets a seed with the first question. None for an unknown one."""
    rows = Shopper.objects.filter(business=business)
    if buyer.person:
        digest = digest_of(business.pk, buyer.person)
        found = rows.filter(digest=digest).first()
        if found is None:
            Shopper.objects.bulk_create(
                [_new(business.pk, digest, now or timezone.now())], ignore_conflicts=True
            )
            found = rows.filter(digest=digest).first()
    else:
        found = rows.filter(pk=buyer.shopper).first() if buyer.shopper else None
    return SeenShopper(bytes(found.seed), is_proven=found.pk == buyer.proven) if found else None


def note_orders(*, business_id: UUID, people: Collection[str], now: datetime) -> list[Insertion]:
    """What notes that these people have just ordered: one statement or none, for the transaction that saves the orders."""
    # In one order, for the locks.
    digests = sorted({digest_of(business_id, person) for person in people if person})
    rows = [_new(business_id, digest, now) for digest in digests]
    return [insertion(rows, ORDERS_AGAIN)] if rows else []


def shopper_of(order: Order) -> Shopper | None:
    """The row of an order's person; None once they are erased, or for an order without an address and a number."""
    person = person_of_order(order)
    digest = digest_of(order.business_id, person)
    return Shopper.objects.filter(business=order.business_id, digest=digest).first() if person else None


def forget(*, business: Business, people: Collection[str]) -> None:
    """Of people who are erased. Carts forget them with their rows."""
    digests = [digest_of(business.pk, person) for person in people if person]
    Shopper.objects.filter(business=business, digest__in=digests).delete()


def remove_old(*, now: datetime | None = None) -> int:
    """Forget people who haven't ordered for `KEPT`. Returns how many."""
    old = Shopper.objects.filter(ordered_at__lt=(now or timezone.now()) - KEPT)
    removed = 0
    while ids := list(old.order_by("ordered_at").values_list("pk", flat=True)[:BATCH]):
        Shopper.objects.filter(pk__in=ids).delete()
        removed += len(ids)
    return removed


def _new(business_id: UUID, digest: str, now: datetime) -> Shopper:
    return Shopper(business_id=business_id, digest=digest, seed=secrets.token_bytes(KEY), ordered_at=now)
