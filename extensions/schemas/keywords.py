"""The published subset of JSON Schema Draft 2020-12: each keyword with the values that it accepts, and the formats that settings are checked for. Any
other `format` is a note, as JSON Schema says.

`docs/manifest.md`, "Settings schemas", has the same list for authors; contract, section 6, fixes it.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final
from urllib.parse import urlsplit

from jsonschema import FormatChecker

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


# --- Formats -----------------------------------------------------------------------------------------

# The jsonschema library's own checkers are not used: `color` is not among them, and its `uri` accepts `javascript:`.

MAX_URI: Final = 2048

_COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
_EMAIL: Final = re.compile(r"[^\s@<>()\[\],;:\\\"]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_NOT_IN_URI: Final = re.compile(r"[\s\\<>\"{}|^`\x00-\x1f\x7f]")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_color(text: str) -> bool:
    """`#rrggbb`, the value of `<input type="color">`."""
    return _COLOR.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """A web address: http or https, with a host. Other schemes may run script where a theme links them."""
    if len(text) > MAX_URI or _NOT_IN_URI.search(text):
        return False
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0


def moment(text: str) -> datetime:
    """A `date-time` (RFC 3339) as a datetime with its offset. Raises `ValueError`."""
    if not _MOMENT.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text.upper())


# What a text of each format must be, as the end of an error's sentence. A check gives a false value or raises
# `ValueError` for other texts.
FORMATS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "color": (is_color, "a color such as #1a2b3c"),
    "date-time": (moment, "a date and time with its offset, such as 2026-11-20T15:04:05Z"),
    "date": (lambda text: _DATE.fullmatch(text) and date.fromisoformat(text), "a date such as 2026-11-20"),
    "uri": (is_uri, "a web address that starts with http:// or https://"),
    "email": (lambda text: len(text) <= 320 and _EMAIL.fullmatch(text), "an e-mail address"),
    "ipv4": (IPv4Address, "an IPv4 address"),
    "ipv6": (lambda text: "%" not in text and IPv6Address(text), "an IPv6 address"),
    "uuid": (_UUID.fullmatch, "a UUID"),
}


def _checker() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name, (check, _) in FORMATS.items():
        checker.checks(name, raises=ValueError)(
            lambda value, check=check: not isinstance(value, str) or bool(check(value))
        )
    return checker


CHECKER: Final = _checker()
