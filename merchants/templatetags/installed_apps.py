"""`{% load installed_apps %}`: the installed apps of a store, for the merchant's pages; and the rows of their list."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from common.templatetags.links import address
from common.templatetags.ui import app_icon, icon, mark_of, minute, nav_link, pill, sandbox_mark
from common.times import lately
from extensions.definitions import icon_or_neutral
from extensions.enums import ExtensionType
from extensions.hooks.descriptions import DESCRIPTIONS
from extensions.in_store.app_status import AppState, StoreAppStatus
from extensions.in_store.capabilities import Capability
from extensions.models import Breaker
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.scopes import SCOPES
from merchants.frame import AppPage, InstalledApp
from merchants.navigation import ENTRIES, MenuEntry
from stores.hookpoints import HookPoint
from webhooks.models import Attempt

register = template.Library()

# The kind of the pill, the word, and the icon.
PILLS = {
    AppState.UNINSTALLED: ("neutral", "Uninstalled", "power"),
    AppState.SUSPENDED: ("bad", "Suspended", "pause"),
    AppState.PAUSED: ("neutral", "Paused", "pause"),
    AppState.ASKS: ("warn", "Needs approval", "circle-question-mark"),
    AppState.TROUBLED: ("bad", "Having trouble", "triangle-alert"),
    AppState.LACKS_SETTINGS: ("warn", "Needs settings", "settings"),
    AppState.WORKING: ("ok", "Working"),
}

# The kind of the pill, the icon, and the description.
HISTORY_DESCRIPTIONS = {
    HistoryKind.INSTALLED: ("ok", "plus", "Installed"),
    HistoryKind.TERMS_CHANGED: ("info", "rotate-cw", "Authorized again"),
    HistoryKind.CONVERTED: ("info", "badge-check", "Became a production install after the app was approved"),
    HistoryKind.NEEDS_RECONSENT: ("warn", "circle-question-mark", "Asked for more permissions"),
    HistoryKind.AGREED: ("ok", "check", "Additional permissions approved"),
    HistoryKind.DECLINED: ("neutral", "minus", "Additional permissions declined"),
    HistoryKind.PAUSED: ("neutral", "pause", "Paused"),
    HistoryKind.RESUMED: ("ok", "play", "Resumed"),
    HistoryKind.SCOPES_REMOVED: ("info", "minus", "Permissions removed by a new version"),
    HistoryKind.SCOPES_FOLLOWED: ("info", "key", "Permissions changed with the app’s working copy"),
    HistoryKind.SCOPES_RETURNED: ("info", "plus", "Permissions returned with an earlier version"),
    HistoryKind.TOKEN_ENDED: ("warn", "key", "Access token revoked for security; connect the app again"),
    HistoryKind.UNINSTALLED: ("neutral", "power", "Uninstalled"),
    HistoryKind.ERASURE_SENT: ("info", "send", "Asked to erase your data"),
    HistoryKind.ERASURE_CONFIRMED: ("ok", "check", "Confirmed erasing your data"),
    HistoryKind.ERASURE_OVERDUE: ("bad", "triangle-alert", "Did not confirm erasing your data"),
    HistoryKind.ERASURE_CANCELLED: ("neutral", "undo-2", "Erasure cancelled: the app was reinstalled"),
    HistoryKind.ERASURE_UNADDRESSED: ("bad", "triangle-alert", "Could not be asked to erase your data"),
}


NAMING_SCOPES = (
    HistoryKind.NEEDS_RECONSENT,
    HistoryKind.AGREED,
    HistoryKind.SCOPES_REMOVED,
    HistoryKind.SCOPES_RETURNED,
)


@register.inclusion_tag("merchants/installed/history_item.html")
def history_item(entry: HistoryEntry) -> dict[str, Any]:
    kind, icon_name, words = _description(entry)
    return {"entry": entry, "kind": kind, "icon_name": icon_name, "words": words, "sentences": _named(entry)}


@register.inclusion_tag("merchants/news_item.html")
def news_item(entry: HistoryEntry) -> dict[str, Any]:
    """An entry of an app's history among those of other apps."""
    kind, icon_name, words = _description(entry)
    installation = entry.installation
    name = installation.app_fields.name
    page, link = ("installation", "View app") if installation.is_active else ("receipt", "View receipt")
    return {
        "entry": entry,
        "kind": kind,
        "icon_name": icon_name,
        "title": f"{name}: {words[0].lower()}{words[1:]}",
        "sentences": _named(entry),
        "name": name,
        "link": link,
        "address": reverse(f"merchants:{page}", args=[installation.pk]),
    }


def _description(entry: HistoryEntry) -> tuple[str, str, str]:
    kind, icon_name, words = HISTORY_DESCRIPTIONS[HistoryKind(entry.kind)]
    if entry.kind == HistoryKind.DECLINED and entry.note:  # more than permissions, or none
        words = "Declined what a new version changes"
    return kind, icon_name, words


def _named(entry: HistoryEntry) -> list[str]:
    """The sentences of the scopes that the note of an entry names."""
    if entry.kind not in NAMING_SCOPES:
        return []
    return [SCOPES[name].sentence for name in entry.note.split(", ") if name in SCOPES]


def status_pill(status: StoreAppStatus) -> SafeString:
    kind, word, *icon_name = PILLS[status.state]
    if status.state == AppState.WORKING and status.works_since:
        word = f"{word} since {lately(status.works_since)}"
    return pill(kind, word, *icon_name)


@register.simple_tag
def state_of(installation: Installation, status: StoreAppStatus) -> SafeString:
    """The state of an app in one pill, and the mark of a test install."""
    works = status.state == AppState.WORKING
    parts = [] if works and installation.is_test else [status_pill(status)]
    return SafeString(" ".join([*parts, sandbox_mark("Test")] if installation.is_test else parts))


@register.filter
def hook_title(breaker: Breaker) -> str:
    """The hook that checkout skips, as the Checkout tab names it."""
    return DESCRIPTIONS[HookPoint(breaker.definition.key)].title


@register.filter
def answer(attempt: Attempt) -> str:
    """An app's answer, without HTTP terms."""
    if attempt.http_status is None:
        return "It couldn't be reached or didn't respond."
    if not attempt.error_class:
        return "It confirmed."
    return f"It responded with {attempt.http_status} instead of confirming."


ICONS = {
    ExtensionType.BLOCK: "blocks",
    ExtensionType.EMBED: "layout-grid",
    ExtensionType.HOOK: "shopping-cart",
    ExtensionType.ADMIN_PAGE: "layout-dashboard",
}


@register.filter
def icon_of_extension(capability: Capability) -> str:
    return ICONS[capability.type]


@register.simple_tag(takes_context=True)
def store_navigation(context: dict[str, Any], *, settings: bool = False) -> SafeString:
    """The links to a store's pages, or to its settings. Two have a number: what needs attention, and the orders to confirm."""
    request = context["request"]
    concerns, to_confirm = request.frame.concerns, request.business.to_confirm
    needs = "needs your attention" if concerns == 1 else "need your attention"
    numbers = {
        "notices": (str(concerns or ""), needs),
        "orders": ("99+" if to_confirm > 99 else str(to_confirm or ""), "to confirm"),
    }
    routes = {entry.route: url for entry, url in request.navigation}
    here = request.path
    of_an_app = request.resolver_match.url_name == "admin_page"  # which has a link of its own

    def mark(entry: MenuEntry, url: str) -> str:
        below = [each.route for each in ENTRIES if each.below == entry.route]
        inside = any(here.startswith(routes[each]) for each in below if each in routes)
        return "" if of_an_app else "true" if inside else mark_of(here, url, exact=entry.alone)

    return mark_safe(  # noqa: S308  # each link is safe
        "".join(
            nav_link(entry.title, url, entry.icon, mark(entry, url), *numbers.get(entry.route, ()))
            for entry, url in request.navigation
            if entry.is_setting == settings
            and entry.below not in routes
            and (not entry.of_apps or request.frame.has_apps or here == url)
        )
    )


@register.simple_tag
def page_icon(page: AppPage) -> SafeString:
    """The page's own icon. Without one, the app's; for an unknown name, a neutral one."""
    if page.icon_name:
        return icon(icon_or_neutral(page.icon_name))
    return app_icon(page.app_name, page.app_slug, page.app_icon, "small")


def app_rows(apps: Iterable[InstalledApp]) -> list[dict[str, Any]]:
    return [_row(each) for each in apps]


def _row(app: InstalledApp) -> dict[str, Any]:
    installation, fields = app.installation, app.installation.app_fields
    used, scopes = installation.last_used_at, len(installation.effective_scopes)
    return {
        "icon": app_icon(fields.name, installation.app.slug, fields.icon_path),
        "url": address("merchants:installation", installation.pk),
        "name": fields.name,
        "used": format_html("Last active {}", minute(used)) if used else "Not active yet",
        "scopes": f"{scopes} permission{'' if scopes == 1 else 's'}",
        "state": state_of(installation, app.status),
    }
