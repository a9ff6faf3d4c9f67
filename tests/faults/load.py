"""Customers who order while servers fail."""

import re
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from accounts.models import Business
from installations.models import Installation
from stores.models import Product
from tests import factories
from tests.faults.deliveries import order

CUSTOMERS = 6

RATE = 4.0  # orders per second of each; less in tests of over 15 s, since an installation has 60 requests a minute


@dataclass
class Load:
    """Orders placed by the app API at a steady rate: what each came to, and how long it took."""

    url: str
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def customer(self, installation: Installation, product: Product, rate: float) -> None:
        while not self.over.wait(1 / rate):
            began = time.monotonic()
            status = order(self.url, installation, product).status_code
            self.seconds.append(time.monotonic() - began)
            self.statuses[status] += 1

    def slowest_of_100(self) -> float:
        """The 99th percentile of the seconds since the last call."""
        taken, self.seconds = self.seconds, []
        return statistics.quantiles(taken, n=100)[98]


@contextmanager
def load(url: str, business: Business, rate: float = RATE) -> Iterator[Load]:
    product = factories.product(business)
    running = Load(url)
    customers = [
        threading.Thread(
            target=running.customer,
            args=[factories.installation(factories.app(business.owner), business), product, rate],
        )
        for _ in range(CUSTOMERS)
    ]
    for customer in customers:
        customer.start()
    try:
        yield running
    finally:
        running.over.set()
        for customer in customers:
            customer.join()


def tasks_done(log: str) -> set[str]:
    return set(re.findall(r"done: (\S+)", log))
