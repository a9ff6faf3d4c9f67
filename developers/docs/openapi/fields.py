"""A JSON Schema as the rows of a table, for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from common.rest.schema import Schema

FORMATS = {
    "date-time": "ISO 8601 time",
    "date": "date",
    "uri": "URL",
    "email": "e-mail address",
    "binary": "file",
}
BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
    "maxLength": "at most {} characters",
}


@dataclass(frozen=True, slots=True)
class FieldRow:
    path: str  # `items[].quantity`
    kind: str  # `integer`, `string or null`, `list of objects`
    required: bool
    about: str
    bounds: list[str]
    values: list[str]


def resolved(schema: Schema, document: dict[str, Any]) -> Schema:
    """The schema without references: a `$ref` and the first of alternatives, which says most, put in its place."""
    for key in ("allOf", "oneOf", "anyOf"):
        if key in schema and "properties" not in schema:
            rest = {name: value for name, value in schema.items() if name != key}
            return resolved(schema[key][0], document) | rest
    if "$ref" not in schema:
        return schema
    return resolved(_named(schema["$ref"], document), document) | {
        key: value for key, value in schema.items() if key != "$ref"
    }


def _named(reference: str, document: dict[str, Any]) -> Schema:
    target: Any = document
    for step in reference.removeprefix("#/").split("/"):
        target = target[step]
    return cast(Schema, target)


def rows(schema: Schema, document: dict[str, Any], path: str = "") -> Iterator[FieldRow]:
    """Every field, those of objects and lists below their own, and those of all alternatives."""
    if isinstance(name := schema.get("$ref"), str) and "oneOf" in _named(name, document):
        schema = _named(name, document)
    if "oneOf" in schema and "properties" not in schema:
        for each in schema["oneOf"]:
            yield from rows(each, document, path)
        return
    schema = resolved(schema, document)
    for name, part in schema.get("properties", {}).items():
        here = f"{path}{name}"
        yield row(here, part, document, required=name in schema.get("required", ()))
        part = resolved(part, document)
        if "properties" in part:
            yield from rows(part, document, f"{here}.")
        elif "items" in part:
            yield from rows(part["items"], document, f"{here}[].")


def row(path: str, schema: Schema, document: dict[str, Any], *, required: bool) -> FieldRow:
    part = resolved(schema, document)
    allowed = part.get("enum") or resolved(part.get("items", {}), document).get("enum") or []
    values = [str(value) for value in allowed if value is not None]
    about = part.get("description", "")
    return FieldRow(path, _kind(part, document), required, about, _bounds(part), values)


def _kind(part: Schema, document: dict[str, Any]) -> str:
    kinds = part.get("type", "any")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    words = [str(FORMATS.get(part.get("format", ""), kind) if kind == "string" else kind) for kind in kinds]
    if "array" in words:
        inner = _kind(resolved(part["items"], document), document)
        words[words.index("array")] = f"list of {inner}{'' if ' ' in inner else 's'}"
    return " or ".join(words)


def _bounds(part: Schema) -> list[str]:
    found = [words.format(f"{part[key]:,}") for key, words in BOUNDS.items() if part.get(key)]
    return found if part.get("default") in (None, "") else [*found, f"default {part['default']}"]
