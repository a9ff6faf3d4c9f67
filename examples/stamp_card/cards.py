"""The cards: nine orders that were paid for make the next one free.

A shopper is known by the key that the platform gives this app for a person in one store. A card isn't kept but counted, from what is
known of each order, so events may come twice and in any order.
"""

import sqlite3
import time
from collections.abc import Sequence
from typing import Any, TypedDict

from database import transaction

STAMPS = 9
HELD = 120  # seconds that one request may take to place its order
KEPT = 7 * 86_400  # seconds after which an offer without an order is forgotten


class Card(TypedDict):
    """``stamps`` are those on the card, of ``of``. ``free`` is how many orders are free."""

    stamps: int
    of: int
    free: int


def card(business_id: str, shopper: str) -> Card:
    with transaction() as rows:
        return _card(rows, business_id, shopper)


def offer_free_order(business_id: str, shopper: str, request_id: str, *, hold: bool = False) -> bool:
    """Whether the order that a request asks about is free. ``hold`` it for a request that is placing the order: until that is known,
    no other request gets it.
    """
    now = time.time()
    request = (business_id, request_id)
    with transaction() as rows:
        rows.execute("DELETE FROM offers WHERE at < ?", (now - KEPT,))
        (held,) = rows.execute(
            "SELECT count(*) FROM offers WHERE business_id = ? AND request_id <> ? AND shopper = ? AND held_at > ?",
            (*request, shopper, now - HELD),
        ).fetchone()
        if _card(rows, business_id, shopper)["free"] <= held:
            return False
        rows.execute(
            "INSERT INTO offers (business_id, request_id, shopper, at, held_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (*request, shopper, now, now if hold else 0),
        )
    return True


def note(business_id: str, order_id: str, request_id: str | None = None) -> None:
    """Something happened to an order: read it soon. ``request_id`` is that of the request that placed it."""
    with transaction() as rows:
        rows.execute(
            "INSERT INTO orders (order_id, business_id, due, due_at) VALUES (?, ?, 1, ?)"
            " ON CONFLICT (order_id) DO UPDATE SET due = due + 1",
            (order_id, business_id, time.time()),
        )
        offered = (business_id, request_id)
        rows.execute(
            "UPDATE orders SET is_free = 1, shopper = offers.shopper FROM offers"
            " WHERE order_id = ? AND offers.business_id = ? AND request_id = ?",
            (order_id, *offered),
        )
        rows.execute("DELETE FROM offers WHERE business_id = ? AND request_id = ?", offered)


def next_due() -> sqlite3.Row | None:
    """The order that has waited longest, in a store that needn't wait."""
    with transaction() as rows:
        query = (
            "SELECT orders.* FROM orders LEFT JOIN stores USING (business_id)"
            " WHERE due > 0 AND coalesce(waits_until, 0) <= ? ORDER BY due_at LIMIT 1"
        )
        found: sqlite3.Row | None = rows.execute(query, (time.time(),)).fetchone()
    return found


def settle(due: sqlite3.Row, order: Any) -> None:
    """Keep what counts of an order that was read; None where it can't be. A row that an erasure deleted meanwhile stays deleted."""
    with transaction() as rows:
        if order is None or order["customer"]["key"] is None:  # the customer is erased
            rows.execute("DELETE FROM orders WHERE order_id = ?", (due["order_id"],))
            return
        refunded = 0 < order["refunded"] >= order["amount"]
        rows.execute(
            "UPDATE orders SET shopper = ?, counts = ?, is_free = is_free AND ?, due = due - ? WHERE order_id = ?",
            (
                order["customer"]["key"], order["status"] != "CANCELLED" and not refunded, order["discount"] > 0,
                due["due"], due["order_id"],
            ),
        )  # fmt: skip


def wait(due: sqlite3.Row, seconds: float) -> None:
    """Read no order of this store before so many seconds have passed, and this one last."""
    now = time.time()
    with transaction() as rows:
        rows.execute(
            "UPDATE stores SET waits_until = ? WHERE business_id = ?", (now + seconds, due["business_id"])
        )
        rows.execute("UPDATE orders SET due_at = ? WHERE order_id = ?", (now, due["order_id"]))


def erase(business_id: str, order_ids: Sequence[str]) -> None:
    """Forget the shoppers who placed these orders: their keys with everything under them."""
    with transaction() as rows:
        for order_id in order_ids:
            named = (business_id, order_id)
            found = rows.execute(
                "SELECT shopper FROM orders WHERE business_id = ? AND order_id = ?", named
            ).fetchone()
            rows.execute("DELETE FROM orders WHERE business_id = ? AND order_id = ?", named)
            for table in ("orders", "offers") if found else ():
                theirs = (business_id, found["shopper"])
                rows.execute(f"DELETE FROM {table} WHERE business_id = ? AND shopper = ?", theirs)  # noqa: S608 - of this loop


def _card(rows: sqlite3.Connection, business_id: str, shopper: str) -> Card:
    earned, spent = rows.execute(
        "SELECT count(*) FILTER (WHERE NOT is_free), count(*) FILTER (WHERE is_free) FROM orders"
        " WHERE business_id = ? AND shopper = ? AND counts",
        (business_id, shopper),
    ).fetchone()
    free = max(0, earned // STAMPS - spent)
    return {"stamps": STAMPS if free else max(0, earned - spent * STAMPS), "of": STAMPS, "free": free}
