"""What a save changes and how many stores that concerns, in words, before it takes effect."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Count

from extensions.enums import ExtensionType
from extensions.manifest.sync import Changes, DefinitionChange, plan
from extensions.models import ExtensionState, Placement
from extensions.queries import kept_in_stores, waiting_in, waits_for_version
from installations.models import Installation
from marketplace.models import App

OFF = "Switched off"
UNUSED = "Not used anywhere."
KEPT = "Your sandbox store drops it now. Other stores run it until the next version."
WAITS = "Your sandbox store runs it now. Other stores run it after a review and each merchant's approval."


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One change. `word` is Added, Updated, Back or Switched off; `reach` a sentence.

    `waits`: it widens the app's reach, or saves aren't live, so stores follow with the next approved version.
    """

    word: str
    kind: str  # of its pill
    what: str
    key: str
    name: str
    reach: str
    waits: bool = False

    @property
    def is_off(self) -> bool:
        return self.word == OFF


@dataclass(frozen=True, slots=True)
class Plan:
    installs: int  # active ones, test installs too
    lines: list[PlannedChange]
    waits: bool  # whether stores run a part of it, or all that changed, with the next approved version


@dataclass(frozen=True, slots=True)
class _Figures:
    installs: int
    placed: dict[UUID, int]
    off: dict[UUID, int]


def in_words(app: App, document: Mapping[str, Any]) -> Plan:
    """Of a manifest without problems, compared with the one in force. A few queries, however many changes there are."""
    changes = plan(app, document)
    figures = _figures(app, changes)
    later = {(each.type, each.key): WAITS for each in waiting_in(app, document)}
    later |= {(each.type, each.key): KEPT for each in kept_in_stores(app, document)}

    def line(change: DefinitionChange, word: str, kind: str) -> PlannedChange:
        said = _line(change, word, kind, figures)
        reach = later.get((change.defined.type, change.defined.key))
        return replace(said, waits=True, reach=reach) if reach else said

    lines = [
        *(line(each, "Added", "ok") for each in changes.created),
        *(line(each, "Back" if each.returns else "Updated", "info") for each in changes.updated),
        *(line(each, OFF, "warn") for each in changes.deactivated),
    ]
    return Plan(figures.installs, lines, waits_for_version(app, document))


def _figures(app: App, changes: Changes) -> _Figures:
    rows = [each.former.pk for each in (*changes.updated, *changes.deactivated) if each.former]
    active = Installation.objects.active().filter(app=app)
    placed = Placement.objects.filter(installation__in=active, definition__in=rows)
    off = ExtensionState.objects.filter(installation__in=active, definition__in=rows, is_on=False)
    return _Figures(
        active.count(),
        _counts(placed.values_list("definition").annotate(Count("pk")).order_by()),
        _counts(off.values_list("definition").annotate(Count("pk")).order_by()),
    )


def _counts(rows: Iterable[tuple[UUID, int]]) -> dict[UUID, int]:
    return dict(rows)


def _line(change: DefinitionChange, word: str, kind: str, figures: _Figures) -> PlannedChange:
    defined = change.defined
    reach = _ended(change, figures) if word == OFF else _reach(change, figures)
    return PlannedChange(word, kind, defined.type.label, defined.key, defined.name, reach)


def _reach(change: DefinitionChange, figures: _Figures) -> str:
    """Where it runs, or will run."""
    row = change.former.pk if change.former else None
    installs = _counted(figures.installs, "installation")
    match change.defined.type:
        case ExtensionType.BLOCK if row:
            times = figures.placed.get(row, 0)
            return f"Placed {_counted(times, 'time')}." if times else "Not placed on any page."
        case ExtensionType.BLOCK:
            return f"Can be placed in {installs}."
        case ExtensionType.EMBED:
            return f"On in {_counted(_on(row, figures), 'installation')}."
        case ExtensionType.HOOK:
            return f"Called in {installs}."
        case _:
            return f"In the sidebar of {installs}."


def _ended(change: DefinitionChange, figures: _Figures) -> str:
    """Where it runs no longer."""
    row = change.former.pk if change.former else None
    installs = _counted(figures.installs, "installation")
    match change.defined.type:
        case ExtensionType.BLOCK:
            times = figures.placed.get(row, 0) if row else 0
            return f"Hidden where merchants placed it: {_counted(times, 'time')}." if times else UNUSED
        case ExtensionType.EMBED:
            on = _on(row, figures)
            return f"Removed from {_counted(on, 'installation')}." if on else UNUSED
        case ExtensionType.HOOK:
            return f"No longer called in {installs}."
        case _:
            return f"Leaves the sidebar of {installs}."


def _on(embed: UUID | None, figures: _Figures) -> int:
    """An embed is on until a merchant switches it off."""
    return figures.installs - (figures.off.get(embed, 0) if embed else 0)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
