"""Copies of stores on which merchants try apps: how long one takes alone, and what 50 at the same moment cost everybody else."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Final

from django.db import connection

from accounts.enums import Role
from accounts.models import Business
from benchmarks import shelves, shops
from benchmarks.dispatchers import celery
from benchmarks.options import Options
from benchmarks.pages import browser_of, request_of
from benchmarks.processes import Failed
from benchmarks.results import Goal, Row, milliseconds, number, percentile
from benchmarks.web import serving
from installations.models import Trial
from marketplace.models import App
from stores.models import Product
from teststores import trials

PRODUCTS, ORDERS = 1_000, 50  # as many as a copy has at most
ALONE, ALONE_SECONDS = 20, 15
AT_ONCE, AT_ONCE_SECONDS = trials.MOST, 300
OTHERS: Final = 10  # pages a second
LOOKS_EVERY: Final = 0.02


def trial(options: Options) -> Iterator[Row]:
    """From the press to the copy, one after another and all at once, with a worker of its own."""
    products = 50 if options.quick else PRODUCTS
    stores = [shelves.shop(products, ORDERS) for _ in range(5 if options.quick else AT_ONCE)]
    shelves.tidy()
    app = shops.app(shops.user(Role.DEVELOPER))
    with celery(options.folder):
        _copied(app, stores[:1], 60)  # warms up
        yield _alone(options, app, stores, products)
        yield _at_once(options, app, stores)


def _alone(options: Options, app: App, stores: Sequence[Business], products: int) -> Row:
    count = 3 if options.quick else ALONE
    bare = [_bare(stores[0]) for _ in range(count)]
    taken = [_copied(app, [stores[each % len(stores)]], 60)[0] for each in range(count)]
    slowest = percentile(taken, 0.95)
    return Row(
        f"A copy of a store with {products:,} products, p95, to writing bare rows",
        milliseconds(percentile(bare, 0.95)),
        milliseconds(slowest),
        slowest / percentile(bare, 0.95),
        reached=f"at least (≤ {ALONE_SECONDS} s)" if slowest <= ALONE_SECONDS else "MISSED",
        note=f"From the press, {count} times. p50: {milliseconds(median(bare))} to {milliseconds(median(taken))}.",
    )


def _bare(store: Business) -> float:
    """Seconds for the same products read, and written by Django for another store."""
    other = shops.business()
    began = time.perf_counter()
    rows = list(Product.objects.filter(business=store).values())
    names = {"id", "business_id", "slug"}
    Product.objects.bulk_create(
        Product(business=other, slug=f"copy-{position}", **{key: row[key] for key in row.keys() - names})
        for position, row in enumerate(rows)
    )
    return time.perf_counter() - began


def _at_once(options: Options, app: App, stores: Sequence[Business]) -> Row:
    """What everybody else waits for pages of their stores meanwhile."""
    seconds = 2.0 if options.quick else 20.0
    owner = shops.user(Role.MERCHANT)
    shop = shelves.shop(100, 100)
    Business.objects.filter(pk=shop.pk).update(owner=owner)
    page = request_of(browser_of(owner), "/merchant/orders/")
    alone: list[float] = []
    beside: list[float] = []
    made: list[float] = []
    pages = [page] * round(seconds * OTHERS)
    with (
        serving(options.folder, "pages", "benchmarks.settings") as server,
        ThreadPoolExecutor(1) as thread,
    ):
        server.paced(pages[:20], 2)  # warms up
        for _ in range(options.repeats):
            alone.append(percentile(server.paced(pages, seconds), 0.95))
            copying = thread.submit(_copied, app, stores, AT_ONCE_SECONDS)
            waits: list[float] = []
            while not waits or not copying.done():
                waits += server.paced(pages[:OTHERS], 1)
            beside.append(percentile(waits, 0.95))
            made.append(max(copying.result()))
    return Row(
        f"p95 of a page while {len(stores)} copies are made, to without",
        milliseconds(median(alone)),
        milliseconds(median(beside)),
        median(beside) / median(alone),
        Goal(1.5, 1.2),
        note=f"{OTHERS} pages a second. All copies were there after {number(median(made))} s; asked for: {AT_ONCE_SECONDS} s.",
    )


def _copied(app: App, stores: Sequence[Business], within: float) -> list[float]:
    """Seconds from each press to the copy, all pressed at the same moment. The trials are ended afterwards.

    Raises `Failed` if a copy isn't made in time.
    """
    began = time.monotonic()
    waiting = {trials.start(app=app, store=each, person=each.owner).pk for each in stores}
    taken: list[float] = []
    while waiting:
        time.sleep(LOOKS_EVERY)
        rows = Trial.objects.filter(pk__in=waiting)
        there = set(rows.filter(copy__isnull=False).values_list("pk", flat=True))
        taken += [time.monotonic() - began] * len(there)
        waiting -= there
        if time.monotonic() - began > within or rows.filter(copy=None, ended_at__isnull=False).exists():
            raise Failed(f"{len(waiting)} of {len(stores)} copies were not made.")
    for each in Trial.objects.open().filter(store__in=stores):
        trials.end(each)
    connection.close()  # of this thread
    return taken
