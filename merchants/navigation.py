"""The navigation of a store: its pages, and for whom each is there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from accounts.access import may
from accounts.enums import StoreRole
from accounts.models import Business, User
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

    @property
    def url(self) -> str:
        return address(f"merchants:{self.route}")


ENTRIES: Final = (
    MenuEntry("Overview", "home", "layout-dashboard", alone=True, needs="overview"),
    MenuEntry("Notices", "notices", "bell", StoreRole.ORDERS, alone=True),
    MenuEntry("Orders", "orders", "receipt", StoreRole.ORDERS, needs="orders"),
    MenuEntry("Customers", "customers", "user", StoreRole.ORDERS, needs="customers"),
    MenuEntry("Products", "products", "package", needs="products"),
    MenuEntry("Reviews", "reviews", "star", StoreRole.ORDERS, needs="reviews"),
    MenuEntry("Pages", "pages", "file-text"),
    MenuEntry("Apps", "installed", "blocks"),
    MenuEntry("Scripts", "scripts", "code", alone=True, needs="scripts"),
    MenuEntry("Store settings", "store", "settings", alone=True, needs="settings"),
    MenuEntry("Staff", "staff", "users", StoreRole.OWNER, has_staff=True, needs="staff"),
)


def entries_of(store: Business, person: User) -> Iterator[MenuEntry]:
    """Those that the person may open in a store that has its `store_role`."""
    for entry in ENTRIES:
        has_it = not entry.needs or getattr(store.capabilities, entry.needs)
        if has_it and may(store.store_role, entry.least) and (person.is_merchant or not entry.has_staff):
            yield entry
