"""Building JSON Schemas (Draft 2020-12) in which every part has its description and an example.

The wire's records, events and hooks are described with these, and the OpenAPI document is made of them. A named
field is always there unless it stands in `optional`; a field that may have no value says so by the type null.
Fields may be added later, so the schemas allow unknown ones.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def text(about: str, example: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, "examples": [example], **more}


def identifier(about: str, example: str) -> Schema:
    return text(f"{about} An opaque string.", example, minLength=1)


def moment(about: str, example: str = "2026-11-20T15:04:05.123Z") -> Schema:
    return text(f"{about} ISO 8601 in UTC.", example, format="date-time")


def one_of(about: str, names: Sequence[str], example: str) -> Schema:
    return text(about, example, enum=list(names))


def number(about: str, example: float, **more: Any) -> Schema:
    return {"type": "number", "description": about, "examples": [example], "minimum": 0, **more}


def integer(about: str, example: int, **more: Any) -> Schema:
    return {"type": "integer", "description": about, "examples": [example], **more}


def boolean(about: str, example: bool) -> Schema:
    return {"type": "boolean", "description": about, "examples": [example]}


def or_null(schema: Schema) -> Schema:
    """The same, or null. Where the values are listed, null joins them."""
    nullable = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def listing(about: str, items: Schema, **more: Any) -> Schema:
    example = list(items["examples"])
    return {"type": "array", "description": about, "items": items, "examples": [example], **more}


def shape(fields: Mapping[str, Schema], *, optional: Sequence[str] = (), about: str = "") -> Schema:
    """An object of these fields, the `optional` ones left out at will. Its example is made of theirs."""
    schema: Schema = {
        "type": "object",
        "properties": dict(fields),
        "required": [name for name in fields if name not in optional],
        "examples": [{name: field["examples"][0] for name, field in fields.items()}],
    }
    return {**schema, "description": about} if about else schema


def record(**fields: Schema) -> Schema:
    """An object that always has these fields."""
    return shape(fields)


def document(schema: Schema, **head: Any) -> Schema:
    """A schema that stands by itself: `head` are keywords such as `$id` and `title`."""
    return {"$schema": DRAFT, **head, **schema}
