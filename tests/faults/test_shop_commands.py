"""Processes that die between two steps of a command to a shop, of a payment that an app makes, or of telling the shop of one."""

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
from stores.connected.payments import expire_payments
from stores.connected.stores import open_store
from stores.enums import PaymentStatus
from stores.models import Order, Product, ShopPayment
from stores.services.payments import MAKING
from tests import factories
from tests.clients import shop_client
from tests.faults.deliveries import wait_for_web
from tests.faults.processes import Processes
from tests.hooking import Hooked, Hooking
from tests.hooking import hooking as hooking
from tests.ports import free_port
from tests.storeapi.checkouts import DATA, PAY, PAYMENT, wallet
from tests.storeapi.rows import MAIN, ORDER, put
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
PAYING = {
    "opened": "stores.connected.payments:_ask",
    "answered": "stores.connected.payments:_keep",
    "kept": "stores.connected.quotes:add",
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


@pytest.mark.fault(46, "payments that are pending aren't asked for again")
def test_payment_of_a_web_process_that_dies_is_one_everywhere(
    processes: Processes, asked: Shop, connected: shops.Connected, store: ConnectedStore, hooking: Hooking
) -> None:
    """Without a request to the app there is nothing to pay: that payment expires, and the next try asks."""
    processes.use(FAULT_CONSTANTS=SHORT, ALLOW_LOCAL_DESTINATIONS="on", DEBUG="1")
    app, method = wallet(hooking, store.business)
    for order, place_in_code in PAYING.items():
        port = free_port()
        doomed = processes.web(port, FAULT_DIE_AT=place_in_code)
        wait_for_web(port)
        with pytest.raises(requests.ConnectionError):
            pay(port, connected, method, order)
        assert doomed.wait_for_death() == -signal.SIGKILL
    known = {each.order_external_id: str(each.order_id) for each in ShopPayment.objects.all()}
    assert set(known) == set(PAYING)
    assert at_app(app) == [known["answered"], known["kept"]]

    port = free_port()
    processes.web(port)
    wait_for_web(port)
    again = {pay(port, connected, method, order).json()["answer"]["payment"]["status"] for order in PAYING}
    assert (again, len(at_app(app))) == ({"PENDING"}, 2)
    assert [settle(port, app, known[order]).status_code for order in ("answered", "kept")] == [200, 200]
    assert expire_payments(now=timezone.now() + MAKING) == 1
    assert pay(port, connected, method, "opened").json()["answer"]["payment"] | PAY == {
        "status": "PENDING", "provider": str(app.app.pk), "qrCode": None, "expiresAt": None
    } | PAY  # fmt: skip
    assert settle(port, app, known["opened"]).status_code == 200
    assert sorted(at_app(app)) == sorted(known.values()), "Each order is paid once."

    client = shop_client(connected)
    for order in PAYING:
        assert put(client, f"orders/{order}", paymentMethod=method).status_code == 200
    assert set(Order.objects.values_list("payment__status", "payment__provider")) == {
        ("COMPLETED", str(app.app.pk))
    }
    assert tell(processes).wait_for_death() == 0
    assert sorted(asked.told.values()) == ["COMPLETED"] * len(PAYING)


def pay(port: int, connected: shops.Connected, method: str, order: str) -> requests.Response:
    url = f"http://127.0.0.1:{port}{MAIN}/hooks/{PAYMENT}"
    body = {"data": DATA[PAYMENT] | {"orderId": order, "paymentMethodId": method}}
    return requests.post(url, json=body, headers={"Authorization": f"Bearer {connected.key}"}, timeout=15)


def at_app(app: Hooked) -> list[str]:
    """The orders for which the app was asked for a payment."""
    return [json.loads(each.body)["data"]["orderId"] for each in app.receiver.requests]


def settle(port: int, app: Hooked, order_id: str) -> requests.Response:
    token = app.installation.raw_token  # type: ignore[attr-defined]
    url = f"http://127.0.0.1:{port}/app-api/orders/{order_id}/payment"
    headers = {"Authorization": f"Bearer {token}"}
    return requests.patch(url, json={"status": "COMPLETED"}, headers=headers, timeout=15)


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
