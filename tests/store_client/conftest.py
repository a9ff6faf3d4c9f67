"""A small shop on SQLite, with the client that shops install, against the platform over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from extension_platform_store import Sender, StoreClient

from accounts.services import shops
from tests.store_client.small_shop import SmallShop
from tests.storeapi.fixtures import connected as connected
from tests.storeapi.fixtures import reader as reader
from tests.storeapi.fixtures import store as store


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[SmallShop]:
    small = SmallShop(tmp_path / "shop.sqlite3")
    yield small
    small.connection.close()


@pytest.fixture
def client(live_server: Any, connected: shops.Connected) -> Iterator[StoreClient]:
    made = StoreClient(live_server.url, connected.key, "main")
    yield made
    made.close()


@pytest.fixture
def sender(client: StoreClient, shop: SmallShop) -> Sender:
    """Of a store that it opens itself."""
    record = {"name": "Northwind Main", "currency": "USD"}
    made = Sender(client, shop.outbox, shop, record=record)
    while made.step():
        pass
    return made
