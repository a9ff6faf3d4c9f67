"""A second developer, six merchants with a store each, and people who work with those of the demo. None of them has a password."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.hashers import make_password
from django.utils.text import slugify

from accounts.enums import MailKind, Role, StoreRole
from accounts.models import Business, Staff, User
from config.demo.people import merchants_shop
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from stores.models import StoreTotals

STUDIO: Final = "studio@northwind.example"
# The merchant, the store, its business and its address.
STORES: Final = (
    ("Noor Haddad", "Corner Flowers", "Florist", "6 Market Street, Portside"),
    ("Lena Vogel", "Vogel Ceramics", "Pottery", "4 Mill Lane, Portside"),
    ("Tom Adeyemi", "Adeyemi Books", "Bookshop", "31 Chapel Street, Portside"),
    ("Mira Santos", "Quay Coffee", "Café", "2 Quay Street, Portside"),
    ("Piet Jansen", "Jansen Cheese", "Deli", "17 Bridge Road, Portside"),
    ("Aiko Mori", "Mori Stationery", "Stationery", "9 Rope Yard, Portside"),
)


def open_stores(*, now: datetime) -> list[Business]:
    """The merchants' stores. They sell nothing, so no order can be placed in them."""
    studio = made_person(STUDIO, "Northwind Tools", Role.DEVELOPER, now - timedelta(days=420))
    owners = [
        made_person(
            f"{name.split()[0].lower()}@{slugify(store)}.example", name, Role.MERCHANT, now - _age(number)
        )
        for number, (name, store, _, _) in enumerate(STORES)
    ]
    User.objects.bulk_create([studio, *owners])
    stores = [
        Business(
            owner=owner,
            name=store,
            slug=slugify(store),
            type=kind,
            address=address,
            created_at=owner.date_joined,
        )
        for owner, (_, store, kind, address) in zip(owners, STORES, strict=True)
    ]
    write_stores([made_sandbox(studio), *stores])
    return stores


def bring_people(*, app: App, stores: Sequence[Business], now: datetime) -> None:
    """A developer and a viewer for the sample app. In the bakery somebody for the orders, and a manager who has a store, too."""
    since = now - timedelta(days=35)
    kim, vera = (
        made_person(f"{name.split()[0].lower()}@order-bell.example", name, Role.DEVELOPER, since)
        for name in ("Kim Novak", "Vera Ruiz")
    )
    pia = made_person("pia@harbour-bakery.example", "Pia Nilsen", Role.MERCHANT, since)
    User.objects.bulk_create([kim, vera, pia])
    owner, shop = app.developer, merchants_shop()
    write_stores([made_sandbox(each) for each in (kim, vera)])
    Membership.objects.bulk_create(
        Membership(app=app, user=user, role=role, invited_by=owner, since=since)
        for user, role in ((kim, AppRole.DEVELOPER), (vera, AppRole.VIEWER))
    )
    Staff.objects.bulk_create(
        Staff(business=shop, user=user, role=role, invited_by=shop.owner, since=since)
        for user, role in ((pia, StoreRole.ORDERS), (stores[-1].owner, StoreRole.MANAGER))
    )


def write_stores(stores: Sequence[Business]) -> None:
    Business.objects.bulk_create(stores)
    StoreTotals.objects.bulk_create(StoreTotals(business=each) for each in stores)


def made_sandbox(developer: User) -> Business:
    name = f"{developer.name}'s sandbox"
    return Business(
        owner=developer,
        name=name,
        slug=slugify(name),
        is_sandbox=True,
        created_at=developer.date_joined,
    )


def made_person(email: str, name: str, role: Role, joined: datetime) -> User:
    """An unsaved one, whom nothing is mailed to."""
    password = make_password(None)  # that no one can enter
    return User(
        email=email, name=name, role=role, password=password, date_joined=joined, muted_mails=MailKind.values
    )


def _age(number: int) -> timedelta:
    return timedelta(days=60 + 47 * number)
