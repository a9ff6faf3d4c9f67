"""The commands of the guide, one after another as they are copied, by a shell and curl against the platform over HTTP."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client

from accounts.models import Business, ConnectedStore
from appapi.services.exports import make_exports
from stores.services.customer_erasure import remove_ended_stores
from tests import factories
from tests.developers.docs.guide_code import code
from tests.hooking import says
from tests.merchants.pages import listed_app
from tests.receivers import Receiver
from tests.webhooks.helpers import drain, wait_for_feed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]
GUIDE = "connect-a-shop"
ANSWERS = {
    "order.calculate_discounts": {"discount": 90, "reason": "One in ten"},
    "checkout.create_payment": {"paymentUrl": "https://bell.example/pay/77"},
}


class Terminal:
    """Where the guide's commands are pasted. `manage.py` is the project's, on the test's database."""

    def __init__(self, base_url: str) -> None:
        database = connection.settings_dict
        url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{database['NAME']}").geturl()
        self._environment = os.environ | {"DATABASE_URL": url, "BASE_URL": base_url, "DEBUG": "1"}
        manage = f"{sys.executable} {Path(django_settings.BASE_DIR, 'manage.py')}"
        self._begin = f'manage.py() {{ {manage} "$@"; }}\n'
        self._commands = iter(code(GUIDE, "sh"))
        self._base_url = base_url
        self.names: dict[str, str] = {}

    def next(self, begins: str) -> Any:
        """Run the next command, which must be this one. Its output is JSON, or nothing."""
        command = next(self._commands)
        assert begins in command, command
        done = subprocess.run(
            ["bash", "-c", self._begin + command.replace("{base_url}", self._base_url)],
            env=self._environment | self.names,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr[-2000:])
        return json.loads(done.stdout) if done.stdout else None

    def is_done(self) -> bool:
        return next(self._commands, None) is None


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        yield running


def test_store_filled_by_curl_is_read_by_an_app(live_server: Any, receiver: Receiver, settings: Any) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not here")
    settings.BASE_URL = live_server.url
    app = listed_app(
        factories.developer("devi@example.com"), ["read_products", "read_orders"], name="Bell", slug="bell",
        webhook_url=receiver.url, webhook_events=["order.created", "product.low_stock"],
    )  # fmt: skip
    for point, answer in ANSWERS.items():
        factories.hook(app, point, url=f"/{point}")
        receiver.answer_at(f"/{point}", says(answer))
    terminal = Terminal(live_server.url)

    terminal.names["KEY"] = terminal.next("connect_shop")["key"]
    store = terminal.next("/stores/main")
    assert (store["externalId"], store["isConnected"], store["isSandbox"]) == ("main", True, True)
    assert terminal.next("/products/rye")["events"] == ["product.created"]
    filled = terminal.next("/rows")["results"]
    assert [(each["result"], each["events"]) for each in filled] == [("created", [])] * 2

    issued = terminal.next("try_app")
    terminal.names["TOKEN"] = issued["accessToken"]
    wanted = terminal.next("/wanted")
    assert (wanted["orders"], wanted["reviews"], wanted["hookPoints"]) == (True, False, sorted(ANSWERS))
    assert terminal.next("/orders/1001")["events"] == ["order.created"]

    (product,) = terminal.next("/app-api/products?externalId=rye")["data"]
    assert (product["name"], product["stock"]) == ("Rye bread", 12)
    (order,) = terminal.next("/app-api/orders")["data"]
    assert (order["externalId"], order["amount"], order["items"][0]["productId"]) == (
        "1001",
        9,
        product["id"],
    )
    drain()
    assert events_of(receiver) == ["order.created"]
    wait_for_feed()
    assert [each["event"] for each in terminal.next("/app-api/events")["data"]] == ["order.created"]
    assert terminal.next("/app-api/exports")["status"] == "PENDING"
    assert make_exports() == 1

    assert terminal.next("/products/rye")["events"] == ["product.updated", "product.low_stock"]
    drain()
    assert events_of(receiver) == ["order.created", "product.low_stock"]
    assert terminal.next("/products/spelt")["result"] == "deleted"
    found = terminal.next("/snapshot")
    assert (found["missing"], found["outdated"], found["unknown"]) == (["oat"], [], [])
    priced = terminal.next("/hooks/order.calculate_discounts")
    assert (priced["answer"]["discount"], priced["parts"][0]["name"]) == (90, "Bell")
    terminal.names["QUOTE"] = priced["quote"]
    assert terminal.next("/orders/1002")["quote"] == "taken"
    payment = terminal.next("/hooks/checkout.create_payment")["answer"]["payment"]
    assert (payment["status"], payment["paymentUrl"]) == ("PENDING", "https://bell.example/pay/77")
    assert terminal.next("/payments/1003") == {"payment": payment}
    assert terminal.next("/customers/erase")["erasureId"]
    assert terminal.next("/advance")["became"]["payments"] == 0
    placed = terminal.next("/placements?page=about")
    assert {name: list(part) for name, part in placed.items()} == {
        "scripts": [], "widgets": [], "blocks": [], "hosts": ["scripts", "frames"],
    }  # fmt: skip
    made = terminal.next("/tickets")
    assert Client().get(urlsplit(made["url"]).path)["Location"] == "/merchant/apps/"
    assert terminal.next("/people/kim") is None
    assert terminal.next("-X DELETE")["state"] == "ENDING"
    remove_ended_stores()
    assert not ConnectedStore.objects.exists()
    assert terminal.is_done()
    assert not Business.objects.filter(pk=store["id"], connected__isnull=False).exists()


def events_of(receiver: Receiver) -> list[str]:
    return [
        each.headers["x-webhook-event"] for each in receiver.requests if "x-webhook-event" in each.headers
    ]
