"""What one thing costs in processor time, asked for again and again by `benchmarks.pairs`.

`pairs` puts this file into the tree of an earlier commit, too. So it uses only what the benchmarks had there.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
from django.db import connection, transaction

from accounts.models import Business
from benchmarks import shelves, shops
from benchmarks.dispatchers import dispatching
from benchmarks.processes import cpu_with
from benchmarks.sink import sink
from benchmarks.web import request, serving
from stores.models import Product
from webhooks.services.publishing import publish

LISTENERS: Final = 1_000
ROWS: Final = 1_000  # products, orders and events of the store that is asked
SAMPLES: Final = 200  # of all things; then the tokens come round again

# Each returns seconds of processor for one thing: of our processes, and of their sessions in PostgreSQL.
Samples = Mapping[str, Callable[[], float]]


@contextmanager
def drain(folder: Path, scale: int) -> Iterator[Samples]:
    """1,000 times `scale` deliveries for 20 endpoints that answer at once, by two dispatchers."""
    count = 1_000 * scale
    with sink(folder) as receiver, dispatching(folder) as dispatchers:
        webhooks = shops.endpoints([receiver.url(f"instant/{number}") for number in range(20)])

        def delivery() -> float:
            shops.forget_deliveries()
            shops.add_due(webhooks, count)
            before = dispatchers.cost()
            shops.wait_until_sent(300)
            receiver.arrivals()  # or they would be kept
            cost = dispatchers.cost().since(before)
            return (cost.ours + (cost.postgres or 0.0)) / count

        yield {"a delivery": delivery}


def _publish(business: Business) -> None:
    """Earlier commits take the business itself."""
    whose = (
        {"business": business}
        if "business" in signature(publish).parameters
        else {"business_id": business.pk}
    )
    publish(event_type=shops.EVENT_TYPE, data=shops.DATA, **whose)  # type: ignore[arg-type]


@contextmanager
def fan_out(folder: Path, scale: int) -> Iterator[Samples]:
    """Events for 1,000 webhooks without a filter, and for one."""
    alone, crowd = shops.business(), shops.business()
    shops.listeners(alone, ["http://127.0.0.1:9/0"])
    shops.listeners(crowd, [f"http://127.0.0.1:9/{number}" for number in range(LISTENERS)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()

    def event(business: Business, count: int) -> float:
        shops.forget_deliveries()
        before = cpu_with(backend)
        for _ in range(count):
            with transaction.atomic():
                _publish(business)
        return (cpu_with(backend) - before) / count

    yield {
        "an event for 1,000 webhooks": lambda: event(crowd, 5 * scale),
        "an event for one webhook": lambda: event(alone, 50 * scale),
    }


@contextmanager
def app_api(folder: Path, scale: int) -> Iterator[Samples]:
    """A store of 1,000 products, orders and events: 30 times `scale` calls over kept connections."""
    shop, count = shelves.shop(ROWS, orders=ROWS), 30 * scale
    ids = list(Product.objects.filter(business=shop, is_available=True).values_list("pk", flat=True)[:2])
    Product.objects.filter(pk__in=ids).update(stock=1_000_000)
    with transaction.atomic():
        for _ in range(ROWS):
            _publish(shop)
    tokens = shelves.tokens(shop, SAMPLES * count)
    shelves.tidy()
    with serving(folder, "app-api", "benchmarks.settings") as server:

        def read(path: str) -> Callable[[], float]:
            return lambda: (
                server.cost(
                    [
                        request("GET", path, {"Authorization": f"Bearer {token}"})
                        for token in islice(tokens, count)
                    ]
                ).all
            )

        yield {
            "a list of 50 products": read("/app-api/products"),
            "placing an order of two lines": lambda: (
                server.cost([order_request(token, ids) for token in islice(tokens, count)], 201).all
            ),
            "a page of 50 events of the feed": read("/app-api/events?limit=50"),
        }


def order_request(token: str, products: Sequence[Any]) -> bytes:
    """One of each product, picked up and paid in cash."""
    body = orjson.dumps(
        {
            "items": [{"productId": str(product), "quantity": 1} for product in products],
            "customer": {"name": "Kim", "email": "kim@example.com"},
            "deliveryMethod": "PICKUP",
            "paymentMethod": "CASH",
        }
    )
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return request("POST", "/app-api/orders", headers, body)


UNITS: Final[Mapping[str, Callable[[Path, int], AbstractContextManager[Samples]]]] = {
    "drain": drain,
    "fan-out": fan_out,
    "app-api": app_api,
}


def serve(folder: Path) -> None:
    """Prepare what each line of the input names, such as `["fan-out", 10]`, and say what it has. Then measure one of these for each line,
    until an empty one."""
    while line := sys.stdin.readline().strip():
        name, scale = json.loads(line)
        with UNITS[name](folder, scale) as samples:
            _say(list(samples))
            while wanted := json.loads(sys.stdin.readline()):
                _say(samples[wanted]())


def _say(what: Any) -> None:
    print(json.dumps(what), flush=True)
