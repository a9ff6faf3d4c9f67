"""What a transaction that somebody leaves open costs the deliveries meanwhile.

PostgreSQL can't remove a row version that an open transaction might still read. Every delivery leaves several, so each
peek and claim has more of them to step over, the longer the transaction lasts. The goal is a time, not a ratio: databases
are to end such transactions (docs/operations-run.md).
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from benchmarks import shops
from benchmarks.dispatchers import dispatching
from benchmarks.latency import SETTLE, SLOWEST_PACE, first_arrivals, pace_of
from benchmarks.options import Options
from benchmarks.publishers import publishing
from benchmarks.results import Goal, Row, milliseconds, percentile
from webhooks.models import Delivery

RATE: Final = 500  # events/s
WARM_UP: Final = 10.0  # seconds


def long_transaction(options: Options) -> Iterator[Row]:
    """500 events/s to 20 instant endpoints: a minute as usual, then with a transaction open. The last minute counts."""
    usual, held = (10.0, 10.0) if options.quick else (60.0, 600.0 if options.full else 120.0)
    shops.forget_deliveries()
    options.sink.arrivals()
    webhooks = shops.endpoints([options.sink.url(f"instant/{number}") for number in range(20)])
    arrived: dict[str, float] = {}
    with dispatching(options.folder):
        seconds = WARM_UP + usual + held
        with publishing(options.folder, webhooks, rate=RATE, seconds=seconds, plainly=True) as publishers:
            publishers.go()
            began = time.monotonic()
            _collect(options, arrived, until=began + WARM_UP + usual)
            with _open_transaction():
                _collect(options, arrived, until=began + seconds)
                committed = publishers.committed()
                time.sleep(SETTLE)
                arrived = first_arrivals(options) | arrived
                ended = time.monotonic()
    waits = _waits(committed, arrived, ended)
    without = [wait for at, wait in waits if began + WARM_UP <= at < began + WARM_UP + usual]
    beside = [wait for at, wait in waits if at >= began + seconds - usual]
    pace = pace_of(list(committed.values()))
    yield Row(
        f"p95 at {RATE}/s after {held / 60:.3g} minutes of an open transaction",
        milliseconds(percentile(without, 0.95)),
        milliseconds(percentile(beside, 0.95)),
        percentile(beside, 0.95),
        Goal(1.0, 0.3, unit=" s"),
        doubt=f"only {pace:.0f} events/s could be published" if pace < RATE * SLOWEST_PACE else "",
        note="By minutes, p95 in ms: " + ", ".join(_by_minutes(waits, began)),
    )


@contextmanager
def _open_transaction() -> Iterator[None]:
    """One that has written a row and keeps its snapshot, as a report or a forgotten console does."""
    with psycopg.connect(
        os.environ["DATABASE_URL"], options="-c idle_in_transaction_session_timeout=0"
    ) as session:
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute("CREATE TEMPORARY TABLE forgotten AS SELECT count(*) FROM webhooks_delivery")
        yield
        session.rollback()


def _collect(options: Options, arrived: dict[str, float], *, until: float) -> None:
    """Fetch the arrivals from the sink now and then, so that it never holds many."""
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 20.0))
        for delivery, at in first_arrivals(options).items():
            arrived.setdefault(delivery, at)


def _waits(committed: dict[str, float], arrived: dict[str, float], ended: float) -> list[tuple[float, float]]:
    """For each event when it was committed, and the seconds to its first byte; until now if it has not come."""
    rows: Any = Delivery.objects.values_list("id", "event_id").iterator()
    events = {str(event): arrived.get(str(delivery), ended) for delivery, event in rows}
    return [(at, events[event] - at) for event, at in committed.items()]


def _by_minutes(waits: list[tuple[float, float]], began: float) -> list[str]:
    minutes: dict[int, list[float]] = {}
    for at, wait in waits:
        minutes.setdefault(int((at - began) // 60), []).append(wait)
    return [f"{percentile(minutes[number], 0.95) * 1000:.1f}" for number in sorted(minutes)]
