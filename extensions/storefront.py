"""What a store's pages show of its apps: the embeds that are on, and the blocks of a page."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import Business
from extensions import definitions
from extensions.definitions import Block, Embed
from extensions.enums import ExtensionType
from extensions.models import EmbedState, Placement
from extensions.queries import defaults_of, extensions_on, overlaid, working_installations
from extensions.schemas import resolved
from installations.models import Installation
from stores.models import SitePage

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoreEmbed:
    """An embed on a store. `settings` is what it gets: its defaults overlaid by the merchant's `values`."""

    installation: Installation
    embed: Embed
    is_on: bool
    values: Settings
    settings: Settings


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block on a page; `id` is the placement's, the `blockId` of its messages. `settings` as of an embed."""

    id: UUID
    installation: Installation
    block: Block
    values: Settings
    settings: Settings


def embeds_on(business: Business) -> list[StoreEmbed]:
    """Those of every app that is on the business, switched on or off."""
    found = extensions_on(business, ExtensionType.EMBED)
    states = {
        (state.installation_id, state.definition_id): state
        for state in EmbedState.objects.filter(installation__in=[each.installation.pk for each in found])
    }
    embeds = []
    for each in found:
        embed = definitions.embed(each.definition)
        state = states.get((each.installation.pk, embed.id))
        values = state.settings if state else {}
        settings = settings_in_force(embed.settings_schema, embed.default_config, values)
        embeds.append(StoreEmbed(each.installation, embed, state is None or state.is_on, values, settings))
    return embeds


def blocks_on(page: SitePage) -> list[PlacedBlock]:
    """The blocks of a page in their order, without those that are switched off: their app left, or removed them."""
    placements = Placement.objects.filter(page=page, definition__is_active=True).select_related("definition")
    working = {each.pk: each for each in working_installations(page.business)} if placements else {}
    blocks = []
    for placement in placements.order_by("position", "id"):
        installation = working.get(placement.installation_id)
        if installation:
            block = definitions.block(placement.definition)
            settings = settings_in_force(block.settings_schema, block.default_config, placement.settings)
            blocks.append(PlacedBlock(placement.pk, installation, block, placement.settings, settings))
    return blocks


def settings_in_force(schema: dict[str, Any], default_config: Settings, values: Settings) -> Settings:
    """The schema's defaults, overlaid by the definition's `defaultConfig`, overlaid by the merchant's values."""
    return overlaid(overlaid(defaults_of(resolved(schema)), default_config), values)
