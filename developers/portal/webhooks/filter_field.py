"""The form field of a filter: rows of field, operator and value, and the fields that must have changed.

The form makes the JSON of the developer API. A value is a number or a boolean where the data has one there, and text otherwise;
a value in quotes is always text, so that `""` is empty text, and one in brackets is JSON: `[1]` is the number where the data has text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import orjson
from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from webhooks.catalogue import SUBSCRIBABLE
from webhooks.filters import rules
from webhooks.filters.fields import CHANGED, MAX_FIELD, field_of, paths_of, properties_of

SHOWN: Final = 2  # rows at least; the others are behind "More conditions"
MAX_VALUE: Final = 30_000  # characters: 50 values of `in`
MAX_CHANGED: Final = 1_000
ALL, ANY = "all", "any"
OPS: Final[Mapping[str, str]] = {
    "eq": "is equal to",
    "ne": "is not equal to",
    "gt": "is greater than",
    "gte": "is at least",
    "lt": "is less than",
    "lte": "is at most",
    "in": "is one of",
    "contains": "contains",
    "exists": "is there",
}
_PATH: Final = re.compile(r"\.(?:all|any)\[(\d+)\](?:\.(\w+))?")


class Typed(dict[str, Any]):
    """What was typed: `mode`, `rows` of three texts, and `changed`."""


class FilterRows(forms.Widget):
    template_name = "developers/portal/webhooks/filter_rows.html"
    use_fieldset = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Typed:
        rows = [
            [data.get(f"{name}-{part}-{number}", "") for part in ("field", "op", "value")]
            for number in range(rules.MOST)
        ]
        return Typed(mode=data.get(f"{name}-mode", ALL), rows=rows, changed=data.get(f"{name}-changed", ""))

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return f"{name}-mode" not in data

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0" if id_ else ""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        typed = value if isinstance(value, Typed) else as_typed(value)
        rows = [row for row in typed["rows"] if row[0] or row[2]]
        shown = min(rules.MOST, max(SHOWN, len(rows) + 1))
        rows += [["", "eq", ""]] * (rules.MOST - len(rows))
        numbered = [
            {"number": number, "field": field, "op": op, "value": text}
            for number, (field, op, text) in enumerate(rows)
        ]
        return context | {
            "id": context["widget"]["attrs"].get("id", ""),
            "mode": typed["mode"],
            "changed": typed["changed"],
            "shown": numbered[:shown],
            "more": numbered[shown:],
            "ops": OPS.items(),
            "paths": _paths(),
            "changeable": _changeable(),
            "max_field": MAX_FIELD,
            "max_value": MAX_VALUE,
            "max_changed": MAX_CHANGED,
        }


class FilterField(forms.Field):
    """Its value is the JSON of a filter, or None where nothing is typed."""

    widget = FilterRows

    def to_python(self, value: Any) -> dict[str, Any] | None:
        return document_of(value) if isinstance(value, Typed) else value

    def validate(self, value: Any) -> None:
        """`check` does, which knows the events."""


def is_previewed(request: HttpRequest) -> bool:
    """Whether a form was sent by **Preview filter**, which saves nothing."""
    return request.method == "POST" and "preview" in request.POST


def check(form: forms.Form, name: str, events: Sequence[str]) -> None:
    """Add the problems of a form's filter for a webhook that lists these events; none listed: every event."""
    if name in form.errors:
        return
    for problem in rules.problems_of(form.cleaned_data[name], events, name):
        form.add_error(name, ValidationError(_in_words(problem["field"], problem["message"])))


def _in_words(path: str, message: str) -> str:
    """The path of a row as people count rows."""
    if found := _PATH.search(path):
        return f"Condition {int(found[1]) + 1}{f', {found[2]}' if found[2] else ''}: {message}"
    return f"Changed fields: {message}" if ".changed" in path else message


def document_of(typed: Typed) -> dict[str, Any] | None:
    """The filter that these rows say. Empty rows don't count."""
    conditions = [
        _condition(*map(str.strip, row)) for row in typed["rows"] if row[0].strip() or row[2].strip()
    ]
    changed = _names(typed["changed"])
    document: dict[str, Any] = (
        {typed["mode"] if typed["mode"] in (ALL, ANY) else ALL: conditions} if conditions else {}
    )
    return document | ({"changed": changed} if changed else {}) or None


def as_typed(document: Mapping[str, Any] | None) -> Typed:
    """The rows of a filter."""
    document = document or {}
    mode = ANY if ANY in document else ALL
    rows = [[each["field"], each["op"], _text_of(each)] for each in document.get(mode, ())]
    return Typed(mode=mode, rows=rows, changed=", ".join(document.get("changed", ())))


def _condition(field: str, op: str, text: str) -> dict[str, Any]:
    if not text:
        return {"field": field, "op": op}
    return {"field": field, "op": op, "value": _value_of(field, op, text)}


def _value_of(field: str, op: str, text: str) -> Any:
    if op == "exists":
        return {"true": True, "false": False}.get(text.lower(), text)
    if op != "in":
        return _single(field, text)
    listed = _json(text) if text.startswith("[") else None
    return listed if isinstance(listed, list) else [_single(field, each) for each in _names(text)]


def _single(field: str, text: str) -> Any:
    read = _json(text)
    if isinstance(read, list) and len(read) == 1:
        return read[0]
    if isinstance(read, str):
        return read
    if isinstance(read, bool):
        return read if _may_be(field, "boolean") else text
    if isinstance(read, int | float):
        return read if _may_be(field, "number", "integer") else text
    return text


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _names(text: str) -> list[str]:
    return [name for each in text.split(",") if (name := each.strip())]


def _text_of(condition: Mapping[str, Any]) -> str:
    """A value so that the same is read from it again: as it is, or else as JSON."""
    if "value" not in condition:
        return ""
    field, op, value = condition["field"], condition["op"], condition["value"]
    plain = ", ".join(map(_plain, value)) if isinstance(value, list) else _plain(value)
    ways = [plain, _written(value), f"[{_written(value)}]"]
    return next(
        each for each in ways if each and _written(_value_of(field, op, each.strip())) == _written(value)
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _written(value)


def _written(value: Any) -> str:
    return orjson.dumps(value).decode()


def _may_be(field: str, *types: str) -> bool:
    """Whether a field has one of these types in the data of some event. Fields of settings may have any."""
    kinds = [found for each in SUBSCRIBABLE if (found := field_of(each, field))]
    return not kinds or any(not kind.types or kind.types & set(types) for kind in kinds)


@cache
def _paths() -> Sequence[str]:
    return _sorted(path for event in SUBSCRIBABLE for path in paths_of(event))


@cache
def _changeable() -> Sequence[str]:
    telling = [each for each in SUBSCRIBABLE if CHANGED in properties_of(each)]
    return _sorted(name for event in telling for name in properties_of(event) if name != CHANGED)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names), key=str.lower))
