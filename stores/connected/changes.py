"""What a pushed row changes here, and what follows from it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.dispatch import Signal

from stores.enums import OrderValidation
from stores.models import MirroredRow


@dataclass(frozen=True, slots=True)
class RowEvent:
    """A signal, and the names of the events that it becomes."""

    names: Sequence[str]
    signal: Signal
    sender: type[Model]
    about: dict[str, Any]

    def publish(self) -> None:
        self.signal.send(sender=self.sender, **self.about)


@dataclass(slots=True, kw_only=True)
class RowChange:
    """A row that is created, updated, or, without `values`, deleted. The writer adds its events, and those of other rows that had to
    give something up for it.
    """

    mirrored: MirroredRow
    values: dict[str, Any] | None
    is_new: bool
    validation: OrderValidation | None = None  # of an order whose row brought a quote
    events: list[RowEvent] = field(default_factory=list)
    others: list[RowEvent] = field(default_factory=list)

    @property
    def id(self) -> UUID:
        assert self.mirrored.row_id
        return self.mirrored.row_id


@dataclass(slots=True)
class Totals:
    """How the counts of a store move: the columns of `StoreTotals`."""

    by: Counter[str] = field(default_factory=Counter)
    changes_ranks: bool = False

    def add(self, column: str, *, is_below_others: bool = False) -> None:
        """One more row; `is_below_others`: its id is older than those of rows that came before it."""
        self.by[column] += 1
        self.changes_ranks |= is_below_others

    def remove(self, column: str) -> None:
        self.by[column] -= 1
        self.changes_ranks = True

    @property
    def moved(self) -> dict[str, int]:
        moved = {column: difference for column, difference in self.by.items() if difference}
        return moved | {"rank_changes": 1} if self.changes_ranks else moved


def assign(row: Any, values: dict[str, Any], now: datetime, *, silent: Sequence[str] = ()) -> set[str]:
    """Set columns to what the shop has. Returns those that have changed; `updated_at` follows, but for the `silent` ones."""
    changed = {column for column, value in values.items() if getattr(row, column) != value}
    for column in changed:
        setattr(row, column, values[column])
    if changed.difference(silent) and hasattr(row, "updated_at"):
        row.updated_at = now
    return changed
