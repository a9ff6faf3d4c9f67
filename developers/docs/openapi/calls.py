"""The section `webhooks` of the OpenAPI document: what the platform sends, event by event and hook by hook."""

from typing import Any

from rest_framework import serializers

from common.http.transport import TIMEOUT
from common.rest.fields import Moment, Text
from common.rest.schema import OperationSchema, Schema
from extensions.hooks.schemas import ANSWER_SCHEMAS, request_body
from stores.hookpoints import DECLARATIONS, HookPoint
from stores.serializers import BusinessId
from webhooks.catalogue import EVENTS, EventType
from webhooks.serializers import DeliveryId, EventId, WebhookId

EVENTS_TAG, HOOKS_TAG = "Events", "Hooks"
TAGS = {
    EVENTS_TAG: "Deliveries to the webhooks of an app.",
    HOOKS_TAG: "Synchronous calls to the app's Webhook URL, joined with the hook's path.",
}
Headers = dict[str, serializers.Field]

DELIVERY = DeliveryId().initial

SIGNED: Headers = {
    "X-Webhook-Business-Id": BusinessId(),
    "X-Request-Id": Text(
        "The request to the platform that caused this one.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01"
    ),
    "traceparent": Text(
        "The W3C trace of that request. Pass it on with your own calls to stay in the same trace.",
        "00-01932d1c7a407cc39d6f0d2f4c1f8a01-00f067aa0ba902b7-01",
        schema={"pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-01$"},
    ),
    "X-Webhook-Signature": Text(
        "sha256= and the hex of HMAC-SHA256 over `<timestamp>.<raw body>`, keyed with the whole webhook secret.",
        "sha256=5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
        schema={"pattern": "^sha256=[0-9a-f]{64}$"},
    ),
    "X-Webhook-Timestamp": Text("The Unix time of sending.", "1795187045", schema={"pattern": "^[0-9]+$"}),
    "User-Agent": Text("Always the same.", "Service-Webhooks/1.0", schema={"enum": ["Service-Webhooks/1.0"]}),
}


def standard(about: str) -> Headers:
    """Those of Standard Webhooks; `about` says what `webhook-id` is."""
    return {
        "webhook-id": Text(about, DELIVERY),
        "webhook-timestamp": SIGNED["X-Webhook-Timestamp"],
        "webhook-signature": Text(
            "v1, and base64 as in Standard Webhooks.",
            "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
            schema={"pattern": "^v1,"},
        ),
    }


def delivered(event: EventType) -> Headers:
    """The headers of a delivery (contract, section 5; Standard Webhooks)."""
    return {
        "X-Webhook-Id": WebhookId(),
        "X-Webhook-Event": Text("The event.", event.name, schema={"enum": [event.name]}),
        "X-Webhook-Event-Uid": EventId(),
        **SIGNED,
        "X-Service-Event-Id": Text(
            "The delivery, the same in every attempt: use it to drop duplicates.", DELIVERY
        ),
        "X-Feed-Cursor": Text(
            "A place in the feed from which on no later event is missing.",
            "_T_rPJJQt5dKm1KLaWNjIaRhtV71W3vq_YCamp6SW3mmNC-g_biylNl_xhA9kgibJfpeAw",
        ),
        **standard("The same as X-Service-Event-Id (Standard Webhooks)."),
    }


class Envelope(serializers.Serializer):
    """The body of a delivery without its `data`."""

    event = Text("The event.")
    timestamp = Moment("When it happened.")
    webhookId = WebhookId()
    businessId = BusinessId()


def data_schema(event: EventType) -> Schema:
    """The JSON Schema (Draft 2020-12) of an event's `data`."""
    head = {"title": event.name, "description": event.sentence}
    return head | OperationSchema().json_schema(event.data) | {"examples": [event.example]}


def components() -> dict[str, Schema]:
    return {f"event.{event.name}": data_schema(event) for event in EVENTS.values()}


def webhooks() -> dict[str, Any]:
    """By event name and hook point; the two never share one."""
    deliveries = {event.name: {"post": _delivery(event)} for event in EVENTS.values()}
    return deliveries | {str(point): {"post": _hook_call(point)} for point in HookPoint}


def _delivery(event: EventType) -> dict[str, Any]:
    body = OperationSchema().json_schema(Envelope)
    body["properties"]["event"] |= {"const": event.name, "examples": [event.name]}
    example = {name: part["examples"][0] for name, part in body["properties"].items()}
    body["properties"]["data"] = {"$ref": f"#/components/schemas/event.{event.name}"}
    body["required"] = list(body["properties"])
    return {
        "operationId": f"on-{event.name}",
        "summary": event.sentence,
        "description": f"Needs the scope `{event.scope}`." if event.scope else "Needs no scope.",
        "tags": [EVENTS_TAG],
        "security": [],
        "parameters": _parameters(delivered(event)),
        "requestBody": _json(body, example | {"data": event.example}) | {"required": True},
        "responses": {
            "2XX": {"description": "Accepted. The response body is ignored."},
            "default": {
                "description": f"Anything else, or no response within {TIMEOUT:g} seconds, is retried."
            },
        },
    }


def _hook_call(point: HookPoint) -> dict[str, Any]:
    request, answer = request_body(point), ANSWER_SCHEMAS[point]
    return {
        "operationId": f"hook-{point}",
        "summary": f"The hook {point}",
        "description": DECLARATIONS[point].combining,
        "tags": [HOOKS_TAG],
        "security": [],
        "parameters": _parameters(SIGNED | standard("The call, as the portal shows it (Standard Webhooks).")),
        "requestBody": _json(request, request["examples"][0]) | {"required": True},
        "responses": {
            "2XX": {"description": "Within the hook's timeout."} | _json(answer, answer["examples"][0]),
            "default": {"description": "Anything else is a failure; the checkout goes on without the app."},
        },
    }


def _parameters(headers: Headers) -> list[Schema]:
    schema = OperationSchema()
    return [schema.parameter(name, field, "header", required=True) for name, field in headers.items()]


def _json(schema: Schema, example: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema, "examples": {"Example": {"value": example}}}}}
