"""What is wrong with a `settingsSchema`, and with values under one (contract, section 6: "Manifest", "Settings")."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from common.errors import ErrorDetail
from extensions.json_documents import closest, path_of, problems_of_json, quoted
from extensions.schemas.keywords import DIALECT, KEYWORDS, ROOT_KEYWORDS, Problem, Schema, children
from extensions.schemas.messages import message_for, words_for_merchants
from extensions.schemas.references import MAX_SUBSCHEMAS, Resolution, resolved
from extensions.schemas.validator import InvalidPattern, TooMuchWork, compiled, errors_of

MAX_PROBLEMS: Final = 100
MAX_PATTERNS: Final = 100
TOO_MUCH_WORK: Final = "Takes too much work to check. Make the schema simpler."
UNSUPPORTED: Final = "Is not a keyword of settings schemas. The manifest guide lists those that are; one of your own begins with x-."
NO_SECRETS: Final = (
    "Settings can't hold secrets: the merchant's page shows them, and shoppers' browsers get those of blocks and embeds. "
    "Ask for secrets on an admin page of your app."
)
_VALUES: Final = KEYWORDS | ROOT_KEYWORDS
_NO_CONDITIONS: Final = (
    "Settings schemas have no conditions: show both settings, and say in the description when one counts."
)
# Keywords of earlier drafts and of OpenAPI, and those that JSON Schema has and settings schemas don't.
_INSTEAD: Final = {
    "definitions": "Write $defs.",
    "id": "Write $id, at the top of the schema only.",
    "additionalItems": "Write the first entries in prefixItems and the rest in items.",
    "enumNames": 'Write a oneOf of {"const": …, "title": …} for choices with labels.',
    "nullable": 'Name null as a type, such as "type": ["string", "null"].',
    **dict.fromkeys(
        ("if", "then", "else", "dependencies", "dependentRequired", "dependentSchemas"), _NO_CONDITIONS
    ),
}
# Of editors' extensions: alike to a keyword, and not meant for it.
_OF_EDITORS: Final = frozenset(
    (
        "markdownDescription", "enumDescriptions", "markdownEnumDescriptions", "deprecationMessage",
        "defaultSnippets", "allowComments", "propertyOrder",
    )
)  # fmt: skip
_LIST_OF_ITEMS: Final = (
    "Must be one schema for all entries. Write a list of schemas, one for each place, in prefixItems."
)
_OTHER_DRAFT: Final = (
    f"Must be {DIALECT}, or left out. An earlier draft is written differently: definitions are $defs, a list in items is "
    "prefixItems, and additionalItems beside it is items."
)


def problems_of_schema(schema: object, path: str = "settingsSchema") -> list[ErrorDetail]:
    """Everything wrong with a settings schema, each with its path below `path`; at most 100.

    Bounded in time and memory, whatever is given.
    """
    return _problems_of_form(schema, path) or _first_of_each_path(path, _of_defaults(schema))


def _problems_of_form(schema: object, path: str) -> list[ErrorDetail]:
    """Defaults that don't fit aside, which earlier manifests may have."""
    if not isinstance(schema, dict):
        return [{"field": path, "message": "Must be a JSON Schema: an object."}]
    return problems_of_json(schema, path, what="A schema") or _first_of_each_path(path, _problems(schema))


def problems_of_values(
    schema: Any, values: Any, path: str = "", *, partial: bool = False
) -> list[ErrorDetail]:
    """Everything wrong with values under a `settingsSchema`, each with its path below `path`; at most 100.

    `partial`: for a developer's `defaultConfig`, which may leave out what is required, at every depth; what it holds must be
    valid. Other values are a merchant's. Under a schema that `problems_of_schema` refuses, for other reasons than defaults, no values are valid.
    """
    if problems := problems_of_json(values, path, what="Settings"):
        return problems
    if not isinstance(values, dict):
        return [{"field": path, "message": "Must be an object."}]
    if _problems_of_form(schema, path):
        return [{"field": path, "message": "The app's settings schema is not valid."}]
    try:
        errors = errors_of(resolved(schema) | {"type": "object"}, values)
    except TooMuchWork:
        return [{"field": path, "message": TOO_MUCH_WORK}]
    wrong = [error for error in errors if not partial or is_present(error)]
    say = message_for if partial else words_for_merchants
    return _first_of_each_path(path, ((tuple(error.absolute_path), say(error)) for error in wrong))


def _first_of_each_path(path: str, problems: Iterable[Problem]) -> list[ErrorDetail]:
    found: dict[str, str] = {}
    for steps, message in problems:
        found.setdefault(path_of(path, steps), message)
        if len(found) == MAX_PROBLEMS:
            break
    return [{"field": field, "message": message} for field, message in found.items()]


def _problems(schema: Schema) -> Iterator[Problem]:
    resolution = Resolution(schema)
    yield from resolution.problems
    parts = {steps: part for steps, part in resolution.subschemas.items() if isinstance(part, dict)}
    if sum("pattern" in part for part in parts.values()) > MAX_PATTERNS:
        yield (), f"Has more than {MAX_PATTERNS} patterns."
    elif len(parts) <= MAX_SUBSCHEMAS:
        if schema.get("type", "object") not in ("object", ["object"]):
            yield ("type",), "Settings are an object: the type must be object."
        for steps, part in parts.items():
            found = (*_of_keywords(part, is_root=not steps), *_of_values(part))
            yield from (((*steps, *below), message) for below, message in found)


def _of_defaults(schema: Any) -> Iterator[Problem]:
    """The defaults that their own part refuses, in a schema that has no other problem."""
    resolution = Resolution(schema)
    parts = resolution.subschemas.items()
    places = [steps for steps, part in parts if isinstance(part, dict) and "default" in part]
    own = [resolution.resolved[steps] | ({} if steps else {"type": "object"}) for steps in places]
    try:
        for place, errors in misfits(own).items():
            for error in errors:
                yield (*places[place], "default", *list(error.absolute_path)[1:]), message_for(error)
    except TooMuchWork:
        yield (), TOO_MUCH_WORK


def _of_keywords(part: Schema, *, is_root: bool) -> Iterator[Problem]:
    for name in part:
        if name in ROOT_KEYWORDS and not is_root:
            yield (name,), "Is only allowed at the top of the schema."
        elif name not in _VALUES and not name.startswith("x-"):
            yield (name,), _unknown(name, part)


def _unknown(name: str, part: Schema) -> str:
    """A keyword that JSON Schema or an editor has is no misspelling of another one."""
    if name in _INSTEAD:
        return f"Unknown keyword. {_INSTEAD[name]}"
    if name in _OF_EDITORS or name in Draft202012Validator.VALIDATORS:
        return UNSUPPORTED
    meant = closest(name, [each for each in KEYWORDS if each not in part])
    return f"Unknown keyword. Did you mean {quoted(meant)}?" if meant else UNSUPPORTED


def _of_values(part: Schema) -> Iterator[Problem]:
    """What is wrong with what the keywords hold, subschemas aside."""
    try:
        for error in errors_of({"properties": _VALUES}, part):
            yield tuple(error.absolute_path), _message(error)
    except TooMuchWork:
        yield (), TOO_MUCH_WORK
    if part.get("format") == "password":
        yield ("format",), NO_SECRETS
    if isinstance(pattern := part.get("pattern"), str):
        try:
            compiled(pattern)
        except InvalidPattern as invalid:
            yield ("pattern",), str(invalid)


def _message(error: ValidationError) -> str:
    if list(error.absolute_path) == ["items"] and isinstance(error.instance, list):
        return _LIST_OF_ITEMS
    if list(error.absolute_path) == ["$schema"]:
        return _OTHER_DRAFT
    return message_for(_first_alternative(error))


def _first_alternative(error: ValidationError) -> ValidationError:
    return _first_alternative(error.context[0]) if error.context else error


# The `default` of each part of a settings schema: it must fit its own part (contract, section 15, "What people typed").


def misfits(parts: Sequence[Schema]) -> dict[int, list[ValidationError]]:
    """The errors of defaults under their own resolved parts, by the place of the part. `absolute_path` begins with that place.

    Required properties may be left out. All checks together have the work of one. Raises `TooMuchWork`.
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
