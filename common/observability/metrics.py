"""What each process counts for operators. `config.health` serves it, and docs/operations-run.md explains it.

Gauges have the sum of the processes that live, where several share what they count.
"""

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter, Gauge, Histogram, Metric
from prometheus_client.core import HistogramMetricFamily

from common.observability import (
    counts,  # noqa: F401  before anything is counted
    objectives,
)
from common.observability.objectives import Objective

# Every first part in config/urls.py but those of probes and crawlers.
ROOTS: Final = frozenset(
    "app-api webhooks store-api placements store.js developer auth oauth .well-known portal merchant marketplace media static docs sdk "
    "licenses search theme store admin accounts inbox".split()
)
CHECKOUT: Final = ("storefront:checkout", "GET"), ("storefront:checkout", "POST"), ("appapi:orders", "POST")
NOT_MEASURED: Final = ("appapi:unknown", "appapi:webhook-test")  # no route; waits for an app's server
LONG_POLL: Final = "developer_api:listener_work"  # waits for work up to 20 seconds: slow on purpose

ANSWERS: Final = Counter(
    "extension_platform_http_answers",
    "Answers to HTTP requests, by route class and the class of the status.",
    ["root", "status"],
)
SECONDS: Final = Histogram(
    "extension_platform_http_seconds",
    "Seconds until a response was ready, by route class.",
    ["root"],
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
NOT_LIMITED: Final = Counter(
    "extension_platform_rate_limit_failed_open",
    "Requests that were not counted for all processes together, because the cache server did not respond.",
    ["limit"],
)
CALLS_NOT_LOGGED: Final = Counter(
    "extension_platform_api_calls_not_logged",
    "Calls of apps that the log lacks, because the database did not keep up.",
)
THREADS: Final = Gauge(
    "extension_platform_threads", "Threads for requests or tasks.", multiprocess_mode="livesum"
)
THREADS_BUSY: Final = Gauge(
    "extension_platform_threads_busy", "Threads that have a request or a task.", multiprocess_mode="livesum"
)
PLACES_TAKEN: Final = Gauge(
    "extension_platform_places_taken",
    "Requests that have a place: to wait for servers of apps (strangers), or for long work of ours (own_work).",
    ["set"],
    multiprocess_mode="livesum",
)
TASKS: Final = Counter(
    "extension_platform_tasks", "Tasks of Celery, by what they came to.", ["task", "outcome"]
)
ROWS_FAILED: Final = Counter(
    "extension_platform_rows_failed",
    "Rows that a task failed for, while it went on with the others.",
    ["task"],
)
TASK_WAIT: Final = Histogram(
    "extension_platform_task_wait_seconds",
    "Seconds from sending a task to its start.",
    buckets=(0.1, 0.5, 1, 5, 15, 60, 300),
)
HOOK_CALLS: Final = Counter(
    "extension_platform_hook_calls",
    "Hook calls, made and skipped, by what they came to.",
    ["point", "outcome"],
)
HOOK_SECONDS: Final = Histogram(
    "extension_platform_hook_seconds",
    "Seconds of hook calls that were made.",
    ["point"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
SHOP_COMMANDS: Final = Counter(
    "extension_platform_shop_commands",
    "Commands to shops of connected stores, by what they came to.",
    ["command", "outcome"],
)
SHOP_SECONDS: Final = Histogram(
    "extension_platform_shop_command_seconds",
    "Seconds of commands to shops that were sent.",
    ["command"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
MAILS: Final = Counter("extension_platform_mails", "Mails, by what became of them.", ["outcome"])
EXPORTS: Final = Counter("extension_platform_exports", "Exports of lists for apps.", ["outcome"])
PUT_OFF: Final = Counter(
    "extension_platform_deliveries_put_off",
    "Deliveries that were due and were postponed without an attempt that counts.",
    ["reason"],
)


class Steps:
    """A histogram of seconds with a label `step`, whose values come many at a time.

    Sorted, a value takes a twentieth of what `Histogram.observe` takes. Shows what this process counted alone: no two dispatchers
    share what they count.
    """

    BOUNDS: Final = (
        0.00025, 0.0005, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.006, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5, 15,
    )  # fmt: skip

    def __init__(self, name: str, description: str, names: Sequence[str]) -> None:
        self._name, self._description = name, description
        self._below = {step: [0] * len(self.BOUNDS) for step in names}  # how many took at most that long
        self._count, self._sum = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
        self._lock = threading.Lock()

    def observe(self, step: str, seconds: Sequence[float]) -> None:
        """Takes microseconds for a hundred values, and never waits."""
        ordered = sorted(seconds)
        with self._lock:
            below = self._below[step]
            for number, bound in enumerate(self.BOUNDS):
                below[number] += bisect_right(ordered, bound)
            self._count[step] += len(ordered)
            self._sum[step] += sum(ordered)

    def collect(self) -> Iterator[Metric]:
        """For `exposition`. Steps that nothing took are left out."""
        family = HistogramMetricFamily(self._name, self._description, labels=["step"])
        with self._lock:
            for step, count in self._count.items():
                buckets = [*zip(map(str, self.BOUNDS), self._below[step], strict=True), ("+Inf", count)]
                if count:
                    family.add_metric([step], buckets, self._sum[step])
        yield family


# Each begins where the one before has ended (docs/operations-run.md).
DELIVERY_STEPS: Final = Steps(
    "extension_platform_delivery_step_seconds",
    "Seconds of each step of a delivery. The first begins when it is due.",
    ["seen", "claimed", "prepared", "connected", "first_byte", "recorded"],
)


def root_of(path: str) -> str:
    """The first part of a known path, "home" without one, else "other", so that strangers can't add labels."""
    first = path[1:].partition("/")[0]
    return first if first in ROOTS else "other" if first else "home"


def _class_of(request: HttpRequest) -> str:
    if request.zone == "stores":  # type: ignore[attr-defined]
        return "store"
    if request.resolver_match and request.resolver_match.view_name == LONG_POLL:
        return "listener"
    return root_of(request.path)


def _objective_of(request: HttpRequest, status: int) -> Objective | None:
    """None for what no objective is about. Strangers, and those who call too often, can't make the API look better."""
    name = request.resolver_match.view_name if request.resolver_match else ""
    if (name, request.method) in CHECKOUT:
        return objectives.CHECKOUT
    if name.startswith("appapi:"):
        return None if status in (401, 429) or name in NOT_MEASURED else objectives.API
    return objectives.PORTAL if name.startswith("portal:") and request.method == "GET" else None


class AnswersMiddleware:
    """Counts every response, the time that it took, and the threads that are busy. It is the outermost middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        THREADS.set(settings.WEB_THREADS)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = perf_counter()
        with THREADS_BUSY.track_inprogress():
            response = self.get_response(request)
        root = _class_of(request)
        ANSWERS.labels(root, f"{response.status_code // 100}xx").inc()
        took = perf_counter() - began
        SECONDS.labels(root).observe(took)
        if objective := _objective_of(request, response.status_code):
            good = response.status_code < 500 and took <= objective.within
            objective.count(good=int(good), bad=int(not good))
        return response
