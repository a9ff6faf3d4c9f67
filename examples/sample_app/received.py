"""The webhooks that arrived for known stores, accepted and refused: the newest 200."""

import json
import logging
from collections.abc import Iterable
from typing import Any

from extension_platform_sdk import Response, WebhookEvent
from extension_platform_sdk.events import DELIVERY_ID_HEADER, WEBHOOK_ID_HEADER, Headers

from . import stores
from .bell import bell
from .database import now_text, time_text
from .stores import Store

KEPT = 200
ERASURE_OF_CUSTOMER = "customer.data_erasure"
UNVERIFIED_KEPT = 4096  # bytes of a refused call's body, since anyone may send one

logger = logging.getLogger(__name__)


def keep(response: Response, headers: Headers, body: bytes) -> None:
    """Note a call and what it was answered."""
    fields = _claimed(headers, body) if response.event is None else _of_event(response.event)
    logger.info("%s: %s", fields["event"], response.reason or "accepted")
    if stores.of_webhook(fields["webhook_id"]) is None:
        return
    fields |= {
        "received_at": now_text(),
        "status": response.status,
        "verified": response.status != 401,
        "reason": response.reason,
        "repeat": response.repeat,
        "data": json.dumps(fields["data"]),
    }
    names, marks = ", ".join(fields), ", ".join(f":{name}" for name in fields)
    with bell.database.transaction() as connection:
        connection.execute(f"INSERT INTO received ({names}) VALUES ({marks})", fields)  # noqa: S608
        connection.execute(
            "DELETE FROM received WHERE number <= (SELECT max(number) FROM received) - ?", (KEPT,)
        )


def erase(business_id: str, ids: Iterable[str]) -> None:
    """Forget the calls about these orders and reviews, because the store erased their customer."""
    with bell.database.transaction() as connection:
        for each in ids:
            connection.execute(
                "DELETE FROM received WHERE business_id = ? AND instr(data, ?)", (business_id, each)
            )


def newest(of: Iterable[Store], after: int = 0) -> list[dict[str, Any]]:
    """Every call to these stores' webhooks with a higher number, the newest first."""
    webhooks = json.dumps([store.webhook_id for store in of])
    rows = bell.database.run(
        "SELECT * FROM received WHERE webhook_id IN (SELECT value FROM json_each(?)) AND number > ? ORDER BY number DESC",
        webhooks, after,
    )  # fmt: skip
    as_bools = ("verified", "repeat")
    return [
        dict(row) | {"data": json.loads(row["data"])} | {name: bool(row[name]) for name in as_bools}
        for row in rows
    ]


def as_json(call: dict[str, Any]) -> dict[str, Any]:
    """With the names of ``/received.json``: ``receivedAt, verified, reason, event, deliveryId, …``."""
    return {_camel(name): value for name, value in call.items()}


def _of_event(event: WebhookEvent[Any]) -> dict[str, Any]:
    return {
        "event": event.event,
        "timestamp": time_text(event.timestamp),
        "delivery_id": event.delivery_id,
        "webhook_id": event.webhook_id,
        "business_id": event.business_id,
        # Whom a store has erased is not kept.
        "data": event.data | {"customer": None} if event.event == ERASURE_OF_CUSTOMER else event.data,
    }


def _claimed(headers: Headers, body: bytes) -> dict[str, Any]:
    """The same fields of a call that may come from anyone: cut short, the body not even parsed."""
    values = {name.lower(): value[:100] for name, value in headers.items()}
    return {
        "event": values.get("x-webhook-event") or "unknown",
        "timestamp": None,
        "delivery_id": values.get(DELIVERY_ID_HEADER.lower()),
        "webhook_id": values.get(WEBHOOK_ID_HEADER.lower(), ""),
        "business_id": None,
        "data": body[:UNVERIFIED_KEPT].decode(errors="replace"),
    }


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
