"""The JSON Schemas of webhooks and deliveries on the wire (`webhooks.records`), and of what is sent."""

from typing import get_args

from common.json_schema import (
    Schema,
    boolean,
    document,
    identifier,
    integer,
    listing,
    moment,
    one_of,
    or_null,
    record,
    shape,
    text,
)  # fmt: skip
from stores.schemas import BUSINESS_ID
from webhooks.catalogue import EVENTS, SUBSCRIBABLE, EventType
from webhooks.enums import DeliveryStatus
from webhooks.transport import ErrorClass

WEBHOOK_ID = identifier("The webhook.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06")
DELIVERY_ID = identifier(
    "The delivery; the value of X-Service-Event-Id.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a08"
)
EVENT_ID = identifier("The event; its deliveries share it.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a09")
INSTALLATION_ID = identifier("The installation.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0a")
ERROR_CLASS = or_null(one_of("How it failed; null for a success.", get_args(ErrorClass), "http_5xx"))
SECRET = text(
    "The key that its deliveries are signed with. No other answer shows it.",
    "whsec_test_kT0gXn2Jv3m4o5p6q7r8s9t0u1v2w3x4y5z6A7B8C9E=",
    pattern="^whsec_",
)


def _webhook_fields() -> dict[str, Schema]:
    event = one_of("An event.", SUBSCRIBABLE, "order.created")
    return {
        "id": WEBHOOK_ID,
        "url": text("Where deliveries go.", "https://app.example.com/events"),
        "events": listing("What it is told of.", event),
        "description": or_null(text("What the app calls it.", "Order bell")),
        "isActive": boolean("Whether deliveries are sent to it.", True),
        "isAppDefined": boolean("Whether the app's Webhook URL brought it into being.", False),
        "eventsWithoutScope": {
            **listing("Those of its events that the app's scopes do not reach.", event),
            "examples": [[]],
        },
        "disabledReason": {
            **or_null(text("Why it was disabled automatically.", "It answered 410.")),
            "examples": [None],
        },
        "disabledAt": {**or_null(moment("When it was disabled automatically.")), "examples": [None]},
        "createdAt": moment("When it was registered."),
    }


def webhook() -> Schema:
    return record(**_webhook_fields())


def new_webhook() -> Schema:
    return record(**_webhook_fields(), secret=SECRET)


def _delivery_fields() -> dict[str, Schema]:
    waits = or_null(moment("When it is tried next; null once it is over.", "2026-11-20T15:04:35.500Z"))
    return {
        "id": DELIVERY_ID,
        "eventId": EVENT_ID,
        "event": one_of("The event's name.", list(EVENTS), "order.created"),
        "webhookId": WEBHOOK_ID,
        "installationId": INSTALLATION_ID,
        "status": one_of("How far it has come.", DeliveryStatus.values, "RETRYING"),
        "createdAt": moment("When it was written."),
        "nextAttemptAt": waits,
    }


def delivery() -> Schema:
    return record(**_delivery_fields(), attemptCount=integer("How often it was tried.", 1, minimum=0))


def delivery_with_attempts() -> Schema:
    return record(**_delivery_fields(), attempts=listing("The first one first.", attempt()))


def attempt() -> Schema:
    return record(
        number=integer("Counted from 1.", 1, minimum=1),
        attemptedAt=moment("When it was made."),
        httpStatus=or_null(
            integer("What the endpoint answered; null where it did not.", 500, minimum=100, maximum=999)
        ),
        durationMs=integer("How long it took, in milliseconds.", 31, minimum=0),
        errorClass=ERROR_CLASS,
        responseExcerpt=or_null(
            text("The first part of the answer; null where there was none.", "Out of order")
        ),
    )


def test_result() -> Schema:
    return record(
        success=boolean("Whether the endpoint answered 2xx in time.", True),
        httpStatus=or_null(
            integer("What it answered; null where it did not.", 200, minimum=100, maximum=999)
        ),
        durationMs=integer("How long it took, in milliseconds.", 31, minimum=0),
        error={**ERROR_CLASS, "examples": [None]},
        eventId=DELIVERY_ID,
    )


def body_of(event: EventType, data: Schema) -> Schema:
    """The whole body of a delivery (specification, "Delivery format"). `data` stands for the event's schema."""
    head = {
        "event": {
            "type": "string", "const": event.name, "description": "The event.", "examples": [event.name],
        },
        "timestamp": moment("When it happened."),
        "webhookId": WEBHOOK_ID,
        "businessId": BUSINESS_ID,
    }  # fmt: skip
    body = shape(head)
    body["properties"]["data"] = data
    body["required"].append("data")
    body["examples"] = [{**body["examples"][0], "data": event.example}]
    return body


def published(event: EventType, address: str) -> Schema:
    """The schema of an event's `data` as it is published under its address."""
    schema = {name: value for name, value in event.schema.items() if name != "$schema"}
    return document(schema) | {"$id": address}
