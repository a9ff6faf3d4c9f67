"""Sends commands to shops: one signed POST each, in time, and what its answer comes to (contract, section 17, "Commands").

Failures are returned, never raised. This module does not use the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from math import ceil
from typing import Any, Final
from uuid import UUID

import orjson
from rest_framework.exceptions import ParseError

from accounts.models import ConnectedStore
from common import tracing
from common.http import transport
from common.http.exchanges import Exchange
from common.rest.bodies import MAX_BODY, read_json
from extensions.enums import CallOutcome, CommandOutcome, ShopCommandName
from extensions.hooks.answers import BadAnswer
from extensions.hooks.calling import check_exchange
from installations.models import Installation
from webhooks.engine.retry import parse_retry_after
from webhooks.messages.message import signature_headers

SECONDS: Final = 10.0
MOST_MESSAGE: Final = 300  # characters
LONGEST_WAIT: Final = 60  # seconds of a shop's `Retry-After` that is passed on
REFUSALS: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What an app wants of a shop. `data` has the shop's ids, and amounts in major units. Repeated ones have one `id`."""

    id: UUID
    name: ShopCommandName
    store: ConnectedStore
    installation: Installation
    data: Mapping[str, Any]
    order_id: UUID | None = None  # ours

    @property
    def body(self) -> bytes:
        app = self.installation.app_fields
        return orjson.dumps(
            {
                "command": self.name,
                "commandId": str(self.id),
                "store": self.store.external_id,
                "businessId": str(self.store.business_id),
                "appId": str(self.installation.app_id),
                "appName": app.name,
                "data": self.data,
            }
        )


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What an answer comes to. `message` is the shop's of a refusal, else the problem in our words. `retry_after` is in seconds, None where
    the shop names none.
    """

    outcome: CommandOutcome
    message: str = ""
    retry_after: int | None = None


def begin(command: Command, body: bytes, now: datetime) -> transport.Coming:
    """Send it, signed at this moment. It carries the trace of the request that is being answered."""
    system = command.store.system
    headers = {
        "X-Webhook-Business-Id": str(command.store.business_id),
        **tracing.current_or_new().headers(),
        **signature_headers(system.secret, str(command.id), int(now.timestamp()), body),
    }
    return transport.submit(
        system.commands_url, headers=headers, body=body, timeout=SECONDS, max_body=MAX_BODY
    )


def judged(exchange: Exchange) -> JudgedAnswer:
    """By the status, and the text of a refusal. A 200 is done as far as its status says."""
    if exchange.status in REFUSALS and (message := _reason(exchange)):
        return JudgedAnswer(CommandOutcome.REFUSED, message)
    try:
        check_exchange(exchange, seconds=SECONDS, most=MAX_BODY)
        if exchange.status != HTTPStatus.OK:
            raise BadAnswer(CallOutcome.UNEXPECTED, f"It answered {exchange.status} instead of 200.")
    except BadAnswer as failure:
        return JudgedAnswer(CommandOutcome.UNREACHABLE, failure.problem, retry_after=_retry_after(exchange))
    return JudgedAnswer(CommandOutcome.DONE)


def document_of(exchange: Exchange) -> dict[str, Any]:
    """The object of an answer. Raises `BadAnswer`."""
    try:
        found = read_json(exchange.body)
    except ParseError as error:
        raise BadAnswer(CallOutcome.UNEXPECTED, str(error.detail)) from None
    if not isinstance(found, dict):
        raise BadAnswer(CallOutcome.UNEXPECTED, "The body is no JSON object.")
    return found


def _reason(exchange: Exchange) -> str:
    """The `message` of a refusal; empty for one that doesn't count."""
    try:
        message = document_of(exchange).get("message")
    except BadAnswer:
        return ""
    if not isinstance(message, str) or not message.strip() or "\x00" in message:
        return ""
    return message if len(message) <= MOST_MESSAGE else ""


def _retry_after(exchange: Exchange) -> int | None:
    wait = parse_retry_after(exchange.headers.get("retry-after"), datetime.now(UTC))
    return None if wait is None else min(ceil(wait.total_seconds()), LONGEST_WAIT)
