"""The colleagues of the demo's people: two colleagues of the developer, and two people in the bakery. None of them has a password."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from accounts.enums import Role, StoreRole
from accounts.models import Business, Staff, User
from config.demo.history.stores import made_person, made_sandbox, write_stores
from config.demo.people import merchants_shop
from marketplace.enums import AppRole
from marketplace.models import App, Membership


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
