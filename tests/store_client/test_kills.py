"""A thousand changes of a shop, while its sender and the platform's web process are killed again and again."""

import hashlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from extension_platform_store import Sender, StoreClient

from accounts.models import ConnectedStore
from accounts.services import shops
from stores.models import Product
from tests import factories
from tests.faults.deliveries import wait_for_web
from tests.faults.processes import ROOT, Processes
from tests.faults.starting import processes as processes
from tests.ports import free_port
from tests.store_client.small_shop import SmallShop
from tests.waiting import wait_until
from webhooks.models import Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]
CHANGES, KILLS, PRODUCTS = 1_000, 20, 60


class Till:
    """The sender's process, started again whenever it is killed."""

    def __init__(self, *arguments: str) -> None:
        self._command = [sys.executable, "-m", "tests.store_client.till", *arguments]
        self._path = os.pathsep.join(map(str, (ROOT, ROOT / "sdk/store-python")))

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, env={"PYTHONPATH": self._path}, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def changes(file: Path) -> Iterator[threading.Event]:
    """A thousand, one after another, as long as the block runs. The event is set after the last."""
    done = threading.Event()

    def change() -> None:
        shop, chance = SmallShop(file), random.Random(7)
        for number in range(CHANGES):
            product = f"p-{chance.randrange(PRODUCTS)}"
            if chance.random() < 0.1:
                with shop.outbox.atomic():
                    shop.connection.execute("DELETE FROM product WHERE id = ?", (product,))
                    shop.outbox.mark("products", product)
            else:
                shop.put(product, f"Name {number}", price=number / 4)
            time.sleep(0.05)
        shop.connection.close()
        done.set()

    thread = threading.Thread(target=change)
    thread.start()
    yield done
    thread.join(300)


@pytest.mark.timeout(900)
@pytest.mark.spec(
    "Contract 17 Connected stores",
    "1,000 changes with 20 kills of the sender and 20 of the web process: one hash on both sides, no event twice",
)
def test_both_sides_are_equal_after_many_kills(
    processes: Processes, connected: shops.Connected, store: ConnectedStore, shop: SmallShop, tmp_path: Path
) -> None:
    app = factories.app(factories.developer("dana@example.com"))
    factories.approve(app)
    factories.installation(app, store.business)
    port = free_port()
    web = processes.web(port)
    wait_for_web(port, 60)
    till = Till(str(tmp_path / "shop.sqlite3"), f"http://127.0.0.1:{port}", connected.key)
    till.start()
    try:
        with changes(tmp_path / "shop.sqlite3") as done:
            for number in range(KILLS):
                till.kill()
                till.start()
                time.sleep(random.uniform(0.2, 1.5))
                web.kill()
                web = processes.web(port)
                wait_for_web(port, 60)
                time.sleep(random.uniform(0.2, 1.0))
                assert number < KILLS
            assert done.wait(300)
        wait_until(lambda: shop.outbox.waiting().marks == 0, 120)
        till.kill()
        client = StoreClient(f"http://127.0.0.1:{port}", connected.key, "main")
        repair = Sender(client, shop.outbox, shop)
        found = repair.compare(["products"])
        while repair.step():
            pass
        client.close()
    finally:
        till.kill()

    print(f"\nfound by the snapshot: {found}")
    theirs = {
        row_id: [name, float(price), stock]
        for row_id, name, price, stock in shop.connection.execute(
            "SELECT id, name, price, stock FROM product"
        )
    }
    ours = {each.external_id: [each.name, each.price / 100, each.stock] for each in Product.objects.all()}
    assert digest(ours) == digest(theirs), {key for key in ours | theirs if ours.get(key) != theirs.get(key)}
    told = Counter((each.type, each.data) for each in Event.objects.all())
    assert [event for event, times in told.items() if times > 1] == []


def digest(rows: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
