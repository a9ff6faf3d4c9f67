"""A connected store: how fast its software fills it, what that costs others, and how soon an app learns of a row."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from http.client import HTTPConnection
from itertools import chain, islice
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import orjson
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business, ShopSystem
from accounts.services import shops as connections
from benchmarks import shelves, shops
from benchmarks.app_api import OURS
from benchmarks.dispatchers import dispatching
from benchmarks.options import Options
from benchmarks.results import Goal, Row, milliseconds, number, paired, percentile
from benchmarks.sink import order_row
from benchmarks.web import Server, request, serving
from marketplace.models import AppVersion
from stores.connected.stores import open_store
from stores.enums import OrderStatus
from stores.hookpoints import HookPoint
from stores.models import Order, Product, StoreTotals
from webhooks.models import Delivery

BATCH: Final = 100
FILLED, FILL_SECONDS, AGAIN_SECONDS = 10_000, 60, 15
SELLING, ORDERS_A_SECOND = 100, 10
HOOK_ALLOWS: Final = 0.015  # seconds beside an app's own time, at the 95th percentile
BUDGET, GRACE = 500, 0.2  # milliseconds, and seconds until the response then
TAUGHT: Final = 5.0  # rows a second that become events
SETTLE: Final = 2.0
TURNS: Final = """
import sys, time
while end := time.monotonic() + 0.025:
    until = time.thread_time() + 0.025 * float(sys.argv[1])
    while time.thread_time() < until: pass
    time.sleep(max(0, end - time.monotonic()))
"""
UNLIMITED: Final = {"STORE_API_RATE": "100000000"}


class Connection:
    """A connection with one store, and the requests of its software."""

    def __init__(self) -> None:
        made = connections.connect(name=f"Connection {uuid4()}")
        values = {"name": "Connected", "currency": "USD"}
        self.store = open_store(system=made.system, external_id="main", values=values)
        self._headers = {"Authorization": f"Bearer {made.key}", "Content-Type": "application/json"}

    def batches(self, count: int) -> list[bytes]:
        """Of products, the same ones each time."""
        rows = [
            {"resource": "products", "id": f"p-{each}", "version": 1, "data": product(each)}
            for each in range(count)
        ]
        parts = (rows[start : start + BATCH] for start in range(0, count, BATCH))
        return [self._request("POST", "rows", {"rows": part}) for part in parts]

    def order(self, number: int) -> bytes:
        row = order_row(OrderStatus.PENDING) | {
            "orderNumber": str(number),
            "createdAt": timezone.now().isoformat(),
        }
        return self._request("PUT", f"orders/o-{number}", row | {"version": 1})

    def asking(self, budget: int = 10_000) -> bytes:
        """Of a delivery fee, within so many milliseconds."""
        data = {"deliveryMethod": "DELIVERY", "subtotal": 900, "builtInFee": 400}
        return self._request("POST", f"hooks/{HookPoint.SHIPPING_RATES}", {"data": data, "budgetMs": budget})

    def _request(self, method: str, path: str, body: Any) -> bytes:
        return request(method, f"/store-api/stores/main/{path}", self._headers, orjson.dumps(body))


def product(number: int) -> dict[str, Any]:
    return {
        "name": f"Product {number}",
        "description": shelves.DESCRIPTION,
        "price": 1 + number % 90 + 0.5,
        "category": f"Category {number % 10}",
        "stock": number % 50,
    }


def connected(options: Options) -> Iterator[Row]:
    """The first fill, the same rows again, these beside stores that sell, a row's way to an app, and what a checkout waits for apps."""
    yield from _fills(options)
    yield _beside(options)
    yield _first_byte(options)
    yield from _checkout(options)
    yield _command(options)


def _fills(options: Options) -> Iterator[Row]:
    """Each round fills another store."""
    count = 5 * BATCH if options.quick else FILLED
    bare: list[float] = []
    first: list[float] = []
    again: list[float] = []
    with serving(options.folder, "store-api", OURS, **UNLIMITED) as server:
        server.times(Connection().batches(BATCH))  # warms up
        for _ in range(options.repeats):
            bare.append(_bare_fill(count))
            connection = Connection()
            requests = connection.batches(count)
            first.append(sum(server.times(requests)))
            again.append(sum(server.times(requests)))
    share = count / FILLED
    yield Row(
        f"{count:,} products of a connected store, to writing bare rows",
        _seconds(bare),
        _seconds(first),
        median(first) / median(bare),
        reached=_within(first, FILL_SECONDS * share),
        note=f"In batches of {BATCH}, over HTTP, one after another. Asked for: {number(FILL_SECONDS * share)} s.",
    )
    yield Row(
        "… the same ones unchanged, to the first time",
        _seconds(first),
        _seconds(again),
        median(again) / median(first),
        reached=_within(again, AGAIN_SECONDS * share),
        note=f"Asked for: {number(AGAIN_SECONDS * share)} s.",
    )


def _bare_fill(count: int) -> float:
    """Seconds for the same products read from JSON, and written by Django in as many statements."""
    business = shops.business()
    StoreTotals.objects.create(business=business)
    bodies = [
        orjson.dumps([product(each) for each in range(start, min(start + BATCH, count))])
        for start in range(0, count, BATCH)
    ]
    began = time.perf_counter()
    for body in bodies:
        Product.objects.bulk_create(_bare(business, each) for each in orjson.loads(body))
    return time.perf_counter() - began


def _bare(business: Business, row: dict[str, Any]) -> Product:
    values = row | {"price": round(row["price"] * 100), "slug": uuid4().hex}
    return Product(business=business, **values)


def _seconds(runs: Sequence[float]) -> str:
    return f"{number(median(runs))} s"


def _within(runs: Sequence[float], most: float) -> str:
    return f"at least (≤ {number(most)} s)" if median(runs) <= most else "MISSED"


# --- Beside others ------------------------------------------------------------------------------------


def _beside(options: Options) -> Row:
    """Stores that sell, while another one's software sends all its rows again, while it doesn't, and beside a process that only computes."""
    rows = 1_000 if options.quick else 200_000 if options.full else 20_000
    stores, seconds = (10, 5.0) if options.quick else (SELLING, 20.0)
    count, rounds = round(seconds * ORDERS_A_SECOND), options.repeats
    orders = _orders(stores, 3 * (rounds + 1) * count)
    alone, beside, control, shares, sent = list[float](), list[float](), list[float](), list[float](), 0
    with (
        serving(options.folder, "stores", OURS) as selling,
        serving(options.folder, "store-api", OURS, **UNLIMITED) as importing,
        ThreadPoolExecutor(1) as thread,
    ):

        def p95() -> float:
            return percentile(selling.paced(list(islice(orders, count)), seconds, 201), 0.95)

        requests = Connection().batches(rows)
        importing.times(requests)
        shelves.tidy()
        selling.paced(list(islice(orders, 50)), 5, 201)
        for _ in range(rounds):
            alone.append(p95())
            spent = importing.spent()
            importer = thread.submit(_send_again, importing, requests, time.monotonic() + seconds)
            beside.append(p95())
            sent += importer.result()
            shares.append((importing.spent() - spent) / seconds)
            with _computing(shares[-1]):
                control.append(p95())
    return Row(
        f"p95 of orders in {stores} stores beside {rows:,} repeated rows",
        milliseconds(median(alone)),
        milliseconds(median(beside)),
        median(beside) / median(alone),
        Goal(1.1, 1.05),
        note=f"{ORDERS_A_SECOND} orders a second; {sent * BATCH / (rounds * seconds):,.0f} rows a second beside them, "
        "which another process of the web server reads. "
        f"They take {median(shares):.0%} of a core. To a process that computes as much ({milliseconds(median(control))}): "
        f"{paired(beside, control):.2f}.",
    )


@contextmanager
def _computing(share: float) -> Iterator[None]:
    """What any other process costs that needs such a share of a core, in turns of 25 ms."""
    computing = subprocess.Popen([sys.executable, "-c", TURNS, str(min(share, 1.0))])
    try:
        yield
    finally:
        computing.kill()
        computing.wait()


def _send_again(server: Server, requests: Sequence[bytes], end: float) -> int:
    """Until then, all of them again and again. How many batches were answered."""
    sent = 0
    while time.monotonic() < end:
        server.times([requests[sent % len(requests)]])
        sent += 1
    return sent


def _orders(stores: int, count: int) -> Iterator[bytes]:
    """Orders of two lines by an app, in turn of all stores."""
    each = -(-count // stores) + 1
    parts = [list(orders_of(shelves.shop(20), each)) for _ in range(stores)]
    return chain.from_iterable(zip(*parts, strict=True))


def orders_of(business: Business, count: int) -> Iterator[bytes]:
    products = list(Product.objects.filter(business=business)[:2])
    Product.objects.filter(business=business).update(stock=1_000_000, is_available=True)
    body = orjson.dumps(
        {
            "items": [{"productId": str(each.pk), "quantity": 1} for each in products],
            "customer": {"name": "Kim", "email": "kim@example.com"},
            "deliveryMethod": "PICKUP",
            "paymentMethod": "CASH",
        }
    )
    for token in islice(shelves.tokens(business, count), count):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        yield request("POST", "/app-api/orders", headers, body)


# --- To an app ----------------------------------------------------------------------------------------


def _first_byte(options: Options) -> Row:
    """From the request with a row to the first byte at an app; the baseline posts by itself once the row is answered."""
    count = 20 if options.quick else 100
    connection = Connection()
    business = connection.store.business
    installed = shops.installation(shops.app(shops.user(Role.DEVELOPER)), business)
    installed.installed_at = timezone.now() - timedelta(days=1)
    installed.save()
    shops.webhook(installed, options.sink.url("instant/1")).save()
    shops.forget_deliveries()
    with serving(options.folder, "store-api", OURS, **UNLIMITED) as server:
        direct = _posting(options, server, connection, range(count))
        shops.forget_deliveries()
        options.sink.arrivals()
        with dispatching(options.folder):
            began = _put(server, connection, range(count, 2 * count))
            time.sleep(SETTLE)
            arrived = dict(reversed(options.sink.arrivals()))
    sent = {
        orjson.loads(data)["externalId"]: arrived.get(str(pk))
        for pk, data in Delivery.objects.values_list("pk", "event__data")
    }
    ended = time.monotonic()
    taken = [(sent.get(key) or ended) - at for key, at in began.items()]
    missing = sum(sent.get(key) is None for key in began)
    ours, baseline = percentile(taken, 0.95), percentile(direct, 0.95)
    return Row(
        "A row to the first byte at an app, p95, to posting at once",
        milliseconds(baseline),
        milliseconds(ours),
        ours / baseline,
        reached="MISSED" if ours > 1 or missing else "at least (≤ 1 s)",
        note=f"{TAUGHT:.0f} orders a second. p50: {milliseconds(median(direct))} to {milliseconds(median(taken))}."
        + (f" {missing} did not come." if missing else ""),
    )


def _put(
    server: Server,
    connection: Connection,
    numbers: Iterable[int],
    then: Callable[[str], None] = lambda key: None,
) -> dict[str, float]:
    """When each order's request began, by the id of its row. `then` is done after each response."""
    began: dict[str, float] = {}
    for each in numbers:
        key = f"o-{each}"
        began[key] = time.monotonic()
        server.times([connection.order(each)])
        then(key)
        time.sleep(max(0.0, began[key] + 1 / TAUGHT - time.monotonic()))
    return began


def _posting(options: Options, server: Server, connection: Connection, numbers: Iterable[int]) -> list[float]:
    """Seconds from each request to the first byte at the sink, of software that posts to it by itself."""
    url = urlsplit(options.sink.url("instant/1"))
    sink = HTTPConnection(url.netloc)

    def post(key: str) -> None:
        sink.request("POST", url.path, b"{}", {"X-Service-Event-Id": key})
        sink.getresponse().read()

    options.sink.arrivals()
    began = _put(server, connection, numbers, post)
    arrived = dict(options.sink.arrivals())
    return [arrived[key] - at for key, at in began.items()]


# --- A checkout that asks an app ----------------------------------------------------------------------


def _checkout(options: Options) -> Iterator[Row]:
    """An app that answers, called through the platform and directly; then one that never does."""
    count = 50 if options.quick else 500
    with serving(options.folder, "store-api", OURS, **UNLIMITED) as server:
        asking = _with_app(options.sink.url("fee")).asking()
        url = urlsplit(options.sink.url("fee/0"))
        app = HTTPConnection(url.netloc)
        server.times([asking] * 5)
        asked = server.times([asking] * count)
        direct = [_call(app, url.path) for _ in range(count)]
        hanging = server.times([_with_app(options.sink.url("hang")).asking(BUDGET)] * 5)
    options.sink.arrivals()
    ours, baseline = percentile(asked, 0.95), percentile(direct, 0.95)
    yield Row(
        "A hook through a shop's door, p95, to calling its app directly",
        milliseconds(baseline),
        milliseconds(ours),
        ours / baseline,
        reached="MISSED" if ours - baseline > HOOK_ALLOWS else "at least (≤ + 15 ms)",
        note=f"p50: {milliseconds(median(direct))} to {milliseconds(median(asked))}.",
    )
    budget = BUDGET / 1000
    yield Row(
        f"A hook whose app never answers, within a budget of {BUDGET} ms",
        milliseconds(budget),
        milliseconds(max(hanging)),
        max(hanging) / budget,
        reached="MISSED" if max(hanging) > budget + GRACE else "at least (≤ + 200 ms)",
        note="The longest of five.",
    )


def _with_app(url: str) -> Connection:
    """A store with an app that sets the delivery fee."""
    connection = Connection()
    app = shops.app(shops.user(Role.DEVELOPER))
    AppVersion.objects.filter(app=app).update(webhook_url=url)
    shops.hook_of(app, HookPoint.SHIPPING_RATES)
    shops.installation(app, connection.store.business).save()
    return connection


def _command(options: Options) -> Row:
    """An app moves orders: at a shop that answers at once, and in a store of our own."""
    count = 50 if options.quick else 500
    connection, own = Connection(), shelves.shop(20, orders=count)
    ShopSystem.objects.filter(pk=connection.store.system_id).update(commands_url=options.sink.url("shop/0"))
    Order.objects.filter(business=own).update(status=OrderStatus.PENDING)
    mirrored = connection.store.business
    tokens = [shelves.tokens(each, count) for each in (own, mirrored)]
    with serving(options.folder, "store-api", OURS, **UNLIMITED) as server:
        server.times([connection.order(each) for each in range(count)])
        shelves.tidy()
        here, there = (
            server.times(
                [
                    _confirmed(pk, next(token))
                    for pk in Order.objects.filter(business=store).values_list("pk", flat=True)
                ]
            )
            for store, token in zip((own, mirrored), tokens, strict=True)
        )
    options.sink.arrivals()
    return Row(
        "An app moves an order, p50: at a shop, to in a store of our own",
        milliseconds(median(here)),
        milliseconds(median(there)),
        median(there) / median(here),
        note=f"p95: {milliseconds(percentile(here, 0.95))} to {milliseconds(percentile(there, 0.95))}.",
    )


def _confirmed(order_id: UUID, token: str) -> bytes:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return request("PATCH", f"/app-api/orders/{order_id}/status", headers, b'{"status":"CONFIRMED"}')


def _call(app: HTTPConnection, path: str) -> float:
    began = time.perf_counter()
    app.request("POST", path, b"{}", {"Content-Type": "application/json", "X-Service-Event-Id": "direct"})
    app.getresponse().read()
    return time.perf_counter() - began
