"""What a settings form holds, before it is known to be valid: the text of each control, lists with their entries.

A state is the text of one control, a dict of states by property, or a list of entries.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from extensions.schema_forms.controls import MISSING
from extensions.schema_forms.parts import Group, Leaf, ListPart, Part

MAX_ENTRIES: Final = 100  # of one list
MAX_CONTROLS: Final = 300  # of one list with all its entries; Django takes 1,000 fields of a request

State = Any


@dataclass
class ListEntry:
    """One entry of a list; `was` is its place in what is kept, "" for a new one."""

    state: State
    was: str = ""


def state_of(part: Part, value: Any, zone: ZoneInfo) -> State:
    """The state that shows a value."""
    if isinstance(part, Group):
        values = value if isinstance(value, dict) else {}
        return {name: state_of(each, values.get(name, MISSING), zone) for name, each in part.parts.items()}
    if isinstance(part, ListPart):
        return _list_state(part, value, zone)
    return "" if value is MISSING else part_control(part, zone).text_of(value)


def part_control(part: Part, zone: ZoneInfo) -> Any:
    assert isinstance(part, Leaf)
    return part.control(zone=zone)


def _list_state(part: ListPart, value: Any, zone: ZoneInfo) -> State:
    values = value if isinstance(value, list) else []
    few = (
        values if len(values) <= MAX_ENTRIES else []
    )  # each entry has a control of its own, which takes time to make
    entries = [ListEntry(state_of(part.item, each, zone), str(place)) for place, each in enumerate(few)]
    if len(few) < len(values) or size_of(entries) > MAX_CONTROLS:
        return part_control(part.as_leaf, zone).text_of(value)
    return entries


def posted_state(part: Part, data: Mapping[str, Any], name: str, zone: ZoneInfo) -> State:
    """The state of a form that was sent; `name` is the part's."""
    if isinstance(part, Group):
        return {
            key: posted_state(each, data, name_below(name, key), zone) for key, each in part.parts.items()
        }
    if isinstance(part, ListPart):
        if name in data:
            return data[name]
        return [
            ListEntry(posted_state(part.item, data, below, zone), data.get(f"{below}:was", ""))
            for below in (f"{name}.{place}" for place in _places(data, name))
        ]
    return part_control(part, zone).posted(data, name)


def _places(data: Mapping[str, Any], name: str) -> list[int]:
    """The places of a list's entries, whatever of an entry was sent."""
    found = re.compile(re.escape(name) + r"\.(\d{1,4})(?:[.:]|$)")
    return sorted({int(match[1]) for key in data if (match := found.match(key))})[:MAX_ENTRIES]


def size_of(state: State) -> int:
    """How many controls show it."""
    if isinstance(state, dict):
        return sum(map(size_of, state.values()))
    return sum(1 + size_of(entry.state) for entry in state) if isinstance(state, list) else 1


def name_below(name: str, key: str) -> str:
    """The name of a property's field: plain names stay as they are, so that a form is easy to read and to fill."""
    written = re.sub(
        r"[^A-Za-z0-9_-]", lambda found: "".join(f"~{byte:02X}" for byte in found[0].encode()), key
    )
    if written in ("", "csrfmiddlewaretoken"):
        written = f"~{written}"
    return f"{name}.{written}" if name else written


# Defaults


def same(state: State, other: State) -> bool:
    """Whether they show the same, wherever the entries of lists are kept."""
    if isinstance(state, dict) and isinstance(other, dict):
        return state.keys() == other.keys() and all(same(state[key], other[key]) for key in state)
    if isinstance(state, list) and isinstance(other, list):
        return len(state) == len(other) and all(
            same(a.state, b.state) for a, b in zip(state, other, strict=True)
        )
    return (state or "") == (other or "")


def reset(part: Part, state: State, wanted: str, zone: ZoneInfo, name: str = "") -> bool:
    """Set the part of this name, outside of lists, to its default. Whether there was one."""
    if not isinstance(part, Group):
        return False
    for key, each in part.parts.items():
        below = name_below(name, key)
        if below == wanted and each.default is not MISSING:
            state[key] = state_of(each, each.default, zone)
            return True
        if reset(each, state[key], wanted, zone, below):
            return True
    return False


# Changing lists, without checking anything


def change_lists(part: Part, state: State, command: str, zone: ZoneInfo) -> bool:
    """Carry out a list's button, such as `up links 2`. Whether there was such a list and entry."""
    act, _, rest = command.partition(" ")
    name, _, number = rest.partition(" ")
    for listing, entries, known_as in _lists(part, state, ""):
        if known_as == name:
            return _change(listing, entries, act, int(number) if number.isdecimal() else 0, zone)
    return False


def _change(part: ListPart, entries: list[ListEntry], act: str, place: int, zone: ZoneInfo) -> bool:
    if act == "add":
        if may_grow(part, entries, zone):
            entries.append(ListEntry(new_state(part, zone)))
        return True
    if place >= len(entries):
        return False
    if act == "remove":
        del entries[place]
    elif act == "up" and place > 0:
        entries.insert(place - 1, entries.pop(place))
    elif act == "down":
        entries.insert(place + 1, entries.pop(place))
    return True


def new_state(part: ListPart, zone: ZoneInfo) -> State:
    """A new entry, with its defaults."""
    return state_of(part.item, default_of(part.item), zone)


def default_of(part: Part) -> Any:
    if "default" in part.schema:
        return part.schema["default"]
    if isinstance(part, Group):
        return {key: default_of(each) for key, each in part.parts.items()}
    return MISSING


def may_grow(part: ListPart, entries: list[ListEntry], zone: ZoneInfo) -> bool:
    most = min(MAX_ENTRIES, MAX_ENTRIES if part.most is None else part.most)
    return len(entries) < most and size_of(entries) + size_of(new_state(part, zone)) < MAX_CONTROLS


def _lists(part: Part, state: State, name: str) -> Iterator[tuple[ListPart, list[ListEntry], str]]:
    if isinstance(part, Group):
        for key, each in part.parts.items():
            yield from _lists(each, state[key], name_below(name, key))
    elif isinstance(part, ListPart) and isinstance(state, list):
        yield part, state, name
        for place, entry in enumerate(state):
            yield from _lists(part.item, entry.state, f"{name}.{place}")
