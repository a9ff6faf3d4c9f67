"""Whether a `settingsSchema` is one that the platform takes (contract section 6, "Manifest")."""

from collections.abc import Iterator
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from common.errors import ErrorDetail
from extensions.schemas.bounded import errors_of
from extensions.schemas.json_limits import problems_of_json
from extensions.schemas.metering import TooMuchWork
from extensions.schemas.paths import path_of
from extensions.schemas.patterns import InvalidPattern, compiled
from extensions.schemas.reporting import TOO_MUCH, one_per_place
from extensions.schemas.tree import (
    MAX_LEVELS,
    MAX_PROPERTIES,
    MAX_SUBSCHEMAS,
    Document,
    Location,
    Measure,
    Schema,
)
from extensions.schemas.words import words_of

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

MAX_PATTERNS: Final = 100

REMOTE: Final = "Leads out of this schema. Use a $ref that starts with #/ and stays in it."
NOWHERE: Final = "Leads to no schema. Name one that is in this settingsSchema, such as #/$defs/color."
TOO_LONG: Final = "Is at the end of too many references."
RECURSIVE: Final = "Leads back to itself. A settings form can't go on for ever."
DYNAMIC: Final = "Is not supported: say with a $ref what is meant."
INNER_ID: Final = "Is only allowed at the top of the schema."


def problems_of_schema(schema: object, path: str = "settingsSchema") -> list[ErrorDetail]:
    """Everything wrong with a settings schema, each with its path below `path`; at most 100.

    It must be a valid Draft 2020-12 schema of type object (without `type` it counts as one), of at most 64 KiB,
    8 levels and 100 properties, with patterns that can be matched in linear time and only such references as stay
    in it and do not lead back to themselves. Bounded in time and memory, whatever is given.
    """
    if not isinstance(schema, dict):
        return [{"field": path, "message": "Must be a JSON Schema: an object."}]
    if problems := problems_of_json(schema, path, what="A schema"):
        return problems
    document = Document(schema)
    if len(document.schemas) > MAX_SUBSCHEMAS:
        return [{"field": path, "message": _too_many(len(document.schemas), MAX_SUBSCHEMAS, "subschemas")}]
    problems = [*_malformed(schema, path), *_not_an_object(schema, path)]
    for location, part in document.schemas.items():
        if isinstance(part, dict):
            problems += _forbidden(document, location, part, path)
    problems += _bad_patterns(document, path)
    problems += _too_large(document, path)
    return one_per_place(problems)


def _malformed(schema: Schema, path: str) -> Iterator[ErrorDetail]:
    """What the metaschema says, which is checked by the same bounded validator."""
    try:
        for error in errors_of(Draft202012Validator.META_SCHEMA, schema):
            field = path_of(path, error.absolute_path)
            if error.validator != "format":  # patterns and references are looked at below
                yield {"field": field, "message": _words(error)}
    except TooMuchWork:
        yield {"field": path, "message": TOO_MUCH}


def _words(error: ValidationError) -> str:
    """Of alternatives, such as one type or a list of them: what the first asks for."""
    while error.context:
        error = error.context[0]
    return words_of(error.validator, error.validator_value)


def _not_an_object(schema: Schema, path: str) -> Iterator[ErrorDetail]:
    if schema.get("type", "object") not in ("object", ["object"]):
        yield {
            "field": path_of(path, ["type"]),
            "message": "Settings are an object: the type must be object.",
        }
    dialect = schema.get("$schema", DIALECT)
    if not isinstance(dialect, str) or dialect.rstrip("#") != DIALECT:
        yield {"field": path_of(path, ["$schema"]), "message": f"Must be {DIALECT}."}


def _forbidden(document: Document, location: Location, part: Schema, path: str) -> Iterator[ErrorDetail]:
    """Keywords that are valid in JSON Schema and refused here."""

    def problem(message: str, *steps: str) -> ErrorDetail:
        return {"field": _place(path, location, *steps), "message": message}

    if "$ref" in part and document.target(part["$ref"]) is None:
        is_local = isinstance(part["$ref"], str) and part["$ref"].startswith("#")
        yield problem(NOWHERE if is_local else REMOTE, "$ref")
    yield from (
        problem(DYNAMIC, name) for name in ("$dynamicRef", "$dynamicAnchor", "$recursiveRef") if name in part
    )
    if location:
        yield from (problem(INNER_ID, name) for name in ("$id", "$schema") if name in part)


def _bad_patterns(document: Document, path: str) -> Iterator[ErrorDetail]:
    found = [
        (pattern, _place(path, location, *steps))
        for location, part in document.schemas.items()
        for pattern, steps in _patterns(part)
    ]
    if len(found) > MAX_PATTERNS:
        yield {"field": path, "message": _too_many(len(found), MAX_PATTERNS, "patterns")}
    for pattern, place in found[:MAX_PATTERNS]:
        try:
            compiled(pattern)
        except InvalidPattern as invalid:
            yield {"field": place, "message": str(invalid)}


def _patterns(part: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not isinstance(part, dict):
        return
    if isinstance(part.get("pattern"), str):
        yield part["pattern"], ("pattern",)
    if isinstance(part.get("patternProperties"), dict):
        yield from ((pattern, ("patternProperties", pattern)) for pattern in part["patternProperties"])


def _too_large(document: Document, path: str) -> Iterator[ErrorDetail]:
    """Counted with each reference replaced by what it names; schemas that nothing refers to, too."""
    measure = Measure(document)
    sizes = [measure.of(location) for location in document.schemas]
    for location in measure.loops:
        yield {"field": _place(path, location, "$ref"), "message": RECURSIVE}
    for location in measure.ends[:1]:
        yield {"field": _place(path, location), "message": TOO_LONG}
    whole = sizes[0]
    if whole.levels > MAX_LEVELS:
        yield {"field": path, "message": f"Has {whole.levels} levels; at most {MAX_LEVELS} are allowed."}
    if whole.properties > MAX_PROPERTIES:
        yield {"field": path, "message": _too_many(whole.properties, MAX_PROPERTIES, "properties")}
    if whole.subschemas > MAX_SUBSCHEMAS:
        yield {"field": path, "message": _too_many(whole.subschemas, MAX_SUBSCHEMAS, "subschemas")}


def _too_many(count: int, most: int, things: str) -> str:
    shown = f"{count:,}" if count < 1_000_000 else "millions of"
    return f"Has {shown} {things}; at most {most:,} are allowed."


def _place(path: str, location: Location, *steps: str) -> str:
    """A location's steps are texts; the position in a list is shown as one."""
    lists = ("prefixItems", "allOf", "anyOf", "oneOf")
    shown = [
        int(step) if step.isdecimal() and before in lists else step
        for before, step in zip(("", *location), location, strict=False)
    ]
    return path_of(path, [*shown, *steps])
