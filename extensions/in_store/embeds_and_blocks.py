"""The embeds and blocks that a store's pages show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery

from accounts.models import Business
from extensions import definitions
from extensions.definitions import Block, Embed
from extensions.enums import ExtensionType
from extensions.models import ExtensionState, LiveDefinition, Placement, WatchedScript
from extensions.models.scripts import matches
from extensions.queries import Extension, defaults_of, extensions_on, overlaid, running_installations
from extensions.schemas import resolved
from installations.models import Installation, is_in_release
from stores.models import SitePage

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoreEmbed:
    """An embed on a store. `settings` are its defaults with the merchant's `values` on top.

    `is_held_back`: its script isn't what its developer pinned, so a browser wouldn't run it, and pages don't wait for it.
    """

    installation: Installation
    embed: Embed
    is_on: bool
    is_held_back: bool
    values: Settings
    settings: Settings

    @property
    def is_shown(self) -> bool:
        return self.is_on and not self.is_held_back


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block on a page; `id` is the placement's id, the `blockId` of its messages. `settings` as for an embed."""

    id: UUID
    installation: Installation
    block: Block
    values: Settings
    settings: Settings


def embeds_on(business: Business) -> list[StoreEmbed]:
    """The embeds of all apps on the business, switched on or off."""
    return embeds_among(extensions_on(business, ExtensionType.EMBED))


def embeds_among(found: Sequence[Extension]) -> list[StoreEmbed]:
    """What a store made of these embeds. One statement, and one more where a script is pinned."""
    states = {
        (state.installation_id, state.definition_id): state
        for state in ExtensionState.objects.filter(installation__in=[each.installation.pk for each in found])
    }
    defined = [definitions.embed(each.definition) for each in found]
    held_back = _held_back(found, defined)
    embeds = []
    for each, embed in zip(found, defined, strict=True):
        state = states.get((each.installation.pk, embed.id))
        values = state.settings if state else {}
        in_force = settings_in_force(embed.settings_schema, embed.default_config, values)
        is_on = state is None or state.is_on
        embeds.append(StoreEmbed(each.installation, embed, is_on, embed.id in held_back, values, in_force))
    return embeds


def _held_back(found: Sequence[Extension], defined: Sequence[Embed]) -> set[UUID]:
    """The pinned scripts that served something else at the last look, by definition."""
    pinned = [
        (each.installation.app_id, embed)
        for each, embed in zip(found, defined, strict=True)
        if embed.integrity
    ]
    if not pinned or not settings.WATCH_SCRIPTS:
        return set()
    watched = WatchedScript.objects.filter(
        app__in={app_id for app_id, _ in pinned}, url__in={embed.url for _, embed in pinned}
    )
    served = {(app_id, url): digests for app_id, url, digests in watched.values_list("app", "url", "digests")}
    return {
        embed.id
        for app_id, embed in pinned
        if not matches(served.get((app_id, embed.url), {}), embed.integrity)
    }


def blocks_on(page: SitePage) -> list[PlacedBlock]:
    """The blocks of a page in order, without those that don't run in this store: their app was uninstalled or suspended, it
    removed them, or the store hasn't agreed to them. Two statements.
    """
    placements = _placed(Placement.objects.filter(page=page))
    return _in_force(placements, running_installations(page.business)) if placements else []


def blocks_at(business: Business, slug: str, running: Sequence[Installation]) -> list[PlacedBlock]:
    """The blocks of the business's page with this slug, of the apps that run there. One statement."""
    return _in_force(_placed(Placement.objects.filter(page__business=business, page__slug=slug)), running)


def _placed(rows: QuerySet[Placement]) -> list[Placement]:
    """In order, each with the content that runs in its store as `live_content`."""
    live = LiveDefinition.objects.filter(
        definition=OuterRef("definition"),
        version=OuterRef("installation__agreed_version"),
        in_release=OuterRef("in_release"),
    )
    found = (
        rows.select_related("definition")
        .alias(in_release=is_in_release("installation__", "installation__app__"))
        .annotate(live_content=Subquery(live.values("content")))
        .order_by("position", "id")
    )
    return list(found)


def _in_force(placements: Sequence[Any], installations: Sequence[Installation]) -> list[PlacedBlock]:
    running = {each.pk: each for each in installations}
    blocks = []
    for placement in placements:
        installation = running.get(placement.installation_id)
        if installation is None:
            continue
        if not installation.runs_working_copy:
            placement.definition.content = placement.live_content
        elif not placement.definition.is_active:
            continue
        if placement.definition.content is not None:
            block = definitions.block(placement.definition)
            in_force = settings_in_force(block.settings_schema, block.default_config, placement.settings)
            blocks.append(PlacedBlock(placement.pk, installation, block, placement.settings, in_force))
    return blocks


def settings_in_force(schema: dict[str, Any], default_config: Settings, values: Settings) -> Settings:
    """The schema's defaults, with the definition's `defaultConfig` on top, and the merchant's values on top of that."""
    return overlaid(overlaid(defaults_of(resolved(schema)), default_config), values)
