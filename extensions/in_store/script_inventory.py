"""Every script and frame on a store's checkout pages: whose, why, since when, and what it serves (PCI DSS 4.0, 6.4.3 and 11.6.1)."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final
from urllib.parse import urljoin
from uuid import UUID

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.templatetags.static import static

from accounts.models import Business
from extensions.definitions import frame_url
from extensions.enums import EmbedKind
from extensions.in_store.embeds_and_blocks import StoreEmbed
from extensions.models import WatchedScript
from installations.enums import HistoryKind
from installations.models import HistoryEntry
from stores.addresses import store_origin

SCRIPT, FRAME = "Script", "Frame"
# What the platform's own checkout pages load. tests/browser/test_script_inventory.py compares this with a browser.
OWN: Final = {
    "scripts/store.js": "Menus, dialogs and messages of the store’s pages, the sums of the checkout, and the count of visits.",
    "scripts/blocks.js": "Gives the frames of apps the store’s colors, and exchanges messages with them.",
}
MEASURING: Final = ("js/app_cost.js", "Measures how long apps hold up the store’s pages.")


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """One script or frame. `since` is None for the platform's own, which were there before the store.

    `sha256` is empty for a frame, whose document the app makes for each shopper, and until a script was seen.
    """

    kind: str
    url: str
    owner: str
    name: str
    why: str
    installation_id: UUID | None = None
    since: datetime | None = None
    pin: str = ""
    sha256: str = ""
    size: int | None = None
    changed_at: datetime | None = None
    seen_at: datetime | None = None
    problem: str = ""
    is_held_back: bool = False


@dataclass(frozen=True, slots=True)
class Inventory:
    """`held_back` are pinned scripts that serve something else, and so aren't on the pages."""

    running: list[InventoryEntry]
    held_back: list[InventoryEntry]

    @property
    def entries(self) -> list[InventoryEntry]:
        return [*self.running, *self.held_back]


def inventory_of(business: Business, embeds: Iterable[StoreEmbed]) -> Inventory:
    """`embeds` are the store's, on or off. Two statements where one is on."""
    on = [each for each in embeds if each.is_on]
    watched, agreed = _watched(on), _agreed(on)
    of_apps = [_of_app(business, each, watched, agreed) for each in on]
    own = dict([*OWN.items(), *([MEASURING] if any(each.is_shown for each in on) else [])])
    return Inventory(
        [*_own(business, own), *(each for each in of_apps if not each.is_held_back)],
        [each for each in of_apps if each.is_held_back],
    )


def _own(business: Business, names: dict[str, str]) -> list[InventoryEntry]:
    origin = store_origin(business.slug)
    return [
        InventoryEntry(
            SCRIPT,
            urljoin(origin, static(name)),
            settings.PLATFORM_NAME,
            name.rpartition("/")[2],
            why,
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
        )
        for name, why in names.items()
        for content in [_own_content(name)]
    ]


@cache
def _own_content(name: str) -> bytes:
    """As it is served: with hashed names, a module names others by theirs."""
    stored = getattr(staticfiles_storage, "stored_name", str)(name)
    if staticfiles_storage.exists(stored):
        with staticfiles_storage.open(stored) as file:
            return bytes(file.read())
    found = finders.find(name)
    assert isinstance(found, str)
    with open(found, "rb") as source:
        return source.read()


def _of_app(
    business: Business,
    each: StoreEmbed,
    watched: dict[tuple[UUID, str], WatchedScript],
    agreed: dict[UUID, list[datetime]],
) -> InventoryEntry:
    embed, installation = each.embed, each.installation
    is_script = embed.kind == EmbedKind.GLOBAL_SCRIPT
    script = watched.get((installation.app_id, embed.url)) if is_script else None
    return InventoryEntry(
        SCRIPT if is_script else FRAME,
        embed.url if is_script else frame_url(embed.url, business),
        installation.app_fields.name,
        embed.name,
        embed.description,
        installation.pk,
        _since(each, script, agreed),
        embed.integrity,
        script.sha256 if script else "",
        script.size if script else None,
        script.changed_at if script else None,
        script.seen_at if script else None,
        script.problem if script else "",
        each.is_held_back,
    )


def _since(each: StoreEmbed, script: WatchedScript | None, agreed: dict[UUID, list[datetime]]) -> datetime:
    """The install; or for a later script, the consent that followed it, or else its first day in force."""
    installed = each.installation.installed_at
    came = script.in_force_since if script else installed
    if came <= installed:
        return installed
    return next((at for at in agreed.get(each.installation.pk, []) if at >= came), came)


def _watched(embeds: Sequence[StoreEmbed]) -> dict[tuple[UUID, str], WatchedScript]:
    keys = {(each.installation.app_id, each.embed.url) for each in embeds}
    if not keys:
        return {}
    rows = WatchedScript.objects.filter(app__in={app for app, _ in keys}, url__in={url for _, url in keys})
    return {(row.app_id, row.url): row for row in rows}


def _agreed(embeds: Sequence[StoreEmbed]) -> dict[UUID, list[datetime]]:
    """When merchants agreed to more, by installation, in order."""
    found: dict[UUID, list[datetime]] = {each.installation.pk: [] for each in embeds}
    if found:
        entries = HistoryEntry.objects.filter(kind=HistoryKind.AGREED, installation__in=list(found))
        for installation_id, at in entries.order_by("at").values_list("installation", "at"):
            found[installation_id].append(at)
    return found
