"""The navigation of a store: its pages, and for whom each is there."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from django.urls import get_script_prefix, get_urlconf

from accounts.access import may
from accounts.enums import StoreRole
from accounts.models import Business, User
from accounts.models.capabilities import Capabilities
from common.templatetags.links import address


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """`route` is the name of the page's URL. Pages below it are marked as inside unless it is `alone`. `needs` names what a store must
    be capable of to have them; the pages themselves ask it, too (`merchants.access.only_with`).
    """

    title: str
    route: str
    icon: str
    least: StoreRole = StoreRole.MANAGER
    alone: bool = False
    has_staff: bool = False  # not on a developer's sandbox store
    needs: str = ""
    below: str = ""  # the entry whose page leads to it, for those who may open that
    is_setting: bool = False
    of_apps: bool = False  # empty in a store without an app


ENTRIES: Final = (
    MenuEntry("Home", "home", "layout-dashboard", alone=True, needs="overview"),
    MenuEntry("Orders", "orders", "receipt", StoreRole.ORDERS, needs="orders"),
    MenuEntry("Products", "products", "package", needs="products"),
    MenuEntry("Customers", "customers", "user", StoreRole.ORDERS, needs="customers"),
    MenuEntry("Reviews", "reviews", "star", StoreRole.ORDERS, needs="reviews", below="products"),
    MenuEntry("Pages", "pages", "file-text"),
    MenuEntry("Apps", "installed", "blocks"),
    MenuEntry("Store", "store", "settings", alone=True, needs="settings", is_setting=True),
    MenuEntry("Staff", "staff", "users", StoreRole.OWNER, has_staff=True, needs="staff", is_setting=True),
    MenuEntry("Notices", "notices", "bell", StoreRole.ORDERS, alone=True, is_setting=True),
    MenuEntry("Scripts", "scripts", "code", alone=True, needs="scripts", is_setting=True, of_apps=True),
)


def entries_of(store: Business, person: User) -> list[tuple[MenuEntry, str]]:
    """Those that the person may open in a store that has its `store_role`, each with its address."""
    return _entries(
        store.store_role, store.capabilities, person.is_merchant, get_urlconf(), get_script_prefix()
    )


@lru_cache(maxsize=64)
def _entries(
    role: str, capabilities: Capabilities, is_merchant: bool, *routes: str | None
) -> list[tuple[MenuEntry, str]]:
    """`routes` are what addresses depend on. To find them takes longer than to write the links."""
    return [
        (entry, address(f"merchants:{entry.route}"))
        for entry in ENTRIES
        if (not entry.needs or getattr(capabilities, entry.needs))
        and may(role, entry.least)
        and (is_merchant or not entry.has_staff)
    ]
