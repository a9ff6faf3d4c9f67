"""The last orders of a store, for blocks on its own pages: every visitor sees them."""

from __future__ import annotations

from typing import Any

from .cache import Cache
from .connections import Connection
from .platform import Platform

MOST = 20  # orders looked at

Entry = dict[str, Any]


class RecentOrders:
    """Goods and times only, because names, addresses and amounts of customers are private."""

    def __init__(self, platform: Platform, *, seconds: float = 10) -> None:
        self._platform = platform
        self._cache: Cache[list[Entry]] = Cache(seconds=seconds)

    def of(self, connection: Connection) -> list[Entry]:
        """``{goods: [{name, quantity}], orderedAt}``, newest first; what was last known where there is no answer."""

        def read() -> list[Entry]:
            orders = self._platform.orders(connection, limit=MOST).data
            return [_entry(order) for order in orders if order["status"] != "CANCELLED"]

        return self._cache.get(connection.business_id, read, otherwise=[])

    def forget(self, business_id: str) -> None:
        """Delete what is kept of a store."""
        self._cache.forget(business_id)


def _entry(order: dict[str, Any]) -> Entry:
    goods = [{"name": item["name"], "quantity": item["quantity"]} for item in order["items"]]
    return {"goods": goods, "orderedAt": order["createdAt"]}
