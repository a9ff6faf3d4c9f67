"""`{% load installed_apps %}`: the installed apps of a store, for the merchant's pages."""

from collections.abc import Sequence
from itertools import chain
from typing import Any
from uuid import UUID

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.models import Business
from common.templatetags.ui import app_icon, icon, pill
from extensions import app_status, capabilities, definitions
from extensions.app_status import AppState, AppStatus
from extensions.capabilities import Capability
from extensions.definitions import AdminPage
from extensions.embeds_and_blocks import StoreEmbed, embeds_on
from extensions.enums import ExtensionType
from extensions.hooks import health
from extensions.icons import icon_or_neutral
from extensions.models import Breaker
from extensions.queries import extensions_on, running_definitions, settings_schema_of
from extensions.reach_requests import open_requests
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.scopes import SCOPES
from merchants.attention import AppsNow, apps_now
from merchants.block_picker import Choice, blocks_to_add
from stores.hook_descriptions import DESCRIPTIONS
from stores.hookpoints import HookPoint
from stores.models import SitePage
from webhooks import queries
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
    HistoryKind.TOKEN_ENDED: ("warn", "key", "Access token revoked for security; connect the app again"),
    HistoryKind.UNINSTALLED: ("neutral", "power", "Uninstalled"),
    HistoryKind.ERASURE_SENT: ("info", "send", "Asked to erase your data"),
    HistoryKind.ERASURE_CONFIRMED: ("ok", "check", "Confirmed erasing your data"),
    HistoryKind.ERASURE_OVERDUE: ("bad", "triangle-alert", "Did not confirm erasing your data"),
    HistoryKind.ERASURE_CANCELLED: ("neutral", "undo-2", "Erasure cancelled: the app was reinstalled"),
    HistoryKind.ERASURE_UNADDRESSED: ("bad", "triangle-alert", "Could not be asked to erase your data"),
}


@register.simple_tag(takes_context=True)
def store_apps(context: dict[str, Any]) -> AppsNow | None:
    """`{% store_apps as apps %}`: the apps of the store that is shown, with what they need."""
    request = context["request"]
    return apps_now(request) if request.business else None


@register.filter
def asks_for_more(installation: Installation) -> bool:
    """Whether its merchant has an open request."""
    return installation.pk in open_requests([installation])


@register.inclusion_tag("merchants/history_item.html")
def history_item(entry: HistoryEntry) -> dict[str, Any]:
    kind, icon_name, words = HISTORY_DESCRIPTIONS[HistoryKind(entry.kind)]
    return {"entry": entry, "kind": kind, "icon_name": icon_name, "words": words, "sentences": _named(entry)}


@register.inclusion_tag("merchants/news_item.html")
def news_item(entry: HistoryEntry) -> dict[str, Any]:
    """An entry of an app's history among those of other apps."""
    kind, icon_name, words = HISTORY_DESCRIPTIONS[HistoryKind(entry.kind)]
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


def _named(entry: HistoryEntry) -> list[str]:
    """The sentences of the scopes that the note of an entry names."""
    if entry.kind not in (HistoryKind.NEEDS_RECONSENT, HistoryKind.AGREED, HistoryKind.SCOPES_REMOVED):
        return []
    return [SCOPES[name].sentence for name in entry.note.split(", ") if name in SCOPES]


@register.filter
def works_at_checkout(installation: Installation) -> bool:
    """Whether the store runs any hook of the app."""
    return bool(health.hooks_in(installation))


@register.simple_tag
def statuses(installations: Sequence[Installation]) -> dict[UUID, AppStatus]:
    """`{% statuses installations as known %}`: their statuses, by installation id."""
    return app_status.statuses_of(installations)


@register.filter
def status_among(installation: Installation, known: dict[UUID, AppStatus]) -> AppStatus:
    """One value of the dictionary that `statuses` returned."""
    return known[installation.pk]


@register.simple_tag
def status_of(installation: Installation) -> AppStatus:
    return app_status.status_of(installation)


@register.inclusion_tag("components/pill.html")
def status_pill(status: AppStatus) -> dict[str, Any]:
    return pill(*PILLS[status.state])


@register.filter
def hook_title(breaker: Breaker) -> str:
    """The hook that checkout skips, as the Checkout tab names it."""
    return DESCRIPTIONS[HookPoint(breaker.definition.key)].title


@register.simple_tag
def delivery_health(installation: Installation) -> queries.DeliveryHealth:
    return queries.delivery_health(installation, timezone.now())


@register.simple_tag
def erasure_story(installation: Installation) -> queries.ErasureStory | None:
    return queries.erasure_story(installation)


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


@register.simple_tag
def capabilities_in(installation: Installation) -> list[Capability]:
    """What the app does in this store now."""
    found = (running_definitions([installation], kind)[installation.app_id] for kind in ExtensionType)
    return capabilities.capabilities_of(chain.from_iterable(found))


@register.simple_tag
def placed_blocks(installation: Installation) -> capabilities.Placed:
    return capabilities.placed(installation)


@register.filter
def icon_of_extension(capability: Capability) -> str:
    return ICONS[capability.type]


@register.simple_tag
def admin_pages_on(business: Business | None) -> list[tuple[Installation, AdminPage]]:
    """Every admin page of the business's apps, for the side navigation."""
    if business is None:
        return []
    found = extensions_on(business, ExtensionType.ADMIN_PAGE, paused=True)
    return [(each.installation, definitions.admin_page(each.definition)) for each in found]


@register.simple_tag
def page_icon(page: AdminPage, installation: Installation) -> SafeString:
    """The page's own icon. Without one, the app's; for an unknown name, a neutral one."""
    if page.icon_name:
        return icon(icon_or_neutral(page.icon_name))
    fields = installation.app_fields
    shown = app_icon(fields.name, installation.app.slug, fields.icon_path, "small")
    return render_to_string("components/app_icon.html", shown)


@register.filter
def has_settings(installation: Installation) -> bool:
    """Whether the app has settings for the whole store."""
    return settings_schema_of(installation.app) is not None


@register.inclusion_tag("merchants/add_to_page.html", takes_context=True)
def add_to_page(context: dict[str, Any], installation: Installation) -> dict[str, Any]:
    """The app's blocks, each with a button that adds it to a page."""
    pages = SitePage.objects.filter(business=installation.business).order_by("-is_published", "title")
    return {
        "request": context["request"],
        "csrf_token": context.get("csrf_token"),
        "installation": installation,
        "choices": blocks_of(installation),
        "pages": pages,
    }


@register.simple_tag
def blocks_of(installation: Installation) -> list[Choice]:
    return [each for each in blocks_to_add(installation.business) if each.installation.pk == installation.pk]


@register.simple_tag
def embeds_of(installation: Installation) -> list[StoreEmbed]:
    """The app's scripts and widgets in the store, on or off."""
    return [each for each in embeds_on(installation.business) if each.installation.pk == installation.pk]
