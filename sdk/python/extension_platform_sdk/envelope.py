"""A delivery and a hook call, as they are read from the JSON object around their data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Data = TypeVar("Data", default=dict[str, Any])
else:
    from typing import TypeVar

    Data = TypeVar("Data")


TRACEPARENT_HEADER = "traceparent"
# https://www.w3.org/TR/trace-context/#traceparent-header, of any version
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]{0,200})?")


def read_traceparent(value: str | None) -> str | None:
    """The header's value; None for a missing or malformed one. It isn't under the signature, and goes into requests of the app."""
    return value if value and _TRACEPARENT.fullmatch(value) else None


@dataclass(frozen=True, slots=True)
class Envelope:
    """``names`` holds the texts that were asked for, in their order, and ``rest`` the whole object."""

    names: tuple[str, ...]
    timestamp: datetime
    data: dict[str, Any]
    rest: dict[str, Any]


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
    return Envelope(tuple(envelope[name] for name in names), timestamp, envelope["data"], envelope)


@dataclass(frozen=True, slots=True)
class WebhookEvent(Generic[Data]):
    """A verified delivery: the envelope of its body, and the delivery's id from the headers.

    ``data`` depends on the ``event``; ``types`` has a type for each, named after it: ``WebhookEvent[OrderCreated]``.
    ``timestamp`` is when the event happened; each attempt's own time stays in ``X-Webhook-Timestamp``.
    ``delivery_id`` is the same over all retries of one delivery. ``id`` is the event's, the same in all its deliveries and
    in the feed: do the work once for each. ``cursor`` is a place in the feed before the event: reading on from it misses
    nothing. ``request_id`` is that of the request which caused the event, and ``traceparent`` is for your own calls that follow:
    ``client.following(event.traceparent)``. Each is ``None`` where its header is missing.
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
    traceparent: str | None = None

    @classmethod
    def from_body(cls, body: bytes, delivery_id: str | None = None) -> WebhookEvent[Any]:
        """Read the JSON object ``{event, timestamp, webhookId, businessId, data}``; further keys are ignored.

        Raises ``ValueError`` that says what is wrong with it.
        """
        envelope = read_envelope(body, "event", "webhookId", "businessId")
        event, webhook_id, business_id = envelope.names
        return WebhookEvent(event, envelope.timestamp, webhook_id, business_id, envelope.data, delivery_id)


@dataclass(frozen=True, slots=True)
class Shopper:
    """A person, by the ``key`` that your installation alone knows them by; orders have it as ``customer["key"]``.

    ``proven`` says that this browser has shown that e-mails to this person reach it. If not, let the person earn, but never show
    or spend what they have: anybody can type anybody's address.
    """

    key: str
    proven: bool


@dataclass(frozen=True, slots=True)
class HookCall(Generic[Data]):
    """A verified call: what is asked (``data``), where, and when the platform asked.

    ``data`` depends on the ``hook_point``; ``types`` has one for each, and one for the answer. Money is in minor units.
    ``request_id`` is that of the request which asks, and ``traceparent`` is for your own calls that follow, as in an event.
    ``attributes`` are what your app has put into the cart or the order. ``shopper`` is who orders: ``None`` for somebody unknown, where
    your installation may not read orders, and for ``checkout.payment_methods``.
    """

    hook_point: str
    business_id: str
    timestamp: datetime
    data: Data
    request_id: str | None = None
    traceparent: str | None = None
    attributes: dict[str, str] = field(default_factory=dict)
    shopper: Shopper | None = None

    @classmethod
    def from_body(cls, body: bytes) -> HookCall[Any]:
        """Read the JSON object ``{hookPoint, businessId, timestamp, data, attributes, shopper}``; further keys are ignored.

        Raises ``ValueError`` that says what is wrong with it.
        """
        envelope = read_envelope(body, "hookPoint", "businessId")
        hook_point, business_id = envelope.names
        attributes, shopper = envelope.rest.get("attributes") or {}, envelope.rest.get("shopper")
        return HookCall(
            hook_point,
            business_id,
            envelope.timestamp,
            envelope.data,
            attributes=attributes if isinstance(attributes, dict) else {},
            shopper=read_shopper(shopper),
        )


def read_shopper(given: Any) -> Shopper | None:
    """The person that a hook call or a token names; ``None`` for anything else than an object with a key."""
    if not isinstance(given, dict) or not isinstance(given.get("key"), str):
        return None
    return Shopper(given["key"], given.get("proven") is True)
