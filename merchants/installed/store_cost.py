"""What an installed app costs a store's visitors, in words."""

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from extensions.enums import ExtensionType
from extensions.models import Placement
from extensions.services.costs import Cost, cost_in
from merchants.installed.app import InstalledApp
from merchants.installed.hook_descriptions import AtCheckout


@dataclass(frozen=True, slots=True)
class StoreCost:
    """`pages` is None if the app adds nothing to the store's pages. `wait` is the longest usual one at checkout, in words."""

    pages: Cost | None
    wait: str


def cost_of(app: InstalledApp, at_checkout: list[AtCheckout], off: Set[UUID]) -> StoreCost:
    answered = [each for each in at_checkout if each.is_on and each.health.p50 is not None]
    slowest = max(answered, key=lambda each: each.health.p50 or 0, default=None)
    return StoreCost(
        cost_in(app.installation) if _is_on_pages(app, off) else None, slowest.usually if slowest else ""
    )


def _is_on_pages(app: InstalledApp, off: Set[UUID]) -> bool:
    is_embedded = any(each.definition.pk not in off for each in app.embeds)
    has_blocks = bool(app.of_type(ExtensionType.BLOCK))
    return is_embedded or (has_blocks and Placement.objects.filter(installation=app.installation).exists())
