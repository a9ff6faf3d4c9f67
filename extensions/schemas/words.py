"""What is wrong with a value, in words for a merchant at a form and for a developer who reads a JSON path."""

import json
from collections.abc import Callable
from typing import Any, Final

from extensions.schemas.formats import FORMATS

REQUIRED: Final = "This field is required."
UNKNOWN: Final = "There is no such setting."

_TYPES: Final = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_SHOWN: Final = 200  # characters of a value that is quoted


def words_of(keyword: str | None, wanted: Any) -> str:
    """The sentence for a keyword that does not hold; `wanted` is the keyword's value in the schema."""
    if keyword in _SENTENCES:
        return _SENTENCES[keyword](wanted)
    return "This value is not allowed." if keyword in (None, "not") else f"Does not hold to “{keyword}”."


def _type(wanted: Any) -> str:
    names = wanted if isinstance(wanted, list) else [wanted]
    return f"Must be {_or([_TYPES.get(str(name), str(name)) for name in names])}."


def _enum(wanted: Any) -> str:
    return f"Must be {'one of ' if len(wanted) > 1 else ''}{_or([_shown(value) for value in wanted[:20]])}."


def _format(wanted: Any) -> str:
    return (
        f"Must be {FORMATS[wanted][1]}." if wanted in FORMATS else f"Must be in the format {_shown(wanted)}."
    )


def _count(words: str, singular: str, plural: str = "") -> Callable[[Any], str]:
    """`_count("Must have at least", "character")(3)`: Must have at least 3 characters."""
    return lambda wanted: f"{words} {_shown(wanted)} {singular if wanted == 1 else plural or singular + 's'}."


def _limit(words: str) -> Callable[[Any], str]:
    return lambda wanted: f"{words} {_shown(wanted)}."


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return text or "empty"


def _or(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}" if names else "nothing"


_SENTENCES: Final[dict[str | None, Callable[[Any], str]]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda wanted: f"Must be {_shown(wanted)}.",
    "format": _format,
    "pattern": lambda wanted: f"Must match the pattern {_shown(wanted)}.",
    "minLength": _count("Must have at least", "character"),
    "maxLength": _count("Must have at most", "character"),
    "minItems": _count("Must have at least", "entry", "entries"),
    "maxItems": _count("Must have at most", "entry", "entries"),
    "minProperties": _count("Must have at least", "property", "properties"),
    "maxProperties": _count("Must have at most", "property", "properties"),
    "minimum": _limit("Must be at least"),
    "maximum": _limit("Must be at most"),
    "exclusiveMinimum": _limit("Must be more than"),
    "exclusiveMaximum": _limit("Must be less than"),
    "multipleOf": _limit("Must be a multiple of"),
    "uniqueItems": lambda _: "Must not have the same entry twice.",
    "contains": lambda _: "Lacks an entry that it must have.",
    "minContains": lambda _: "Lacks an entry that it must have.",
    "maxContains": lambda _: "Has too many entries of one kind.",
    "anyOf": lambda _: "Has none of the forms that are allowed.",
    "oneOf": lambda _: "Has not exactly one of the forms that are allowed.",
    "propertyNames": lambda _: "This name is not allowed.",
    "dependentRequired": lambda _: REQUIRED,
    "required": lambda _: REQUIRED,
    "additionalProperties": lambda _: UNKNOWN,
    "unevaluatedProperties": lambda _: UNKNOWN,
    "items": lambda _: "Has too many entries.",
    "unevaluatedItems": lambda _: "Has too many entries.",
}
