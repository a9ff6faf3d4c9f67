"""The cost of an event for the request that causes it, with many listeners."""

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from django.db import connection, transaction

from accounts.models import Business
from benchmarks import shops
from benchmarks.options import Options
from benchmarks.results import Goal, Row, milliseconds
from webhooks.services.publishing import publish

LISTENERS = 1_000


def fan_out(options: Options) -> Iterator[Row]:
    """One event for 1,000 webhooks, to one for a single webhook."""
    shops.forget_deliveries()
    alone, crowd = shops.business(), shops.business()
    shops.listeners(alone, [options.sink.url("instant/0")])
    shops.listeners(crowd, [options.sink.url(f"instant/{n}") for n in range(LISTENERS)])
    with connection.cursor() as cursor:
        # As autovacuum does by and by. Without statistics PostgreSQL reads all apps for each installation, so that
        # the time would be that of the apps which other benchmarks have left.
        cursor.execute("ANALYZE")
    repeats = 5 if options.quick else 50
    for each in (alone, crowd):
        _publish(each)  # warms up
    turns = [(_publish(alone), _publish(crowd)) for _ in range(repeats)]
    to_one, to_all = zip(*turns, strict=True)
    one, all_ = (median(seconds for seconds, _ in runs) for runs in (to_one, to_all))
    yield Row(
        f"An event for {LISTENERS:,} webhooks, to one: with commit",
        milliseconds(one),
        milliseconds(all_),
        all_ / one,
        Goal(3, 2.5),
    )
    yield Row(
        f"SQL statements of an event for {LISTENERS:,} webhooks, to one",
        str(to_one[-1][1]),
        str(to_all[-1][1]),
        to_all[-1][1] / to_one[-1][1],
        Goal(1, 1),
    )


def _publish(business: Business) -> tuple[float, int]:
    """Seconds, and SQL statements without BEGIN and COMMIT."""
    statements = 0

    def counted(execute: Any, *args: Any) -> Any:
        nonlocal statements
        statements += 1
        return execute(*args)

    began = time.perf_counter()
    with connection.execute_wrapper(counted), transaction.atomic():
        publish(business=business, event_type=shops.EVENT_TYPE, data=shops.DATA)
    return time.perf_counter() - began, statements
