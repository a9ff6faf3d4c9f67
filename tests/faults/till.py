"""A store on a real server, at which an app places orders."""

import time
from typing import Any

import requests

from installations.models import Installation
from tests import factories
from tests.faults.deliveries import wait_for_web
from tests.faults.processes import Processes
from tests.ports import free_port


def serve(processes: Processes) -> str:
    """Start a web process and a dispatcher. Returns the platform's address."""
    port = free_port()
    processes.web(port)
    processes.deliver()
    wait_for_web(port, timeout=90)
    return f"http://127.0.0.1:{port}"


class Till:
    """Places the same order again and again, with the token of an installation."""

    def __init__(self, url: str, caller: Installation) -> None:
        self._url, self._caller = f"{url}/app-api/orders", caller
        self._product = factories.product(caller.business)

    def order(self) -> tuple[dict[str, Any], float]:
        """The order, and the seconds that it took."""
        body = {
            "items": [{"productId": str(self._product.pk), "quantity": 1}],
            "customer": {"name": "Kim", "email": "kim@example.com"},
            "deliveryMethod": "DELIVERY",
            "address": "1 Quay Street",
            "paymentMethod": "CASH",
        }
        token = {"Authorization": f"Bearer {self._caller.raw_token}"}  # type: ignore[attr-defined]
        began = time.monotonic()
        answer = requests.post(self._url, json=body, headers=token, timeout=60)
        took = time.monotonic() - began
        assert answer.status_code == 201, answer.text
        return answer.json(), took
