"""The shop that `new-shop` makes, as its developer starts it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import requests

from accounts.services import shops
from stores.models import Product
from tests.ports import free_port
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed, pytest.mark.long]
SPEC = "Contract 17 Connected stores"
PASSWORD = "sea otters hold hands"
OWNER = ("owner", PASSWORD)
CLIENT = Path(__file__).parents[2] / "sdk" / "store-python"
INSTALLED = os.environ | {"PYTHONPATH": os.pathsep.join([str(CLIENT), os.environ.get("PYTHONPATH", "")])}


def made(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "extension_platform_store", "new-shop", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=INSTALLED)


@contextmanager
def running(*command: str, folder: Path, environment: dict[str, str]) -> Iterator[None]:
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    try:
        return requests.put(url, timeout=2).status_code == 401
    except requests.ConnectionError:
        return False


@pytest.mark.spec(SPEC, "Client: `new-shop` makes a shop whose first product is a row on the platform")
def test_new_shop_pushes_its_first_product(
    tmp_path: Path, live_server: Any, connected: shops.Connected
) -> None:
    folder = tmp_path / "shop"
    assert made(folder).returncode == 0
    environment = INSTALLED | {
        "PLATFORM_URL": live_server.url,
        "PLATFORM_KEY": connected.key,
        "PLATFORM_SECRET": connected.secret,
        "SHOP_PASSWORD": PASSWORD,
    }
    port = free_port()
    web = ("-m", "flask", "run", "--port", str(port))
    shop = f"http://127.0.0.1:{port}"
    with (
        running(*web, folder=folder, environment=environment),
        running("app.py", folder=folder, environment=environment),
    ):
        wait_until(lambda: answers(f"{shop}/products/rye"), 60, said=(folder / "log").read_text)
        rye = {"name": "Rye bread", "price": 4.5, "stock": 9}
        assert requests.put(f"{shop}/products/rye", json=rye, auth=OWNER, timeout=10).ok
        wait_until(
            lambda: Product.objects.filter(external_id="rye").first(), 30, said=(folder / "log").read_text
        )
        bought = requests.post(
            f"{shop}/orders", json={"product": "rye", "pieces": 2, "email": "kim@example.com"}, timeout=10
        )
        assert (bought.status_code, Decimal(bought.json()["total"])) == (200, 9)
        unsigned = requests.post(f"{shop}/platform/commands", json={}, timeout=10)
        assert unsigned.status_code == 401
    product = Product.objects.get(external_id="rye")
    assert (product.name, product.stock) == ("Rye bread", 9)


def test_new_shop_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("mine")
    refused = made(tmp_path)
    assert (refused.returncode, "is there already" in refused.stderr) == (2, True)
    assert (tmp_path / "app.py").read_text() == "mine"
