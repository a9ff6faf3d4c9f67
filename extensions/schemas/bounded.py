"""The jsonschema library with its open ends closed.

Why this library and not a faster one: its keywords are plain functions that can be exchanged one by one, so that each
use can be paid for (`metering`) and none fetches, backtracks or compares everything with everything. An engine in
Rust is some hundred times faster, and has no such limit.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY

from extensions.schemas.formats import CHECKER
from extensions.schemas.metering import TEXT_PER_UNIT, metered, paid, spend
from extensions.schemas.patterns import matches
from extensions.schemas.tree import Schema

MAX_ERRORS: Final = 1000


def errors_of(schema: Any, value: Any) -> list[ValidationError]:
    """The library's errors without their messages, at most 1,000; no reference is fetched. Raises `TooMuchWork`."""
    validator = _BoundedValidator(schema, registry=REGISTRY)
    with metered():
        return list(islice(validator.iter_errors(value), MAX_ERRORS))


def _required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        yield from (_error_at(name) for name in names if name not in instance)


def _dependent_required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        lacking = {each for name in names if name in instance for each in names[name] if each not in instance}
        spend(sum(len(needed) for needed in names.values()))
        yield from (_error_at(name) for name in sorted(lacking))


def _error_at(name: str) -> ValidationError:
    """An error at the place of a property, which may be missing or too many."""
    error = ValidationError("")
    error.path.append(name)
    return error


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError("")


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for name in instance:
            if _matches(pattern, name):
                yield from validator.descend(instance[name], subschema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, subschema: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name in instance:
        if name not in named and not any(_matches(pattern, name) for pattern in patterns):
            yield from _at(name, validator, subschema, instance)


def _unevaluated_properties(
    validator: Any, subschema: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    rest = {name: value for name, value in schema.items() if name != "unevaluatedProperties"}
    evaluated = _evaluated(validator, instance, rest)
    for name in instance:
        if name not in evaluated:
            yield from _at(name, validator, subschema, instance)


def _at(name: str, validator: Any, subschema: Any, instance: Any) -> Iterator[ValidationError]:
    """The errors of one property; that there is none such is one error at its place."""
    if subschema is False:
        yield _error_at(name)
    else:
        yield from validator.descend(instance[name], subschema, path=name)


def _evaluated(validator: Any, instance: Any, schema: Any) -> set[str]:
    """The properties that a schema without references looks at (JSON Schema 2020-12 Core, 11.3)."""
    if not isinstance(schema, dict):
        return set()
    spend(1 + len(instance))
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    names = instance.keys() & schema.get("properties", {}).keys()
    names |= {
        name for name in instance for each in schema.get("patternProperties", {}) if _matches(each, name)
    }
    for branch in _applied(validator, instance, schema):
        names |= _evaluated(validator, instance, branch)
    return names


def _applied(validator: Any, instance: Any, schema: Schema) -> Iterator[Any]:
    """The subschemas that hold for the very instance."""

    def holds(each: Any) -> bool:
        return bool(validator.evolve(schema=each).is_valid(instance))

    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from (each for each in schema.get(keyword, []) if holds(each))
    yield from (each for name, each in schema.get("dependentSchemas", {}).items() if name in instance)
    if "if" in schema:
        condition = holds(schema["if"])
        if condition:
            yield schema["if"]
        yield schema.get("then" if condition else "else", True)


def _property_names(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    names = validator.evolve(schema=subschema)
    for name in instance:
        if not names.is_valid(name):
            yield from _at(name, validator, False, instance)


def _unique_items(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """By sorted texts, in place of comparing each entry with each other."""
    if unique and validator.is_type(instance, "array"):
        texts = [json.dumps(_canonical(entry), sort_keys=True) for entry in instance]
        spend(sum(map(len, texts)) // TEXT_PER_UNIT)
        if len(set(texts)) < len(texts):
            yield ValidationError("")


def _canonical(value: Any) -> Any:
    """1 and 1.0 are the same number to JSON Schema, 1 and true are not."""
    if isinstance(value, dict):
        return {name: _canonical(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_canonical(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _format(validator: Any, name: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(name, str) and not CHECKER.conforms(instance, name):
        yield ValidationError("")


def _matches(pattern: str, text: str) -> bool:
    spend(1 + len(text) // TEXT_PER_UNIT)
    return matches(pattern, text)


_EXCHANGED: Final = {
    "required": _required,
    "dependentRequired": _dependent_required,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "unevaluatedProperties": _unevaluated_properties,
    "propertyNames": _property_names,
    "uniqueItems": _unique_items,
    "format": _format,
}

_BoundedValidator: Final = extend(
    Draft202012Validator,
    {name: paid(keyword) for name, keyword in (Draft202012Validator.VALIDATORS | _EXCHANGED).items()},
)
