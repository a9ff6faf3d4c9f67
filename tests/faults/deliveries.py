"""Deliveries of a product that faults hit, and what of them arrived."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests

from installations.models import Installation
from tests.receivers import ReceivedRequest
from tests.webhooks.helpers import wait_until
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

FREED = 5.0  # seconds after a dispatcher's last heartbeat, at most

START = 25.0  # seconds that a process may take to start on a busy machine; all less than a lease lasts


def ids(requests_: list[ReceivedRequest]) -> Counter[str]:
    return Counter(request.headers["x-service-event-id"] for request in requests_)


def all_delivered() -> bool:
    return not Delivery.objects.exclude(status=DeliveryStatus.SUCCEEDED).exists()


def answers_once(may_answer: threading.Event) -> Callable[[socket.socket], None]:
    def script(connection: socket.socket) -> None:
        may_answer.wait(30)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    return script


def order(url: str, installation: Installation, product: Any, timeout: float = 10) -> requests.Response:
    """Place an order by the app API, which causes `order.created`."""
    body = {
        "items": [{"productId": str(product.pk), "quantity": 1}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    token = {"Authorization": f"Bearer {installation.raw_token}"}  # type: ignore[attr-defined]
    return requests.post(f"{url}/app-api/orders", json=body, headers=token, timeout=timeout)


def wait_for_web(port: int, timeout: float = 30) -> None:
    def answers() -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{port}/healthz", timeout=1).ok
        except requests.RequestException:
            return False

    wait_until(answers, timeout)


PROBED = 0.5  # seconds, at most


@dataclass
class Probes:
    """`/healthz`, asked again and again on new connections: the longest wait in seconds, and what was wrong."""

    url: str
    longest: float = 0.0
    wrong: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        while not self.over.wait(0.05):
            began = time.monotonic()
            try:
                status = str(requests.get(f"{self.url}/healthz", timeout=5).status_code)
            except requests.RequestException as error:
                status = repr(error)
            self.longest = max(self.longest, time.monotonic() - began)
            if status != "200":
                self.wrong.append(status)


@contextmanager
def probed(url: str) -> Iterator[None]:
    probes = Probes(url)
    asking = threading.Thread(target=probes.ask)
    asking.start()
    try:
        yield
    finally:
        probes.over.set()
        asking.join()
    assert probes.wrong == []
    assert probes.longest < PROBED


def at(url: str, host: str) -> str:
    """The URL with another host."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{host}:{parts.port}").geturl()


Listen = Callable[..., list[Webhook]]
