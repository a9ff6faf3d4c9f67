"""The section `webhooks` of the OpenAPI document: what the platform sends, event by event and hook by hook."""

from typing import Any

from common.json_schema import Schema, record, text
from extensions.hooks.schemas import ANSWER_SCHEMAS, request_body
from stores.hookpoints import DECLARATIONS, HookPoint
from webhooks.catalogue import EVENTS, EventType
from webhooks.wire_schemas import DELIVERY_ID, WEBHOOK_ID, body_of

EVENTS_TAG, HOOKS_TAG = "Events", "Hooks"
GROUPS = {
    EVENTS_TAG: "Deliveries to the webhooks of an app.",
    HOOKS_TAG: "Synchronous calls to the app's Webhook URL, joined with the hook's path.",
}

_SIGNATURE = text(
    "sha256= and the hex of HMAC-SHA256 over `<timestamp>.<raw body>`, keyed with the whole webhook secret.",
    "sha256=5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
    pattern="^sha256=[0-9a-f]{64}$",
)
_TIMESTAMP = text("When it was sent, in Unix seconds.", "1795187045", pattern="^[0-9]+$")
_USER_AGENT = text("Always the same.", "Service-Webhooks/1.0", enum=["Service-Webhooks/1.0"])

HOOK_HEADERS = {
    "X-Webhook-Signature": _SIGNATURE,
    "X-Webhook-Timestamp": _TIMESTAMP,
    "User-Agent": _USER_AGENT,
}


def event_headers(name: str) -> dict[str, Schema]:
    """Those of a delivery (specification, "Delivery headers"; Standard Webhooks)."""
    return {
        "X-Webhook-Id": WEBHOOK_ID,
        "X-Webhook-Event": text("The event.", name, enum=[name]),
        "X-Webhook-Signature": _SIGNATURE,
        "X-Webhook-Timestamp": _TIMESTAMP,
        "X-Service-Event-Id": text(
            "The delivery's id, the same in every attempt: compare it to know a repetition.",
            DELIVERY_ID["examples"][0],
        ),
        "User-Agent": _USER_AGENT,
        "webhook-id": text("As X-Service-Event-Id (Standard Webhooks).", DELIVERY_ID["examples"][0]),
        "webhook-timestamp": _TIMESTAMP,
        "webhook-signature": text(
            "v1, and base64, as Standard Webhooks says.",
            "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
            pattern="^v1,",
        ),
    }


def component_of(event: EventType) -> str:
    return f"event.{event.name}"


def components() -> dict[str, Schema]:
    return {
        component_of(event): {key: value for key, value in event.schema.items() if key != "$schema"}
        for event in EVENTS.values()
    }


def webhooks() -> dict[str, Any]:
    """By event name and hook point; the two never share one."""
    found = {event.name: {"post": _delivery(event)} for event in EVENTS.values()}
    return found | {str(point): {"post": _hook_call(point)} for point in HookPoint}


def _delivery(event: EventType) -> dict[str, Any]:
    needs = f"Needs the scope `{event.scope}`." if event.scope else "Needs no scope."
    reference = {"$ref": f"#/components/schemas/{component_of(event)}"}
    schema = body_of(event, reference)
    return {
        "operationId": f"on-{event.name}",
        "summary": event.sentence,
        "description": needs,
        "tags": [EVENTS_TAG],
        "security": [],
        "parameters": _header_parameters(event_headers(event.name)),
        "requestBody": _json(schema, event_example(event)),
        "responses": {
            "2XX": {"description": "Taken. The body is not looked at."},
            "default": {"description": "Anything else, or nothing within ten seconds, is tried again."},
        },
    }


def event_example(event: EventType) -> dict[str, Any]:
    """A whole body, as a delivery of the event has it."""
    example: dict[str, Any] = body_of(event, {})["examples"][0]
    return example


def _hook_call(point: HookPoint) -> dict[str, Any]:
    answer = ANSWER_SCHEMAS[point]
    return {
        "operationId": f"hook-{point}",
        "summary": f"The hook {point}",
        "description": DECLARATIONS[point].combining,
        "tags": [HOOKS_TAG],
        "security": [],
        "parameters": _header_parameters(HOOK_HEADERS),
        "requestBody": _json(request_body(point), request_body(point)["examples"][0]),
        "responses": {
            "2XX": {
                "description": "The answer, within the hook's timeout.",
                "content": {"application/json": {"schema": answer, "example": answer["examples"][0]}},
            },
            "default": {"description": "Anything else is a failure, which never breaks the shop."},
        },
    }


def _header_parameters(headers: dict[str, Schema]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "header",
            "required": True,
            "description": schema["description"],
            "schema": {key: value for key, value in schema.items() if key not in ("description", "examples")},
            "example": schema["examples"][0],
        }
        for name, schema in headers.items()
    ]


def _json(schema: Schema, example: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}


def error_schema() -> Schema:
    """The shape of every error (specification, "Errors"; contract section 0)."""
    detail = record(
        field=text("The field, by its path.", "items[0].quantity"),
        message=text("What is wrong with it.", "Must be an integer."),
    )
    fields: dict[str, Schema] = {
        "statusCode": {
            "type": "integer", "minimum": 400, "maximum": 599, "description": "The status.", "examples": [404],
        },
        "message": text("What went wrong, for people.", "Product not found"),
        "error": text("The status's name.", "Not Found"),
    }  # fmt: skip
    schema = record(**fields)
    details = {"type": "array", "items": detail, "description": "Every problem of single fields."}
    schema["properties"]["details"] = details
    return schema
