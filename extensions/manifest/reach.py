"""Whom a save touches: the sync plan in words, before it takes effect."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from extensions.enums import ExtensionType
from extensions.manifest.sync import Change, Changes
from extensions.models import EmbedState, Placement
from installations.models import Installation
from marketplace.models import App

OFF = "Switched off"


@dataclass(frozen=True, slots=True)
class Line:
    """One change. `word` is Added, Updated, Back or Switched off; `reach` a sentence."""

    word: str
    kind: str  # of its pill
    what: str
    key: str
    name: str
    reach: str


@dataclass(frozen=True, slots=True)
class Plan:
    installs: int  # active ones, test installs too
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class _Figures:
    installs: int
    placed: dict[UUID, int]
    off: dict[UUID, int]


def in_words(app: App, changes: Changes) -> Plan:
    """Three queries, however many changes there are."""
    figures = _figures(app, changes)
    lines = [
        *(_line(each, "Added", "ok", figures) for each in changes.created),
        *(_line(each, "Back" if each.returns else "Updated", "info", figures) for each in changes.updated),
        *(_line(each, OFF, "warn", figures) for each in changes.deactivated),
    ]
    return Plan(figures.installs, lines)


def _figures(app: App, changes: Changes) -> _Figures:
    rows = [each.former.pk for each in (*changes.updated, *changes.deactivated) if each.former]
    active = Installation.objects.active().filter(app=app)
    placed = Placement.objects.filter(installation__in=active, definition__in=rows)
    off = EmbedState.objects.filter(installation__in=active, definition__in=rows, is_on=False)
    return _Figures(
        active.count(),
        _counts(placed.values_list("definition").annotate(Count("pk")).order_by()),
        _counts(off.values_list("definition").annotate(Count("pk")).order_by()),
    )


def _counts(rows: Iterable[tuple[UUID, int]]) -> dict[UUID, int]:
    return dict(rows)


def _line(change: Change, word: str, kind: str, figures: _Figures) -> Line:
    defined = change.defined
    reach = _ended(change, figures) if word == OFF else _reach(change, figures)
    return Line(word, kind, defined.type.label, defined.key, defined.name, reach)


def _reach(change: Change, figures: _Figures) -> str:
    """Where it is, or will be at once."""
    row = change.former.pk if change.former else None
    installs = _counted(figures.installs, "installation")
    match change.defined.type:
        case ExtensionType.BLOCK if row:
            times = figures.placed.get(row, 0)
            return f"Placed {_counted(times, 'time')}." if times else "Not placed on any page."
        case ExtensionType.BLOCK:
            return f"Can be placed at {installs}."
        case ExtensionType.EMBED:
            return f"On at {_counted(_on(row, figures), 'installation')}."
        case ExtensionType.HOOK:
            return f"Asked at {installs}."
        case _:
            return f"In the sidebar of {installs}."


def _ended(change: Change, figures: _Figures) -> str:
    """Where it goes from."""
    row = change.former.pk if change.former else None
    installs = _counted(figures.installs, "installation")
    match change.defined.type:
        case ExtensionType.BLOCK:
            times = figures.placed.get(row, 0) if row else 0
            return f"Hidden where it is placed: {_counted(times, 'time')}."
        case ExtensionType.EMBED:
            return f"Goes from {_counted(_on(row, figures), 'installation')}."
        case ExtensionType.HOOK:
            return f"No longer asked at {installs}."
        case _:
            return f"Leaves the sidebar of {installs}."


def _on(embed: UUID | None, figures: _Figures) -> int:
    """An embed is on until a merchant switches it off."""
    return figures.installs - (figures.off.get(embed, 0) if embed else 0)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
