"""The small shop of the examples, in a framework that the guide doesn't show: its driver leads the check through every rule."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.conf import settings

from accounts.services import shops
from installations.models import Installation
from tests.ports import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed, pytest.mark.long]
SHOP = settings.BASE_DIR / "examples" / "flower_shop"
NOT_TRIED = {
    "PL003 Shows nothing more of an app that was paused": "The page leaves it to the platform's script, which asks in each browser."
}


@pytest.mark.spec(
    "Contract 17 Connected stores",
    "The check of a connected shop: a small one that was written from the guide passes every rule",
)
def test_flower_shop_passes(
    live_server: Any, connected: shops.Connected, reader: Installation, tmp_path: Path, settings: Any
) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True  # the shop's pages are on this machine
    junit = tmp_path / "check.xml"
    ran = subprocess.run(
        [sys.executable, "-m", "extension_platform_store", "check", str(SHOP / "driver.py"), "--junit", str(junit)],
        env=os.environ | {
            "PYTHONPATH": str(settings.BASE_DIR / "sdk" / "store-python"),
            "PLATFORM_URL": live_server.url, "PLATFORM_KEY": connected.key,
            "SHOP_HOME": f"http://localhost:{free_port()}", "SHOP_DATABASE": str(tmp_path / "tulip.sqlite3"),
        },
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    print(ran.stdout)
    cases = ElementTree.parse(junit).getroot().findall("testcase")  # noqa: S314 - of our own
    assert len(cases) > 40
    messages = {each.get("name"): each.find("*").get("message") for each in cases}  # type: ignore[union-attr]
    assert {name: why for name, why in messages.items() if why} == NOT_TRIED
    assert ran.returncode == 0
