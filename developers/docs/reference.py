"""The document as pages: operations by heading, with samples; events and hooks; schemas as the rows of tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from django.conf import settings
from django.http import Http404
from django.utils.text import slugify

from common.rest.schema import Schema
from developers.docs.openapi.calls import EVENTS_TAG
from developers.docs.openapi.document import TAGS, document
from developers.docs.openapi.samples import Sample, call_of, example_in, samples_of

CREDENTIALS = {
    "accessToken": "access token",
    "developerToken": "developer token",
    "clientCredentials": "Client ID and secret",
    "shopKey": "key of a connected shop",
}
APP_API = "App API"
SHOP_API = "API for connected shops"
DEVELOPER_API = "Developer API"
PART_OF = {
    "/app-api": APP_API,
    "/webhooks": APP_API,
    "/developer": DEVELOPER_API,
    "/store-api": SHOP_API,
    "/placements": SHOP_API,
    "/oauth": "Accounts and OAuth",
    "/.well-known": "Accounts and OAuth",
    "/auth": "Accounts and OAuth",
}

Operation = dict[str, Any]


FORMATS = {
    "date-time": "ISO 8601 time",
    "date": "date",
    "uri": "URL",
    "email": "e-mail address",
    "binary": "file",
}
BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
    "maxLength": "at most {} characters",
}


@dataclass(frozen=True, slots=True)
class FieldRow:
    path: str  # `items[].quantity`
    kind: str  # `integer`, `string or null`, `list of objects`
    required: bool
    about: str
    bounds: list[str]
    values: list[str]


def resolved(schema: Schema, document: dict[str, Any]) -> Schema:
    """The schema without references: a `$ref` and the first of alternatives, which says most, put in its place."""
    for key in ("allOf", "oneOf", "anyOf"):
        if key in schema and "properties" not in schema:
            rest = {name: value for name, value in schema.items() if name != key}
            return resolved(schema[key][0], document) | rest
    if "$ref" not in schema:
        return schema
    return resolved(_named(schema["$ref"], document), document) | {
        key: value for key, value in schema.items() if key != "$ref"
    }


def _named(reference: str, document: dict[str, Any]) -> Schema:
    target: Any = document
    for step in reference.removeprefix("#/").split("/"):
        target = target[step]
    return cast(Schema, target)


def rows(schema: Schema, document: dict[str, Any], path: str = "") -> Iterator[FieldRow]:
    """Every field, those of objects and lists below their own, and those of all alternatives."""
    if isinstance(name := schema.get("$ref"), str) and "oneOf" in _named(name, document):
        schema = _named(name, document)
    if "oneOf" in schema and "properties" not in schema:
        for each in schema["oneOf"]:
            yield from rows(each, document, path)
        return
    schema = resolved(schema, document)
    for name, part in schema.get("properties", {}).items():
        here = f"{path}{name}"
        yield row(here, part, document, required=name in schema.get("required", ()))
        part = resolved(part, document)
        if "properties" in part:
            yield from rows(part, document, f"{here}.")
        elif "items" in part:
            yield from rows(part["items"], document, f"{here}[].")


def row(path: str, schema: Schema, document: dict[str, Any], *, required: bool) -> FieldRow:
    part = resolved(schema, document)
    allowed = part.get("enum") or resolved(part.get("items", {}), document).get("enum") or []
    values = [str(value) for value in allowed if value is not None]
    about = part.get("description", "")
    return FieldRow(path, _kind(part, document), required, about, _bounds(part), values)


def _kind(part: Schema, document: dict[str, Any]) -> str:
    kinds = part.get("type", "any")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    words = [str(FORMATS.get(part.get("format", ""), kind) if kind == "string" else kind) for kind in kinds]
    if "array" in words:
        inner = _kind(resolved(part["items"], document), document)
        words[words.index("array")] = f"list of {inner}{'' if ' ' in inner else 's'}"
    return " or ".join(words)


def _bounds(part: Schema) -> list[str]:
    found = [words.format(f"{part[key]:,}") for key, words in BOUNDS.items() if part.get(key)]
    return found if part.get("default") in (None, "") else [*found, f"default {part['default']}"]


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation, as its section shows it."""

    method: str
    path: str
    operation: Operation
    parameters: list[tuple[str, FieldRow]]  # each with its location
    body: list[FieldRow]
    fields: list[FieldRow]
    example: Any
    samples: list[Sample]

    @property
    def id(self) -> str:
        return str(self.operation["operationId"])

    @property
    def sent(self) -> Any:
        """The example of the request body; None without one."""
        media = _media(self.operation.get("requestBody", {}))
        return example_in(media) if media else None

    @property
    def part(self) -> str:
        return next(part for root, part in PART_OF.items() if self.path.startswith(root))

    @property
    def runnable(self) -> bool:
        """Whether the explorer can run it: calls of the app API, but no downloads."""
        kinds = {
            kind
            for status, response in self.operation["responses"].items()
            if status < "300"
            for kind in response.get("content", {})
        }
        return self.part == APP_API and kinds <= {"application/json"}

    @property
    def credential(self) -> str:
        return next(
            (CREDENTIALS[name] for requirement in self.operation["security"] for name in requirement), ""
        )


@dataclass(frozen=True, slots=True)
class OperationGroup:
    name: str
    about: str
    endpoints: list[ApiOperation]

    @property
    def slug(self) -> str:
        return slugify(self.name)


@dataclass(frozen=True, slots=True)
class EventOrHook:
    """An event or a hook, as its section shows it."""

    name: str
    operation: Operation
    headers: list[FieldRow]
    fields: list[FieldRow]
    example: Any
    answer: list[FieldRow]
    answer_example: Any


@cache
def groups() -> list[OperationGroup]:
    """The headings that have endpoints."""
    found = [
        OperationGroup(name, about, [each for each in endpoints() if name in each.operation["tags"]])
        for name, about in TAGS.items()
    ]
    return [group for group in found if group.endpoints]


def group_of(slug: str) -> OperationGroup:
    """The group with this slug in its address. Raises `Http404`."""
    for group in groups():
        if group.slug == slug:
            return group
    raise Http404


@cache
def endpoints() -> list[ApiOperation]:
    return [
        _endpoint(method.upper(), path, operation)
        for path, item in document()["paths"].items()
        for method, operation in item.items()
    ]


def _endpoint(method: str, path: str, operation: Operation) -> ApiOperation:
    success = next(response for status, response in operation["responses"].items() if status < "300")
    sent, answer = _media(operation.get("requestBody", {})), _media(success)
    return ApiOperation(
        method=method,
        path=path,
        operation=operation,
        parameters=[(each["in"], _parameter(each)) for each in operation["parameters"]],
        body=_rows(sent),
        fields=_rows(answer),
        example=example_in(answer) if answer else None,
        samples=samples_of(call_of(method, path, operation, settings.BASE_URL)),
    )


@cache
def events() -> list[EventOrHook]:
    return [call for call in _calls() if EVENTS_TAG in call.operation["tags"]]


@cache
def hooks() -> list[EventOrHook]:
    return [call for call in _calls() if call not in events()]


def _calls() -> list[EventOrHook]:
    return [_call(name, item["post"]) for name, item in document()["webhooks"].items()]


def _call(name: str, operation: Operation) -> EventOrHook:
    sent, answer = _media(operation["requestBody"]), _media(operation["responses"]["2XX"])
    return EventOrHook(
        name=name,
        operation=operation,
        headers=[_parameter(each) for each in operation["parameters"]],
        fields=_rows({"schema": sent["schema"]["properties"]["data"]}),
        example=example_in(sent),
        answer=_rows(answer),
        answer_example=example_in(answer) if answer else None,
    )


def _media(message: dict[str, Any]) -> dict[str, Any]:
    """The first way of writing a body; empty without one."""
    return next(iter(message.get("content", {}).values()), {})


def _rows(media: dict[str, Any]) -> list[FieldRow]:
    return list(rows(media["schema"], document())) if media else []


def _parameter(parameter: dict[str, Any]) -> FieldRow:
    schema = parameter["schema"] | {"description": parameter["description"]}
    return row(parameter["name"], schema, {}, required=parameter.get("required", False))
