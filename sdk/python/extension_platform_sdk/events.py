"""From the HTTP request of a delivery to the handler of its event.

The router knows no web framework: hand it headers and raw body, and send back the status and body it returns::

    router = WebhookRouter()

    @router.on("order.created")
    def ring(event: WebhookEvent[OrderCreated]) -> None:  # from extension_platform_sdk.types
        print("New order", event.data["orderNumber"])

    response = router.handle(request.headers, request.body, secret)
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from .envelope import TRACEPARENT_HEADER, WebhookEvent, read_traceparent
from .seen import MemorySeen, SeenStore
from .signatures import SIGNATURE_HEADER, TIMESTAMP_HEADER, TOLERANCE, InvalidSignature, verify

if TYPE_CHECKING:
    from .types import OnEvent

WEBHOOK_ID_HEADER = "X-Webhook-Id"
DELIVERY_ID_HEADER = "X-Service-Event-Id"
EVENT_ID_HEADER = "X-Webhook-Event-Uid"
CURSOR_HEADER = "X-Feed-Cursor"
REQUEST_ID_HEADER = "X-Request-Id"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Response:
    """What to answer the platform: ``status``, and ``body`` as JSON.

    The rest is for the app's own log: ``reason`` in plain words for every status but 200, the ``event`` once it
    was verified and read, and ``repeat`` when it had been processed before and no handler ran.
    """

    status: int
    body: bytes
    reason: str | None = None
    event: WebhookEvent[Any] | None = None
    repeat: bool = False


class Headers(Protocol):
    """Any mapping of header names to values: of Django, Flask, Starlette, ``http.server`` or a plain dict."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Pairs of name and value; the names' case doesn't matter."""


Handler = Callable[[WebhookEvent[Any]], object]
SecretLookup = Callable[[str], str | None]


class WebhookRouter:
    """One handler per event name, behind the signature check and the deduplication.

    A handler has 10 seconds, the request included ("Retry policy"): do the slow part elsewhere.
    """

    def __init__(self, *, seen: SeenStore | None = None, tolerance: float = TOLERANCE) -> None:
        self._handlers: dict[str, Handler] = {}
        self._seen: SeenStore = MemorySeen() if seen is None else seen
        self._tolerance = tolerance

    @property
    def on(self) -> OnEvent:
        """``on(*events)``: make the decorated function the handler of these events.

        Type checkers hold the handler of a single event to the event's data. Raises ``ValueError`` where an event has
        its handler already.
        """
        return self._on

    def _on(self, *events: str) -> Callable[[Any], Any]:
        def register(handler: Handler) -> Handler:
            for event in events:
                if event in self._handlers:
                    raise ValueError(f"{event} has a handler already")
                self._handlers[event] = handler
            return handler

        return register

    def handle(
        self, headers: Headers, body: bytes, secret: str | SecretLookup, *, now: float | None = None
    ) -> Response:
        """Verify one delivery, run its handler, and say what to answer.

        ``secret`` is the webhook's secret, or for an app with several webhooks a function that is given the
        value of ``X-Webhook-Id`` and returns its secret, ``None`` for an unknown one.

        ======  ==================================================================================
        status  when
        ======  ==================================================================================
        200     handled; or there is no handler; or it is a repeat of a handled delivery
        400     correctly signed, but not the envelope of an event
        401     no, malformed, wrong or stale signature; unknown webhook id
        500     the handler raised: the platform will retry, and the handler runs again
        ======  ==================================================================================
        """
        values = {name.lower(): value for name, value in headers.items()}
        webhook_id = values.get(WEBHOOK_ID_HEADER.lower())
        try:
            verify(
                secret=_find_secret(secret, webhook_id),
                timestamp=values.get(TIMESTAMP_HEADER.lower()),
                signature=values.get(SIGNATURE_HEADER.lower()),
                body=body,
                tolerance=self._tolerance,
                now=now,
            )
        except InvalidSignature as error:
            return _refuse(401, str(error))
        try:
            event = replace(
                WebhookEvent.from_body(body, values.get(DELIVERY_ID_HEADER.lower())),
                id=values.get(EVENT_ID_HEADER.lower()),
                cursor=values.get(CURSOR_HEADER.lower()),
                request_id=values.get(REQUEST_ID_HEADER.lower()),
                traceparent=read_traceparent(values.get(TRACEPARENT_HEADER)),
            )
        except ValueError as error:
            return _refuse(400, str(error))
        if webhook_id is not None and webhook_id != event.webhook_id:
            return _refuse(400, f"{WEBHOOK_ID_HEADER} is not the body's webhookId")
        return self._dispatch(event)

    def _dispatch(self, event: WebhookEvent[Any]) -> Response:
        # The header is not under the signature, the webhook id is: together they can't name another's delivery.
        key = f"{event.webhook_id}/{event.delivery_id}" if event.delivery_id else None
        if key is not None and self._seen.seen(key):
            return _acknowledge(event, repeat=True)
        handler = self._handlers.get(event.event)
        if handler is not None:
            try:
                handler(event)
            except Exception:
                logger.exception("The handler of %s failed", event.event)
                return _refuse(500, "the handler failed", event)
        if key is not None:
            self._seen.mark(key)
        return _acknowledge(event)


def _find_secret(secret: str | SecretLookup, webhook_id: str | None) -> str:
    if isinstance(secret, str):
        return secret
    if not webhook_id:
        raise InvalidSignature(f"{WEBHOOK_ID_HEADER} is missing")
    found = secret(webhook_id)
    if not found:
        raise InvalidSignature(f"{WEBHOOK_ID_HEADER} names no webhook known here")
    return found


def _acknowledge(event: WebhookEvent[Any], *, repeat: bool = False) -> Response:
    return Response(200, b'{"received": true}', event=event, repeat=repeat)


def _refuse(status: int, reason: str, event: WebhookEvent[Any] | None = None) -> Response:
    return Response(status, json.dumps({"message": reason}).encode(), reason=reason, event=event)
