"""What a merchant can switch and limit of an installed app: hooks, scripts and widgets, and its discounts."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from extensions.in_store.capabilities import Capability, capabilities_of
from extensions.models import Definition, ExtensionState, HookPreference
from extensions.services.extension_states import SWITCHABLE
from installations.models import Installation
from stores.hookpoints import HookPoint

ALL: Final = 100  # per cent


@dataclass(frozen=True, slots=True)
class Switch:
    """A capability that is on or off in one store."""

    capability: Capability
    is_on: bool

    @property
    def key(self) -> str:
        return str(self.capability.definitions[0])


@dataclass(frozen=True, slots=True)
class Controls:
    """`most_discount` is in per cent of the subtotal; None if the app gives no discounts."""

    switches: list[Switch]
    most_discount: int | None


def controls_of(installation: Installation, running: Iterable[Definition], off: Set[UUID]) -> Controls:
    """Of what the store runs, so of nothing that waits for the merchant's approval. `off` is from `switched_off`."""
    switchable = [each for each in running if each.type in SWITCHABLE]
    switches = [Switch(each, off.isdisjoint(each.definitions)) for each in capabilities_of(switchable)]
    discounts = any(each.key == HookPoint.DISCOUNTS for each in switchable)
    return Controls(switches, _most_discount(installation) if discounts else None)


def switched_off(installation: Installation) -> set[UUID]:
    """The ids of the definitions that the merchant has switched off."""
    states = ExtensionState.objects.filter(installation=installation, is_on=False)
    return set(states.values_list("definition_id", flat=True))


def _most_discount(installation: Installation) -> int:
    chosen = HookPreference.objects.filter(installation=installation).first()
    return chosen.most_discount if chosen else ALL
