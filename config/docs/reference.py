"""The document as pages: operations by group, with samples; events and hooks."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.text import slugify

from config.docs import calls, tables
from config.docs.examples import example_of
from config.docs.fields import Row, rows
from config.docs.openapi import document
from config.docs.paths import JSON, scope_of
from config.docs.samples import Sample, call_of, samples_of
from extensions.hooks.schemas import ANSWER_SCHEMAS, REQUEST_SCHEMAS, request_body
from stores.hookpoints import DECLARATIONS, HookPoint
from webhooks.catalogue import EVENTS, EventType

CREDENTIALS = {
    "accessToken": "access token",
    "developerToken": "developer token",
    "clientCredentials": "Client ID and secret",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation, as its section shows it."""

    id: str
    method: str
    path: str
    part: str
    group: str
    summary: str
    about: str
    credential: str
    scope: str | None
    parameters: list[dict[str, Any]]
    body: list[Row]
    answers: list[dict[str, Any]]
    fields: list[Row]
    samples: list[Sample]
    example: Any


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    slug: str
    part: str
    about: str
    endpoints: list[Endpoint]


@dataclass(frozen=True, slots=True)
class Told:
    """An event or a hook, as its section shows it."""

    name: str
    slug: str
    sentence: str
    scope: str | None
    fields: list[Row]
    example: Any
    answer: list[Row]
    answer_example: Any
    kind: str = ""  # the group of an event


@cache
def groups() -> list[Group]:
    found = []
    for name, about in tables.GROUPS.items():
        endpoints = [each for each in endpoints_of_document() if each.group == name]
        found.append(Group(name, slugify(name), endpoints[0].part, about, endpoints))
    return found


@cache
def endpoints_of_document() -> list[Endpoint]:
    made = document()
    return [
        _endpoint(method.upper(), path, entry, made)
        for path, item in made["paths"].items()
        for method, entry in item.items()
    ]


def _endpoint(method: str, path: str, entry: dict[str, Any], made: dict[str, Any]) -> Endpoint:
    success = next(answer for status, answer in entry["responses"].items() if status < "300")
    media = success.get("content", {}).get(JSON)
    sent = next(iter(entry.get("requestBody", {}).get("content", {}).values()), None)
    credential = next((name for requirement in entry["security"] for name in requirement), "")
    return Endpoint(
        id=entry["operationId"],
        method=method,
        path=path,
        part=tables.part_of(path),
        group=entry["tags"][0],
        summary=entry["summary"],
        about=tables.OPERATIONS[f"{method} {path}"].about,
        credential=CREDENTIALS.get(credential, ""),
        scope=scope_of(method, path),
        parameters=[_shown(parameter) for parameter in entry["parameters"]],
        body=list(rows(sent["schema"], made)) if sent else [],
        answers=[
            {"status": status, "about": answer["description"]}
            for status, answer in entry["responses"].items()
        ],
        fields=list(rows(media["schema"], made)) if media else [],
        samples=samples_of(call_of(method, path, entry, settings.BASE_URL)),
        example=example_of(media["schema"], made) if media and "example" not in media else (media or {}).get("example"),
    )  # fmt: skip


def _shown(parameter: dict[str, Any]) -> dict[str, Any]:
    wrapped = {
        "properties": {parameter["name"]: parameter["schema"] | {"description": parameter["description"]}}
    }
    return {
        "row": next(rows(wrapped, {})),
        "place": parameter["in"],
        "required": parameter.get("required", False),
    }


@cache
def events() -> list[Told]:
    made = document()
    return [_event(event, made) for event in EVENTS.values()]


def _event(event: EventType, made: dict[str, Any]) -> Told:
    return Told(
        name=event.name,
        slug=slugify(event.name.replace(".", "-")),
        sentence=event.sentence,
        scope=event.scope,
        fields=list(rows(event.schema, made)),
        example=calls.event_example(event),
        answer=[],
        answer_example=None,
        kind=event.group,
    )


@cache
def hooks() -> list[Told]:
    return [
        Told(
            name=str(point),
            slug=slugify(point.replace(".", "-")),
            sentence=DECLARATIONS[point].combining,
            scope=None,
            fields=list(rows(REQUEST_SCHEMAS[point], {})),
            example=request_body(point)["examples"][0],
            answer=list(rows(ANSWER_SCHEMAS[point], {})),
            answer_example=ANSWER_SCHEMAS[point]["examples"][0],
        )
        for point in HookPoint
    ]
