"""The `default` of each part of a settings schema: it must fit its own part (contract, section 15, "What people typed")."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from jsonschema.exceptions import ValidationError

from extensions.schemas.keywords import Schema, children
from extensions.schemas.references import resolved
from extensions.schemas.validator import TooMuchWork, errors_of


def misfits(parts: Sequence[Schema]) -> dict[int, list[ValidationError]]:
    """The errors of defaults under their own resolved parts, by the place of the part. `absolute_path` begins with that place.

    What is required may be left out. All checks together have the work of one. Raises `TooMuchWork`.
    """
    found = defaultdict(list)
    for error in errors_of({"prefixItems": list(parts)}, [part["default"] for part in parts]):
        if is_present(error):
            found[int(error.absolute_path[0])].append(error)
    return found


def without_misfits(schema: object) -> Schema:
    """The resolved schema, without the defaults that don't fit.

    For manifests that were saved before these were refused: no merchant can save a form that is filled with them.
    """
    tree = resolved(schema)
    parts = list(_with_default(tree))
    try:
        for place in misfits(parts):
            del parts[place]["default"]
    except TooMuchWork:
        pass
    return tree


def is_present(error: ValidationError) -> bool:
    """Whether an error is about a value that is there. Of alternatives, each must be wrong by such a value."""
    if error.validator in ("required", "minProperties"):
        return False
    if error.validator in ("anyOf", "oneOf") and error.context:
        return _branches(error.context) == _branches(filter(is_present, error.context))
    return True


def _branches(errors: Iterable[ValidationError]) -> set[str | int]:
    """Which alternatives the errors are of. A `false` among them has no place: no value is right for it."""
    return {error.schema_path[0] for error in errors if error.schema_path}


def _with_default(tree: Schema) -> Iterator[Schema]:
    if "default" in tree:
        yield tree
    for _, part in children(tree):
        if isinstance(part, dict):
            yield from _with_default(part)
