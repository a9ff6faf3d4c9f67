"""The sender of a small shop as a process: `python -m tests.store_client.till FILE URL KEY`."""

import sqlite3
import sys
from pathlib import Path

from extension_platform_store import Sender, SqliteOutbox, StoreClient

from tests.store_client.small_shop import SmallShop


def main(file: str, url: str, key: str) -> None:
    shop = SmallShop(Path(file))
    record = {"name": "Northwind Main", "currency": "USD"}
    outbox = SqliteOutbox(sqlite3.connect(file, timeout=20))
    Sender(StoreClient(url, key, "main", timeout=5), outbox, shop, record=record).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
