"""What the app API costs: to a bare view, to stock parts, and however many products a shop has."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from statistics import median
from typing import Any
from uuid import uuid4

from django.utils import timezone

from benchmarks import shelves, shops
from benchmarks.options import Options
from benchmarks.results import Goal, Row, milliseconds, paired
from benchmarks.units import order_request
from benchmarks.web import Cost, Server, request, serving
from stores.models import Order, Product

PRODUCTS = 1_000
OURS = "benchmarks.settings"
ROUNDS = 7
BATCH = 300  # requests of one kind in a round

Requests = Callable[[int], Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One of those that are compared: who is asked, and for what."""

    server: Server
    requests: Requests
    expected: int = 200
    settles: float = 0.0  # seconds of work that goes on after the last answer, and counts


def product_list(options: Options) -> Iterator[Row]:
    """50 products of 1,000, by the product, by a bare view, and by stock parts."""
    shop = shelves.shop(PRODUCTS)
    with ExitStack() as stack:
        ours = stack.enter_context(serving(options.folder, "app-api", OURS))
        bare = stack.enter_context(serving(options.folder, "bare", "benchmarks.baselines.bare_settings"))
        stock = stack.enter_context(serving(options.folder, "stock", "benchmarks.baselines.stock_settings"))
        rounds, batch = rounds_and_batch(options)
        tokens = shelves.tokens(shop, (rounds + 1) * batch)
        shelves.tidy()
        by_path = f"/{shop.pk}/products"
        stock_token = _stock_token()
        ours_costs, bare_costs, stock_costs = by_turns(
            options,
            Asked(ours, lambda count: get_requests("/app-api/products", islice(tokens, count))),
            Asked(bare, lambda count: [request("GET", by_path)] * count),
            Asked(stock, lambda count: get_requests(by_path, [stock_token] * count)),
        )
    mine, least, usual = (_workers(costs) for costs in (ours_costs, bare_costs, stock_costs))
    yield Row(
        "GET /app-api/products, CPU: a bare view's share of it",
        milliseconds(median(least)),
        milliseconds(median(mine)),
        paired(least, mine),
        Goal(0.75, 0.85, more_is_better=True),
        note=f"With PostgreSQL's: {_with_postgres(bare_costs)} to {_with_postgres(ours_costs)}.",
    )
    yield Row(
        "… DRF and django-oauth-toolkit as they come, in its place",
        milliseconds(median(least)),
        milliseconds(median(usual)),
        paired(least, usual),
        note=f"With PostgreSQL's: {_with_postgres(stock_costs)}.",
    )


def call_log(options: Options) -> Iterator[Row]:
    """The list of 50 products with and without the log of calls; the thread that writes it counts."""
    shop = shelves.shop(PRODUCTS)
    rounds, batch = rounds_and_batch(options)
    with (
        serving(options.folder, "app-api", OURS) as logging,
        serving(options.folder, "app-api-off", "benchmarks.without_log") as silent,
    ):
        tokens = shelves.tokens(shop, 2 * (rounds + 1) * batch)
        shelves.tidy()

        def requests(count: int) -> Sequence[bytes]:
            return get_requests("/app-api/products", islice(tokens, count))

        on, off = by_turns(
            options, Asked(logging, requests, settles=1.0), Asked(silent, requests, settles=1.0)
        )
    yield Row(
        "GET /app-api/products, CPU: with the log, to without",
        milliseconds(median(_workers(off))),
        milliseconds(median(_workers(on))),
        paired(_workers(on), _workers(off)),
        Goal(1.05, 1.02),
        note=f"With PostgreSQL's: {_with_postgres(off)} to {_with_postgres(on)}.",
    )


def product_list_size(options: Options) -> Iterator[Row]:
    """The same request in a shop of 1,000,000 products, and its page 1,000; all processors' time."""
    many = 20_000 if options.quick else 1_000_000
    far = 200 if options.quick else 1_000
    small, large = shelves.shop(PRODUCTS), shelves.shop(many)
    rounds, batch = rounds_and_batch(options)
    with serving(options.folder, "app-api", OURS) as server:
        of_small = shelves.tokens(small, (rounds + 1) * batch)
        of_large = shelves.tokens(large, 3 * (rounds + 1) * batch)
        shelves.tidy()
        first, first_of_many, far_down, onwards = by_turns(
            options,
            Asked(server, lambda count: get_requests("/app-api/products", islice(of_small, count))),
            Asked(server, lambda count: get_requests("/app-api/products", islice(of_large, count))),
            Asked(
                server, lambda count: get_requests(f"/app-api/products?page={far}", islice(of_large, count))
            ),
            Asked(server, lambda count: _pages(far, islice(of_large, count))),
        )
    for what, baseline, ours, goal in (
        (f"{many:,} products, to {PRODUCTS:,}", first, first_of_many, Goal(1.2, 1.05)),
        (f"Page {far:,} of {many:,} products, to page 1", first_of_many, far_down, Goal(2.0, 1.2)),
        (f"Pages from {far:,} on, one after another, to page 1", first_of_many, onwards, Goal(2.0, 1.2)),
    ):
        yield Row(
            f"{what}: CPU with PostgreSQL's",
            milliseconds(median(cost.all for cost in baseline)),
            milliseconds(median(cost.all for cost in ours)),
            paired([cost.all for cost in ours], [cost.all for cost in baseline]),
            goal,
            note=f"Until the answer: {_answered(baseline)} to {_answered(ours)}.",
        )


def app_api_calls(options: Options) -> Iterator[Row]:
    """Single reads, the list of orders, and placing one, to the list of products; that of orders to a bare view, too."""
    shop = shelves.shop(PRODUCTS, orders=PRODUCTS)
    rounds, batch = rounds_and_batch(options)
    products, orders = (shelves.newest(model, shop, 50) for model in (Product, Order))
    wanted = list(Product.objects.filter(business=shop, is_available=True)[:2])
    ids = [product.pk for product in wanted]
    Product.objects.filter(pk__in=ids).update(stock=1_000_000)
    with (
        serving(options.folder, "app-api", OURS) as server,
        serving(options.folder, "bare", "benchmarks.baselines.bare_settings") as bare,
    ):
        tokens = shelves.tokens(shop, 5 * (rounds + 1) * batch)
        shelves.tidy()

        def gets(path: str) -> Requests:
            return lambda count: get_requests(path, islice(tokens, count))

        names = ("one product", "one order", "20 orders", "placing an order of two lines")
        least, listed, *others = by_turns(
            options,
            Asked(bare, lambda count: [request("GET", f"/{shop.pk}/orders")] * count),
            Asked(server, gets("/app-api/products")),
            Asked(server, gets(f"/app-api/products/{products[0]}")),
            Asked(server, gets(f"/app-api/orders/{orders[0]}")),
            Asked(server, gets("/app-api/orders")),
            Asked(server, lambda count: [order_request(token, ids) for token in islice(tokens, count)], 201),
        )
    of_orders = others[names.index("20 orders")]
    yield Row(
        "GET /app-api/orders, CPU: a bare view's share of it",
        milliseconds(median(_workers(least))),
        milliseconds(median(_workers(of_orders))),
        paired(_workers(least), _workers(of_orders)),
    )
    goals = {"20 orders": Goal(1.4, 1.2), "placing an order of two lines": Goal(2.0, 1.8)}
    for name, costs in zip(names, others, strict=True):
        yield Row(
            f"CPU of {name}, to a list of 50 products",
            milliseconds(median(_workers(listed))),
            milliseconds(median(_workers(costs))),
            paired(_workers(costs), _workers(listed)),
            goals.get(name),
            note=f"With PostgreSQL's: {_with_postgres(costs)}; until the answer: {_answered(costs)}.",
        )


def by_turns(options: Options, *contestants: Asked) -> list[list[Cost]]:
    """The costs of each contestant, round by round, after one round that only warms up."""
    rounds, batch = rounds_and_batch(options)
    costs: list[list[Cost]] = [[] for _ in contestants]
    for turn in range(rounds + 1):
        for asked, told in zip(contestants, costs, strict=True):
            cost = asked.server.cost(asked.requests(batch), asked.expected, asked.settles)
            if turn:
                told.append(cost)
    return costs


def rounds_and_batch(options: Options) -> tuple[int, int]:
    """Rounds, and requests of one kind in each."""
    return (1, 50) if options.quick else (ROUNDS, BATCH)


def get_requests(path: str, tokens: Any) -> list[bytes]:
    return [request("GET", path, {"Authorization": f"Bearer {token}"}) for token in tokens]


def _pages(first: int, tokens: Any) -> list[bytes]:
    """Pages one after another, like an app that reads all of them, spread over the connections."""
    return [
        request("GET", f"/app-api/products?page={page}", {"Authorization": f"Bearer {token}"})
        for page, token in enumerate(tokens, first)
    ]


def _stock_token() -> str:
    from oauth2_provider.models import AccessToken

    developer = shops.user("DEVELOPER")
    token = f"token-{uuid4().hex}"
    AccessToken.objects.create(
        user=developer,
        token=token,
        application=shops.app(developer),
        expires=timezone.now() + timedelta(days=1),
        scope="read",
    )
    return token


def _workers(costs: Sequence[Cost]) -> list[float]:
    return [cost.worker for cost in costs]


def _with_postgres(costs: Sequence[Cost]) -> str:
    return milliseconds(median(cost.all for cost in costs))


def _answered(costs: Sequence[Cost]) -> str:
    return milliseconds(median(cost.answered for cost in costs))
