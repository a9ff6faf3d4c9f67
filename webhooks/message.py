"""One attempt's request: where it goes and what it carries."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from webhooks.envelope import render_body
from webhooks.models import Event
from webhooks.signing import signature_headers
from webhooks.transport import USER_AGENT


@dataclass(frozen=True, slots=True)
class Message:
    url: str
    headers: dict[str, str]
    body: bytes


def compose(
    *, event: Event, delivery_id: UUID, webhook_id: UUID, url: str, secret: str, now: datetime
) -> Message:
    """The request for an attempt made `now`: the same body every time, with a fresh timestamp and signature."""
    body = render_body(event.type, event.occurred_at, str(webhook_id), str(event.business_id), event.data)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Webhook-Id": str(webhook_id),
        "X-Webhook-Event": event.type,
        "X-Service-Event-Id": str(delivery_id),
        **signature_headers(secret, str(delivery_id), int(now.timestamp()), body),
    }
    return Message(url, headers, body)


EXCERPT_BYTES = 4096


def excerpt(answer: bytes) -> str:
    """The first part of an answer's body, as text that the database can hold and a person can read."""
    return answer[:EXCERPT_BYTES].decode("utf-8", "replace").replace("\x00", "")
