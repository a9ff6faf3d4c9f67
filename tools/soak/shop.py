"""A shop system that is connected: it keeps its own book, pushes rows of it, dies between the two, and repairs by snapshots."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

import requests

from tools.soak.calls import Calls, every

PRODUCTS: Final = 40
DIES: Final = 0.15  # the share of changes after which it is killed before it has pushed them
REPAIRS: Final = 0.03
STATUSES: Final = ("PENDING", "CONFIRMED", "PREPARING", "READY", "DELIVERED")
PAUSE: Final = 0.2  # seconds
PAGE: Final = 100
Row = dict[str, Any]
Book = dict[
    tuple[str, str], tuple[int, Row | None]
]  # by resource and id: the version and the row; None: deleted


@dataclass
class Mirrored:
    """What a shop and the platform have in the end. `published` counts the events of each of its rows in the feed."""

    pushed: int = 0
    killed: int = 0
    repaired: int = 0
    shop: dict[tuple[str, str], Any] = field(default_factory=dict)
    platform: list[tuple[tuple[str, str], Any]] = field(default_factory=list)
    published: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)  # that a snapshot after the repair still names


class Shop:
    """Everything that it has committed is in `_book`, whatever becomes of the push."""

    def __init__(self, calls: Calls, connection: dict[str, Any]) -> None:
        self._calls, self._connection = calls, connection
        self._book: Book = {}
        self._numbers = count(1)
        self.mirrored = Mirrored()
        self.jobs = [(self.change, every(PAUSE))]

    def change(self, session: requests.Session, chance: random.Random) -> None:
        """One change of the shop, and its push, unless the shop dies between."""
        if chance.random() < REPAIRS:
            self._repair(session)
            return
        key = self._sell(chance) if chance.random() < 0.5 else self._edit(chance)
        if chance.random() < DIES:
            self.mirrored.killed += 1
            return
        self._push(session, key)

    def _sell(self, chance: random.Random) -> tuple[str, str]:
        """A new order, or the next status of one."""
        orders = [key for key, (_, row) in self._book.items() if key[0] == "orders" and row]
        if orders and chance.random() < 0.5:
            key = chance.choice(orders)
            row = self._book[key][1]
            assert row is not None
            following = STATUSES[min(STATUSES.index(row["status"]) + 1, len(STATUSES) - 1)]
            return self._keep(key, row | {"status": following})
        number = next(self._numbers)
        price = chance.randrange(100, 5000) / 100
        item = {"productId": f"p-{chance.randrange(PRODUCTS)}", "name": "Loaf", "quantity": 1, "price": price}
        order = {
            "orderNumber": str(number),
            "status": STATUSES[0],
            "items": [item],
            "subtotal": price,
            "amount": price,
            "createdAt": datetime.now(UTC).isoformat(),
            "customer": {"name": f"Pat {number}"},
        }
        return self._keep(("orders", f"o-{number}"), order)

    def _edit(self, chance: random.Random) -> tuple[str, str]:
        """A product is changed, or deleted, or comes back."""
        number = chance.randrange(PRODUCTS)
        key = ("products", f"p-{number}")
        if key in self._book and self._book[key][1] and chance.random() < 0.1:
            return self._keep(key, None)
        changed = chance.randrange(1_000_000)
        product = {"name": f"Loaf {number}, {changed}", "price": changed / 100, "stock": changed % 100}
        return self._keep(key, product)

    def _keep(self, key: tuple[str, str], row: Row | None) -> tuple[str, str]:
        self._book[key] = self._book.get(key, (0, None))[0] + 1, row
        return key

    def _push(self, session: requests.Session, key: tuple[str, str], *, force: bool = False) -> None:
        version, row = self._book[key]
        path = f"{'/'.join(key)}"
        if row is None:
            answer = self._call(session, "DELETE", f"{path}?version={version}")
        else:
            forced = {"force": True} if force else {}
            answer = self._call(session, "PUT", path, json=row | {"version": version} | forced)
        if answer.status_code != 200:
            self._calls.failed(f"Row {path}", answer)
        self.mirrored.pushed += 1

    def _repair(self, session: requests.Session) -> None:
        """Send what a snapshot of each resource names. `ahead` is a platform that was restored, or a push that is on its way."""
        for resource in ("products", "orders"):
            found = self._compared(session, resource)
            for name in (*found["missing"], *found["outdated"], *found["ahead"]):
                self._push(session, (resource, name), force=name in found["ahead"])
                self.mirrored.repaired += 1

    def _compared(self, session: requests.Session, resource: str) -> dict[str, list[str]]:
        rows = sorted(
            [name, version] for (of, name), (version, row) in self._book.items() if of == resource and row
        )
        body: dict[str, Any] = {"resource": resource, "rows": rows}
        if resource == "products":
            body |= {"delete": True, "takenAt": datetime.now(UTC).isoformat()}
        answer = self._call(session, "POST", "snapshot", json=body)
        if answer.status_code != 200:
            self._calls.failed("Snapshot", answer)
            return {"missing": [], "outdated": [], "ahead": [], "unknown": []}
        found: dict[str, list[str]] = answer.json()
        return found

    def _call(self, session: requests.Session, method: str, path: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self._connection['key']}"}
        return self._calls.call(session, method, f"/store-api/stores/main/{path}", headers=headers, **options)

    # --- In the end

    def finish(self, session: requests.Session) -> None:
        """Repair once more, and read by its app what the platform has."""
        self._repair(session)
        for resource in ("products", "orders"):
            found = self._compared(session, resource)
            self.mirrored.left += [
                f"{name} {found[name]}" for name in ("missing", "outdated", "ahead") if found[name]
            ]
        self.mirrored.shop = {
            key: _seen(key[0], row) for key, (_, row) in self._book.items() if row is not None
        }
        for resource in ("products", "orders"):
            for row in self._read(session, f"/app-api/{resource}?limit={PAGE}"):
                self.mirrored.platform.append(((resource, row["externalId"]), _seen(resource, row)))
        for event in self._events(session):
            data = event["data"]
            if event["event"] == "order.created":
                self.mirrored.published["orders", data["externalId"]] += 1

    def _read(self, session: requests.Session, path: str) -> list[Row]:
        found: list[Row] = []
        page = 1
        while True:
            body = self._read_one(session, f"{path}&page={page}")
            found += body["data"]
            if len(found) >= body["total"] or not body["data"]:
                return found
            page += 1

    def _events(self, session: requests.Session) -> list[Row]:
        found: list[Row] = []
        after = ""
        while True:
            body = self._read_one(session, f"/app-api/events?limit={PAGE}{after}")
            found += body["data"]
            if not body["hasMore"]:
                return found
            after = f"&after={body['nextCursor']}"

    def _read_one(self, session: requests.Session, path: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._connection['token']}"}
        answer = self._calls.call(session, "GET", path, headers=headers)
        found: dict[str, Any] = answer.json()
        return found


def _seen(resource: str, row: Row) -> Any:
    """What both sides have of a row."""
    names = ("name", "price", "stock") if resource == "products" else ("orderNumber", "status", "amount")
    return tuple(row[name] for name in names)
