"""What the admin page shows of one store, and of no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from extension_platform_sdk import PlatformError

from .cache import Cache
from .connections import Connection
from .inbox import Inbox
from .platform import Platform
from .rings import Rings
from .rules import Rulebook
from .wording import explain, money, summarize

MOST = 10  # rows of each list

Record = dict[str, Any]


class Overview:
    """Puts together what the platform says now and what the app has kept."""

    def __init__(self, platform: Platform, rulebook: Rulebook, inbox: Inbox, rings: Rings) -> None:
        self._platform = platform
        self._rulebook = rulebook
        self._inbox = inbox
        self._rings = rings
        self._zones: Cache[str] = Cache(seconds=60)

    def of(self, connection: Connection) -> Record:
        """The record that the page's script draws. ``problem`` says why orders could not be read."""
        record: Record = {"today": None, "problem": None}
        try:
            record["today"] = self._today(connection)
        except PlatformError as error:
            record["problem"] = explain(error, self._platform.url)
        return record | {
            "businessName": connection.business_name,
            "received": self._received(connection),
            "rings": self._rings.of(connection.business_id)[:MOST],
            "rules": self._rules(connection),
        }

    def _today(self, connection: Connection) -> Record:
        start = _start_of_day(self._timezone(connection), datetime.now(UTC))
        # The platform leaves out the very moment that createdAfter names.
        page = self._platform.orders(connection, limit=MOST, created_after=start - timedelta(milliseconds=1))
        return {"total": page.total, "orders": [_order(order) for order in page.data]}

    def _timezone(self, connection: Connection) -> str:
        def read() -> str:
            return str(self._platform.business(connection).get("timezone") or "UTC")

        return self._zones.get(connection.business_id, read, otherwise="UTC")

    def forget(self, business_id: str) -> None:
        """Delete what is kept of a store."""
        self._zones.forget(business_id)

    def _received(self, connection: Connection) -> list[Record]:
        calls = [
            call
            for call in self._inbox.newest_first()
            if call.verified and call.webhook_id == connection.webhook_id
        ]
        return [
            {
                "event": call.event,
                "summary": summarize(call, connection.currency),
                "receivedAt": call.received_at,
            }
            for call in calls[:MOST]
        ]

    def _rules(self, connection: Connection) -> list[str]:
        rules = self._rulebook.of(connection)
        said = [f"At most {rules.most_of_one_product} pieces of one product in an order."]
        if rules.discount_percent:
            said.append(f"{rules.discount_percent:g} % off from {rules.discount_from_pieces} pieces.")
        if rules.free_delivery_from:
            said.append(f"Free delivery from {money(rules.free_delivery_from, connection.currency)}.")
        said.append("Bell Pay is offered." if rules.bell_pay else "Bell Pay is not offered.")
        return said


def _order(order: Record) -> Record:
    payment = order.get("payment") or {}
    return {
        "orderNumber": order["orderNumber"],
        "status": order["status"],
        "amount": money(order["amount"], str(order["currency"])),
        "payment": payment.get("status"),
        "orderedAt": order["createdAt"],
    }


def _start_of_day(timezone: str, now: datetime) -> datetime:
    try:
        zone: ZoneInfo | Any = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    return now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
