"""Whether values fit a settings schema (contract section 6, "Settings")."""

from typing import Any, Final

from jsonschema.exceptions import ValidationError

from common.errors import ErrorDetail
from extensions.schemas.bounded import errors_of
from extensions.schemas.checking import problems_of_schema
from extensions.schemas.json_limits import problems_of_json
from extensions.schemas.metering import TooMuchWork
from extensions.schemas.paths import path_of
from extensions.schemas.reporting import TOO_MUCH, one_per_place
from extensions.schemas.tree import Schema, resolved
from extensions.schemas.words import words_of

# Of what may still be left out in a part of the values.
_MISSING: Final = ("required", "dependentRequired", "minProperties")


def problems_of_values(
    schema: Any, values: Any, path: str = "", *, partial: bool = False
) -> list[ErrorDetail]:
    """Everything wrong with values under a `settingsSchema`, each with its path below `path`; at most 100.

    `partial`: for a `defaultConfig`, which may leave out what is required, at every depth; what it holds must be
    valid. Under a schema that `problems_of_schema` refuses no values are valid.
    """
    if problems := problems_of_json(values, path, what="Settings"):
        return problems
    if not isinstance(values, dict):
        return [{"field": path, "message": "Must be an object."}]
    if problems_of_schema(schema, ""):
        return [{"field": path, "message": "The app's schema of these settings is not in order."}]
    return problems_of_plain(resolved(schema) | {"type": "object"}, values, path, partial=partial)


def problems_of_plain(schema: Schema, value: Any, path: str, *, partial: bool = False) -> list[ErrorDetail]:
    """The same for any value under a resolved schema that is in order."""
    try:
        errors = errors_of(schema, value)
    except TooMuchWork:
        return [{"field": path, "message": TOO_MUCH}]
    return one_per_place([_told(error, path) for error in errors if not partial or _stands(error)])


def _stands(error: ValidationError) -> bool:
    """Whether an error is about something that is there, not about what is missing.

    Of alternatives each must be wrong by itself.
    """
    if error.validator in _MISSING:
        return False
    if error.validator in ("anyOf", "oneOf") and error.context:
        wrong = {inner.schema_path[0] for inner in error.context if _stands(inner)}
        return wrong == {inner.schema_path[0] for inner in error.context}
    return True


def _told(error: ValidationError, path: str) -> ErrorDetail:
    return {
        "field": path_of(path, error.absolute_path),
        "message": words_of(error.validator, error.validator_value),
    }
