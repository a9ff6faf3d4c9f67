"""The people of connected stores, and the tickets by which a shop signs them in (contract, section 17, "People").

The only writer of `ShopPerson` and `ShopTicket`. A person is of one store, with an account of their own: so a session is of one store, and
what a person may do there is their row of `Staff`, as in every store.
"""

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.enums import Role, StoreRole
from accounts.models import PERSON_ID, ConnectedStore, Session, ShopPerson, ShopTicket, Staff, User
from accounts.services.deletion import close_account
from accounts.services.shops import has_controls
from accounts.sign_in import ways
from common.contacts import NotAContact, email_key
from common.errors import Conflict, ErrorDetail, Invalid
from common.ids import new_id
from common.lengths import PERSON
from common.secrets import digest, new_ticket

LIFETIME: Final = timedelta(seconds=60)
SESSION: Final = timedelta(hours=12)
MOST: Final = 1000  # people of one store
ADDRESS: Final = "{}@people.invalid"  # RFC 2606: no mail reaches it
UNSEEN: Final = frozenset("CZ")  # the major categories of characters that aren't visible


@dataclass(frozen=True, slots=True)
class Guest:
    """A person who shall be signed in, as the shop names them."""

    id: str
    name: str
    role: StoreRole
    email: str = ""


@dataclass(frozen=True, slots=True)
class IssuedTicket:
    token: str  # shown once
    expires_at: datetime


def issue(
    *, store: ConnectedStore, guest: Guest, next_page: str | None = None, now: datetime | None = None
) -> IssuedTicket:
    """A ticket for a person, who is made to be as the shop says: name, address and role count from now on, used or not.

    Raises `Invalid` naming each bad field, and `Conflict` for one person too many. The caller keeps the store from ending meanwhile.
    """
    now = now or timezone.now()
    _check(guest, next_page)
    token = new_ticket()
    with transaction.atomic():
        person = _person(store, guest, now)
        ShopTicket.objects.create(
            digest=digest(token),
            person=person,
            next=next_page or _first_page(guest.role),
            expires_at=now + LIFETIME,
        )
    return IssuedTicket(token, now + LIFETIME)


def _first_page(role: StoreRole) -> str:
    return "/merchant/notices/" if role == StoreRole.ORDERS else "/merchant/apps/"


def _check(guest: Guest, next_page: str | None) -> None:
    problems: list[ErrorDetail] = []
    if why := wrong_id(guest.id):
        problems.append({"field": "person.id", "message": why})
    if not 1 <= len(guest.name) <= PERSON or has_controls(guest.name):
        message = f"Must be 1 to {PERSON} characters, without control characters."
        problems.append({"field": "person.name", "message": message})
    try:
        if guest.email:
            email_key(guest.email)
    except NotAContact as error:
        problems.append({"field": "person.email", "message": str(error.message)})
    if next_page is not None and not ways.is_for_shops(next_page):
        problems.append({"field": "next", "message": ways.WRONG})
    if problems:
        raise Invalid.fields(problems)


def wrong_id(text: str) -> str:
    """Why this can't be the shop's id of a person, or "". One that ends with a slash would be another one's in a path, and dots
    would be a step up.
    """
    is_visible = all(unicodedata.category(letter)[0] not in UNSEEN for letter in text)
    if 1 <= len(text) <= PERSON_ID and is_visible and text not in (".", "..") and not text.endswith("/"):
        return ""
    return f"Must be 1 to {PERSON_ID} visible characters, neither . nor .. nor with / at the end."


def _person(store: ConnectedStore, guest: Guest, now: datetime) -> ShopPerson:
    """Made, or changed, in the caller's transaction. Two tickets for one person wait for each other."""
    rows = ShopPerson.objects.select_related("user").filter(store=store, external_id=guest.id)
    found = rows.select_for_update(of=("self",)).first()
    if found is None:
        try:
            with transaction.atomic():
                return _add(store, guest, now)
        except IntegrityError:  # the other ticket was faster
            found = rows.select_for_update(of=("self",)).get()
    _change(found, store, guest)
    return found


def _add(store: ConnectedStore, guest: Guest, now: datetime) -> ShopPerson:
    if ShopPerson.objects.filter(store=store).count() >= MOST:
        message = f"A store has at most {MOST:,} people. End some who don't come any more."
        raise Conflict(message, code="too_many_people")
    user = User(id=new_id(), name=guest.name, role=Role.MERCHANT, comes_by_ticket=True, date_joined=now)
    user.email = ADDRESS.format(user.pk)
    user.set_unusable_password()
    user.save(force_insert=True)
    Staff.objects.create(business_id=store.pk, user=user, role=guest.role, since=now)
    return ShopPerson.objects.create(user=user, store=store, external_id=guest.id, email=guest.email)


def _change(person: ShopPerson, store: ConnectedStore, guest: Guest) -> None:
    if person.user.name != guest.name:
        person.user.name = guest.name
        person.user.save(update_fields=["name"])
    if person.email != guest.email:
        person.email = guest.email
        person.save(update_fields=["email"])
    Staff.objects.filter(business_id=store.pk, user_id=person.pk).exclude(role=guest.role).update(
        role=guest.role
    )


# --- Using a ticket ----------------------------------------------------------------------------------


def find(token: str, now: datetime | None = None) -> ShopTicket | None:
    """A ticket that can still be used, with its person, store and connection. Looking doesn't use it up."""
    rows = ShopTicket.objects.select_related(
        "person__user", "person__store__business", "person__store__system"
    )
    return rows.filter(digest=digest(token), expires_at__gt=now or timezone.now()).first()


def use(ticket: ShopTicket, now: datetime | None = None) -> bool:
    """Whether this is the one use: of two at once, and of one that ends meanwhile, one statement decides."""
    rows = ShopTicket.objects.filter(pk=ticket.pk, expires_at__gt=now or timezone.now())
    count, _ = rows.delete()
    return count == 1


def remove_late(*, now: datetime | None = None) -> None:
    ShopTicket.objects.filter(expires_at__lte=now or timezone.now()).delete()


def is_same(one: User, other: ShopPerson) -> bool:
    """Whether this is the person, maybe in another store of the same connection."""
    rows = ShopPerson.objects.filter(external_id=other.external_id, store__system=other.store.system_id)
    return one.pk == other.pk or (one.comes_by_ticket and rows.filter(pk=one.pk).exists())


# --- Ending ------------------------------------------------------------------------------------------


@transaction.atomic
def end_person(*, store: ConnectedStore, external_id: str, now: datetime | None = None) -> bool:
    """End a person of a store: tickets, sessions and codes that weren't exchanged. Rows that refer to them keep an empty account.

    Whether there was one.
    """
    person = ShopPerson.objects.select_for_update().filter(store=store, external_id=external_id).first()
    if person is not None:
        _close(person, now or timezone.now())
    return person is not None


def _close(person: ShopPerson, now: datetime) -> None:
    user = User.objects.select_for_update().get(pk=person.pk)
    Staff.objects.filter(user=user).delete()
    person.delete()
    close_account(person=user, now=now)


def sign_out_all(*, store: ConnectedStore) -> None:
    """For the transaction that ends the store: no person comes in any more. `end_people` follows, by a worker."""
    of_store = User.objects.filter(shop_person__store=store)
    ShopTicket.objects.filter(person__store=store).delete()
    Session.objects.filter(user__in=of_store).delete()
    of_store.update(is_active=False)


def end_people(*, store: UUID, now: datetime | None = None) -> None:
    """End the people of a store that is ending, each in a transaction of its own. Another run goes on with those that are left."""
    for person in ShopPerson.objects.filter(store=store).order_by("pk"):
        with transaction.atomic():
            _close(person, now or timezone.now())
