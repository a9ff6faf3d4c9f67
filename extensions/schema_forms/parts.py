"""What a settings form consists of: a part for each subschema, by the control that fits it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.utils.html import escape

from extensions.schema_forms import controls
from extensions.schemas.keywords import Schema

LONG_TEXT: Final = 160  # characters; what may be longer gets several lines
MAX_LABEL: Final = 200
MAX_CHOICES: Final = 1000


@dataclass(frozen=True)
class Part:
    schema: Schema
    label: str
    required: bool  # it must be there whenever what it belongs to is
    default: Any = controls.MISSING

    @property
    def help(self) -> str:
        """Escaped: a stranger wrote the description."""
        description = self.schema.get("description")
        return str(escape(description)) if isinstance(description, str) else ""


@dataclass(frozen=True)
class Leaf(Part):
    def control(self, *, zone: ZoneInfo, kept: Any = controls.MISSING) -> controls.Control:
        return control_of(self, zone=zone, kept=kept)

    @property
    def is_boolean(self) -> bool:
        return _type(self.schema) == "boolean" and "enum" not in self.schema


@dataclass(frozen=True)
class Group(Part):
    parts: dict[str, Part] = field(default_factory=dict)


@dataclass(frozen=True)
class ListPart(Part):
    """`item` is each entry. Where the list is too long for a form, `as_leaf` is its JSON text field."""

    item: Part = field(kw_only=True)

    @property
    def as_leaf(self) -> Leaf:
        return Leaf({"description": self.schema.get("description")}, self.label, self.required, self.default)

    @property
    def most(self) -> int | None:
        most = self.schema.get("maxItems")
        return most if isinstance(most, int) else None


def part_of(
    schema: Any, *, label: str, required: bool, inside_required: bool = True, default: Any = controls.MISSING
) -> Part:
    """The part for a resolved schema. `default` is what is in force where nothing is set."""
    schema = schema if isinstance(schema, dict) else {}
    title = schema.get("title")
    label = title.strip()[:MAX_LABEL] or label if isinstance(title, str) else label
    needed = required and inside_required
    if fields := _fields(schema):
        return Group(schema, label, needed, default, dict(_parts(schema, fields, needed, default)))
    if items := _items(schema):
        item = part_of(items, label="Entry", required=True)
        return ListPart(schema, label, needed, default, item=item)
    return Leaf(schema, label, needed, default)


def _parts(schema: Schema, fields: Schema, needed: bool, default: Any) -> Iterator[tuple[str, Part]]:
    wanted = schema.get("required")
    for name, each in fields.items():
        inner = default.get(name, controls.MISSING) if isinstance(default, dict) else controls.MISSING
        required = isinstance(wanted, list) and name in wanted
        yield (
            name,
            part_of(each, label=humanized(name), required=required, inside_required=needed, default=inner),
        )


def _fields(schema: Schema) -> Schema:
    """The properties of an object that has a form of its own."""
    fields = schema.get("properties")
    is_object = _type(schema) == "object" and not _choices(schema)
    return fields if is_object and isinstance(fields, dict) else {}


def _items(schema: Schema) -> Schema | None:
    """The schema of all entries of a list; None where there is none, or entries differ by place."""
    items = schema.get("items")
    if _type(schema) != "array" or "prefixItems" in schema or _choices(schema):
        return None
    return items if isinstance(items, dict) and items else None


def _type(schema: Schema) -> str:
    """The one type, null aside; none where there are several."""
    found = schema.get("type")
    names = [name for name in (found if isinstance(found, list) else [found]) if name != "null"]
    if len(names) == 1 and isinstance(names[0], str):
        return names[0]
    return "object" if found is None and isinstance(schema.get("properties"), dict) else ""


def _choices(schema: Schema) -> list[tuple[Any, str]]:
    """The values to choose from, with their names: of an `enum`, a `const`, or a `oneOf` of named constants."""
    if isinstance(values := schema.get("enum"), list):
        return [(value, _name_of(value)) for value in values[:MAX_CHOICES]]
    if "const" in schema:
        return [(schema["const"], _name_of(schema["const"]))]
    branches = schema.get("oneOf")
    if not isinstance(branches, list) or not all(
        isinstance(each, dict) and "const" in each for each in branches
    ):
        return []
    return [
        (each["const"], str(each.get("title") or _name_of(each["const"]))[:MAX_LABEL]) for each in branches
    ]


def _name_of(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "Yes", False: "No", None: "None"}[value]
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:MAX_LABEL] or "Empty"


def humanized(name: str) -> str:
    """`accentColor` and `accent_color`: Accent color."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").split()
    said = " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words)
    return (said[:1].upper() + said[1:])[:MAX_LABEL] or "Setting"


def control_of(part: Leaf, *, zone: ZoneInfo, kept: Any) -> controls.Control:
    """The field for a part that is one control."""
    schema, kind = part.schema, _type(part.schema)
    about: dict[str, Any] = {"label": part.label, "help_text": part.help, "required": part.required}
    if choices := _choices(schema):
        return _select(part, choices, about)
    if kind == "boolean":
        return controls.CheckControl(**about)
    if kind in ("number", "integer"):
        return controls.NumberControl(whole=kind == "integer", widget=_number_widget(schema, kind), **about)
    if kind != "string":
        about["help_text"] += f"{' ' if part.help else ''}Written as JSON."
        return controls.JsonControl(
            widget=forms.Textarea({"class": "code-text", "rows": 4, "spellcheck": "false"}), **about
        )
    if schema.get("format") == "color":
        return controls.ColorControl(widget=controls.ColorWidget(may_be_none=not part.required), **about)
    if schema.get("format") == "date-time":
        about["help_text"] += f"{' ' if part.help else ''}Time zone: {zone.key}."
        return controls.MomentControl(zone=zone, kept=kept, widget=_input("datetime-local"), **about)
    return _text(part, about)


def _select(part: Leaf, choices: list[tuple[Any, str]], about: dict[str, Any]) -> controls.Control:
    texts = [value if isinstance(value, str) and value else json.dumps(value) for value, _ in choices]
    if len(set(texts)) < len(texts):  # "1" and 1
        texts = [json.dumps(value) for value, _ in choices]
    shown = [(text, name) for text, (_, name) in zip(texts, choices, strict=True)]
    values = {text: value for text, (value, _) in zip(texts, choices, strict=True)}
    if not part.required or part.default is controls.MISSING:
        shown.insert(0, ("", "Choose" if part.required else "Not set"))
    return controls.ChoiceControl(values=values, choices=shown, **about)


def _text(part: Leaf, about: dict[str, Any]) -> controls.Control:
    schema = part.schema
    kind = {"uri": "url", "email": "email", "date": "date"}.get(str(schema.get("format")), "text")
    keeps_empty = kind == "text" and not part.required and part.default not in (controls.MISSING, "")
    if kind != "text":
        return controls.TextControl(widget=_input(kind), **about)
    most = schema.get("maxLength")
    is_long = isinstance(most, int) and most > LONG_TEXT
    if not is_long and not (isinstance(part.default, str) and "\n" in part.default):
        return controls.TextControl(keeps_empty=keeps_empty, widget=forms.TextInput(), **about)
    made = controls.TextControl(
        keeps_empty=keeps_empty, strip=False, widget=forms.Textarea({"rows": 4}), **about
    )
    made.max_length = most if is_long else None  # for the counter beneath it; the schema checks
    return made


def _number_widget(schema: Schema, kind: str) -> forms.Widget:
    """The limits help the browser's arrows; the server's check is the schema's."""
    limits = {"min": schema.get("minimum"), "max": schema.get("maximum")}
    step = schema.get("multipleOf", 1 if kind == "integer" else "any")
    return _input("number", step=step, **{name: value for name, value in limits.items() if value is not None})


def _input(kind: str, **attrs: Any) -> forms.Widget:
    widget = forms.TextInput(attrs)
    widget.input_type = kind
    return widget
