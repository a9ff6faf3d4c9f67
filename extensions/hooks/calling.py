"""Making hook calls: one signed POST each, in time, with a checked answer.

Failures are returned, never raised. This module does not use the database.
"""

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from common import strangers, tracing
from common.http import transport
from common.http.exchanges import Exchange
from common.ids import new_id
from common.times import iso
from extensions.enums import CallOutcome
from extensions.hooks.answers import MAX_BYTES, BadAnswer, read
from extensions.hooks.live import LiveHook
from extensions.hooks.schemas import TELLS_SHOPPER
from stores.hookpoints import HookPoint
from webhooks.messages.message import signature_headers

log = logging.getLogger(__name__)

_PROBLEMS: Final[Mapping[str, str]] = {
    "dns": "The host's name could not be looked up.",
    "refused": "The connection was refused.",
    "reset": "The connection was reset.",
    "tls": "The TLS handshake failed.",
    "blocked_address": "The address is not on the public internet.",
    "protocol": "The answer was not HTTP.",
}
_TIMEOUTS: Final = ("timeout_connect", "timeout_response")


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """The request: the specification's four fields, what is beside them (contract, section 23), and the headers that sign them. `call_id` is the call's in the ledger, too."""

    call_id: UUID
    body: bytes
    headers: dict[str, str]


@dataclass(slots=True)
class Call:
    """The result of one hook at a point. `answer` is None on failure; `fallback` is what the store did instead.

    `id` is the `webhook-id` that the app got; new for a call that was skipped.
    """

    hook: LiveHook
    called_at: datetime
    outcome: CallOutcome
    problem: str = ""
    duration_ms: int = 0
    http_status: int | None = None
    body: bytes = b""
    request_body: bytes = b""
    answer: dict[str, Any] | None = None
    fallback: str = ""
    by_listener: bool = False
    id: UUID = field(default_factory=new_id)

    @property
    def had_no_place(self) -> bool:
        return self.problem == NO_PLACE


Pending = strangers.Pending[Exchange]  # a call that was begun


def compose(
    *,
    point: HookPoint,
    business_id: UUID,
    data: Mapping[str, Any],
    secret: str,
    now: datetime,
    attributes: Mapping[str, str] = {},
    shopper: Mapping[str, Any] | None = None,
) -> SignedRequest:
    """One request, signed at the moment of sending. It carries the trace of the request that is being answered.

    `attributes` are the app's own, and `shopper` is for it alone; None for an unknown person, or where the app may not know.
    """
    call_id = new_id()
    envelope: dict[str, Any] = {
        "hookPoint": point,
        "businessId": str(business_id),
        "timestamp": iso(now),
        "data": data,
        "attributes": attributes,
    }
    if point in TELLS_SHOPPER:
        envelope["shopper"] = shopper
    body = orjson.dumps(envelope)
    headers = {
        "X-Webhook-Business-Id": str(business_id),
        **tracing.current_or_new().headers(),
        **signature_headers(secret, str(call_id), int(now.timestamp()), body),
    }
    return SignedRequest(call_id, body, headers)


def begin(point: HookPoint, url: str, request: SignedRequest, *, seconds: float) -> Future[Exchange]:
    """Send it. A payment must not be made twice, so that call is not retried on a connection that died."""
    return transport.submit(
        url,
        headers=request.headers,
        body=request.body,
        timeout=seconds,
        max_body=MAX_BYTES,
        fresh_connection=point == HookPoint.CREATE_PAYMENT,
    )


def judged(
    point: HookPoint, hook: LiveHook, exchange: Exchange, *, seconds: float, called_at: datetime
) -> Call:
    """The result of a call that had `seconds`.

    If we fail to process an answer, only that app fails: the other apps of the point are still heard.
    """
    call = Call(
        hook=hook,
        called_at=called_at,
        outcome=CallOutcome.ANSWERED,
        duration_ms=exchange.duration_ms,
        http_status=exchange.status,
        body=exchange.body,
    )
    try:
        check_exchange(exchange, seconds=seconds)
        call.answer = read(point, exchange.body)
    except BadAnswer as failure:
        call.outcome, call.problem = failure.outcome, failure.problem
    except Exception:
        log.exception("An answer of %s could not be read", hook.slug)
        call.outcome, call.problem = CallOutcome.UNEXPECTED, "The answer could not be read."
    return call


def out_of_time(hook: LiveHook, *, now: datetime) -> Call:
    return Call(hook=hook, called_at=now, outcome=CallOutcome.NO_TIME_LEFT, problem=_TIME_USED_UP)


def without_place(hook: LiveHook, *, now: datetime, duration_ms: int = 0) -> Call:
    """Not sent, or no longer waited for (`common.strangers`)."""
    return Call(
        hook=hook,
        called_at=now,
        outcome=CallOutcome.NO_TIME_LEFT,
        problem=NO_PLACE,
        duration_ms=duration_ms,
    )


def skipped_by_breaker(hook: LiveHook, *, now: datetime) -> Call:
    return Call(hook=hook, called_at=now, outcome=CallOutcome.BREAKER_OPEN, problem=_BREAKER_OPEN)


_BREAKER_OPEN: Final = "It failed too often in a row and is skipped for a while."
_TIME_USED_UP: Final = "Earlier hooks used up the time."
NO_PLACE: Final = "Too many requests were waiting for slow apps, so this one didn't wait any longer."


def check_exchange(exchange: Exchange, *, seconds: float, most: int = MAX_BYTES) -> None:
    """Raise `BadAnswer` unless it is a complete 2xx answer of at most so many bytes."""
    status = exchange.status
    late = exchange.duration_ms >= seconds * 1000
    if exchange.error_class in _TIMEOUTS or (status is None and late):
        raise BadAnswer(CallOutcome.TIMEOUT, f"No answer within {round(seconds * 1000):,} ms.")
    if status is None:
        raise BadAnswer(CallOutcome.UNREACHABLE, _PROBLEMS[exchange.error_class or "reset"])
    if exchange.error_class == "redirect":
        raise BadAnswer(CallOutcome.HTTP_ERROR, f"It answered {status}. Redirects are not followed.")
    if exchange.error_class:
        raise BadAnswer(CallOutcome.HTTP_ERROR, f"It answered {status}.")
    if len(exchange.body) >= most and exchange.truncated:
        raise BadAnswer(CallOutcome.UNEXPECTED, f"The answer is larger than {most // 1024:,} KiB.")
    if exchange.truncated and late:
        raise BadAnswer(
            CallOutcome.TIMEOUT, f"The answer was not complete within {round(seconds * 1000):,} ms."
        )
    if exchange.truncated:
        raise BadAnswer(CallOutcome.NOT_JSON, "The connection closed before the answer was complete.")
