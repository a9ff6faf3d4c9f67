"""What the product costs while nothing happens, and how soon it is awake."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.db import transaction

from benchmarks import shops
from benchmarks.dispatchers import dispatching
from benchmarks.options import Options
from benchmarks.processes import cpu_of, wait_for
from benchmarks.results import Goal, Row, milliseconds, number
from benchmarks.web import children
from tests.demo.process import Demo, Newcomer
from webhooks.services.publishing import publish

SETTLE = 30.0  # seconds, for what the start still does
IDLE = 300.0  # seconds
QUIET = 60.0  # seconds before a delivery


def idle(options: Options) -> Iterator[Row]:
    """`manage.py deliver --forever` on PostgreSQL, then `make demo` on SQLite."""
    yield from _deliver(options)
    yield from _demo(options)


def _deliver(options: Options) -> Iterator[Row]:
    (webhook,) = shops.endpoints([options.sink.url("instant/1")])
    business = webhook.installation.business

    def send() -> tuple[str, float]:
        """The delivery, and when its transaction was about to commit, by the monotonic clock."""
        with transaction.atomic():
            event = publish(business_id=business.pk, event_type=shops.EVENT_TYPE, data=shops.DATA)
            assert event
            (delivery,) = event.deliveries.values_list("id", flat=True)
            return str(delivery), time.monotonic()

    with dispatching(options.folder, 1) as dispatchers:
        _wait(options, SETTLE)
        (process,) = dispatchers.processes
        yield _cpu_row(options, "`manage.py deliver`", [process.pid], Goal(2, 1, unit=" %"))
        yield _first_row(options, "`manage.py deliver`", send)


def _demo(options: Options) -> Iterator[Row]:
    demo = Demo(options.folder / "demo")
    demo.var_dir.mkdir()
    try:
        demo.start()
        newcomer = Newcomer(demo, "idle")
        newcomer.post(
            "/webhooks", newcomer.app, url=options.sink.url("instant/demo"), events=["order.created"]
        )
        _wait(options, SETTLE)
        pids = [demo.pid, *children(demo.pid)]
        yield _cpu_row(options, "`make demo`, with the sample app", pids, Goal(1, 0.5, unit=" %"))
        yield _first_row(options, "`make demo`", lambda: _ordered(demo, newcomer))
        memory = sum(_shared_out(pid) for pid in pids)
        yield Row("Memory of `make demo`", "", f"{number(memory)} MB", memory, Goal(250, 200, unit=" MB"),
                  note="Proportional: what its two processes share counts once.")  # fmt: skip
    finally:
        demo.end()


def _cpu_row(options: Options, what: str, pids: Sequence[int], goal: Goal) -> Row:
    seconds = _shortened(options, IDLE)
    before = sum(map(cpu_of, pids))
    time.sleep(seconds)
    used = sum(map(cpu_of, pids)) - before
    share = 100 * used / seconds
    return Row(f"CPU of an idle {what}, of a core", "", f"{used:.2f} s in {seconds:.0f} s", share, goal)


def _first_row(options: Options, what: str, send: Callable[[], tuple[str, float]]) -> Row:
    """The slowest of several."""
    waits = []
    for _ in range(options.repeats):
        _wait(options, QUIET)
        options.sink.arrivals()
        delivery, began = send()
        waits.append(_arrival(options, delivery) - began)
    slowest = max(waits)
    return Row(
        f"Commit to first byte after a quiet minute: {what}",
        "",
        milliseconds(slowest),
        1000 * slowest,
        Goal(60, 40, unit=" ms"),
        note="Each of them: " + ", ".join(milliseconds(wait) for wait in waits),
    )


def _arrival(options: Options, delivery: str) -> float:
    arrived: dict[str, float] = {}

    def came() -> bool:
        arrived.update(options.sink.arrivals())
        return delivery in arrived

    wait_for(came, 10, "the delivery")
    return arrived[delivery]


def _ordered(demo: Demo, newcomer: Newcomer) -> tuple[str, float]:
    """An order by the API. Its delivery, and when it was written, which is some milliseconds before the commit."""
    before = time.time()
    newcomer.place_order()
    with sqlite3.connect(f"file:{demo.var_dir / 'extension-platform.sqlite3'}?mode=ro", uri=True) as database:
        rows = database.execute(
            "SELECT id, created_at FROM webhooks_delivery WHERE event_type = 'order.created' ORDER BY created_at DESC"
        )
        id_, created_at = rows.fetchone()
    created = datetime.fromisoformat(f"{created_at}+00:00").timestamp()
    assert created >= before
    return str(UUID(id_)), created - time.time() + time.monotonic()


def _shared_out(pid: int) -> float:
    """Resident memory in MB, in which each shared page counts for its share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _wait(options: Options, seconds: float) -> None:
    time.sleep(_shortened(options, seconds))


def _shortened(options: Options, seconds: float) -> float:
    return seconds / 30 if options.quick else seconds
