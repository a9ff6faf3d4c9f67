"""Composes the request of one attempt: its URL, headers and body, and the headers with which a receiver verifies the sender and the content."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from uuid import UUID

import orjson

from common.times import iso
from webhooks.catalogue import CUSTOMER_ERASURE
from webhooks.enums import WAITING
from webhooks.feed import Cursor
from webhooks.messages.payloads import without_person
from webhooks.models import Delivery, Event


@dataclass(frozen=True, slots=True)
class Message:
    url: str
    headers: dict[str, str]
    body: bytes


def compose(
    *, event: Event, delivery_id: UUID, webhook_id: UUID, url: str, secret: str, now: datetime
) -> Message:
    """The request for an attempt at `now`. Each attempt has the same body, and a new timestamp and signature."""
    webhook, business, delivery = str(webhook_id), str(event.business_id), str(delivery_id)
    body = render_body(event.type, event.occurred_at, webhook, business, event.data)
    timestamp = int(now.timestamp())
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Id": webhook,
        "X-Webhook-Event": event.type,
        "X-Webhook-Event-Uid": str(event.id),
        "X-Webhook-Business-Id": business,
        "X-Service-Event-Id": delivery,
        "X-Feed-Cursor": str(Cursor.before(event.horizon, event.occurred_at)),
        **event.trace.headers(_span(delivery_id, timestamp)),
        **signature_headers(secret, delivery, timestamp, body),
    }
    return Message(url, headers, body)


def event_of(delivery: Delivery) -> Event:
    """The event as the delivery has it: once the delivery of an erasure has ended, without the customer."""
    event = delivery.event
    if event.type == CUSTOMER_ERASURE and delivery.status not in WAITING:
        event.data = blanked(event.data)
    return event


def body_of(delivery: Delivery) -> bytes:
    event = event_of(delivery)
    return render_body(
        event.type, event.occurred_at, str(delivery.webhook_id), str(event.business_id), event.data
    )


def blanked(data_text: str) -> str:
    return orjson.dumps(without_person(orjson.loads(data_text))).decode()


def _span(delivery_id: UUID, timestamp: int) -> bytes:
    """The attempt's id in its trace. It is derived, so that the portal can show the headers as they were sent."""
    return blake2b(delivery_id.bytes + timestamp.to_bytes(8), digest_size=8).digest()


def render_body(
    event_type: str, occurred_at: datetime, webhook_id: str, business_id: str, data_text: str
) -> bytes:
    """The UTF-8 JSON text `{"event", "timestamp", "webhookId", "businessId", "data"}` (contract, section 5).

    Every attempt of a delivery renders the same bytes: `data_text` is the event's stored JSON text, and the rest has a
    fixed order and form. Receivers may compare or store bodies, so a change here changes retries of older events.
    """
    head = {
        "event": event_type,
        "timestamp": iso(occurred_at),
        "webhookId": webhook_id,
        "businessId": business_id,
    }
    fields = ",".join(f'"{name}":{json.dumps(value)}' for name, value in head.items())
    return f'{{{fields},"data":{data_text}}}'.encode()


EXCERPT_BYTES = 4096


def excerpt(answer: bytes) -> str:
    """The start of a response body, as text that the database can store and people can read."""
    return answer[:EXCERPT_BYTES].decode("utf-8", "replace").replace("\x00", "")


# --- Signatures --------------------------------------------------------------------------------------

# Two schemes sign the same bytes: this service's own (docs/contract.md, section 5), and Standard Webhooks
# (https://www.standardwebhooks.com), so that its published libraries can verify deliveries and hook calls.


def own_signature_headers(secret: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The service's own scheme.

    HMAC-SHA256 over `<timestamp>.<body>`. The key is the whole secret string with its prefix. `timestamp` is the Unix
    time of sending in seconds, and `body` the exact bytes sent.
    """
    return {
        "X-Webhook-Timestamp": str(timestamp),
        "X-Webhook-Signature": "sha256=" + _hmac(secret.encode(), b"%d.%b" % (timestamp, body)).hex(),
    }


def signature_headers(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Both schemes, for a delivery or a hook call. Each attempt needs new ones.

    The Standard Webhooks signature also covers `message_id`. Its key is the base64 part of the secret, decoded: the
    part after the last underscore, a character that standard base64 doesn't use. Raises `ValueError` if that part
    can't be decoded.
    """
    key = base64.b64decode(secret.rpartition("_")[2], validate=True)
    signature = _hmac(key, b"%b.%d.%b" % (message_id.encode(), timestamp, body))
    return {
        **own_signature_headers(secret, timestamp, body),
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": "v1," + base64.b64encode(signature).decode(),
    }


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)
