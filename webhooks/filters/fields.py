"""Which fields the data of each event has, by the JSON Schema that is published for it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from common.rest.schema import OperationSchema, Schema
from webhooks.catalogue import EVENTS

MAX_FIELD: Final = 100  # characters
FIELD: Final = re.compile(r"[A-Za-z0-9_]+(?:\[\])?(?:\.[A-Za-z0-9_]+(?:\[\])?)*")
CHANGED: Final = "changedFields"
# A merchant's settings have the schema of the app's manifest, which may change at any time.
FREE: Final = "settings"

Step = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Field:
    """A field in a schema. `types` are words of JSON Schema; none: anything."""

    types: frozenset[str] = frozenset()
    is_moment: bool = False
    values: tuple[str, ...] = ()


ANYTHING: Final = Field()


def steps_of(path: str) -> tuple[Step, ...]:
    """`items[].name` as `(("items", True), ("name", False))`: each name, and whether any element of an array is meant."""
    return tuple((name.removesuffix("[]"), name.endswith("[]")) for name in path.split("."))


@lru_cache(maxsize=4096)
def field_of(event_type: str, path: str) -> Field | None:
    """The field in the data of this event. None where its schema has no such field. `path` has the form of `FIELD`."""
    node = schema_of(event_type)
    for number, (name, of_elements) in enumerate(steps_of(path)):
        found = node.get("properties", {}).get(name)
        if found is None:
            return None
        if name == FREE and number == 0:
            return ANYTHING
        node = found
        if of_elements:
            if "array" not in _types(node):
                return None
            node = node.get("items", {})
    return Field(frozenset(_types(node)), node.get("format") == "date-time", _values(node))


def properties_of(event_type: str) -> list[str]:
    """The names on the outside of the data of this event."""
    return list(schema_of(event_type)["properties"])


def paths_of(event_type: str) -> list[str]:
    """Every field of the data of this event, in the schema's order. An array has two: itself, and its elements."""
    return list(_paths(schema_of(event_type), ""))


@cache
def schema_of(event_type: str) -> Schema:
    return OperationSchema().json_schema(EVENTS[event_type].data)


def _paths(node: Schema, before: str) -> Iterator[str]:
    for name, part in node.get("properties", {}).items():
        yield f"{before}{name}"
        yield from _paths(part, f"{before}{name}.")
        if "array" in _types(part):
            yield f"{before}{name}[]"
            yield from _paths(part.get("items", {}), f"{before}{name}[].")


def _types(node: Schema) -> list[str]:
    """Without null, which counts as missing."""
    types = node.get("type", [])
    found = [types] if isinstance(types, str) else list(types)
    for each in _alternatives(node):
        found += _types(each)
    return [each for each in found if each != "null"]


def _values(node: Schema) -> tuple[str, ...]:
    found = [each for each in node.get("enum", ()) if isinstance(each, str)]
    for each in _alternatives(node):
        found += _values(each)
    return tuple(found)


def _alternatives(node: Schema) -> list[Any]:
    return [each for key in ("allOf", "anyOf", "oneOf") for each in node.get(key, ())]
