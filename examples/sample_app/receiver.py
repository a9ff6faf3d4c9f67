"""What the app does with a webhook."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

from extension_platform_sdk import Response, WebhookEvent, WebhookRouter
from extension_platform_sdk.events import DELIVERY_ID_HEADER, WEBHOOK_ID_HEADER, Headers

from .connections import ConnectionStore
from .inbox import Inbox
from .times import now_text, time_text

UNVERIFIED_KEPT = 4096
"""Bytes kept of a refused call's body: anybody may send one."""

logger = logging.getLogger(__name__)


class Receiver:
    """Answers the platform's calls, and keeps each in the inbox, whatever the answer."""

    def __init__(
        self, connections: ConnectionStore, inbox: Inbox, forget: Sequence[Callable[[str], None]] = ()
    ) -> None:
        """``forget`` delete what else is kept of a store, each given its business's id."""
        self._connections = connections
        self._inbox = inbox
        self._forget = forget
        self._router = WebhookRouter()
        self._router.on("order.created")(self._ring)
        self._router.on("business.data_erasure")(self._erase)

    def receive(self, headers: Headers, body: bytes) -> Response:
        """Verify, handle and keep one call; returns what to answer."""
        response = self._router.handle(headers, body, self._connections.secret_of)
        fields = _claimed(headers, body) if response.event is None else _of_event(response.event)
        self._keep(response, verified=response.status != 401, fields=fields)
        return response

    def refuse(self, headers: Headers, status: int, reason: str) -> Response:
        """Keep and answer a call whose body was not read."""
        response = Response(status, json.dumps({"message": reason}).encode(), reason=reason)
        self._keep(response, verified=False, fields=_claimed(headers, b""))
        return response

    def _ring(self, event: WebhookEvent) -> None:
        logger.info("New order %s", event.data.get("orderNumber"))

    def _erase(self, event: WebhookEvent) -> None:
        """Delete everything of the store."""
        for forget in self._forget:
            forget(event.business_id)
        deleted = self._inbox.forget(event.business_id, event.webhook_id)
        self._connections.erase(event.webhook_id, now_text(), webhooks=deleted)

    def _keep(self, response: Response, *, verified: bool, fields: dict[str, Any]) -> None:
        call = self._inbox.add(
            received_at=now_text(),
            status=response.status,
            verified=verified,
            reason=response.reason,
            repeat=response.repeat,
            **fields,
        )
        logger.info("%s: %s", call.event, call.reason or "accepted")


def _of_event(event: WebhookEvent) -> dict[str, Any]:
    return {
        "event": event.event,
        "timestamp": time_text(event.timestamp),
        "delivery_id": event.delivery_id,
        "webhook_id": event.webhook_id,
        "business_id": event.business_id,
        "data": event.data,
    }


def _claimed(headers: Headers, body: bytes) -> dict[str, Any]:
    """The same fields of a call that may come from anybody: cut short, the body not even parsed."""
    values = {name.lower(): value[:100] for name, value in headers.items()}
    return {
        "event": values.get("x-webhook-event") or "unknown",
        "timestamp": None,
        "delivery_id": values.get(DELIVERY_ID_HEADER.lower()),
        "webhook_id": values.get(WEBHOOK_ID_HEADER.lower()),
        "business_id": None,
        "data": body[:UNVERIFIED_KEPT].decode(errors="replace"),
    }
