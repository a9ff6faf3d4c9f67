"""The rules of the check, against django-oscar: a shop that isn't ours, by the driver of the example."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from accounts.services import shops
from stores.connected.stores import open_store
from tests import factories
from tools.connected_demo import PYTHON, ROOT, SHOP

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
NOT_TRIED = {"PL003": "The page leaves it to the platform's script, which asks in each browser."}


@pytest.fixture
def shop_of_oscar() -> shops.Connected:
    """A connection whose store has an app that reads everything."""
    made = shops.connect(name="Harbor Goods")
    store = open_store(
        system=made.system, external_id="main", values={"name": "Harbor Goods", "currency": "USD"}
    )
    app = factories.app(factories.developer("dana@example.com"))
    factories.approve(app)
    factories.installation(app, store.business)
    return made


@pytest.mark.spec(
    "Contract 17 Connected stores",
    "The check of a connected shop: django-oscar passes by a driver of its own",
)
def test_oscar_passes(
    live_server: Any, shop_of_oscar: shops.Connected, tmp_path: Path, settings: Any
) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True  # the shop's pages are on this machine
    report = tmp_path / "check.json"
    ran = subprocess.run(
        [str(PYTHON), "-m", "extension_platform_store", "check", str(SHOP / "check_driver.py"), "--json", str(report)],
        env={
            "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PYTHONPATH": f"{ROOT / 'sdk' / 'store-python'}",
            "OSCAR_FOLDER": str(tmp_path), "PLATFORM_URL": live_server.url, "PLATFORM_KEY": shop_of_oscar.key,
        },
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    print(ran.stdout)
    results = json.loads(report.read_text())["results"]
    assert {each["rule"]: each["details"][0] for each in results if each["outcome"] != "PASS"} == NOT_TRIED
    assert ran.returncode == 0
