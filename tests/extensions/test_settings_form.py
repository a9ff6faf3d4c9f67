"""Settings forms: a control for each kind of setting, lists without JavaScript, values in and out."""

from html.parser import HTMLParser
from typing import Any

import pytest

from extensions.schema_forms import SettingsForm, settings_form, settings_preview


def form_of(
    part: dict[str, Any], *, value: Any = None, sent: Any = None, zone: str = "UTC", required: bool = False
) -> SettingsForm:
    """A form with one setting, `a`."""
    schema = {"properties": {"a": part}} | ({"required": ["a"]} if required else {})
    kept = {} if value is None else {"a": value}
    return settings_form(schema, values=kept, timezone=zone, data=sent)


def value_of(form: SettingsForm) -> Any:
    assert form.is_valid(), form.errors
    return form.values.get("a", "left out")


class Controls(HTMLParser):
    """What a browser would send: the names and values of a page's controls, and the attributes of each."""

    def __init__(self, form: SettingsForm) -> None:
        super().__init__()
        self.attrs: dict[str, dict[str, str | None]] = {}
        self.buttons: list[str | None] = []
        self.feed(form.render())

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        attrs = dict(pairs)
        if tag == "button" and attrs.get("name") == ":do" and "disabled" not in attrs:
            self.buttons.append(attrs["value"])
        elif tag in ("input", "select", "textarea") and attrs.get("name"):
            self.attrs[str(attrs["name"])] = {"tag": tag, **attrs}

    @property
    def sent(self) -> dict[str, Any]:
        return {
            name: attrs.get("value") or ""
            for name, attrs in self.attrs.items()
            if name != ":shown"
            and attrs["tag"] == "input"
            and (attrs["type"] != "checkbox" or "checked" in attrs)
        }


@pytest.mark.spec(
    "Service interface, Extension manifest",
    "color, date-time, uri, text, number and boolean have their controls",
)
@pytest.mark.parametrize(
    ("part", "tag", "kind", "sent", "value"),
    [
        ({"type": "string", "format": "color"}, "input", "color", "#1a2b3c", "#1a2b3c"),
        ({"type": "string", "format": "date-time"}, "input", "datetime-local", "2026-11-20T15:04", "2026-11-20T15:04:00+00:00"),
        ({"type": "string", "format": "uri"}, "input", "url", "https://a.example/", "https://a.example/"),
        ({"type": "string"}, "input", "text", "Hello", "Hello"),
        ({"type": "string", "maxLength": 500}, "textarea", None, "one\r\ntwo", "one\ntwo"),
        ({"type": "number"}, "input", "number", "12.5", 12.5),
        ({"type": "number"}, "input", "number", "12.0", 12),
        ({"type": "integer"}, "input", "number", "-3", -3),
        ({"type": "boolean"}, "input", "checkbox", "on", True),
        ({"enum": ["s", "m"]}, "select", None, "m", "m"),
        ({"enum": [1, "1", None]}, "select", None, "1", 1),
        ({"oneOf": [{"const": 5, "title": "Five"}, {"const": 6}]}, "select", None, "6", 6),
        ({"type": ["string", "null"], "format": "email"}, "input", "email", "a@b.example", "a@b.example"),
        ({"type": "object"}, "textarea", None, '{"b": [1]}', {"b": [1]}),
        ({"type": "array"}, "textarea", None, "[1, null]", [1, None]),
        ({}, "textarea", None, '"x"', "x"),
    ],
)  # fmt: skip
def test_control_of_each_kind(
    part: dict[str, Any], tag: str, kind: str | None, sent: str, value: Any
) -> None:
    attrs = Controls(form_of(part)).attrs["a"]
    assert (attrs["tag"], attrs.get("type")) == (tag, kind)
    found = value_of(form_of(part, sent={"a": sent}))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "part",
    [{"type": "string"}, {"type": "integer"}, {"type": "string", "format": "date-time"}, {"type": "string", "format": "uri"}, {"enum": ["a"]}, {}],
)  # fmt: skip
def test_empty_is_left_out_or_asked_for(part: dict[str, Any]) -> None:
    assert value_of(form_of(part, sent={"a": ""}, value=None)) == "left out"
    form = form_of(part, sent={"a": ""}, required=True)
    assert not form.is_valid()
    assert form.errors["a"] == ["This field is required."]
    assert not form_of(part | {"default": "x"}, sent={"a": ""}, required=True).is_valid()


@pytest.mark.spec("Contract 6 Extensions", "Values are validated with the schema on the server")
@pytest.mark.parametrize(
    ("part", "sent", "message"),
    [
        ({"type": "string", "format": "uri"}, "javascript:alert(1)", "This field must be a web address that starts with http:// or https://."),
        ({"type": "string", "format": "color"}, "red", "This field must be a color such as #1a2b3c."),
        ({"type": "string", "format": "date-time"}, "tomorrow", "Enter a date and a time."),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, "a", "This field must be written as the app expects it."),
        ({"type": "string", "pattern": "^[A-Z]{2}$", "description": " Such as AB. "}, "a", "This field must be as described: Such as AB."),
        ({"type": "string", "pattern": "^[A-Z]{2}$", "description": "A", "examples": ["AB"]}, "a", "This field must look like AB."),
        ({"type": "integer"}, "1.5", "This field must be a whole number."),
        ({"type": "number"}, "many", "Enter a number."),
        ({"type": "number"}, "nan", "Enter a number."),
        ({"type": "number", "maximum": 5}, "6", "This field must be at most 5."),
        ({"enum": ["a"]}, "b", "Choose one of the choices."),
        ({"type": "object"}, "{", "This is not JSON: line 1, column 2: Expecting property name enclosed in double quotes."),
        ({"type": "object", "additionalProperties": {"type": "number"}}, '{"b": "c"}', "This field has a problem at b: Must be a number."),
        ({}, "[" * 65 + "]" * 65, "This is nested too deeply."),
        ({}, "[" * 5000 + "]" * 5000, "This is nested too deeply."),
    ],
)  # fmt: skip
def test_wrong_value_is_told_at_its_field_and_kept(part: dict[str, Any], sent: str, message: str) -> None:
    form = form_of(part, sent={"a": sent})
    assert not form.is_valid()
    assert form.errors["a"] == [message]
    assert form["a"].value() == sent


def test_names_and_words_of_strangers_are_escaped() -> None:
    page = settings_form(
        {"properties": {'x"><script>': {"type": "string", "title": "<b>", "description": "<img src=x>"}}},
        values={},
        timezone="UTC",
    ).render()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page


def test_defaults_are_shown_under_the_merchants_values() -> None:
    schema = {
        "properties": {
            "a": {"type": "string", "default": "A"},
            "b": {"type": "string", "default": "B"},
            "c": {"type": "string"},
        }
    }
    form = settings_form(schema, values={"b": "mine"}, defaults={"c": "C"}, timezone="UTC")
    assert Controls(form).sent == {"a": "A", "b": "mine", "c": "C"}
    cleared = settings_form(schema, values={}, timezone="UTC", data={"a": "", "b": "B"})
    assert cleared.is_valid()
    assert cleared.values == {"a": ""}  # else the default would come back


def test_values_that_the_schema_does_not_name_survive() -> None:
    schema = {
        "properties": {
            "a": {"type": "string"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}},
        }
    }
    kept = {"old": {"x": 1}, "list": [{"b": "1", "id": 7}, {"b": "2", "id": 8}]}
    sent = Controls(settings_form(schema, values=kept, timezone="UTC")).sent
    moved = settings_form(schema, values=kept, timezone="UTC", data=sent | {":do": "down list 0"})
    form = settings_form(schema, values=kept, timezone="UTC", data=Controls(moved).sent)
    assert form.is_valid()
    assert form.values == {"old": {"x": 1}, "list": [{"b": "2", "id": 8}, {"b": "1", "id": 7}]}
    strict = settings_form(schema | {"additionalProperties": False}, values=kept, timezone="UTC", data=sent)
    assert strict.is_valid(), strict.errors
    assert "old" not in strict.values


# Colors


def test_optional_color_may_be_none() -> None:
    part = {"type": "string", "format": "color"}
    attrs = Controls(form_of(part)).attrs
    assert "checked" in attrs["a:none"]
    assert attrs["a"]["value"] == "#000000"
    assert value_of(form_of(part, sent=Controls(form_of(part)).sent)) == "left out"
    assert value_of(form_of(part, sent={"a": "#ff0000", "a:none": "on", "a:shown": "#000000"})) == "#ff0000"
    assert (
        value_of(form_of(part, value="#ff0000", sent={"a": "#ff0000", "a:none": "on", "a:shown": "#ff0000"}))
        == "left out"
    )
    assert "a:none" not in Controls(form_of(part, required=True)).attrs


# Times

MOMENT = {"type": "string", "format": "date-time"}


@pytest.mark.spec(
    "Contract 6 Extensions", "date-time is entered in the business's time zone and stored with its offset"
)
@pytest.mark.parametrize(
    ("zone", "entered", "kept"),
    [
        ("Europe/Lisbon", "2026-07-01T10:00", "2026-07-01T10:00:00+01:00"),
        ("Europe/Lisbon", "2026-12-01T10:00", "2026-12-01T10:00:00+00:00"),
        ("Asia/Kolkata", "2026-12-01T10:00:30", "2026-12-01T10:00:30+05:30"),
        ("America/New_York", "2026-11-01T01:30", "2026-11-01T01:30:00-04:00"),  # the first of two
    ],
)
def test_time_is_kept_with_its_offset_and_shown_as_entered(zone: str, entered: str, kept: str) -> None:
    assert value_of(form_of(MOMENT, sent={"a": entered}, zone=zone)) == kept
    assert Controls(form_of(MOMENT, value=kept, zone=zone)).attrs["a"]["value"] == entered


def test_time_that_the_clocks_leap_over_is_refused() -> None:
    form = form_of(MOMENT, sent={"a": "2026-03-29T01:30"}, zone="Europe/Lisbon")
    assert form.errors["a"] == [
        "There is no such time in Europe/Lisbon: the clocks go forward over it. Enter another."
    ]


@pytest.mark.parametrize(
    "kept", ["2026-11-01T01:30:00-05:00", "2026-07-01T09:00:00.123Z", "2026-07-01T12:00:00+03:00"]
)
def test_time_that_was_not_touched_stays_as_it_was_kept(kept: str) -> None:
    shown = Controls(form_of(MOMENT, value=kept, zone="America/New_York")).sent
    assert value_of(form_of(MOMENT, value=kept, sent=shown, zone="America/New_York")) == kept


# Objects

ADDRESS = {
    "type": "object",
    "required": ["street"],
    "properties": {"street": {"type": "string"}, "box": {"type": "boolean"}},
}


def test_object_is_a_fieldset_with_its_own_fields() -> None:
    form = form_of(ADDRESS)
    assert "<legend>A" in form.render()
    assert value_of(form_of(ADDRESS, sent={"a.street": "1 Harbour", "a.box": "on"})) == {
        "street": "1 Harbour",
        "box": True,
    }


def test_optional_object_with_nothing_in_it_is_left_out() -> None:
    assert value_of(form_of(ADDRESS, sent={"a.street": ""})) == "left out"
    for form in (
        form_of(ADDRESS, sent={"a.street": ""}, required=True),
        form_of(ADDRESS, sent={"a.box": "on"}),
    ):
        assert form.errors == {"a.street": ["This field is required."]}


# Lists

TAGS = {"type": "array", "items": {"type": "string"}, "maxItems": 3}


@pytest.mark.spec(
    "Contract 6 Extensions", "Entries of arrays are added, removed and moved without JavaScript"
)
@pytest.mark.parametrize(
    ("press", "entries"),
    [
        ("add a", ["x", "y", ""]),
        ("remove a 0", ["y"]),
        ("down a 0", ["y", "x"]),
        ("up a 1", ["y", "x"]),
        ("up a 0", ["x", "y"]),
        ("down a 1", ["x", "y"]),
    ],
)
def test_list_is_changed_by_its_buttons(press: str, entries: list[str]) -> None:
    sent = Controls(form_of(TAGS, value=["x", "y"])).sent
    form = form_of(TAGS, value=["x", "y"], sent=sent | {":do": press})
    assert not form.is_bound  # nothing is checked, nothing is kept
    shown = Controls(form).sent
    assert [shown[f"a.{place}"] for place in range(len(entries))] == entries
    assert f"a.{len(entries)}" not in shown
    assert value_of(form_of(TAGS, value=["x", "y"], sent=shown)) == [text for text in entries if text]


def test_list_s_buttons_end_where_the_list_ends() -> None:
    assert Controls(form_of(TAGS, value=["x", "y", "z"])).buttons == [
        "down a 0", "remove a 0", "up a 1", "down a 1", "remove a 1", "up a 2", "remove a 2",
    ]  # fmt: skip
    full = form_of(TAGS, sent={"a.0": "x", "a.1": "y", "a.2": "z", ":do": "add a"})
    assert "a.3" not in Controls(full).sent


def test_changing_a_list_keeps_what_was_typed_elsewhere() -> None:
    schema = {"properties": {"a": TAGS, "n": {"type": "integer"}, "on": {"type": "boolean", "default": True}}}
    form = settings_form(schema, values={}, timezone="UTC", data={"n": "many", ":do": "add a"})
    assert Controls(form).sent == {"n": "many", "a.0": "", "a.0:was": ""}
    assert not form.errors


def test_lists_in_lists_are_changed_by_their_own_buttons() -> None:
    part = {"type": "array", "items": {"type": "object", "properties": {"in": TAGS}}}
    form = form_of(part, sent={"a.0.in.0": "x", "a.1:was": "", ":do": "add a.1.in"})
    shown = Controls(form).sent
    assert (shown["a.0.in.0"], shown["a.1.in.0"]) == ("x", "")
    assert value_of(form_of(part, sent=shown | {"a.1.in.0": "y"})) == [{"in": ["x"]}, {"in": ["y"]}]


@pytest.mark.parametrize(
    "press", ["", "add", "add b", "remove a 99", "up a -1", "explode a 0", "add a.0", "down a ²"]
)
def test_nonsense_in_a_button_s_place_does_no_harm(press: str) -> None:
    form = form_of(TAGS, sent={"a.0": "x", ":do": press})
    assert "x" in form.render()


def test_emptied_list_is_kept_as_empty_where_its_default_would_return() -> None:
    assert value_of(form_of(TAGS, sent={})) == "left out"
    assert value_of(form_of(TAGS | {"default": ["x"]}, sent={})) == []


def test_errors_in_a_list_are_told_at_the_entry_and_at_the_list() -> None:
    part = {
        "type": "array",
        "minItems": 3,
        "items": {"type": "object", "properties": {"u": {"type": "string", "format": "uri"}}},
    }
    form = form_of(part, sent={"a.0.u": "https://a.example", "a.1.u": "", "a.2.u": "x"})
    assert form.errors == {
        "a": ["This field must have at least 3 entries."],
        "a.2.u": ["This field must be a web address that starts with http:// or https://."],
    }
    page = form.render()
    assert '<a href="#id_a_0">A must have at least 3 entries.</a>' in page
    assert '<a href="#id_a.2.u">' in page


def test_list_too_long_for_a_form_is_edited_as_json() -> None:
    part = {"type": "array", "items": {"type": "string"}}
    long = [str(n) for n in range(500)]
    assert Controls(form_of(part, value=long)).attrs["a"]["tag"] == "textarea"
    assert value_of(form_of(part, value=long, sent={"a": '["1", "2"]'})) == ["1", "2"]


# Beside the page of an app


def test_two_forms_on_a_page_keep_apart() -> None:
    schema = {"properties": {"a": TAGS, "c": {"type": "string", "format": "color"}}}
    data = {"one-a.0": "x", "two-a.0": "y", "one-:do": "add a", "two-c": "#ffffff"}
    one = settings_form(schema, values={}, timezone="UTC", data=data, prefix="one")
    two = settings_form(schema, values={}, timezone="UTC", data=data, prefix="two")
    assert not one.is_bound
    assert 'name="one-a.1"' in one.render()
    assert two.is_valid()
    assert two.values == {"a": ["y"], "c": "#ffffff"}


def test_preview_shows_each_control_and_takes_nothing() -> None:
    schema = {
        "properties": {
            "a": TAGS,
            "b": {"type": "string", "default": "B"},
            "c": {"type": "string", "format": "color"},
        }
    }
    page = settings_preview(schema).render()
    assert page.count("disabled") >= 3
    assert 'value="B"' in page
    assert 'name="preview-a.0"' in page
    assert "<button" not in page
