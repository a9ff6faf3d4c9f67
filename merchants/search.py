"""What a person finds in their stores: orders, products, pages and installed apps."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from accounts.access import may, stores_of, with_roles
from accounts.enums import StoreRole
from accounts.models import Business, User
from common import places
from common.db.folding import folded
from common.ids import parse_id
from common.places import Work
from common.web.found import MOST, Found, actions
from installations.models import Installation
from marketplace.listing import Wanted, find
from merchants.lists import NAMED_BY
from merchants.navigation import entries_of
from stores.enums import OrderStatus
from stores.models import Order, Product, SitePage
from stores.order_search import SearchText, matching

SHORTEST: Final = 2  # characters of a name
_NUMBER: Final = re.compile(r"(?:order\s+)?#?([0-9]{1,50})", re.IGNORECASE)


def in_stores(person: User, text: str) -> Iterator[Found]:
    """By id, number, name or title, at most `MOST` of a kind, of stores in which the person's role lets them open it."""
    stores: Sequence[Business] = list(with_roles(stores_of(person), person))
    managed = [each for each in stores if may(each.store_role, StoreRole.MANAGER)]
    wanted = parse_id(text.lower())
    yield from islice(_own_pages(stores, person, text), MOST)
    if wanted or len(text) >= SHORTEST:
        places.require(Work.SEARCH)
        with_orders = [each for each in stores if each.capabilities.orders]
        with_products = [each for each in managed if each.capabilities.products]
        yield from chain(_orders(with_orders, text, wanted), _products(with_products, text, wanted))
        yield from chain(_pages(managed, text), _apps(managed, text, wanted))


def actions_in_stores(person: User) -> Iterator[Found]:
    """What the person may do in the first of their stores."""
    store: Any = with_roles(stores_of(person), person).first()
    if store is None:
        return
    has, role = store.capabilities, store.store_role
    rows = [
        ("Confirm orders", f"{reverse('merchants:orders')}?status={OrderStatus.PENDING}", "receipt", StoreRole.ORDERS, has.orders),
        ("Add a product", reverse("merchants:product_add"), "plus", StoreRole.MANAGER, has.products),
        ("Edit pages", reverse("merchants:pages"), "file-text", StoreRole.MANAGER, True),
        ("Invite staff", reverse("merchants:staff"), "users", StoreRole.OWNER, has.staff and person.is_merchant),
    ]  # fmt: skip
    may_do = (
        (title, url, icon) for title, url, icon, least, is_there in rows if is_there and may(role, least)
    )
    for each in actions(may_do, store.name):
        path, _, query = each.url.partition("?")
        yield replace(each, url=f"{_in(store, path)}{f'&{query}' if query else ''}")


def _own_pages(stores: Sequence[Business], person: User, text: str) -> Iterator[Found]:
    for store in stores:
        for entry, url in entries_of(store, person):
            if folded(entry.title).startswith(folded(text)):
                yield Found("Page of your store", entry.title, store.name, _in(store, url), entry.icon)


def _orders(stores: Sequence[Business], text: str, wanted: UUID | None) -> Iterator[Found]:
    rows = Order.objects.filter(business__in=stores).select_related("business")
    number = _number(text)
    if wanted:
        found = rows.filter(pk=wanted)
    elif number and (numbered := rows.filter(_begins_with(number))).exists():
        found = numbered
    else:
        found = rows.alias(found_in=SearchText()).filter(matching(number or text))
    for order in found.order_by("-id")[:MOST]:
        about = f"{order.customer_name or 'Erased'}, {order.business.name}"
        yield Found("Order", f"Order {order.number}", about, _at("order", order), "receipt")


def _number(text: str) -> str:
    """`1065` of `1065`, `#1065`, `order 1065` and `order #1065`."""
    found = _NUMBER.fullmatch(text)
    return found[1] if found else ""


def _begins_with(number: str) -> Q:
    """A range of the index of numbers, which a pattern isn't. Orders of a connected store have none: these are found by their words."""
    stem = number.rstrip("9")
    begins = Q(external_id=None, number__gte=number, number__startswith=number)
    return begins & Q(number__lt=f"{stem[:-1]}{int(stem[-1]) + 1}") if stem else begins


def _products(stores: Sequence[Business], text: str, wanted: UUID | None) -> Iterator[Found]:
    named = Q(pk=wanted) if wanted else Q(name__finds=text)
    rows = Product.objects.filter(named, business__in=stores).select_related("business")
    for product in rows.order_by("-id")[:MOST]:
        yield Found("Product", product.name, product.business.name, _at("product", product), "package")


def _pages(stores: Sequence[Business], text: str) -> Iterator[Found]:
    rows = SitePage.objects.filter(business__in=stores, title__finds=text).select_related("business")
    for page in rows.order_by("-id")[:MOST]:
        yield Found(
            "Page for shoppers", page.title, page.business.name, _at("page_editor", page), "file-text"
        )


def _apps(stores: Sequence[Business], text: str, wanted: UUID | None) -> Iterator[Found]:
    """By the name that the store sees, which isn't always the one that the developer has in the working copy."""
    rows = Installation.objects.active().filter(business__in=stores).with_app().select_related("business")
    named = ((each, each.app_fields.name) for each in rows.order_by("-id"))
    found = ((each, name) for each, name in named if each.pk == wanted or folded(text) in folded(name))
    for each, name in islice(found, MOST):
        yield Found("Installed app", name, each.business.name, _at("installation", each), "blocks")


def in_marketplace(text: str) -> Iterator[Found]:
    """Listed apps, as a search of the marketplace finds them."""
    for app in find(Wanted(words=text))[:MOST]:
        if shown := app.approved_version:
            url = reverse("merchants:listing", args=[app.slug])
            yield Found("Marketplace", shown.name, shown.shown_developer, url, "store")


def _at(page: str, row: Order | Product | SitePage | Installation) -> str:
    return _in(row.business, reverse(f"merchants:{page}", args=[row.pk]))


def _in(store: Business, path: str) -> str:
    """A page of this store, whichever one is shown at the time."""
    return f"{path}?{urlencode({NAMED_BY: store.slug})}"
