"""What apps show on a page of a store whose pages are elsewhere (contract, section 17, "Placements"): what our storefront would show there."""

from dataclasses import dataclass, field
from typing import Final

from accounts.models import Business
from common.web.middleware.policy import Sources
from extensions import definitions
from extensions.enums import EmbedKind, ExtensionType
from extensions.in_store.embeds_and_blocks import PlacedBlock, StoreEmbed, blocks_at, embeds_among
from extensions.queries import extensions_of, running_installations

PUBLIC_A_MINUTE: Final = 600  # requests of pages of shops, from one network


@dataclass(frozen=True, slots=True)
class Placements:
    """In the order in which pages have them. `hosts` are the origins that any page of the store may need, so that a policy for the
    whole site changes with the apps alone.
    """

    scripts: list[StoreEmbed] = field(default_factory=list)
    widgets: list[StoreEmbed] = field(default_factory=list)
    blocks: list[PlacedBlock] = field(default_factory=list)
    hosts: Sources = field(default_factory=Sources)


def placements_on(business: Business, slug: str = "") -> Placements:
    """Of the page with this slug; without one, or with one that no page has, there are no blocks.

    One statement where no app runs, else at most five.
    """
    found, running = Placements(), running_installations(business)
    if not running:
        return found
    extensions = extensions_of(running)
    for each in embeds_among([one for one in extensions if one.definition.type == ExtensionType.EMBED]):
        if each.is_shown and each.embed.kind == EmbedKind.GLOBAL_SCRIPT:
            found.scripts.append(each)
            found.hosts.add_script(each.embed.url)
        elif each.is_shown:
            found.widgets.append(each)
            found.hosts.add_frame(each.embed.url)
    blocks = [one for one in extensions if one.definition.type == ExtensionType.BLOCK]
    for one in blocks:
        found.hosts.add_frame(definitions.block(one.definition).render_url)
    if blocks and slug:
        found.blocks.extend(blocks_at(business, slug, running))
    return found
