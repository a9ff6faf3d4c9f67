"""What an installed app costs a store's visitors, in words."""

from dataclasses import dataclass

from extensions.embeds_and_blocks import embeds_on
from extensions.models import Placement
from extensions.services.costs import Cost, cost_in
from installations.models import Installation
from merchants.hook_descriptions import AtCheckout


@dataclass(frozen=True, slots=True)
class StoreCost:
    """`pages` is None if the app adds nothing to the store's pages. `waits` are those at checkout, in words."""

    pages: Cost | None
    waits: list[tuple[str, str]]


def cost_of(installation: Installation, at_checkout: list[AtCheckout]) -> StoreCost:
    waits = [
        (each.description.title, each.usually)
        for each in at_checkout
        if each.is_on and each.health.p50 is not None
    ]
    return StoreCost(cost_in(installation) if _is_on_pages(installation) else None, waits)


def _is_on_pages(installation: Installation) -> bool:
    embeds = embeds_on(installation.business)
    is_embedded = any(each.is_on and each.installation.pk == installation.pk for each in embeds)
    return is_embedded or Placement.objects.filter(installation=installation).exists()
