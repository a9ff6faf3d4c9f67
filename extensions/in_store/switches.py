"""What a merchant can switch and limit of an installed app: hooks, scripts and widgets, and its discounts."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import IntegerField, UUIDField, Value

from common.db.compiled import Compiled, Param
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


@dataclass(frozen=True, slots=True)
class Choices:
    """What a merchant chose: the ids of the definitions that are switched off, and the most that may be taken off an order."""

    off: Set[UUID]
    most_discount: int


def choices_of(installation: Installation) -> Choices:
    """In one statement."""
    chosen = _CHOSEN.rows(installation=installation.pk)
    found = [per_cent for definition, per_cent in chosen if definition is None]
    return Choices({definition for definition, _ in chosen if definition}, found[0] if found else ALL)


def _chosen() -> Any:
    installation = Param("installation", UUIDField())
    states = ExtensionState.objects.filter(installation=installation, is_on=False)
    limit = HookPreference.objects.filter(installation=installation)
    off = states.values_list("definition_id", Value(None, output_field=IntegerField()))
    return off.union(limit.values_list(Value(None, output_field=UUIDField()), "most_discount"), all=True)


_CHOSEN: Final[Compiled[Any]] = Compiled(_chosen, prepared_as="extensions_chosen")


def controls_of(choices: Choices, running: Iterable[Definition]) -> Controls:
    """Of what the store runs, so of nothing that waits for the merchant's approval."""
    switchable = [each for each in running if each.type in SWITCHABLE]
    switches = [
        Switch(each, choices.off.isdisjoint(each.definitions)) for each in capabilities_of(switchable)
    ]
    discounts = any(each.key == HookPoint.DISCOUNTS for each in switchable)
    return Controls(switches, choices.most_discount if discounts else None)
