"""A shop on SQLite that the client pushes."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from extension_platform_store import SqliteOutbox


class SmallShop:
    """Products and orders, each a row of JSON's fields."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, timeout=20, check_same_thread=False)
        self.connection.executescript(
            "CREATE TABLE IF NOT EXISTS product (id TEXT PRIMARY KEY, name TEXT, price NUMERIC, stock INTEGER);"
            "CREATE TABLE IF NOT EXISTS placed (id TEXT PRIMARY KEY, status TEXT, created TEXT)"
        )
        self.outbox = SqliteOutbox(self.connection)
        self.outbox.create_tables()
        self.reading: Callable[[], None] = lambda: None
        """Called before rows are read."""

    def put(self, product: str, name: str, price: float = 4.5, stock: int = 9) -> None:
        """Change a product and mark it, in one transaction."""
        with self.outbox.atomic():
            self.connection.execute("REPLACE INTO product VALUES (?, ?, ?, ?)", (product, name, price, stock))
            self.outbox.mark("products", product)

    def place(self, order: str, created: datetime) -> None:
        with self.outbox.atomic():
            self.connection.execute(
                "REPLACE INTO placed VALUES (?, 'PENDING', ?)", (order, created.isoformat())
            )
            self.outbox.mark("orders", order)

    def ids(self, resource: str, since: datetime | None) -> Iterable[str]:
        if resource not in ("products", "orders"):
            return []
        table, when = ("placed", "created") if resource == "orders" else ("product", "''")
        found = self.connection.execute(f"SELECT id, {when} FROM {table}")  # noqa: S608
        return [row_id for row_id, created in found if since is None or created >= since.isoformat()]

    def rows(self, resource: str, ids: Sequence[str]) -> Mapping[str, dict[str, Any]]:
        self.reading()
        make = {"products": self._product, "orders": self._order}.get(resource, lambda _: None)
        return {row_id: row for row_id in ids if (row := make(row_id)) is not None}

    def _product(self, row_id: str) -> dict[str, Any] | None:
        found = self.connection.execute(
            "SELECT name, price, stock FROM product WHERE id = ?", (row_id,)
        ).fetchone()
        return dict(zip(("name", "price", "stock"), found, strict=True)) if found else None

    def _order(self, row_id: str) -> dict[str, Any] | None:
        found = self.connection.execute(
            "SELECT status, created FROM placed WHERE id = ?", (row_id,)
        ).fetchone()
        return found and {
            "orderNumber": row_id, "status": found[0], "createdAt": found[1], "subtotal": 9, "amount": 9,
            "items": [{"productId": "rye", "name": "Rye bread", "quantity": 2, "price": 4.5}],
        }  # fmt: skip
