"""A delivery and a hook call, as they are read from the JSON object around their data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Data = TypeVar("Data", default=dict[str, Any])
else:
    from typing import TypeVar

    Data = TypeVar("Data")


@dataclass(frozen=True, slots=True)
class Envelope:
    """``names`` holds the texts that were asked for, in their order."""

    names: tuple[str, ...]
    timestamp: datetime
    data: dict[str, Any]


def read_envelope(body: bytes, *names: str) -> Envelope:
    """Read an object with these texts, ``timestamp`` and ``data``; further keys are ignored.

    Raises ``ValueError`` that says what is wrong with it.
    """
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(envelope, dict):
        raise ValueError("the body is not a JSON object")
    for name in (*names, "timestamp"):
        if not isinstance(envelope.get(name), str) or not envelope[name]:
            raise ValueError(f"{name} is missing or not a string")
    if not isinstance(envelope.get("data"), dict):
        raise ValueError("data is missing or not an object")
    try:
        timestamp = datetime.fromisoformat(envelope["timestamp"])
    except ValueError:
        raise ValueError("timestamp is not an ISO 8601 time") from None
    return Envelope(tuple(envelope[name] for name in names), timestamp, envelope["data"])


@dataclass(frozen=True, slots=True)
class WebhookEvent(Generic[Data]):
    """A verified delivery: the envelope of its body, and the delivery's id from the headers.

    ``data`` depends on the ``event``; ``types`` has a type for each, named after it: ``WebhookEvent[OrderCreated]``.
    ``timestamp`` is when the event happened; each attempt's own time stays in ``X-Webhook-Timestamp``.
    ``delivery_id`` is the same over all retries of one delivery. ``id`` is the event's, the same in all its deliveries and
    in the feed: do the work once for each. ``cursor`` is a place in the feed before the event: reading on from it misses
    nothing. ``request_id`` is that of the request which caused the event. Each is ``None`` where its header is missing.
    """

    event: str
    timestamp: datetime
    webhook_id: str
    business_id: str
    data: Data
    delivery_id: str | None = None
    id: str | None = None
    cursor: str | None = None
    request_id: str | None = None

    @classmethod
    def from_body(cls, body: bytes, delivery_id: str | None = None) -> WebhookEvent[Any]:
        """Read the JSON object ``{event, timestamp, webhookId, businessId, data}``; further keys are ignored.

        Raises ``ValueError`` that says what is wrong with it.
        """
        envelope = read_envelope(body, "event", "webhookId", "businessId")
        event, webhook_id, business_id = envelope.names
        return WebhookEvent(event, envelope.timestamp, webhook_id, business_id, envelope.data, delivery_id)


@dataclass(frozen=True, slots=True)
class HookCall(Generic[Data]):
    """A verified call: what is asked (``data``), where, and when the platform asked.

    ``data`` depends on the ``hook_point``; ``types`` has one for each, and one for the answer. Money is in minor units.
    """

    hook_point: str
    business_id: str
    timestamp: datetime
    data: Data

    @classmethod
    def from_body(cls, body: bytes) -> HookCall[Any]:
        """Read the JSON object ``{hookPoint, businessId, timestamp, data}``; further keys are ignored.

        Raises ``ValueError`` that says what is wrong with it.
        """
        envelope = read_envelope(body, "hookPoint", "businessId")
        hook_point, business_id = envelope.names
        return HookCall(hook_point, business_id, envelope.timestamp, envelope.data)
