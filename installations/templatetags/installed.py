"""`{% load installed %}`: the merchant's apps, for pages of every room."""

from typing import Any

from django import template

from accounts.models import Business
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.queries import installations_of
from marketplace.scopes import SCOPES

register = template.Library()

# The kind of the mark, the icon, and what a merchant reads.
WORDS = {
    HistoryKind.INSTALLED: ("ok", "plus", "Installed"),
    HistoryKind.TERMS_CHANGED: ("info", "rotate-cw", "Installed again"),
    HistoryKind.CONVERTED: ("info", "badge-check", "Became a full install: the app passed its review"),
    HistoryKind.NEEDS_RECONSENT: ("warn", "circle-question-mark", "Asked for more permissions"),
    HistoryKind.AGREED: ("ok", "check", "More permissions approved"),
    HistoryKind.DECLINED: ("neutral", "minus", "Kept as it was"),
    HistoryKind.SCOPES_REMOVED: ("info", "minus", "A new version does without some permissions"),
    HistoryKind.TOKEN_ENDED: ("warn", "key", "Its access was ended for safety; it has to be connected again"),
    HistoryKind.UNINSTALLED: ("neutral", "power", "Uninstalled"),
    HistoryKind.ERASURE_SENT: ("info", "send", "Asked to erase your data"),
    HistoryKind.ERASURE_CONFIRMED: ("ok", "check", "Confirmed that your data is erased"),
    HistoryKind.ERASURE_OVERDUE: ("bad", "triangle-alert", "Did not confirm that your data is erased"),
    HistoryKind.ERASURE_CANCELLED: ("neutral", "undo-2", "Erasure called off: the app was installed again"),
    HistoryKind.ERASURE_UNADDRESSED: ("bad", "triangle-alert", "Could not be asked to erase your data"),
}


@register.simple_tag
def asking_apps(business: Business | None) -> list[Installation]:
    """The apps that ask the merchant of this business for more now."""
    return list(installations_of(business).asking()) if business else []


@register.inclusion_tag("merchant/history_item.html")
def history_item(entry: HistoryEntry) -> dict[str, Any]:
    kind, icon_name, words = WORDS[HistoryKind(entry.kind)]
    return {"entry": entry, "kind": kind, "icon_name": icon_name, "words": words, "sentences": _named(entry)}


def _named(entry: HistoryEntry) -> list[str]:
    """What the scopes mean that were asked for, agreed to or taken away: the note of such an entry names them."""
    if entry.kind not in (HistoryKind.NEEDS_RECONSENT, HistoryKind.AGREED, HistoryKind.SCOPES_REMOVED):
        return []
    return [SCOPES[name].sentence for name in entry.note.split(", ") if name in SCOPES]
