"""The cost of an event for the request that causes it, with many listeners."""

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from django.db import connection, transaction

from accounts.models import Business
from benchmarks import shops
from benchmarks.options import Options
from benchmarks.processes import cpu_with
from benchmarks.results import Goal, Row, milliseconds, paired
from webhooks.models import Webhook
from webhooks.services.publishing import met_filters, publish

LISTENERS = 1_000
LARGE = '{"all":[{"field":"amount","op":"gte","value":%d}]}'  # which the event passes

Published = tuple[float, int, float]


def fan_out(options: Options) -> Iterator[Row]:
    """One event for 1,000 webhooks, to one for a single webhook; and to 1,000 that have a filter, by turns with those without."""
    shops.forget_deliveries()
    alone, crowd, alike, apart = (shops.business() for _ in range(4))
    shops.listeners(alone, [options.sink.url("instant/0")])
    urls = [options.sink.url(f"instant/{n}") for n in range(LISTENERS)]
    shops.listeners(crowd, urls)
    _filtered(shops.listeners(alike, urls), [LARGE % 1])
    _filtered(shops.listeners(apart, urls), [LARGE % -number for number in range(LISTENERS)])
    with connection.cursor() as cursor:
        # As autovacuum does by and by. Without statistics PostgreSQL reads all apps for each installation, so that
        # the time would be that of the apps which other benchmarks have left.
        cursor.execute("ANALYZE")
    repeats = 5 if options.quick else 50
    for each in (alone, crowd, alike, apart):
        _publish(each)  # warms up
    turns = [_turn(alone, crowd, alike, apart) for _ in range(repeats)]
    first_alike, first_apart, to_one, to_all, to_alike, to_apart = zip(*turns, strict=True)
    one, all_ = (median(seconds for seconds, *_ in runs) for runs in (to_one, to_all))
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
    goal, plain = Goal(1.25, 1.15), [cpu for *_, cpu in to_all]
    for words, runs, expected in (
        ("a filter that it passes", to_alike, goal),
        ("a filter each", to_apart, goal),
        ("a filter, the first time", first_alike, None),
        ("a filter each, the first time", first_apart, None),
    ):
        filtered = [cpu for *_, cpu in runs]
        yield Row(
            f"… with {words}, to none: processor",
            milliseconds(median(plain)),
            milliseconds(median(filtered)),
            paired(filtered, plain),
            expected,
        )


def _filtered(webhooks: list[Webhook], filters: list[str]) -> None:
    for number, webhook in enumerate(webhooks):
        webhook.filter = filters[number % len(filters)]
    Webhook.objects.bulk_update(webhooks, ["filter"])


def _turn(alone: Business, crowd: Business, alike: Business, apart: Business) -> list[Published]:
    """The first two are events whose filters the process has not met yet."""
    met_filters.cache_clear()
    return [_publish(each) for each in (alike, apart, alone, crowd, alike, apart)]


def _publish(business: Business) -> Published:
    """Seconds, SQL statements without BEGIN and COMMIT, and seconds of processor here and in PostgreSQL."""
    statements = 0

    def counted(execute: Any, *args: Any) -> Any:
        nonlocal statements
        statements += 1
        return execute(*args)

    connection.ensure_connection()
    backend = connection.connection.info.backend_pid
    began, cpu = time.perf_counter(), cpu_with(backend)
    with connection.execute_wrapper(counted), transaction.atomic():
        publish(business_id=business.pk, event_type=shops.EVENT_TYPE, data=shops.DATA)
    return time.perf_counter() - began, statements, cpu_with(backend) - cpu
