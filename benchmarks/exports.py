"""Exports: how long a large one takes and how much memory, and whether the feed goes on from each without a gap."""

import gzip
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any
from uuid import UUID

import orjson
import requests
from django.db import connection
from extension_platform_sdk import AppClient

from accounts.models import Business
from appapi.models import Export, ExportResource, ExportStatus
from appapi.services.exports import request_export
from benchmarks import shelves
from benchmarks.app_api import OURS
from benchmarks.dispatchers import cpu_of_sessions
from benchmarks.options import Options
from benchmarks.processes import Failed, Process, started, wait_for
from benchmarks.results import Goal, Row
from benchmarks.web import serving
from common.secrets import digest
from installations.models import Installation
from stores.models import Product
from stores.serializers import product_payload
from stores.services.catalogue.products import create_product, delete_product, update_product
from webhooks.feed import current_horizon
from webhooks.models import Event

WORKER = "export-worker"
RUNS = 20
CHANGES = 50  # a second
WRITERS = 8
CHANGED = 2_000  # products of the store whose products change


def export_size(options: Options) -> Iterator[Row]:
    """One export of 1,000,000 products, after a small one that warms the worker up."""
    many = 20_000 if options.quick else 1_000_000
    small, large = shelves.shop(1_000), shelves.shop(many)
    shelves.tidy()
    with _worker(options) as worker:
        _make(worker, small)
        before, cpu, sql = worker.resident(), worker.cpu(), cpu_of_sessions([WORKER])
        worker.reset_peak()
        export, seconds = _make(worker, large)
        growth = worker.resident("VmHWM") - before
        spent, after = worker.cpu() - cpu, cpu_of_sessions([WORKER])
    if export.rows != many:
        raise Failed(f"The export has {export.rows} rows of {many}.")
    postgres = "" if sql is None or after is None else f", PostgreSQL's {after - sql:.1f} s"
    yield Row(
        f"Export of {many:,} products",
        "",
        f"{seconds:.1f} s",
        seconds,
        Goal(120, 60, unit=" s"),
        note=f"The worker's processor time: {spent:.1f} s{postgres}.",
    )
    yield Row(
        "… memory that it takes", f"{before:.0f} MB", f"+{growth:.1f} MB", growth, Goal(64, 32, unit=" MB")
    )


def export_seam(options: Options) -> Iterator[Row]:
    """20 exports while 50 changes a second go on; each, with the feed from its cursor on, is compared with the end."""
    runs = 3 if options.quick else RUNS
    shop = shelves.shop(CHANGED)
    tokens = list(islice(shelves.tokens(shop, runs * shelves.PER_TOKEN), runs))
    with serving(options.folder, "app-api", OURS) as server, _worker(options) as worker:
        url = f"http://127.0.0.1:{server.port}"
        with _Changes(shop).going_on() as changes:
            files = [_export(worker, url, token) for token in tokens]
        _wait_for_horizon(shop)
        rows = Product.objects.filter(business=shop, status="ACTIVE")
        final = {str(row.pk): product_payload(row, shop.currency) for row in rows}
        told = [_followed(url, token, *file) for token, file in zip(tokens, files, strict=True)]
    right = sum(records == final for records, _ in told)
    yield Row(
        f"Export and feed together give the final state, {changes.pace:.0f} changes a second",
        f"{runs} runs",
        f"{right} right",
        right / runs,
        Goal(1, 1, more_is_better=True),
        doubt="" if changes.pace >= CHANGES * 0.9 else f"only {changes.pace:.0f} changes a second",
        note=f"{changes.count:,} changes; from {min(n for _, n in told):,} to {max(n for _, n in told):,} events "
        "of the feed behind an export.",
    )


def _make(worker: Process, shop: Business) -> tuple[Export, float]:
    token = next(shelves.tokens(shop, 1))
    installation = Installation.objects.get(token_digest=digest(token))
    export = request_export(installation=installation, resource=ExportResource.PRODUCTS)
    worker.tell("make")
    _, seconds = worker.hear()
    export.refresh_from_db()
    if export.status != ExportStatus.READY:
        raise Failed(f"The export is {export.status}.")
    return export, seconds


def _export(worker: Process, url: str, token: str) -> tuple[dict[str, Any], str]:
    """The records of an export and the cursor behind it."""
    with AppClient(url, token, timeout=60) as client:
        asked = client.create_export("products")
        worker.tell("make")
        worker.hear()
        export = client.export(asked["id"])
    if export["status"] != "READY" or not export["feedCursor"]:
        raise Failed(f"The export is {export['status']}.")
    path = f"{url}/app-api/exports/{asked['id']}/file"
    file = requests.get(path, headers={"Authorization": f"Bearer {token}"}, timeout=60)
    records = map(orjson.loads, gzip.decompress(file.content).splitlines())
    return {record["id"]: record for record in records}, export["feedCursor"]


def _followed(url: str, token: str, records: dict[str, Any], cursor: str) -> tuple[dict[str, Any], int]:
    """The records after all events behind the cursor, as the guide says, and how many events there were."""
    count = 0
    with AppClient(url, token, timeout=60, wait_on_rate_limit=True) as client:
        for event in client.reconcile(cursor):
            count += 1
            product: dict[str, Any] = dict(event["data"])
            if event["event"] == "product.deleted" or product.get("status") == "ARCHIVED":
                records.pop(product["id"], None)
            elif event["event"] in ("product.created", "product.updated"):
                product.pop("changedFields", None)
                records[product["id"]] = product
    return records, count


class _Changes:
    """Threads that add, edit and delete products at a steady pace, each its own ones."""

    def __init__(self, shop: Business) -> None:
        self.count = 0
        self.pace = 0.0
        self._shop = shop
        self._stop = threading.Event()
        ids = list(Product.objects.filter(business=shop).values_list("pk", flat=True))
        self._shares = [ids[number::WRITERS] for number in range(WRITERS)]

    @contextmanager
    def going_on(self) -> Iterator["_Changes"]:
        began = time.monotonic()
        with ThreadPoolExecutor(WRITERS) as threads:
            running = [threads.submit(self._run, number) for number in range(WRITERS)]
            try:
                yield self
            finally:
                self._stop.set()
            self.count = sum(each.result() for each in running)
        self.pace = self.count / (time.monotonic() - began)

    def _run(self, number: int) -> int:
        began, dice, count = time.monotonic(), random.Random(number), 0
        while not self._stop.is_set():
            time.sleep(max(0.0, began + count * WRITERS / CHANGES - time.monotonic()))
            self._change(self._shares[number], dice, f"{number}-{count}")
            count += 1
        connection.close()
        return count

    def _change(self, ids: list[UUID], dice: random.Random, name: str) -> None:
        kind = dice.choice(("create", "delete", "update", "update"))
        if kind == "create":
            ids.append(create_product(business=self._shop, name=f"New {name}", price=100).pk)
            return
        place = dice.randrange(len(ids))
        product = Product.objects.get(pk=ids[place])
        if kind == "delete":
            delete_product(product=product)
            ids.pop(place)
        else:
            update_product(product=product, name=f"Renamed {name}", price=dice.randint(1, 10_000))


def _wait_for_horizon(shop: Business) -> None:
    newest = (
        Event.objects.filter(business=shop).order_by("-position").values_list("position", flat=True).first()
    )
    wait_for(lambda: current_horizon() > (newest or 0), 60, "the feed to hold all events")


@contextmanager
def _worker(options: Options) -> Iterator[Process]:
    with started(options.folder, WORKER, "-m", "benchmarks.export_worker") as worker:
        worker.hear()
        yield worker
