"""The navigation of an app's pages: nine sections, and the tabs of those that have several.

Every page of an app belongs to one tab: it is the tab's own page, or one below it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from common.templatetags.links import address
from marketplace.enums import AppRole, AppStatus
from marketplace.models import App


@dataclass(frozen=True, slots=True)
class Tab:
    """`route` and `below` are names of URLs in the portal. `heading` is the page's own, where it isn't the title."""

    title: str
    route: str
    below: tuple[str, ...] = ()
    heading: str = ""
    is_for_owner: bool = False

    @property
    def routes(self) -> tuple[str, ...]:
        return self.route, *self.below

    @property
    def name(self) -> str:
        return self.heading or self.title


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    icon: str
    tabs: tuple[Tab, ...]


SECTIONS: Final = (
    Section("Overview", "layout-dashboard", (Tab("Overview", "app"),)),
    Section("Listing", "store", (Tab("Listing", "app_edit"),)),
    Section(
        "Manifest",
        "braces",
        (Tab("Manifest", "manifest", ("manifest_history", "manifest_restore")), Tab("Scripts", "scripts")),
    ),
    Section(
        "Test store",
        "flask-conical",
        (
            Tab("Store", "test_install", ("test_uninstall", "redirect_result"), "Test store"),
            Tab("Inbox", "inbox"),
        ),
    ),
    Section(
        "Logs",
        "list",
        (
            Tab("All", "logs", ("thread",), "Logs"),
            Tab("API calls", "requests", ("request",)),
            Tab("Deliveries", "deliveries", ("delivery", "delivery_compare", "recover")),
            Tab("Hook calls", "hooks", ("hook", "hook_try", "hook_call")),
        ),
    ),
    Section(
        "Webhooks",
        "webhook",
        (
            Tab(
                "Endpoints",
                "webhooks",
                ("webhook_add", "webhook_edit", "webhook_delete", "webhook_pause"),
                "Webhooks",
            ),
            Tab("Why didn't it arrive?", "why"),
            Tab("Signature checker", "signature_checker"),
        ),
    ),
    Section("Analytics", "chart-column", (Tab("Analytics", "analytics"),)),
    Section(
        "Release",
        "trending-up",
        (
            Tab("Checks", "checks", ("check",)),
            Tab("Review", "review", ("submit", "withdraw")),
            Tab("Steps", "release", ("take_back",), "Release steps"),
            Tab("Versions", "versions", ("version_restore",)),
            Tab("Use of scopes", "scopes"),
        ),
    ),
    Section(
        "Settings",
        "settings",
        (
            Tab("Credentials", "credentials", ("client_secret",)),
            Tab("Members", "members", ("member_remove", "transfer", "transfer_accept")),
            Tab("Data erasures", "erasures"),
            Tab("Delete app", "app_delete", is_for_owner=True),
        ),
    ),
)
# Routes that show a tab's page, or one that stands for it, after a form.
_SAME_PAGE: Final = {"app_create": "app", "deliveries_resend": "deliveries", "review_message": "review"}


class Link(NamedTuple):
    title: str
    url: str
    icon: str
    current: str  # the value of aria-current, or empty


@dataclass(frozen=True)
class Place:
    """Where a page is, for one who has `role` on the app. `route` is the name of its URL."""

    app: App
    role: str
    route: str
    path: str

    @property
    def standing(self) -> tuple[str, str]:
        """The kind and the words of the app's state, as the tile above the navigation has them."""
        app = self.app
        if app.suspended_at:
            return "bad", "Suspended"
        if app.status == AppStatus.APPROVED:
            return "ok", f"Approved, {app.version}"
        live = f"Live {app.approved_version.version}, " if app.is_listed and app.approved_version else ""
        if app.status == AppStatus.PENDING_REVIEW:
            return "info", f"{live}{app.version} in review" if live else "In review"
        return "neutral", f"{live}draft {app.version}" if live else "Draft"

    @property
    def section(self) -> Section:
        return self._found[0]

    @property
    def tab(self) -> Tab:
        return self._found[1]

    @property
    def is_below(self) -> bool:
        return self._route != self.tab.route

    @property
    def url_of_tab(self) -> str:
        return address(f"portal:{self.tab.route}", self.app.slug)

    @property
    def sections(self) -> list[Link]:
        return [
            self._link(each.title, each.tabs[0].route, each.icon, is_inside=each is self.section)
            for each in SECTIONS
        ]

    @property
    def tabs(self) -> list[Link]:
        """Of the page's section, if it has several; none on pages below a tab, which have a breadcrumb."""
        shown = [each for each in self.section.tabs if self.role == AppRole.OWNER or not each.is_for_owner]
        if self.is_below or len(shown) == 1:
            return []
        return [self._link(each.title, each.route, "", is_inside=each is self.tab) for each in shown]

    def _link(self, title: str, route: str, icon: str, *, is_inside: bool) -> Link:
        url = address(f"portal:{route}", self.app.slug)
        return Link(title, url, icon, ("page" if url == self.path else "true") if is_inside else "")

    @property
    def _route(self) -> str:
        return _SAME_PAGE.get(self.route, self.route)

    @cached_property
    def _found(self) -> tuple[Section, Tab]:
        return next(
            (section, tab) for section in SECTIONS for tab in section.tabs if self._route in tab.routes
        )
