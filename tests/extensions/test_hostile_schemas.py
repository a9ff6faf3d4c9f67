"""Schemas that are made to do harm: refused or harmless, in bounded time and memory.

They are looked at in a process of its own, with a deadline and a limit on its memory: a check that hangs or grows
fails its test and not the run.
"""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from extensions.schemas import problems_of_schema, problems_of_values, resolved

SECONDS = 4  # of the processor, for all that is done with one schema; most take some milliseconds
DEADLINE = 60  # by the clock, since the machine may be busy with something else
MEGABYTES = 150  # by which the process may grow
VALUE = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"

# What a manifest's save, its preview and a merchant's form do with a schema. A line in, a line out.
LOOK = """
import json, resource, sys, time
import django
django.setup()
from extensions.schema_forms import settings_form, settings_preview
from extensions.schemas import problems_of_schema, problems_of_values, resolved
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
for line in sys.stdin:
    schema, values = json.loads(line)
    before, began = peak(), time.process_time()
    problems = problems_of_schema(schema)
    found = problems_of_values(schema, values)
    problems_of_values(schema, values, partial=True)
    resolved(schema)
    page = settings_form(schema, values={}, timezone="UTC").render()
    sent = settings_form(schema, values=values, timezone="UTC", data={"a": "b"})
    sent.is_valid()
    page += sent.render() + settings_preview(schema).render()
    print(json.dumps({
        "problems": problems, "found": found, "grown": peak() - before,
        "seconds": time.process_time() - began, "script": "<script" in page or "<img" in page,
    }), flush=True)
"""

Look = Callable[[Any, Any], dict[str, Any]]


def fan(width: int, depth: int) -> dict[str, Any]:
    """References that double at each step: `width` ** `depth` schemas when they are followed."""
    shelves = {f"d{step}": {"allOf": [{"$ref": f"#/$defs/d{step + 1}"}] * width} for step in range(depth)} | {
        f"d{depth}": {"type": "object"}
    }
    return {"$defs": shelves, "properties": {"a": {"$ref": "#/$defs/d0"}}}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def one(**part: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": part}}


def with_ids() -> dict[str, Any]:
    return {
        "$id": "https://app.example.com/root",
        "$defs": {"b": {"$id": "http://169.254.169.254/latest", "type": "string"}},
        "properties": {"a": {"$ref": "http://169.254.169.254/latest"}},
    }


def references(times: int, **named: Any) -> dict[str, Any]:
    """The property `a` is checked by one schema, many times."""
    return {"$defs": {"n": named}, "properties": {"a": {"allOf": [{"$ref": "#/$defs/n"}] * times}}}


# Refused, with the field that is named.
REFUSED: dict[str, tuple[Any, str]] = {
    "remote reference": (one(**{"$ref": "http://127.0.0.1:1/schema"}), ".properties.a.$ref"),
    "file reference": (one(**{"$ref": "file:///etc/passwd"}), ".properties.a.$ref"),
    "relative reference": (one(**{"$ref": "other.json#/a"}), ".properties.a.$ref"),
    "reference into the metaschema": (
        one(**{"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        ".properties.a.$ref",
    ),
    "reference to nowhere": (one(**{"$ref": "#/$defs/none"}), ".properties.a.$ref"),
    "reference into no schema": (
        {"properties": {"a": {"$ref": "#/properties/b/default"}, "b": {"default": {"type": "string"}}}},
        ".properties.a.$ref",
    ),
    "reference to itself": ({"$ref": "#"}, ".$ref"),
    "recursive property": ({"properties": {"a": {"$ref": "#"}}}, ".properties.a.$ref"),
    "recursive through an anchor": (
        {"properties": {"a": {"$anchor": "here", "items": {"$ref": "#here"}}}},
        ".properties.a.items.$ref",
    ),
    "recursive beside a good reference": (
        {"$defs": {"b": {"not": {"$ref": "#"}}}, "properties": {"a": {"$ref": "#/$defs/c"}, "c": {"$ref": "#/$defs/b"}}},
        ".$defs.b.not.$ref",
    ),
    "recursive through two": (
        {
            "$defs": {"b": {"allOf": [{"$ref": "#/$defs/c"}]}, "c": {"not": {"$ref": "#/$defs/b"}}},
            "properties": {"a": {"$ref": "#/$defs/b"}},
        },
        ".$defs.c.not.$ref",
    ),
    "recursion that nothing uses": ({"$defs": {"b": {"items": {"$ref": "#/$defs/b"}}}}, ".$defs.b.items.$ref"),
    "dynamic reference": (one(**{"$dynamicRef": "#meta"}), ".properties.a.$dynamicRef"),
    "schema that renames itself": (with_ids(), ".$defs.b.$id"),
    "fan of references": (fan(2, 40), ""),
    "wide fan of references": (fan(30, 3), ""),
    "chain of references": (fan(1, 496), ""),
    "nested over 8 levels": (nested(9), ""),
    "nested over 400 levels": (nested(400), None),
    "over 100 properties": ({"properties": {f"p{n}": {} for n in range(101)}}, ""),
    "100 properties by references": (
        {
            "$defs": {"b": {"properties": {f"p{n}": {} for n in range(50)}}},
            "properties": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/b"}},
        },
        "",
    ),
    "over 64 KiB": (one(description="x" * 65_536), ""),
    "look-ahead": (one(type="string", pattern="^(?=a)a+$"), ".properties.a.pattern"),
    "back-reference": (one(type="string", pattern=r"^(a+)\1+$"), ".properties.a.pattern"),
    "pattern that grows": (one(type="string", pattern="((a{1,1000}){1,1000}){1,1000}"), ".properties.a.pattern"),
    "pattern that fills memory": (one(type="string", pattern=r"(\pL{1,999}\PN{1,999}){1,9}" * 30), ".properties.a.pattern"),
    "patterns of names": (
        one(type="object", patternProperties={rf"\pL{{1,900}}{n}": {} for n in range(2000)}),
        ".properties.a.patternProperties",
    ),
    "hundreds of patterns": (one(anyOf=[{"pattern": rf"\pL{{1,900}}{n}"} for n in range(900)]), ""),
    "thousands of unknown keywords": (one(**{f"minLengh{n}": 0 for n in range(3000)}), ".properties.a.minLengh9"),
    "thousands of subschemas": ({"allOf": [{}] * 15_000}, ""),
    "quadratic uniqueness in the schema": ({"required": [{"a": n} for n in range(6000)]}, ".required[0]"),
    "no object": ({"type": "array"}, ".type"),
    "another dialect": ({"$schema": "http://json-schema.org/draft-07/schema#"}, ".$schema"),
    "NUL": (one(title="a\x00b"), ".properties.a.title"),
    "half a character": (one(title="a\ud800b"), ".properties.a.title"),
}  # fmt: skip

# Accepted, and harmless with these values.
HARMLESS: dict[str, tuple[Any, Any]] = {
    "pattern that backtracks": (one(type="string", pattern="^(a+)+$"), {"a": "a" * 60_000 + "!"}),
    "alternatives that backtrack": (one(type="string", pattern="^(a|a|aa)+$"), {"a": VALUE}),
    "dots that backtrack": (one(type="string", pattern="^.*.*.*.*.*.*=$"), {"a": "x" * 60_000}),
    "uniqueItems of thousands": (
        one(type="array", uniqueItems=True),
        {"a": [{"n": n} for n in range(5000)] + [{"n": 4999}]},
    ),
    "many conditions on many entries": (
        one(type="array", items={"allOf": [{"minimum": 5}] * 900}),
        {"a": [1] * 30_000},
    ),
    "many alternatives for a long text": (one(anyOf=[{"minLength": 70_000}] * 900), {"a": "x" * 60_000}),
    "alternatives in alternatives": (
        one(anyOf=[{"oneOf": [{"anyOf": [{"type": "number"}] * 9}] * 9}] * 9),
        {"a": "x" * 60_000},
    ),
    "long enum against many entries": (
        one(type="array", items={"enum": list(range(10_000))}),
        {"a": [10_001] * 10_000},
    ),
    "one large constant, compared many times": (
        references(450, const={"b": [0] * 15_000}),
        {"a": {"b": [0] * 15_000}},
    ),
    "entries that no schema describes": (references(300, items={}), {"a": [0] * 30_000}),
    "negations": ({"not": {"not": {"not": {"not": {"required": ["a"]}}}}}, {}),
    "numbers beyond all measure": (one(type="number", multipleOf=1e-300), {"a": 1e308}),
    "script in its words": (
        one(type="string", title="<script>alert(1)</script>", description='"><img src=x onerror=alert(1)>'),
        {"a": "</textarea><script>alert(1)</script>"},
    ),
    "names that mean something elsewhere": (
        {"properties": {name: {"type": "string"} for name in ("csrfmiddlewaretoken", "__proto__", "", "a.b", "action", ":do", 'x"y')}},
        {"__proto__": "x"},
    ),
    "list without end": (one(type="array", maxItems=10**9, items={"type": "string"}), {"a": ["x"] * 15_000}),
}  # fmt: skip


class Looker:
    """The process, started again after one that had to be ended."""

    def __init__(self, folder: str) -> None:
        self.environ = os.environ | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DEBUG": "1",
            "VAR_DIR": folder,
        }
        self.process: subprocess.Popen[str] | None = None

    def look(self, schema: Any, values: Any) -> dict[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-c", LOOK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=self.environ,
            )  # fmt: skip
            self._ask([{}, {}])  # it starts
        return self._ask([schema, values])

    def _ask(self, question: Any) -> dict[str, Any]:
        assert self.process
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = ""
        if select.select([self.process.stdout], [], [], DEADLINE)[0]:
            answer = self.process.stdout.readline()
        if not answer:
            self.close()
            pytest.fail(f"No answer within {DEADLINE} seconds")
        return dict(json.loads(answer))

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Look]:
    looker = Looker(str(tmp_path_factory.mktemp("var")))
    yield looker.look
    looker.close()


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Extensions", "A hostile settings schema is refused, with its path, in bounded time"
)
@pytest.mark.parametrize("name", REFUSED)
def test_hostile_schema_is_refused(look: Look, name: str) -> None:
    schema, place = REFUSED[name]
    seen = look(schema, {"a": VALUE})
    assert seen["problems"]
    if place is not None:
        assert f"settingsSchema{place}" in [problem["field"] for problem in seen["problems"]]
    assert seen["found"], "no value fits a schema that is refused"
    assert seen["grown"] < MEGABYTES
    assert seen["seconds"] < SECONDS


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Extensions", "Values are checked in bounded time and memory, whatever the schema"
)
@pytest.mark.parametrize("name", HARMLESS)
def test_hostile_schema_is_harmless(look: Look, name: str) -> None:
    schema, values = HARMLESS[name]
    seen = look(schema, values)
    assert seen["problems"] == []
    assert not seen["script"]
    assert seen["grown"] < MEGABYTES
    assert seen["seconds"] < SECONDS


@pytest.mark.long
def test_schema_nested_a_hundred_thousand_times_is_refused() -> None:
    """Deeper than the JSON reader would go, for callers that build schemas by themselves."""
    schema: dict[str, Any] = {}
    inner = schema
    for _ in range(100_000):
        inner["not"] = {}
        inner = inner["not"]
    assert problems_of_schema(schema)[0]["message"] == "Is nested more than 48 levels deep."
    assert problems_of_values({}, schema)
    assert resolved(schema) == {}
    while schema:  # taken apart from the outside, since Python frees nested dicts by recursion
        schema = schema.pop("not")
