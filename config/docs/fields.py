"""A JSON Schema as the rows of a table, for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from common.json_schema import Schema
from config.docs.examples import resolved

FORMATS = {
    "date-time": "ISO 8601 time",
    "date": "date",
    "uri": "URL",
    "email": "e-mail address",
    "binary": "file",
}


@dataclass(frozen=True, slots=True)
class Row:
    path: str  # `items[].quantity`
    kind: str  # `integer`, `string or null`, `list of objects`
    required: bool
    about: str
    bounds: list[str]
    values: list[str]


def rows(schema: Schema, document: dict[str, Any], path: str = "") -> Iterator[Row]:
    """Every field, those of objects and lists beneath theirs."""
    schema = resolved(schema, document)
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        part = _of_several(resolved(part, document))
        here = f"{path}{name}"
        yield Row(here, _kind(part, document), name in required, part.get("description", ""),
                  _bounds(part), _values(part, document))  # fmt: skip
        if "properties" in part:
            yield from rows(part, document, f"{here}.")
        elif "items" in part:
            yield from rows(part["items"], document, f"{here}[].")


def _of_several(part: Schema) -> Schema:
    """The first of alternatives, which is the one that says most."""
    return {**part["oneOf"][0], **part} if "oneOf" in part else part


def _kind(part: Schema, document: dict[str, Any]) -> str:
    kinds = part.get("type", "any")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    words = [str(FORMATS.get(part.get("format", ""), kind) if kind == "string" else kind) for kind in kinds]
    if "array" in words:
        inner = _kind(resolved(part["items"], document), document)
        words[words.index("array")] = f"list of {inner}{'' if ' ' in inner else 's'}"
    return " or ".join(words)


def _bounds(part: Schema) -> list[str]:
    found = []
    for key, words in (
        ("minimum", "at least {}"), ("maximum", "at most {}"), ("minItems", "at least {} of them"),
        ("maxItems", "at most {} of them"), ("maxLength", "at most {} characters"),
    ):  # fmt: skip
        if part.get(key):
            found.append(words.format(f"{part[key]:,}"))
    if part.get("default") not in (None, ""):
        found.append(f"default {part['default']}")
    return found


def _values(part: Schema, document: dict[str, Any]) -> list[str]:
    allowed = part.get("enum") or resolved(part.get("items", {}), document).get("enum") or []
    return [str(value) for value in allowed if value is not None]
