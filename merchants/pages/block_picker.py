"""The blocks that a merchant can put on a page."""

from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import Business
from extensions import definitions
from extensions.definitions import Block
from extensions.enums import ExtensionType
from extensions.icons import icon_or_neutral
from extensions.in_store.embeds_and_blocks import PlacedBlock, settings_in_force
from extensions.models import Definition
from extensions.queries import extensions_on
from installations.models import Installation
from stores.models import SitePage


@dataclass(frozen=True, slots=True)
class BlockOption:
    installation: Installation
    definition: Definition
    block: Block

    @property
    def key(self) -> str:
        return str(self.definition.pk)

    @property
    def with_defaults(self) -> PlacedBlock:
        """As it would be on a page before anybody changes its settings."""
        settings = settings_in_force(self.block.settings_schema, self.block.default_config, {})
        return PlacedBlock(self.definition.pk, self.installation, self.block, {}, settings)

    @property
    def icon_name(self) -> str:
        return icon_or_neutral(self.block.icon_name)


def blocks_to_add(business: Business) -> list[BlockOption]:
    """Every block of the business's apps."""
    return [
        choice_of(each.installation, each.definition) for each in extensions_on(business, ExtensionType.BLOCK)
    ]


def choice_of(installation: Installation, definition: Definition) -> BlockOption:
    return BlockOption(installation, definition, definitions.block(definition))


def pages_for_blocks(business: Business) -> QuerySet[SitePage]:
    """Where a block can be added, published pages first."""
    return SitePage.objects.filter(business=business).order_by("-is_published", "title")


def by_category(choices: list[BlockOption]) -> dict[str, list[BlockOption]]:
    """As the picker shows them: the categories by name, each with its blocks by name."""
    groups: dict[str, list[BlockOption]] = {}
    for choice in sorted(
        choices, key=lambda each: (each.block.category.casefold(), each.block.name.casefold())
    ):
        groups.setdefault(choice.block.category, []).append(choice)
    return groups
