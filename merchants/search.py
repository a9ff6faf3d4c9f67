"""What a person finds in their stores: orders, products, pages and installed apps."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from accounts.access import may, stores_of, with_roles
from accounts.enums import StoreRole
from accounts.models import Business, User
from common.ids import parse_id
from common.web.found import MOST, Found
from installations.models import Installation
from marketplace.listing import Wanted, find
from merchants.constants import NAMED_BY
from stores.models import Order, Product, SitePage
from stores.order_search import SearchText, matching

SHORTEST: Final = 2  # characters of a name
PAGES: Final = (
    ("Overview", "home", StoreRole.MANAGER, "layout-dashboard"),
    ("Notices", "notices", StoreRole.ORDERS, "bell"),
    ("Orders", "orders", StoreRole.ORDERS, "receipt"),
    ("Customers", "customers", StoreRole.MANAGER, "user"),
    ("Products", "products", StoreRole.MANAGER, "package"),
    ("Reviews", "reviews", StoreRole.MANAGER, "star"),
    ("Pages", "pages", StoreRole.MANAGER, "file-text"),
    ("Apps", "installed", StoreRole.MANAGER, "blocks"),
    ("Scripts", "scripts", StoreRole.MANAGER, "code"),
    ("Store settings", "store", StoreRole.MANAGER, "settings"),
    ("Staff", "staff", StoreRole.OWNER, "users"),
)  # as in the navigation of a store


def in_stores(person: User, text: str) -> Iterator[Found]:
    """By id, number, name or title, at most `MOST` of a kind, of stores in which the person's role lets them open it."""
    stores: Sequence[Business] = list(with_roles(stores_of(person), person))
    managed = [each for each in stores if may(each.store_role, StoreRole.MANAGER)]
    wanted = parse_id(text.lower())
    yield from islice(_own_pages(stores, text), MOST)
    yield from _orders(stores, text, wanted)
    if managed:
        yield from chain(
            _products(managed, text, wanted), _pages(managed, text), _apps(managed, text, wanted)
        )


def _own_pages(stores: Sequence[Business], text: str) -> Iterator[Found]:
    for title, name, least, icon in PAGES:
        if title.lower().startswith(text.lower()):
            for store in stores:
                if may(store.store_role, least):
                    url = f"{reverse(f'merchants:{name}')}?{urlencode({NAMED_BY: store.slug})}"
                    yield Found("Page of your store", title, store.name, url, icon)


def _orders(stores: Sequence[Business], text: str, wanted: UUID | None) -> Iterator[Found]:
    rows = Order.objects.filter(business__in=stores).select_related("business")
    if wanted:
        rows = rows.filter(pk=wanted)
    elif len(text) < SHORTEST:
        return
    elif not text.isdigit() or not rows.filter(number__startswith=text).exists():
        rows = rows.alias(found_in=SearchText()).filter(matching(text))
    else:
        rows = rows.filter(number__startswith=text)
    for order in rows.order_by("-id")[:MOST]:
        who = order.customer_name or "Erased"
        yield Found(
            "Order", f"Order {order.number}", f"{who}, {order.business.name}", _at("order", order), "receipt"
        )


def _products(stores: Sequence[Business], text: str, wanted: UUID | None) -> Iterator[Found]:
    rows = Product.objects.filter(business__in=stores).select_related("business")
    if wanted:
        rows = rows.filter(pk=wanted)
    elif len(text) < SHORTEST:
        return
    else:
        rows = rows.filter(name__icontains=text)
    for product in rows.order_by("-id")[:MOST]:
        yield Found("Product", product.name, product.business.name, _at("product", product), "package")


def _pages(stores: Sequence[Business], text: str) -> Iterator[Found]:
    if len(text) < SHORTEST:
        return
    rows = SitePage.objects.filter(business__in=stores, title__icontains=text).select_related("business")
    for page in rows.order_by("-id")[:MOST]:
        yield Found(
            "Page for shoppers", page.title, page.business.name, _at("page_editor", page), "file-text"
        )


def _apps(stores: Sequence[Business], text: str, wanted: UUID | None) -> Iterator[Found]:
    rows = Installation.objects.active().filter(business__in=stores).with_app().select_related("business")
    if wanted:
        rows = rows.filter(pk=wanted)
    elif len(text) < SHORTEST:
        return
    else:
        rows = rows.filter(app__name__icontains=text)
    for installation in rows.order_by("-id")[:MOST]:
        name = installation.app_fields.name
        yield Found(
            "Installed app", name, installation.business.name, _at("installation", installation), "blocks"
        )


def in_marketplace(text: str) -> Iterator[Found]:
    """Listed apps, as a search of the marketplace finds them."""
    for app in find(Wanted(words=text))[:MOST]:
        if shown := app.approved_version:
            url = reverse("merchants:listing", args=[app.slug])
            yield Found("Marketplace", shown.name, shown.shown_developer, url, "store")


def _at(page: str, row: Order | Product | SitePage | Installation) -> str:
    """The page of a row, in its store, whichever store is shown at the time."""
    path = reverse(f"merchants:{page}", args=[row.pk])
    return f"{path}?{urlencode({NAMED_BY: row.business.slug})}"
