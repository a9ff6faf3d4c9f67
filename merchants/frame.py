"""What every page of a store shows of its apps: how many things need attention, who asks for permissions, and the apps' own pages.

Reading and judging all apps takes longer than most pages, so the result is kept for ten seconds, for a store by its id. Each act of a
person shows at once: `changed` has all of the next ten seconds' pages read again. Every form that is sent in the store's area calls it, and so does an
install, a change of its terms, or its end, wherever it came from. On a sandbox store nothing is kept, since its developer changes
the app in the portal and by the API. All else, such as a webhook that begins to fail, shows at most ten seconds later.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db import transaction
from django.db.models import DateTimeField, QuerySet, UUIDField
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone

from accounts.models import Business
from common.db.compiled import Compiled, Param
from common.money import display
from extensions import definitions
from extensions.definitions import AdminPage
from extensions.enums import ExtensionType
from extensions.hooks import health
from extensions.in_store.app_status import StoreAppStatus, statuses_of
from extensions.in_store.capabilities import Capability, capabilities_of
from extensions.models import Definition
from extensions.queries import Extension, running_definitions
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.queries import installations_of
from installations.signals import installation_changed, installation_created, installation_removed
from merchants.pages.forms import BlockOption, choice_of
from stores.connected.differences import PAYMENT, AmountDifference, differences_in

KEPT_FOR: Final = 10  # seconds
CHANGED: Final = "changed"


@dataclass(frozen=True, slots=True)
class Asking:
    """An app whose merchant is asked for more permissions."""

    installation_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class AppPage:
    """A page of an app, as the side navigation shows it. `app_icon` is the path of the app's picture, if it has one."""

    installation_id: UUID
    page_id: str
    title: str
    icon_name: str
    app_name: str
    app_slug: str
    app_icon: str


@dataclass(frozen=True, slots=True)
class Frame:
    concerns: int
    asking: list[Asking]
    pages: list[AppPage]  # those of the app that was installed first on top
    has_apps: bool = False

    @property
    def pages_alone(self) -> "Frame":
        """For people who don't decide on apps."""
        return Frame(0, [], self.pages, self.has_apps)


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """An active app of a store. `definitions` are what the store runs, or would if it hadn't paused the app."""

    installation: Installation
    status: StoreAppStatus
    definitions: list[Definition]

    def of_type(self, kind: ExtensionType) -> list[Definition]:
        return [each for each in self.definitions if each.type == kind]

    def dated(self, works_since: datetime | None) -> "InstalledApp":
        """For a page that shows what failed before."""
        return replace(self, status=replace(self.status, works_since=works_since))

    @property
    def hooks(self) -> list[Definition]:
        """In the order of a checkout."""
        return health.in_order(self.of_type(ExtensionType.HOOK))

    @property
    def embeds(self) -> list[Extension]:
        """Its scripts and widgets, on or off. None while it is paused, like blocks."""
        found = self.of_type(ExtensionType.EMBED) if self.installation.is_running else []
        return [Extension(self.installation, each) for each in found]

    @property
    def blocks(self) -> list[BlockOption]:
        found = self.of_type(ExtensionType.BLOCK) if self.installation.is_running else []
        return [choice_of(self.installation, each) for each in found]

    @property
    def admin_pages(self) -> list[AdminPage]:
        """While it is paused, too."""
        found = self.of_type(ExtensionType.ADMIN_PAGE) if self.installation.is_usable else []
        return [definitions.admin_page(each) for each in found]

    @property
    def capabilities(self) -> list[Capability]:
        return capabilities_of(self.definitions)


_BUSINESS: Final[Any] = Param("business", UUIDField())
_ACTIVE: Final = Compiled(
    lambda: installations_of(_BUSINESS).active().select_related("installed_by"),
    prepared_as="merchants_active",
)


def apps_in(business: Business) -> list[InstalledApp]:
    """The active apps of a store, newest first. Six statements, one more on a sandbox store."""
    installations = _ACTIVE.rows(business=business.pk)
    for each in installations:
        each.business = business
    statuses, found = statuses_of(installations), running_definitions(installations)
    return [InstalledApp(each, statuses[each.pk], found[each.app_id]) for each in installations]


class StoreApps:
    """The apps of a store, read when a page asks for them. A page that reads them all shows a frame of that moment."""

    def __init__(self, business: Business) -> None:
        self._business = business

    @cached_property
    def all(self) -> list[InstalledApp]:
        return apps_in(self._business)

    @cached_property
    def frame(self) -> Frame:
        if "all" in vars(self) or self._business.is_sandbox:
            return frame_of(self._business, self.all)
        key = _key(self._business.pk)
        kept = cache.get(key)
        if isinstance(kept, Frame):
            return kept
        frame = frame_of(self._business, self.all)
        cache.add(key, frame, KEPT_FOR)  # not over CHANGED, which may have come since the apps were read
        return frame


def frame_of(business: Business, apps: Sequence[InstalledApp]) -> Frame:
    """`apps` are newest first."""
    return Frame(
        len(concerns_of(apps)) + len(checkout_concerns(business)),
        [
            Asking(each.installation.pk, each.installation.app_fields.name)
            for each in apps
            if each.status.asks
        ],
        [page for each in reversed(apps) for page in _pages(each)],
        bool(apps),
    )


def _pages(app: InstalledApp) -> list[AppPage]:
    installation, fields = app.installation, app.installation.app_fields
    return [
        AppPage(
            installation.pk, page.page_id, page.title, page.icon_name,
            fields.name, installation.app.slug, fields.icon_path,
        )
        for page in app.admin_pages
    ]  # fmt: skip


def changed(business_id: UUID) -> None:
    """The frame of a store may be another one now. Called after the transaction."""
    cache.set(_key(business_id), CHANGED, KEPT_FOR)


def _key(business_id: UUID) -> str:
    return f"merchants.frame:2:{business_id}"  # another number for other fields


@receiver([installation_created, installation_changed, installation_removed])
def _changed_elsewhere(installation: Installation, **kwargs: Any) -> None:
    transaction.on_commit(lambda: changed(installation.business_id))


# --- What needs attention ----------------------------------------------------------------------------

RECENT: Final = timedelta(days=30)
SHOWN: Final = 50
# What the platform or an app did that the merchant should know. Acts of merchants are in each app's history.
NEWS: Final = (
    HistoryKind.NEEDS_RECONSENT,
    HistoryKind.SCOPES_REMOVED,
    HistoryKind.SCOPES_RETURNED,
    HistoryKind.TOKEN_ENDED,
    HistoryKind.CONVERTED,
    HistoryKind.ERASURE_CONFIRMED,
    HistoryKind.ERASURE_OVERDUE,
    HistoryKind.ERASURE_UNADDRESSED,
)


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing to do. `kind` is that of a notice. Without a `link` it is done elsewhere."""

    kind: str
    icon_name: str
    title: str
    text: str
    link: str = ""
    address: str = ""
    since: datetime | None = None


REVIEW: Final = "Review"


def concerns_of(apps: Iterable[InstalledApp]) -> list[Concern]:
    """Questions first."""
    found = [concern for each in apps for concern in _concerns(each.installation, each.status)]
    return sorted(found, key=lambda each: each.link != REVIEW)


def _concerns(installation: Installation, status: StoreAppStatus) -> list[Concern]:
    name = installation.app_fields.name

    def address(page: str) -> str:
        return reverse(f"merchants:{page}", args=[installation.pk])

    found: list[Concern] = []
    if not status.needs_merchant:  # paused or suspended
        return found
    if status.asks:
        text = "Until you decide, it keeps working with the permissions it has."
        found.append(
            Concern("warn", "circle-question-mark", f"{name} asks for more permissions", text, REVIEW,
                    address("reconsent"))
        )  # fmt: skip
    if status.failing_since:
        text = "Information in the app may be out of date. The developer has been notified."
        found.append(
            Concern("bad", "triangle-alert", f"Updates don’t reach {name}", text, "View app",
                    address("installation"), status.failing_since)
        )  # fmt: skip
    if status.skipped:
        text = "It failed several times in a row. Orders go on without it."
        found.append(
            Concern("bad", "triangle-alert", f"Checkout skips {name}", text, "View checkout",
                    address("checkout"), _skipped_since(status))
        )  # fmt: skip
    if status.lacks_settings:
        text = "It has required settings that are still empty."
        found.append(
            Concern("warn", "settings", f"{name} needs settings", text, "Open settings",
                    address("app_settings"))
        )  # fmt: skip
    return found


# By the amount that differs: the title, and the words before the amount of the apps and before that of the order.
DIFFERENT: Final = {
    "subtotal": (
        "Order {} isn’t what apps were asked about",
        "Apps were asked about",
        "the order’s subtotal is",
    ),
    "discount": (
        "Order {} has another discount than apps gave",
        "With the apps’ it would be",
        "in the order it is",
    ),
    "deliveryFee": ("Order {} has another delivery fee than an app set", "The app set", "in the order it is"),
    PAYMENT: ("The payment of order {} is for another amount", "The payment is for", "the order’s total is"),
}
DIFFERENT_FOR: Final = timedelta(days=7)


def checkout_concerns(business: Business) -> list[Concern]:
    """Orders of a checkout elsewhere that differ from what apps were asked and answered, newest first."""
    if business.capabilities.checkout:
        return []
    found = differences_in(business, timezone.now() - DIFFERENT_FOR)
    return [_difference(business, each) for each in found]


def _difference(business: Business, found: AmountDifference) -> Concern:
    title, of_apps, of_row = DIFFERENT[found.amount]
    asked, kept = (
        display(each, business.currency, business.locale) for each in (found.of_apps, found.of_row)
    )
    text = f"{of_apps} {asked}; {of_row} {kept}."
    return Concern("warn", "triangle-alert", title.format(found.order_number), text, since=found.at)


def _skipped_since(status: StoreAppStatus) -> datetime | None:
    return min((each.open_since for each in status.skipped if each.open_since), default=None)


def recent_news(business: Business) -> list[HistoryEntry]:
    """What happened with the store's apps in the last 30 days, newest first, each with its installation and app."""
    return _NEWS.rows(limit=SHOWN, business=business.pk, since=timezone.now() - RECENT)


def _news() -> QuerySet[HistoryEntry]:
    business, since = Param("business", UUIDField()), Param("since", DateTimeField())
    rows = HistoryEntry.objects.filter(installation__business=business, kind__in=NEWS, at__gte=since)
    named = rows.select_related("installation__app__approved_version").defer("installation__webhook_secret")
    return named.order_by("-at", "-id")


_NEWS: Final = Compiled(_news)
