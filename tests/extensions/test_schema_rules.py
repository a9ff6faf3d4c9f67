"""What is accepted as a settings schema, and which values fit one; every problem with its path."""

import re
import time
from typing import Any

import pytest
from django.conf import settings

from extensions.schemas import checking, problems_of_schema, problems_of_values, resolved
from extensions.schemas.keywords import KEYWORDS, ROOT_KEYWORDS
from tests.extensions.settings import SCHEMA


def fields(problems: list[Any]) -> list[str]:
    return [problem["field"] for problem in problems]


def one(**part: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": part}}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.spec(
    "Contract 6 Extensions",
    "A settingsSchema may use the published keywords of Draft 2020-12 within the limits",
)
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        SCHEMA,
        nested(8),
        {"properties": {f"p{n}": {} for n in range(100)}},
        {"properties": {"a": {"$ref": "#/$defs/b"}, "c": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}},
        {"$id": "https://app.example.com/settings", "properties": {"a": {"$ref": "#/$defs/b~1c%20d"}}, "$defs": {"b/c d": {}}},
        one(oneOf=[{"type": "string"}, {"type": "number"}]),
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "string"}}},
        one(type="string", pattern=r"^\d{3}-[\w\u00e9]+$"),
        one(**{"x-order": 5, "x-": {"$ref": "http://example.com"}}),
        one(**{"$comment": "", "readOnly": True, "writeOnly": False, "deprecated": True, "examples": [1]}),
    ],
)  # fmt: skip
def test_schema_is_accepted(schema: Any) -> None:
    assert problems_of_schema(schema) == []


@pytest.mark.spec("Contract 6 Extensions", "Another keyword is a problem with its path")
@pytest.mark.parametrize(
    "keyword",
    [
        "if", "then", "else", "contains", "minContains", "maxContains", "patternProperties", "propertyNames",
        "dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "contentMediaType",
        "contentEncoding", "contentSchema", "dependencies", "$anchor", "$dynamicRef",
        "$dynamicAnchor", "$vocabulary", "$id", "$schema", "placeholder", "", "X-order",
    ],
)  # fmt: skip
def test_keyword_outside_the_subset_is_a_problem_with_its_path(keyword: str) -> None:
    (problem,) = problems_of_schema({"properties": {"a": {"anyOf": [{}, {keyword: {}}]}}})
    end = f".{keyword}" if keyword else '[""]'
    assert problem["field"] == f"settingsSchema.properties.a.anyOf[1]{end}"
    assert "Did you mean" not in problem["message"]


def test_guide_lists_just_the_keywords_that_are_accepted() -> None:
    section = (settings.BASE_DIR / "docs/manifest.md").read_text().partition("## Settings schemas")[2]
    table = [line for line in section.partition("| `format` |")[0].splitlines() if line.startswith("|")]
    assert set(re.findall(r"`([$\w]+)`", "".join(table))) == {*KEYWORDS, *ROOT_KEYWORDS}


def test_misspelt_keyword_says_which_one_is_meant() -> None:
    (problem,) = problems_of_schema(one(minLenght={}))
    assert problem == {
        "field": "settingsSchema.properties.a.minLenght",
        "message": 'Unknown keyword. Did you mean "minLength"?',
    }


@pytest.mark.parametrize(
    ("part", "keyword", "advice"),
    [
        ({"definitions": {}}, "definitions", "Write $defs."),
        ({"id": "x"}, "id", "Write $id, at the top"),
        ({"items": {}, "additionalItems": False}, "additionalItems", "in prefixItems and the rest in items"),
        ({"items": [{"type": "string"}]}, "items", "in prefixItems"),
        ({"enum": ["s"], "enumNames": ["Small"]}, "enumNames", 'oneOf of {"const": …, "title": …}'),
        ({"type": "string", "nullable": True}, "nullable", '"type": ["string", "null"]'),
        ({"dependencies": {"b": ["c"]}}, "dependencies", "no conditions"),
        ({"if": {}}, "if", "no conditions"),
        ({"markdownDescription": "*"}, "markdownDescription", "begins with x-"),
        ({"deprecationMessage": "Don't"}, "deprecationMessage", "begins with x-"),
        ({"description": "a", "descriptions": "b"}, "descriptions", "begins with x-"),
    ],
)
def test_keyword_of_another_dialect_says_what_to_write(
    part: dict[str, Any], keyword: str, advice: str
) -> None:
    (problem,) = problems_of_schema(one(**part))
    assert problem["field"] == f"settingsSchema.properties.a.{keyword}"
    assert advice in problem["message"]
    assert "Did you mean" not in problem["message"]


def test_another_draft_is_told_how_this_one_differs() -> None:
    (problem,) = problems_of_schema({"$schema": "http://json-schema.org/draft-07/schema#"})
    assert problem["field"] == "settingsSchema.$schema"
    assert problem["message"].startswith("Must be https://json-schema.org/draft/2020-12/schema, or left out.")
    assert "definitions are $defs" in problem["message"]


def test_password_is_refused_as_settings_hold_no_secrets() -> None:
    (problem,) = problems_of_schema(one(type="string", format="password"))
    assert problem["field"] == "settingsSchema.properties.a.format"
    assert "admin page" in problem["message"]


@pytest.mark.spec(
    "Contract 6 Extensions", "Every problem of a settingsSchema is reported at once, each with its path"
)
def test_every_problem_has_its_path() -> None:
    schema = {
        "properties": {
            "color": {"type": "strin", "pattern": "("},
            "my list": {"items": [{"type": "string"}]},
            "c": {"required": "c"},
            "d": {"anyOf": [{}, {"minimum": "1"}]},
            "e": 5,
        }
    }
    assert sorted(fields(problems_of_schema(schema, "blocks[2].settingsSchema"))) == [
        'blocks[2].settingsSchema.properties.c.required',
        'blocks[2].settingsSchema.properties.color.pattern',
        'blocks[2].settingsSchema.properties.color.type',
        'blocks[2].settingsSchema.properties.d.anyOf[1].minimum',
        'blocks[2].settingsSchema.properties.e',
        'blocks[2].settingsSchema.properties["my list"].items',
    ]  # fmt: skip


@pytest.mark.parametrize("schema", [None, True, [], "object", 3])
def test_schema_is_an_object(schema: Any) -> None:
    assert problems_of_schema(schema) == [
        {"field": "settingsSchema", "message": "Must be a JSON Schema: an object."}
    ]


@pytest.mark.parametrize(
    ("part", "good", "bad"),
    [
        ({"type": "string", "format": "color"}, ["#1a2b3c", "#FFFFFF"], ["#fff", "red", "#1a2b3g", "#1a2b3c\n"]),
        (
            {"type": "string", "format": "uri"},
            ["https://a.example/x?y=1#z", "http://a.example"],
            ["javascript:alert(1)", "data:text/html,x", "//a.example", "https://", "ftp://a.example", "https://a b"],
        ),
        (
            {"type": "string", "format": "date-time"},
            ["2026-11-20T15:04:05Z", "2026-11-20T15:04:05.123456789+01:00", "2026-02-28t00:00:00z"],
            ["2026-11-20T15:04:05", "2026-11-20", "2026-02-30T00:00:00Z", "2026-11-20T25:00:00Z", "2026-11-20 15:04:05Z"],
        ),
        ({"type": "string", "format": "date"}, ["2026-11-20"], ["2026-13-01", "20261120", "2026-W01-1"]),
        ({"type": "string", "format": "email"}, ["a@b.example"], ["a", "a@b", "a b@c.example"]),
        ({"type": "string", "format": "who-knows"}, ["anything"], []),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, ["AB"], ["AB\n", "A", "ABC"]),
        ({"type": "string", "pattern": "b"}, ["abc"], ["ac"]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["éé", "😀😀😀"], ["x", "xxxx"]),
        ({"type": "integer", "minimum": 1, "maximum": 3}, [1, 3, 2.0], [0, 4, 1.5, "1", True]),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, [0.5, 7], [0, 0.3]),
        ({"multipleOf": 0.01}, [0.07, 1.1, 3, -4.35, True], [0.075, 1e-9]),
        ({"type": "boolean"}, [True, False], [0, "true", None]),
        ({"enum": ["a", 1, None]}, ["a", 1, None], ["b", 2, True, ""]),
        ({"const": {"b": 1}}, [{"b": 1}], [{"b": 2}]),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2}, [["a"]], [[], ["a", "b", "c"], [1]]),
        ({"type": "array", "uniqueItems": True}, [[1, True, "1", [1], {"b": 1}], []], [[1, 1.0], [{"b": 1, "c": 2}, {"c": 2, "b": 1}]]),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, [["a"]], [[1], ["a", "b"]]),
        ({"type": "object", "additionalProperties": {"type": "number"}, "properties": {"b": False}}, [{"c": 1}], [{"c": "1"}, {"b": 1}]),
        ({"type": "object", "minProperties": 1, "maxProperties": 2}, [{"b": 1}], [{}, {"b": 1, "c": 1, "d": 1}]),
        ({"type": "string", "format": "uuid"}, ["0190163d-8694-739b-aea5-966c26f8ad91"], ["0190163d8694739baea5966c26f8ad91"]),
        ({"type": "string", "format": "ipv6"}, ["::1"], ["fe80::1%eth0", "127.0.0.1"]),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, ["ab"], ["a", 1]),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["a", 6], [4]),
        ({"oneOf": [{"type": "number"}, {"minimum": 5}]}, [4, "a"], [6]),
        ({"not": {"type": "string"}}, [1], ["a"]),
    ],
)  # fmt: skip
def test_value_fits_or_not(part: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    schema = one(**part)
    assert problems_of_schema(schema) == []
    for value in good:
        assert problems_of_values(schema, {"a": value}) == [], value
    for value in bad:
        found = problems_of_values(schema, {"a": value}, "s")
        assert found, value
        assert all(field.startswith("s.a") for field in fields(found))


def test_values_are_told_by_path_in_plain_words() -> None:
    schema = {
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "links": {"items": {"properties": {"url": {"format": "uri"}}, "required": ["label"]}},
            "size": {"enum": ["s", "m"]},
            "count": {"type": ["integer", "null"], "maximum": 5},
        },
    }
    values = {"links": [{"label": "x"}, {"url": "x"}], "size": "xl", "count": 6, "odd name": 1}
    assert {each["field"]: each["message"] for each in problems_of_values(schema, values, "config")} == {
        "config.name": "This field is required.",
        "config.links[1].url": "Must be a web address that starts with http:// or https://.",
        "config.links[1].label": "This field is required.",
        "config.size": "Must be one of s or m.",
        "config.count": "Must be at most 5.",
        'config["odd name"]': "There is no such setting.",
    }


@pytest.mark.spec(
    "Contract 9 Manifest", "defaultConfig may leave out required properties; what it holds must be valid"
)
def test_part_of_the_values_may_lack_what_is_required_at_every_level() -> None:
    schema = {
        "required": ["a", "box"],
        "minProperties": 2,
        "properties": {
            "a": {"type": "string"},
            "box": {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}},
            "list": {"items": {"required": ["c"], "properties": {"c": {"type": "integer"}}}},
        },
        "anyOf": [{"required": ["a"]}, {"required": ["z"]}],
    }
    assert problems_of_values(schema, {"box": {}, "list": [{}]}, partial=True) == []
    assert problems_of_values(schema, {}, partial=True) == []
    wrong = problems_of_values(schema, {"box": {"b": "x"}, "list": [{"c": "x"}]}, "d", partial=True)
    assert fields(wrong) == ["d.box.b", "d.list[0].c"]
    assert "box.b" in fields(problems_of_values(schema, {"a": "x", "box": {}}))


BOOLEANS: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"anyOf": [False, {"type": "string"}]}, ["x"], [5]),
    ({"anyOf": [{"type": "string"}, False]}, ["x"], [5]),
    ({"anyOf": [False, False]}, [], [5, {}]),
    ({"anyOf": [True, {"type": "string"}]}, [5], []),
    ({"oneOf": [False, {"type": "string"}]}, ["x"], [5]),
    ({"oneOf": [True, {"type": "string"}]}, [5], ["x"]),
    ({"allOf": [True, False]}, [], [5]),
    ({"items": {"anyOf": [False, {"type": "string"}]}}, [["x"], []], [[5]]),
    ({"prefixItems": [True, {"oneOf": [False]}]}, [[5]], [[5, 5]]),
    ({"anyOf": [{"anyOf": [False, {"type": "string"}]}, False]}, ["x"], [5]),
    ({"properties": {"b": {"anyOf": [False, {"required": ["c"]}]}}}, [{"b": {}}, {}], []),
    ({"not": True}, [], [5]),
    ({"not": {"anyOf": [False]}}, [5], []),
]


@pytest.mark.parametrize(("part", "good", "bad"), BOOLEANS)
def test_boolean_schemas_are_alternatives_like_others(
    part: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    for value in good:
        assert problems_of_values(one(**part), {"a": value}, partial=True) == [], value
        assert problems_of_schema(one(**part, default=value)) == [], value
    for value in bad:
        assert problems_of_values(one(**part), {"a": value}, partial=True), value
        assert problems_of_schema(one(**part, default=value)), value


@pytest.mark.spec("Contract 15 Doors", "A default in a settings schema fits its own part; required left out")
@pytest.mark.parametrize(
    ("part", "where"),
    [
        ({"minimum": 1, "default": 0}, ""),
        ({"enum": ["small", "large"], "default": "Small"}, ""),
        ({"const": 1, "default": True}, ""),
        ({"type": "string", "format": "color", "default": "#FFF"}, ""),
        ({"type": "boolean", "default": "true"}, ""),
        ({"format": "email", "default": ""}, ""),
        ({"format": "uri", "default": "www.example.com"}, ""),
        ({"type": "string", "default": None}, ""),
        ({"minItems": 5, "default": ["a", "b", "c"]}, ""),
        ({"pattern": "^[A-Z]+$", "default": "a"}, ""),
        ({"oneOf": [{"const": "a", "title": "A"}], "default": "b"}, ""),
        ({"items": {"properties": {"n": {"type": "integer"}}}, "default": [{}, {"n": "1"}]}, "[1].n"),
        (
            {"properties": {"n": {"type": "integer"}}, "additionalProperties": False, "default": {"m": 1}},
            ".m",
        ),
    ],
)
def test_default_fits_its_own_part(part: dict[str, Any], where: str) -> None:
    (problem,) = problems_of_schema(one(**part))
    assert problem["field"] == f"settingsSchema.properties.a.default{where}"
    deep = {"$defs": {"d": {"prefixItems": [part]}}, "properties": {"a": {"$ref": "#/$defs/d"}}}
    (problem,) = problems_of_schema(deep, "blocks[0].settingsSchema")
    assert problem["field"] == f"blocks[0].settingsSchema.$defs.d.prefixItems[0].default{where}"
    assert problems_of_values(one(**part), {}) == [], "an earlier manifest stays usable"


def test_default_is_judged_with_what_a_reference_names_and_at_the_top() -> None:
    named = {
        "$defs": {"color": {"format": "color"}},
        "properties": {"a": {"$ref": "#/$defs/color", "default": "red"}},
    }
    assert fields(problems_of_schema(named)) == ["settingsSchema.properties.a.default"]
    assert fields(problems_of_schema({"default": []})) == ["settingsSchema.default"]
    top = {"properties": {"a": {"type": "string"}}, "default": {"a": 1}}
    assert fields(problems_of_schema(top)) == ["settingsSchema.default.a"]


def test_default_may_leave_out_what_is_required_at_every_level() -> None:
    box = {"required": ["a", "b"], "minProperties": 2, "properties": {"b": {"required": ["c"]}}}
    assert problems_of_schema(one(**box, default={"b": {}})) == []
    assert problems_of_schema({"default": {}, **box}) == []


def test_defaults_together_have_the_work_of_one_check() -> None:
    part = {"uniqueItems": True, "default": [[n] for n in range(3000)]}
    began = time.process_time()
    assert problems_of_schema({"properties": {f"p{n}": part for n in range(3)}}) == []
    many = {"allOf": [{"uniqueItems": True}] * 300}
    (problem,) = problems_of_schema(one(**many, default=list(range(9000))))
    assert problem == {"field": "settingsSchema", "message": checking.TOO_MUCH_WORK}
    assert time.process_time() - began < 5


@pytest.mark.parametrize("values", [None, [], "x", 1])
def test_values_are_an_object(values: Any) -> None:
    assert problems_of_values({}, values, "s") == [{"field": "s", "message": "Must be an object."}]


@pytest.mark.parametrize(
    "value", ["a\x00", "\ud800", float("nan"), 10**400, 2**53, -(2**53), 1e30, {"x": object()}, "x" * 65_536]
)
def test_values_are_what_a_database_keeps(value: Any) -> None:
    assert problems_of_values({}, {"a": value}, "s")


def test_resolved_schema_has_no_references_and_leaves_its_source_alone() -> None:
    schema = {
        "$defs": {"color": {"type": "string", "title": "Color", "default": "#000000"}},
        "properties": {
            "a": {"$ref": "#/$defs/color", "title": "Ink"},
            "b": {"$ref": "#/$defs/color", "minLength": 1},
        },
    }
    assert resolved(schema) == {
        "properties": {
            "a": {"type": "string", "title": "Ink", "default": "#000000"},
            "b": {"minLength": 1, "allOf": [{"type": "string", "title": "Color", "default": "#000000"}]},
        }
    }
    assert schema["properties"]["a"] == {"$ref": "#/$defs/color", "title": "Ink"}  # type: ignore[index]
