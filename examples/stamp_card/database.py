"""The one SQLite file. Everything about a store and its shoppers is in it, and nowhere else."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import environment

SCHEMA = """
-- Of a store whose data is erased, the webhook secret alone is left: it verifies a repeat of the erasure.
CREATE TABLE IF NOT EXISTS stores (
    business_id TEXT PRIMARY KEY, installation_id TEXT, access_token TEXT, webhook_secret TEXT NOT NULL, locale TEXT,
    waits_until REAL NOT NULL DEFAULT 0 -- before which the platform refuses requests for it
);
-- One row for each order, so an event that comes twice, or late, counts once. `shopper` is the key of who ordered, NULL until the
-- order was read. `counts` is 0 once it was cancelled or refunded. `due` is not 0 while it has to be read, since `due_at`.
CREATE TABLE IF NOT EXISTS orders (
    order_id TEXT PRIMARY KEY, business_id TEXT NOT NULL, shopper TEXT, counts INTEGER NOT NULL DEFAULT 1,
    is_free INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL DEFAULT 0, due_at REAL NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS orders_of_shopper ON orders (business_id, shopper);
-- Which request of a browser was offered its order for free. `held_at`: it is placing the order, and no other request may.
CREATE TABLE IF NOT EXISTS offers (
    business_id TEXT NOT NULL, request_id TEXT NOT NULL, shopper TEXT NOT NULL, at REAL NOT NULL, held_at REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (business_id, request_id)
);
"""


@contextmanager
def transaction() -> Iterator[sqlite3.Connection]:
    """All of its statements take effect, or none. One at a time, also between threads."""
    os.close(os.open(environment.DATABASE, os.O_CREAT, 0o600))  # it has tokens and secrets
    connection = sqlite3.connect(environment.DATABASE, timeout=10, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is gone from the file, too
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            yield connection
            connection.execute("COMMIT")
    finally:
        connection.close()


def prepare() -> None:
    with transaction() as rows:
        for statement in SCHEMA.split(";\n"):
            rows.execute(statement)
