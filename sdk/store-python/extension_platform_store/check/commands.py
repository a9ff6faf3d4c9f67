"""CM: what apps ask of the shop, signed by the check as the platform signs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
import uuid
from dataclasses import dataclass
from typing import Any

import requests

from .rules import rule
from .sales import paths
from .subject import Subject, describe, has
from .verdicts import NotTried, RuleBroken

TIMEOUT = 10.0  # seconds that the platform waits
LATE = 600  # seconds
MOST = 300  # characters of a reason


@dataclass(frozen=True, slots=True)
class Said:
    """What the shop answered to a command."""

    status: int
    body: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.status} {json.dumps(self.body)[:200]}"


def send(
    shop: Subject, order: str, status: str, *, command_id: str = "", secret: str = "", age: int = 0, changed: bool = False
) -> Said:  # fmt: skip
    """Ask for another status of an order."""
    url, command_id = shop.about.get("commands"), command_id or str(uuid.uuid4())
    if not url:
        raise NotTried("The driver names no `commands`: apps only read.")
    command = {
        "command": "order.set_status", "commandId": command_id, "store": shop.store,
        "businessId": shop.business.get("id"), "appId": "0197b3a2-0000-7000-8000-00000000c4ec", "appName": "Check",
        "data": {"orderId": order, "status": status},
    }  # fmt: skip
    body = json.dumps(command).encode()
    headers = signed(secret or shop.secret, command_id, int(time.time()) - age, body)
    headers |= {"Content-Type": "application/json", "X-Webhook-Business-Id": str(shop.business.get("id"))}
    try:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(
                url,
                data=body + b" " if changed else body,
                headers=headers,
                timeout=TIMEOUT,
                allow_redirects=False,
            )
    except requests.RequestException as error:
        raise RuleBroken(
            f"Expected an answer to a command within {TIMEOUT:g} s. None came: {type(error).__name__}."
        ) from None
    try:
        said = answer.json()
    except ValueError:
        said = None
    return Said(answer.status_code, said if isinstance(said, dict) else {})


def signed(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Both signatures of the guide, over the same bytes."""
    own = hmac.digest(secret.encode(), b"%d.%b" % (timestamp, body), hashlib.sha256).hex()
    key = base64.b64decode(secret.rpartition("_")[2])
    standard = hmac.digest(key, b"%b.%d.%b" % (message_id.encode(), timestamp, body), hashlib.sha256)
    return {
        "X-Webhook-Timestamp": str(timestamp),
        "X-Webhook-Signature": f"sha256={own}",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": "v1," + base64.b64encode(standard).decode(),
    }


def carried_out(shop: Subject, order: str, status: str, **options: Any) -> Said:
    """Send a command that the shop has to carry out. A shop that refuses it with a reason does nothing wrong."""
    said = send(shop, order, status, **options)
    if said.status in (404, 409, 422) and said.body.get("message"):
        raise NotTried(f"Your shop refuses to move a new order to {status}: {said.body['message']}")
    row = said.body.get("order")
    if said.status != 200 or not isinstance(row, dict):
        raise RuleBroken(f"Expected 200 with the order's row. Your shop answered {said}.")
    if (row.get("id"), row.get("status")) != (order, status):
        raise RuleBroken(f"Expected the order {order} with the status {status}. Your shop answered {said}.")
    return said


@rule("CM001", "Carries out a command, and answers with the order")
def carries_out(shop: Subject) -> str:
    status = paths(shop)[0][0][1]
    placed, before, _ = shop.order()
    mark = len(shop.door.calls)
    row = carried_out(shop, placed, status).body["order"]
    version = row.get("version")
    if not isinstance(version, int) or version <= before.version:
        raise RuleBroken(
            f"Expected a version above {before.version} in the answer. Your shop answered {version!r}."
        )
    shop.row("orders", placed, mark, f"with the status {status}", has("status", status))
    return f"The order is {status}, and its row came, too."


@rule("CM002", "Refuses commands that the platform didn't sign, or not now", needs=("CM001",))
def refuses_forged(shop: Subject) -> str:
    status = paths(shop)[0][0][1]
    placed, _, _ = shop.order()
    mark = len(shop.door.calls)
    forgeries: dict[str, dict[str, Any]] = {
        "was signed with another secret": {"secret": f"whsec_{secrets.token_hex(20)}"},
        "was changed after it was signed": {"changed": True},
        f"was signed {LATE // 60} minutes ago": {"age": LATE},
    }
    for what, options in forgeries.items():
        said = send(shop, placed, status, **options)
        if said.status not in (400, 401, 403):
            raise RuleBroken(f"Expected 401 for a command that {what}. Your shop answered {said}.")
    shop.product()  # whose row comes after one of the order
    moved = [row for row in shop.rows("orders", placed, mark) if (row.data or {}).get("status") == status]
    if moved:
        raise RuleBroken(f"Expected that a refused command changes nothing. Your shop {describe(moved)}.")
    return f"{len(forgeries)} forgeries were refused."


@rule("CM003", "Carries out a repeated command once", needs=("CM001",))
def carries_out_once(shop: Subject) -> str:
    path = max(paths(shop), key=len)
    if len(path) < 2:
        raise NotTried("No path of the driver has two states.")
    placed, _, _ = shop.order()
    mark, command_id = len(shop.door.calls), str(uuid.uuid4())
    carried_out(shop, placed, path[0][1], command_id=command_id)
    state, status = path[1]
    shop.driver.move_order(placed, state)
    shop.row("orders", placed, mark, f"with the status {status}", has("status", status))
    mark = len(shop.door.calls)
    said = send(shop, placed, path[0][1], command_id=command_id)
    if said.status != 200:
        raise RuleBroken(f"Expected 200 for a repeated command, as before. Your shop answered {said}.")
    shop.product()  # whose row comes after one of the order
    again = [row for row in shop.rows("orders", placed, mark) if (row.data or {}).get("status") != status]
    if again or (said.body.get("order") or {}).get("status") != status:
        raise RuleBroken(
            f"Expected that the order stays {status}. Your shop moved it to {path[0][1]} again, for a command that was done before."
        )
    return f"The order stayed {status}."


@rule("CM004", "Refuses what it doesn't do with a reason", needs=("CM001",))
def says_why(shop: Subject) -> str:
    said = send(shop, f"check-{uuid.uuid4().hex[:12]}", paths(shop)[0][0][1])
    message = said.body.get("message")
    if said.status not in (404, 409, 422) or not isinstance(message, str) or not 1 <= len(message) <= MOST:
        raise RuleBroken(
            f"Expected 404, 409 or 422 with a `message` for an order that isn't there. Your shop answered {said}."
        )
    return f"The shop said {message!r}."
