"""Processes that die between two steps of a command to a shop, or of telling it of a payment."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest
import requests
from django.utils import timezone

from accounts.models import ConnectedStore, ShopSystem
from accounts.services import shops
from common.ids import new_id
from extensions.models import ShopCommand
from installations.models import Installation
from stores.connected.stores import open_store
from stores.enums import PaymentStatus
from stores.models import Order, Product, ShopPayment
from tests import factories
from tests.clients import shop_client
from tests.faults.deliveries import wait_for_web
from tests.faults.processes import Processes
from tests.ports import free_port
from tests.storeapi.rows import ORDER, put
from webhooks.models import Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

LEASE = 2  # seconds, in place of those of the platform
SHORT = json.dumps({"common.rest.idempotency:LEASE": LEASE, "extensions.shops.telling:LEASE": LEASE})


class Shop(ThreadingHTTPServer):
    """Does each command once, and answers a repeated one as before."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.asked: list[dict[str, Any]] = []
        self.orders: dict[str, dict[str, Any]] = {}  # by commandId
        self.told: dict[str, str] = {}
        self.url = f"http://127.0.0.1:{self.server_address[1]}/commands"

    def do(self, command: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(command)
        name, id_ = command["command"], command["commandId"]
        if name == "payment.set_status":
            self.told[id_] = command["data"]["status"]
            return {}
        number = f"o-{len(self.orders) + 1}"
        return {"order": self.orders.setdefault(id_, ORDER | {"id": number, "version": 1})}


class Asked(BaseHTTPRequestHandler):
    server: Shop

    def do_POST(self) -> None:
        command = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(self.server.do(command)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def asked(transactional_db: None) -> Iterator[Shop]:
    with Shop() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def connected(asked: Shop) -> shops.Connected:
    made = shops.connect(name="Northwind")
    ShopSystem.objects.filter(pk=made.system.pk).update(commands_url=asked.url)
    return made


@pytest.fixture
def store(connected: shops.Connected) -> ConnectedStore:
    values = {"name": "Northwind Main", "currency": "USD"}
    return open_store(system=connected.system, external_id="main", values=values)


@pytest.fixture
def reader(store: ConnectedStore) -> Installation:
    app = factories.app(factories.developer("dana@example.com"))
    factories.approve(app)
    return factories.installation(app, store.business)


@pytest.fixture
def product(store: ConnectedStore, connected: shops.Connected) -> Product:
    assert put(shop_client(connected), "products/p-1").status_code == 200
    return Product.objects.get()


STEPS = {
    "kept": "extensions.shops.calling:begin",
    "answered": "extensions.shops.calling:judged",
    "taken": "extensions.shops.ledger:settle",
    "settled": "stores.queries:order_by_id",
    "before its answer is kept": "common.rest.idempotency:keep",
}


@pytest.mark.parametrize("after", STEPS)
def test_command_of_a_web_process_that_dies_is_one_order(
    processes: Processes, asked: Shop, reader: Installation, product: Product, after: str
) -> None:
    processes.use(FAULT_CONSTANTS=SHORT, ALLOW_LOCAL_DESTINATIONS="on", DEBUG="1")
    port = free_port()
    doomed = processes.web(port, FAULT_DIE_AT=STEPS[after])
    wait_for_web(port)
    with pytest.raises(requests.ConnectionError):
        place(port, reader, product)
    assert doomed.wait_for_death() == -signal.SIGKILL
    assert len(asked.orders) == (after != "kept")
    assert Order.objects.count() == (after not in ("kept", "answered"))

    port = free_port()
    processes.web(port)
    wait_for_web(port)
    answer = until_done(lambda: place(port, reader, product))
    assert answer.status_code == 201, answer.text
    assert len(asked.orders) == 1
    kept = Order.objects.get()
    assert (answer.json()["id"], kept.external_id) == (str(kept.pk), "o-1")
    assert len({each["commandId"] for each in asked.asked}) == 1
    assert Event.objects.filter(type="order.created").count() == 1
    assert ShopCommand.objects.filter(outcome="DONE").exists()


def place(port: int, reader: Installation, product: Product) -> requests.Response:
    body = {
        "items": [{"productId": str(product.pk), "quantity": 2}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    headers = {"Authorization": f"Bearer {reader.raw_token}", "Idempotency-Key": "till-1"}  # type: ignore[attr-defined]
    url = f"http://127.0.0.1:{port}/app-api/orders"
    return requests.post(url, json=body, headers=headers, timeout=15)


def until_done(call: Any) -> requests.Response:
    """The first answer once the lease of the call that died has ended."""
    ends = time.monotonic() + 10 * LEASE
    while (answer := call()).headers.get("X-Error-Code") == "idempotency_key_in_progress":
        assert time.monotonic() < ends, answer.text
        time.sleep(0.3)
    return answer


@pytest.mark.parametrize("after", ["kept", "answered", "settled"])
def test_telling_of_a_process_that_dies_is_told_again(
    processes: Processes, asked: Shop, reader: Installation, store: ConnectedStore, after: str
) -> None:
    processes.use(FAULT_CONSTANTS=SHORT, ALLOW_LOCAL_DESTINATIONS="on", DEBUG="1")
    now = timezone.now()
    payment = ShopPayment.objects.create(
        business=store.business, order_id=new_id(), order_external_id="o-1", provider=str(reader.app_id),
        method="pay:wallet", amount=900, currency="USD", is_made=True, status=PaymentStatus.COMPLETED,
        command_id=uuid4(), tell_since=now, tell_at=now,
    )  # fmt: skip
    steps = STEPS | {"settled": "extensions.shops.telling:held"}
    doomed = tell(processes, FAULT_DIE_AT=steps[after])
    assert doomed.wait_for_death() == -signal.SIGKILL
    assert len(asked.told) == (after != "kept")
    payment.refresh_from_db()
    assert payment.tell_at is not None
    time.sleep(LEASE)
    assert tell(processes).wait_for_death() == 0
    payment.refresh_from_db()
    assert (payment.tell_at, payment.tried_until) == (None, None)
    assert asked.told == {str(payment.command_id): "COMPLETED"}


def tell(processes: Processes, **environment: str) -> Any:
    work = "from extensions.shops.telling import tell_due; tell_due()"
    return processes.start("manage.py", "shell", "-c", work, **environment)
