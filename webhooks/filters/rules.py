"""Which filters are accepted. Each problem has the path of what is wrong, such as `filter.all[0].op`."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from common.errors import ErrorDetail
from common.times import instant_of
from webhooks.catalogue import SUBSCRIBABLE
from webhooks.filters.fields import CHANGED, FIELD, MAX_FIELD, field_of, properties_of

MOST: Final = 8  # conditions, and names in `changed`
MOST_VALUES: Final = 50  # of `in`
MAX_TEXT: Final = 500  # characters of a value
OPS: Final = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "contains", "exists")
ORDERED: Final = ("gt", "gte", "lt", "lte")
KEYS: Final = ("all", "any", "changed")
CONDITION_KEYS: Final = ("field", "op", "value")

_PLAIN: Final = f"Must be text of at most {MAX_TEXT} characters, a number, true or false."
_ORDERED: Final = f"Must be a number, or text of at most {MAX_TEXT} characters."
_MOMENT: Final = "Must be an RFC 3339 time with an offset, such as 2026-11-20T15:04:05Z."


def problems_of(given: Any, events: Sequence[str], name: str = "filter") -> list[ErrorDetail]:
    """All problems of a filter for a webhook that names these events; none named: every event.

    `name` is what the caller calls the filter. Unknown names of events are left out, because another rule reports them.
    """
    if given is None:
        return []
    known = [each for each in events if each in SUBSCRIBABLE] or SUBSCRIBABLE
    return [{"field": path, "message": message} for path, message in _of_filter(given, known, name)]


Problems = Iterator[tuple[str, str]]


def _of_filter(given: Any, events: Collection[str], name: str) -> Problems:
    if not isinstance(given, dict):
        yield name, "Must be an object with all or any, and changed; or null for no filter."
        return
    yield from _unknown(given, KEYS, name)
    if "all" in given and "any" in given:
        yield name, "Use all or any, not both."
    elif not any(key in given for key in KEYS):
        yield name, "Give conditions in all or any, or names of fields in changed."
    for key in ("all", "any"):
        if key in given:
            yield from _of_conditions(given[key], events, f"{name}.{key}")
    if "changed" in given:
        yield from _of_changed(given["changed"], events, f"{name}.changed")


def _unknown(given: Mapping[str, Any], keys: Sequence[str], name: str) -> Problems:
    for key in given:
        if key not in keys:
            yield f"{name}.{key[:MAX_FIELD]}", f"Unknown key. Keys are: {', '.join(keys)}."


def _of_conditions(given: Any, events: Collection[str], name: str) -> Problems:
    if not isinstance(given, list) or not 1 <= len(given) <= MOST:
        yield name, f"Must be a list of 1 to {MOST} conditions."
        return
    for number, condition in enumerate(given):
        yield from _of_condition(condition, events, f"{name}[{number}]")


def _of_condition(given: Any, events: Collection[str], name: str) -> Problems:
    if not isinstance(given, dict):
        yield name, "Must be an object with field, op and value."
        return
    yield from _unknown(given, CONDITION_KEYS, name)
    field, op = given.get("field"), given.get("op")
    if problem := _why_no_field(field, events):
        yield f"{name}.field", problem
    if op not in OPS:
        yield f"{name}.op", f"Must be one of: {', '.join(OPS)}."
        return
    fields = () if problem else [found for each in events if (found := field_of(each, str(field)))]
    yield from _of_value(given, str(op), f"{name}.value", of_moments=any(each.is_moment for each in fields))


def _why_no_field(given: Any, events: Collection[str]) -> str:
    if not isinstance(given, str) or len(given) > MAX_FIELD or not FIELD.fullmatch(given):
        return (
            f"Must be names of letters, digits and _, joined by dots, with [] behind an array's name; at most {MAX_FIELD} "
            "characters."
        )
    if not any(field_of(each, given) for each in events):
        return f"{given} is no field of the data of {_any_of(events)}."
    return ""


def _any_of(events: Collection[str]) -> str:
    return "any event" if len(events) == len(SUBSCRIBABLE) else " or ".join(events)


def _of_value(condition: Mapping[str, Any], op: str, name: str, *, of_moments: bool) -> Problems:
    value = condition.get("value")
    if op == "exists":
        if not isinstance(condition.get("value", True), bool):
            yield name, "Must be true or false. Left out it is true."
    elif "value" not in condition:
        yield name, f"Is required for {op}."
    elif op == "in":
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_VALUES:
            yield name, f"Must be a list of 1 to {MOST_VALUES} values."
            return
        for number, each in enumerate(value):
            yield from _of_single(each, f"{name}[{number}]", _PLAIN, of_moments=of_moments)
    elif value is None:
        yield name, "Must not be null. For what is missing, use exists with false."
    elif op in ORDERED and isinstance(value, bool):
        yield name, _ORDERED
    else:
        yield from _of_single(value, name, _ORDERED if op in ORDERED else _PLAIN, of_moments=of_moments)


def _of_single(value: Any, name: str, message: str, *, of_moments: bool) -> Problems:
    if not _is_single(value):
        yield name, message
    elif of_moments and not _is_moment(value):
        yield name, _MOMENT


def _is_single(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_TEXT
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _is_moment(value: Any) -> bool:
    try:
        instant_of(value)
    except (TypeError, ValueError):
        return False
    return True


def _of_changed(given: Any, events: Collection[str], name: str) -> Problems:
    if not isinstance(given, list) or not 1 <= len(given) <= MOST:
        yield name, f"Must be a list of 1 to {MOST} names."
        return
    telling = [each for each in events if CHANGED in properties_of(each)]
    known = {field for each in telling for field in properties_of(each)}
    for number, field in enumerate(given):
        if not isinstance(field, str) or field not in known:
            yield f"{name}[{number}]", _why_not_changed(telling)


def _why_not_changed(telling: Sequence[str]) -> str:
    if not telling:
        return f"None of the webhook's events has {CHANGED}."
    return f"Must be the name of a field on the outside of the data of {' or '.join(telling)}."
