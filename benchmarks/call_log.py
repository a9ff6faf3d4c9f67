"""Whether the log of API calls keeps up: nothing is lost under load, and requests don't feel a log that can't be written."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

from django.db import connection, transaction
from django.db.models import Sum

from activity.log import MOST
from activity.models import ApiCall, LogGap
from benchmarks import shelves
from benchmarks.options import Options
from benchmarks.processes import wait_for
from benchmarks.results import Goal, Row, milliseconds
from benchmarks.web import CONNECTIONS, Server, request, serving

OURS = "benchmarks.settings"
SILENT = "benchmarks.without_log"
PATH = "/app-api/installation"  # the cheapest call, and so the highest rate


def call_log_load(options: Options) -> Iterator[Row]:
    """Calls as fast as one worker answers them; then the same while nothing can be written for longer than the queue holds."""
    shop = shelves.shop(100)
    count = 600 if options.quick else 18_000  # a minute at 300 calls a second
    too_many = MOST + (1_000 if options.quick else 2_500)  # and a batch in flight
    tokens = shelves.tokens(shop, count + 3 * too_many)
    shelves.tidy()
    with serving(options.folder, "app-api", OURS) as server:
        began = time.perf_counter()
        _times(server, islice(tokens, count))
        seconds = time.perf_counter() - began
    logged = ApiCall.objects.count()  # the server has been stopped, which writes the rest
    yield Row(
        "Calls in the log, to calls answered at full speed, stopped right after",
        f"{count:,} at {count / seconds:.0f}/s",
        f"{logged:,}",
        logged / count,
        Goal(1.0, 1.0, more_is_better=True),
    )
    with (
        serving(options.folder, "app-api-off", SILENT) as silent,
        serving(options.folder, "app-api", OURS) as server,
    ):
        plain = _p95(_times(silent, islice(tokens, too_many)))
        with _locked_log():
            loaded = _p95(_times(server, islice(tokens, too_many)))
        wait_for(lambda: _known() >= logged + too_many, 30, "the log to catch up")
    missing = LogGap.objects.aggregate(all=Sum("count"))["all"] or 0
    yield Row(
        "API p95 while the log can't be written, to without the log",
        milliseconds(plain),
        milliseconds(loaded),
        loaded / plain,
        Goal(1.1, 1.05),
        note=f"{missing:,} of {too_many:,} calls were dropped, and all of these counted.",
    )


def _times(server: Server, tokens: Iterator[str]) -> list[float]:
    """Seconds until each answer, over a few connections."""
    requests = [request("GET", PATH, {"Authorization": f"Bearer {token}"}) for token in tokens]
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        parts = threads.map(server.times, (requests[start::CONNECTIONS] for start in range(CONNECTIONS)))
        return [each for part in parts for each in part]


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[len(times) * 95 // 100]


def _known() -> int:
    return ApiCall.objects.count() + (LogGap.objects.aggregate(all=Sum("count"))["all"] or 0)


@contextmanager
def _locked_log() -> Iterator[None]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {ApiCall._meta.db_table} IN ACCESS EXCLUSIVE MODE")
        yield
