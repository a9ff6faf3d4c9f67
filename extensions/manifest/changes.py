"""What a save changes: its plan in words with how many stores that concerns, its effect on an app's definitions (specification, "Manifest sync"),
and what differs between two manifests, the same for developers and reviewers.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db.models import Count

from extensions.enums import ExtensionType
from extensions.manifest.content import Defined, definitions_in
from extensions.models import Definition, ExtensionState, Placement
from extensions.queries import kept_in_stores, waiting_in, waits_for_version
from installations.models import Installation
from marketplace.differences import Difference
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
        *(line(each, "Back" if each.returns else "Updated", "neutral") for each in changes.updated),
        *(line(each, OFF, "neutral") for each in changes.deactivated),
    ]
    return Plan(figures.installs, lines, waits_for_version(app, document))


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """`defined` is the new definition, or the old one if it is removed. `former` is its row, if it had one."""

    defined: Defined
    former: Definition | None

    @property
    def returns(self) -> bool:
        return self.former is not None and not self.former.is_active


@dataclass(slots=True)
class Changes:
    """By what becomes of them. `moved` only changed their position in the list, which is not reported."""

    created: list[DefinitionChange] = field(default_factory=list)
    updated: list[DefinitionChange] = field(default_factory=list)
    deactivated: list[DefinitionChange] = field(default_factory=list)
    moved: list[DefinitionChange] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.created or self.updated or self.deactivated)


def plan(app: App, document: Mapping[str, Any]) -> Changes:
    """Of a manifest without problems, against what is in force. Writes nothing."""
    rows = {(row.type, row.key): row for row in Definition.objects.filter(app=app)}
    changes = Changes()
    for defined in definitions_in(document):
        row = rows.pop((defined.type, defined.key), None)
        change = DefinitionChange(defined, row)
        if row is None:
            changes.created.append(change)
        elif not row.is_active or not same(row.content, defined.content):
            changes.updated.append(change)
        elif row.position != defined.position:
            changes.moved.append(change)
    changes.deactivated += [DefinitionChange(_as_it_was(row), row) for row in rows.values() if row.is_active]
    return changes


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same text: 1 is not true, and the order of keys counts."""
    return json.dumps(one) == json.dumps(other)


def record(changes: Changes, ids: Mapping[tuple[str, str], UUID]) -> dict[str, list[dict[str, str]]]:
    """As the developer API answers them; `ids` by type and key."""
    return {
        name: [
            {
                "type": str(change.defined.type),
                "key": change.defined.key,
                "id": str(ids[change.defined.type, change.defined.key]),
            }
            for change in getattr(changes, name)
        ]
        for name in ("created", "updated", "deactivated")
    }


def _as_it_was(row: Definition) -> Defined:
    return Defined(ExtensionType(row.type), row.key, row.position, row.content)


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


# --- Two manifests compared --------------------------------------------------------------------------

Document = Mapping[str, Any]


def manifest_differences(before: Document, after: Document) -> list[Difference]:
    """Of two manifests without problems, defaults filled in: whole definitions that came or went, fields that
    changed, a definition's fields together. In the order of the manifest."""
    found = list(_field("App settings", before.get("settingsSchema"), after.get("settingsSchema")))
    was, now = _by_key(before), _by_key(after)
    for key in dict.fromkeys([*was, *now]):
        if key not in now:
            found.append(Difference("", _label(was[key]), "text", (summary(was[key]),), ()))
        elif key not in was:
            found.append(Difference("", _label(now[key]), "text", (), (summary(now[key]),)))
        else:
            found += _changed(was[key], now[key])
    return found


def summary(defined: Defined) -> str:
    """A definition in one line."""
    return about(defined) if defined.name == defined.key else f"{defined.name}, {about(defined)}"


def about(defined: Defined) -> str:
    """What a list shows of it beside its name."""
    content = defined.content
    if defined.type == ExtensionType.HOOK:
        return f"{content['url']}, within {content['timeout']:,} ms, priority {content['priority']}"
    url = content.get("renderUrl") or content.get("scriptUrl")
    pinned = f", {content['integrity']}" if "integrity" in content else ""
    return f"{content['position']}, {url}{pinned}" if "position" in content else str(url)


def _by_key(document: Document) -> dict[tuple[str, str], Defined]:
    return {(each.type, each.key): each for each in definitions_in(document)}


def _label(defined: Defined) -> str:
    return f"{defined.type.label} {defined.key}"


def _changed(was: Defined, now: Defined) -> Iterator[Difference]:
    for name in dict.fromkeys([*was.content, *now.content]):
        yield from _field(f"{_label(now)}: {name}", was.content.get(name), now.content.get(name))


def _field(label: str, before: Any, after: Any) -> Iterator[Difference]:
    if not same(before, after):
        is_json = any(isinstance(value, dict | list) for value in (before, after))
        written = _json if is_json else _text
        yield Difference("", label, "json" if is_json else "text", written(before), written(after))


def _json(value: Any) -> tuple[str, ...]:
    return () if value is None else (json.dumps(value, ensure_ascii=False),)


def _text(value: Any) -> tuple[str, ...]:
    if value == "":
        return ()
    return (value,) if isinstance(value, str) else _json(value)
