"""The navigation of a store: its pages, and for whom each is there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.urls import reverse

from accounts.access import may
from accounts.enums import StoreRole
from accounts.models import Business, User


@dataclass(frozen=True, slots=True)
class Entry:
    """`route` is the name of the page's URL. Pages below it are marked as inside unless it is `alone`."""

    title: str
    route: str
    icon: str
    least: StoreRole = StoreRole.MANAGER
    alone: bool = False
    has_staff: bool = False  # not on a developer's sandbox store

    @property
    def url(self) -> str:
        return reverse(f"merchants:{self.route}")


ENTRIES: Final = (
    Entry("Overview", "home", "layout-dashboard", alone=True),
    Entry("Notices", "notices", "bell", StoreRole.ORDERS, alone=True),
    Entry("Orders", "orders", "receipt", StoreRole.ORDERS),
    Entry("Customers", "customers", "user", StoreRole.ORDERS),
    Entry("Products", "products", "package"),
    Entry("Reviews", "reviews", "star", StoreRole.ORDERS),
    Entry("Pages", "pages", "file-text"),
    Entry("Apps", "installed", "blocks"),
    Entry("Scripts", "scripts", "code", alone=True),
    Entry("Store settings", "store", "settings", alone=True),
    Entry("Staff", "staff", "users", StoreRole.OWNER, has_staff=True),
)


def entries_of(store: Business, person: User) -> Iterator[Entry]:
    """Those that the person may open in a store that has its `store_role`."""
    for entry in ENTRIES:
        if may(store.store_role, entry.least) and (person.is_merchant or not entry.has_staff):
            yield entry
