"""Processes that die between two steps of a command to a shop, or of telling it of a payment."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest
import requests
from django.utils import timezone

from accounts.models import ConnectedStore, ShopSystem
from accounts.services import shops
from common.ids import new_id
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


STEPS = {
    "kept": "extensions.shops.calling:begin",
    "answered": "extensions.shops.calling:judged",
    "taken": "extensions.shops.ledger:settle",
    "settled": "stores.queries:order_by_id",
    "before its answer is kept": "common.rest.idempotency:keep",
}
TELLING = STEPS | {"settled": "extensions.shops.telling:held"}


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


@pytest.mark.fault(46, "id of a command", "first sending of a command")
def test_command_of_a_web_process_that_dies_is_one_order(
    processes: Processes, asked: Shop, reader: Installation, product: Product
) -> None:
    processes.use(FAULT_CONSTANTS=SHORT, ALLOW_LOCAL_DESTINATIONS="on", DEBUG="1")
    for after, place_in_code in STEPS.items():
        port, before = free_port(), (len(asked.orders), Order.objects.count())
        doomed = processes.web(port, FAULT_DIE_AT=place_in_code)
        wait_for_web(port)
        with pytest.raises(requests.ConnectionError):
            place(port, reader, product, after)
        assert doomed.wait_for_death() == -signal.SIGKILL
        is_placed, is_taken = after != "kept", after not in ("kept", "answered")
        assert (len(asked.orders), Order.objects.count()) == (before[0] + is_placed, before[1] + is_taken)

    port = free_port()
    processes.web(port)
    wait_for_web(port)
    answers = [until_done(lambda key=after: place(port, reader, product, key)) for after in STEPS]
    assert [each.status_code for each in answers] == [201] * len(STEPS)
    assert len(asked.orders) == Order.objects.count() == len(STEPS)
    placed = sorted(each["id"] for each in asked.orders.values())
    assert sorted(each.json()["externalId"] for each in answers) == placed
    assert Event.objects.filter(type="order.created").count() == len(STEPS)


def place(port: int, reader: Installation, product: Product, key: str) -> requests.Response:
    body = {
        "items": [{"productId": str(product.pk), "quantity": 2}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    headers = {"Authorization": f"Bearer {reader.raw_token}", "Idempotency-Key": key}  # type: ignore[attr-defined]
    url = f"http://127.0.0.1:{port}/app-api/orders"
    return requests.post(url, json=body, headers=headers, timeout=15)


def until_done(call: Any) -> requests.Response:
    """The first answer once the lease of the call that died has ended."""
    ends = time.monotonic() + 10 * LEASE
    while (answer := call()).headers.get("X-Error-Code") == "idempotency_key_in_progress":
        assert time.monotonic() < ends, answer.text
        time.sleep(0.3)
    return answer


@pytest.mark.fault(46, "tellings until they are heard")
def test_telling_of_a_process_that_dies_is_told_again(
    processes: Processes, asked: Shop, reader: Installation, store: ConnectedStore
) -> None:
    processes.use(FAULT_CONSTANTS=SHORT, ALLOW_LOCAL_DESTINATIONS="on", DEBUG="1")
    payments = []
    for after in ("kept", "answered", "settled"):
        payments.append(payment := to_tell(store, reader, after))
        doomed = tell(processes, FAULT_DIE_AT=TELLING[after])
        assert doomed.wait_for_death() == -signal.SIGKILL
        assert (str(payment.command_id) in asked.told) == (after != "kept")
        others_wait(timedelta(hours=1))
    time.sleep(LEASE)
    others_wait(timedelta())
    assert tell(processes).wait_for_death() == 0
    assert not ShopPayment.objects.exclude(tell_at=None, tried_until=None).exists()
    assert asked.told == {str(each.command_id): "COMPLETED" for each in payments}


def others_wait(time_: timedelta) -> None:
    """All that are still to be sent become due then."""
    ShopPayment.objects.filter(tell_at__isnull=False).update(tell_at=timezone.now() + time_)


def to_tell(store: ConnectedStore, reader: Installation, number: str) -> ShopPayment:
    now = timezone.now()
    return ShopPayment.objects.create(
        business=store.business, order_id=new_id(), order_external_id=number, provider=str(reader.app_id),
        method="pay:wallet", amount=900, currency="USD", is_made=True, status=PaymentStatus.COMPLETED,
        command_id=uuid4(), tell_since=now, tell_at=now,
    )  # fmt: skip


def tell(processes: Processes, **environment: str) -> Any:
    work = "from extensions.shops.telling import tell_due; tell_due()"
    return processes.start("manage.py", "shell", "-c", work, **environment)
