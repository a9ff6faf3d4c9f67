"""What a rule is. Each rule asks one thing, and is one sentence of the guide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .subject import Subject

GROUPS = {
    "CN": "Connect",
    "RW": "Rows",
    "OR": "Orders",
    "MN": "Money",
    "CK": "Checkout",
    "PL": "Placements",
    "PE": "People",
    "CM": "Commands",
    "EC": "Erasure",
    "RP": "Repair",
}
"""By the letters that the ids of their rules begin with."""

Tries = Callable[["Subject"], str]
"""Tries one thing, and returns what it saw. So no rule passes because nothing happened."""


@dataclass(frozen=True, slots=True)
class ShopRule:
    id: str
    title: str  # what a shop does that follows it
    tries: Tries
    needs: tuple[str, ...]
    """Rules without which this one says nothing: if one of them failed, it isn't tried."""


RULES: dict[str, ShopRule] = {}
"""By id, in the order in which they are tried."""


def rule(rule_id: str, title: str, *, needs: tuple[str, ...] = ()) -> Callable[[Tries], Tries]:
    """Add a rule to the list."""

    def add(tries: Tries) -> Tries:
        RULES[rule_id] = ShopRule(rule_id, title, tries, needs)
        return tries

    return add
