"""Where a schema's subschemas are, what its references mean, and the same schema without any.

A subschema is named by its location: the steps of a JSON pointer, `("properties", "color")`.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from extensions.schemas.json_limits import problems_of_json

Schema = dict[str, Any]
Location = tuple[str, ...]

MAX_LEVELS: Final = 8  # contract section 6
MAX_PROPERTIES: Final = 100  # contract section 6; a property used by two references counts twice
MAX_SUBSCHEMAS: Final = 1000  # likewise
MAX_CHAIN: Final = 100  # schemas within schemas and references behind references

# The keywords of Draft 2020-12 that hold one schema, a list of them, and schemas by name.
ONE: Final = (
    "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
    "not", "if", "then", "else", "contentSchema",
)  # fmt: skip
SEVERAL: Final = ("prefixItems", "allOf", "anyOf", "oneOf")
NAMED: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
SHELVES: Final = ("$defs", "definitions")  # hold schemas that apply only where a reference names them
IN_PLACE: Final = (
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
)  # no level deeper

ABOUT: Final = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly")
_IDENTITY: Final = (
    "$ref",
    "$id",
    "$schema",
    "$anchor",
    "$comment",
    "$vocabulary",
    "$dynamicRef",
    "$dynamicAnchor",
)


class Child(NamedTuple):
    """A subschema below another: the steps to it, and the keyword that holds it."""

    steps: Location
    schema: Any

    @property
    def keyword(self) -> str:
        return self.steps[0]


def children(schema: Any) -> Iterator[Child]:
    """The subschemas directly in a schema. What has not the form of one is left out."""
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword in ONE:
            yield Child((keyword,), value)
        elif keyword in SEVERAL and isinstance(value, list):
            yield from (Child((keyword, str(place)), each) for place, each in enumerate(value))
        elif keyword in NAMED and isinstance(value, dict):
            yield from (Child((keyword, name), each) for name, each in value.items())


class Document:
    """A whole schema with all locations in it; nested no deeper than `json_limits` allows."""

    def __init__(self, root: Any) -> None:
        self.schemas: dict[Location, Any] = {}
        self._anchors: dict[str, Location] = {}
        self._read((), root)

    def _read(self, location: Location, schema: Any) -> None:
        if not isinstance(schema, dict | bool):
            return
        self.schemas[location] = schema
        if isinstance(schema, dict) and isinstance(anchor := schema.get("$anchor"), str):
            self._anchors.setdefault(anchor, location)
        for child in children(schema):
            self._read(location + child.steps, child.schema)

    def target(self, reference: Any) -> Location | None:
        """The location that a `$ref` names; None where it leads out of the document or to no schema."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment)
        steps = fragment.split("/")[1:]
        location = tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)
        return location if location in self.schemas else None

    def reference_of(self, location: Location) -> Location | None:
        """Where the `$ref` of a schema leads, if it has one that leads anywhere."""
        schema = self.schemas[location]
        return self.target(schema.get("$ref")) if isinstance(schema, dict) else None


class Size(NamedTuple):
    """How large a schema is with every reference replaced by what it names."""

    levels: int = 0
    properties: int = 0
    subschemas: int = 1


class Measure:
    """Sizes of a document's schemas. Each location is looked at once, however many references lead to it: a fan
    of references costs nothing here. `loops` are the locations whose `$ref` leads back to themselves, `ends` those
    where following went on for too long.
    """

    def __init__(self, document: Document) -> None:
        self.loops: list[Location] = []
        self.ends: list[Location] = []
        self._document = document
        self._sizes: dict[Location, Size] = {}
        self._open: set[Location] = set()

    def of(self, location: Location) -> Size:
        if location not in self._sizes:
            self._open.add(location)
            self._sizes[location] = self._measured(location)
            self._open.discard(location)
        return self._sizes[location]

    def _measured(self, location: Location) -> Size:
        schema = self._document.schemas[location]
        if len(self._open) > MAX_CHAIN:
            self.ends.append(location)
            return Size()
        parts: list[tuple[int, Size]] = []
        for child in children(schema):
            below = location + child.steps
            if child.keyword not in SHELVES and below in self._document.schemas:
                parts.append((child.keyword not in IN_PLACE, self.of(below)))
        target = self._document.reference_of(location)
        if target in self._open:
            self.loops.append(location)
        elif target is not None:
            parts.append((0, self.of(target)))
        return Size(
            levels=max((step + size.levels for step, size in parts), default=0),
            properties=len(_properties(schema)) + sum(size.properties for _, size in parts),
            subschemas=1 + sum(size.subschemas for _, size in parts),
        )


def _properties(schema: Any) -> dict[str, Any]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def resolved(schema: Any) -> Schema:
    """The schema with each `$ref` replaced by what it names: a tree of at most `MAX_SUBSCHEMAS` schemas.

    Never fails. What `problems_of_schema` would refuse (a loop, a reference to nowhere, one that is too large)
    becomes `{}`, which takes any value.
    """
    if not isinstance(schema, dict) or problems_of_json(schema, "", what="A schema"):
        return {}
    found = _Resolving(Document(schema)).schema_at((), ())
    return found if isinstance(found, dict) else {}


class _Resolving:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = MAX_SUBSCHEMAS

    def schema_at(self, location: Location, on_the_way: tuple[Location, ...]) -> Any:
        """The schema at a location; `on_the_way` are those whose references led here."""
        schema = self._document.schemas.get(location, {})
        self._left -= 1
        if isinstance(schema, bool):
            return schema
        if self._left < 0 or location in on_the_way or len(on_the_way) > MAX_CHAIN:
            return {}
        found = {name: value for name, value in schema.items() if name not in (*_IDENTITY, *SHELVES)}
        for keyword in found.keys() & {*ONE, *SEVERAL, *NAMED}:
            found[keyword] = self._below(location, found[keyword], keyword, (*on_the_way, location))
        if "$ref" not in schema:
            return found
        target = self._document.reference_of(location)
        named = {} if target is None else self.schema_at(target, (*on_the_way, location))
        return _joined(named, found)

    def _below(self, location: Location, value: Any, keyword: str, on_the_way: tuple[Location, ...]) -> Any:
        """What a keyword holds: a schema, a list of them, or schemas by name."""

        def resolve(*steps: str) -> Any:
            return self.schema_at((*location, keyword, *steps), on_the_way)

        if keyword in ONE:
            return resolve()
        if keyword in SEVERAL and isinstance(value, list):
            return [resolve(str(place)) for place in range(len(value))]
        return {name: resolve(name) for name in value} if isinstance(value, dict) else value


def _joined(named: Any, beside: Schema) -> Any:
    """What a reference names, and what stands beside it: words and defaults there replace those of the named."""
    if isinstance(named, dict) and all(name in ABOUT for name in beside):
        return named | beside
    return beside | {"allOf": [*beside.get("allOf", []), named]}
