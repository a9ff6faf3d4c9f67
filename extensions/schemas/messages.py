"""What is wrong with a value, in a sentence for merchants at a form and developers who read a JSON path."""

import json
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from extensions.schemas.keywords import FORMATS

REQUIRED: Final = "This field is required."
MAX_SHOWN: Final = 200  # characters of a value that is quoted

_TYPES: Final = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_COUNTS: Final = {
    "minLength": ("at least", "character", "characters"),
    "maxLength": ("at most", "character", "characters"),
    "minItems": ("at least", "entry", "entries"),
    "maxItems": ("at most", "entry", "entries"),
    "minProperties": ("at least", "property", "properties"),
    "maxProperties": ("at most", "property", "properties"),
}
_LIMITS: Final = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}
_SENTENCES: Final = {
    "required": REQUIRED,
    "additionalProperties": "There is no such setting.",
    "items": "Has too many entries.",
    "uniqueItems": "Must not have the same entry twice.",
    "anyOf": "Must fit one of the allowed forms.",
    "oneOf": "Must fit exactly one of the allowed forms.",
}


def words_for_merchants(error: ValidationError) -> str:
    """Like `message_for`, but of what can't be read without knowing regular expressions, what the schema says in words."""
    if error.validator != "pattern":
        return message_for(error)
    examples, description = (error.schema.get(name) for name in ("examples", "description"))
    if example := next((each for each in _listed(examples) if isinstance(each, str) and each), None):
        return f"Must look like {_shown(example)}."
    if isinstance(description, str) and description.strip():
        return f"Must be as described: {_shown(description.strip())}"
    return "Must be written as the app expects it."


def message_for(error: ValidationError) -> str:
    keyword, wanted = str(error.validator), error.validator_value
    if keyword in _COUNTS:
        limit, one, several = _COUNTS[keyword]
        return f"Must have {limit} {_shown(wanted)} {one if wanted == 1 else several}."
    if keyword in _LIMITS:
        return f"Must be {_LIMITS[keyword]} {_shown(wanted)}."
    match keyword:
        case "type":
            return f"Must be {_any_of([_TYPES.get(each, each) for each in _listed(wanted)])}."
        case "enum":
            return f"Must be {'one of ' if len(wanted) > 1 else ''}{_any_of(list(map(_shown, wanted[:20])))}."
        case "const":
            return f"Must be {_shown(wanted)}."
        case "format":
            return f"Must be {FORMATS[wanted][1]}."
        case "pattern":
            return f"Must match the pattern {_shown(wanted)}."
    return _SENTENCES.get(keyword, "This value is not allowed.")


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…") or "empty"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _any_of(names: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "nothing"
