"""The published subset of JSON Schema Draft 2020-12: each keyword with the values that it accepts.

`docs/manifest.md`, "Settings schemas", has the same list for authors; contract, section 6, fixes it.
"""

from collections.abc import Iterator
from typing import Any, Final

Schema = dict[str, Any]
Steps = tuple[str | int, ...]
Problem = tuple[Steps, str]  # where, and a sentence

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")

_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_NUMBER: Final[Schema] = {"type": "number"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_LIST: Final[Schema] = {"type": "array"}
_NAMES: Final[Schema] = {"type": "array", "items": _TEXT, "uniqueItems": True}
_SCHEMA: Final[Schema] = {"type": ["object", "boolean"]}
_SCHEMAS: Final[Schema] = {"type": "array", "items": _SCHEMA, "minItems": 1}
_NAMED_SCHEMAS: Final[Schema] = {"type": "object", "additionalProperties": _SCHEMA}

KEYWORDS: Final[dict[str, Schema]] = {
    "$ref": _TEXT, "$defs": _NAMED_SCHEMAS, "$comment": _TEXT,
    "type": {"anyOf": [{"enum": TYPES}, {"type": "array", "items": {"enum": TYPES}, "minItems": 1}]},
    "enum": _LIST, "const": {},
    "title": _TEXT, "description": _TEXT, "default": {}, "examples": _LIST,
    "readOnly": _FLAG, "writeOnly": _FLAG, "deprecated": _FLAG,
    "properties": _NAMED_SCHEMAS, "required": _NAMES, "additionalProperties": _SCHEMA,
    "minProperties": _COUNT, "maxProperties": _COUNT,
    "items": _SCHEMA, "prefixItems": _SCHEMAS, "minItems": _COUNT, "maxItems": _COUNT, "uniqueItems": _FLAG,
    "format": _TEXT, "pattern": _TEXT, "minLength": _COUNT, "maxLength": _COUNT,
    "minimum": _NUMBER, "maximum": _NUMBER, "exclusiveMinimum": _NUMBER, "exclusiveMaximum": _NUMBER,
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "anyOf": _SCHEMAS, "oneOf": _SCHEMAS, "allOf": _SCHEMAS, "not": _SCHEMA,
}  # fmt: skip
ROOT_KEYWORDS: Final[dict[str, Schema]] = {"$schema": {"enum": [DIALECT, f"{DIALECT}#"]}, "$id": _TEXT}

ANNOTATIONS: Final = ("title", "description", "default", "examples", "readOnly", "writeOnly", "deprecated")
IN_PLACE: Final = ("$ref", "allOf", "anyOf", "oneOf", "not")  # describe the value itself: no level deeper


def children(schema: Schema) -> Iterator[tuple[Steps, Any]]:
    """The subschemas directly in a schema, each with the steps to it. Malformed keywords have none."""
    for keyword, value in schema.items():
        kind = KEYWORDS.get(keyword)
        if kind is _SCHEMA:
            yield (keyword,), value
        elif kind is _SCHEMAS and isinstance(value, list):
            yield from (((keyword, index), each) for index, each in enumerate(value))
        elif kind is _NAMED_SCHEMAS and isinstance(value, dict):
            yield from (((keyword, name), each) for name, each in value.items())
