"""Whether an event passes a filter, and which condition stops it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any, Final

import orjson

from common.times import instant_of
from webhooks.catalogue import ERASURES, WEBHOOK_TEST
from webhooks.filters.fields import CHANGED, Field, Step, field_of, steps_of

Data = Mapping[str, Any]

ALWAYS_SENT: Final = (*ERASURES, WEBHOOK_TEST)
# Filters that are kept parsed: those of one event's webhooks are read again with the next event.
KEPT: Final = 2048
LONGEST_KEPT: Final = 4096  # characters

_KINDS: Final[Mapping[type, str]] = {bool: "boolean", int: "number", float: "number", str: "text"}
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


class Judged:
    """An event with this `data`, which is as its JSON text says. The values at a path are looked for once, for all filters."""

    def __init__(self, event_type: str, data: Data) -> None:
        self.data = data
        self._type = event_type
        self._at: dict[str, tuple[Field | None, Sequence[Any]]] = {}

    def at(self, path: str, steps: Sequence[Step]) -> tuple[Field | None, Sequence[Any]]:
        """The field in the event's schema, None where that has no such field; and the values there."""
        there = self._at.get(path)
        if there is None:
            field = field_of(self._type, path)
            there = self._at[path] = field, list(_found(self.data, steps)) if field else ()
        return there


@dataclass(frozen=True, slots=True)
class Condition:
    field: str
    op: str
    value: Any
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        """`amount gt 100`: a text as it is, anything else as JSON."""
        value = self.value if isinstance(self.value, str) else orjson.dumps(self.value).decode()
        return f"{self.field} {self.op} {value}"

    def holds(self, event: Judged) -> bool:
        field, found = event.at(self.field, self.steps)
        if field is None:
            return False
        if self.op == "exists":
            return bool(found) is self.value
        for each in found:  # noqa: SIM110 - `any` takes twice as long for one value
            if _holds(self.op, each, self.value, of_moments=field.is_moment):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Filter:
    conditions: Sequence[Condition]
    of_all: bool
    changed: Sequence[str]

    def passes(self, event: Judged) -> bool:
        if self.changed and not self._has_changed(event):
            return False
        for each in self.conditions:
            if each.holds(event) is not self.of_all:
                return not self.of_all
        return self.of_all

    def stopped_by(self, event: Judged) -> str:
        """The condition that stops the event, or all of which one had to hold. Empty if it passes."""
        if self.passes(event):
            return ""
        if self.changed and not self._has_changed(event):
            return f"changed {', '.join(self.changed)}"
        if self.of_all:
            return next(str(each) for each in self.conditions if not each.holds(event))
        return " or ".join(map(str, self.conditions))

    def _has_changed(self, event: Judged) -> bool:
        names = event.data.get(CHANGED)
        return not isinstance(names, list) or not set(self.changed).isdisjoint(names)


def words_of(filter_text: str) -> str:
    """A filter for people: `amount gte 100 and deliveryMethod eq PICKUP`."""
    found = parsed(filter_text)
    words = (" and " if found.of_all else " or ").join(map(str, found.conditions))
    changed = [f"changed {', '.join(found.changed)}"] if found.changed else []
    return "; ".join(filter(None, [words, *changed]))


def passed(filter_texts: Collection[str], event_type: str, data: Data) -> set[str]:
    """The filters that let an event with this `data` pass, which is as its JSON text says."""
    if event_type in ALWAYS_SENT:
        return set(filter_texts)
    event = Judged(event_type, data)
    return {each for each in filter_texts if parsed(each).passes(event)}


def stopped_by(filter_text: str | None, event_type: str, data: Data) -> str:
    """The condition that keeps an event from a webhook with this filter, as `field op value`. Empty if it passes."""
    if filter_text is None or event_type in ALWAYS_SENT:
        return ""
    return parsed(filter_text).stopped_by(Judged(event_type, data))


def parsed(filter_text: str) -> Filter:
    """A filter that `rules` accepted."""
    return _kept(filter_text) if len(filter_text) <= LONGEST_KEPT else _parsed(filter_text)


def _parsed(filter_text: str) -> Filter:
    document = orjson.loads(filter_text)
    of_all = "any" not in document
    conditions = document.get("all" if of_all else "any", ())
    return Filter(tuple(map(_condition, conditions)), of_all, tuple(document.get("changed", ())))


_kept = lru_cache(maxsize=KEPT)(_parsed)


def _condition(given: Mapping[str, Any]) -> Condition:
    return Condition(given["field"], given["op"], given.get("value", True), steps_of(given["field"]))


def _found(value: Any, steps: Sequence[Step]) -> Iterator[Any]:
    """What is at a path. Nothing where it is missing: not there, null, or an array without elements."""
    if value is None or value == []:
        return
    if not steps:
        yield value
        return
    (name, of_elements), *rest = steps
    part = value.get(name) if isinstance(value, dict) else None
    if not of_elements:
        yield from _found(part, rest)
    elif isinstance(part, list):
        for element in part:
            yield from _found(element, rest)


def _holds(op: str, found: Any, value: Any, *, of_moments: bool) -> bool:
    match op:
        case "eq":
            return _equal(found, value, of_moments=of_moments)
        case "ne":
            return not _equal(found, value, of_moments=of_moments)
        case "in":
            return any(_equal(found, each, of_moments=of_moments) for each in value)
        case "contains":
            return _contains(found, value)
    pair = _comparable(found, value, of_moments=of_moments)
    return pair is not None and not isinstance(pair[0], bool) and _ORDERS[op](*pair)


def _equal(found: Any, value: Any, *, of_moments: bool) -> bool:
    pair = _comparable(found, value, of_moments=of_moments)
    return pair is not None and bool(pair[0] == pair[1])


def _contains(found: Any, value: Any) -> bool:
    if isinstance(found, list):
        return any(_equal(each, value, of_moments=False) for each in found)
    return isinstance(found, str) and isinstance(value, str) and value in found


def _comparable(found: Any, value: Any, *, of_moments: bool) -> tuple[Any, Any] | None:
    """Two values of one kind, or None: others are unequal, and in no order.

    A boolean is no number. Python compares integers and floats exactly, and texts by their code points. Times of any offset and
    precision are compared as instants.
    """
    kind = _kind(found)
    if kind is None or kind != _kind(value):
        return None
    if not of_moments or kind != "text":
        return found, value
    try:
        return instant_of(found), instant_of(value)
    except ValueError:
        return None


def _kind(value: Any) -> str | None:
    return _KINDS.get(type(value))
