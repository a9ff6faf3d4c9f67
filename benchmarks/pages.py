"""What pages cost, to a stock page of the same run (`benchmarks.baselines.page`).

Asked by the test client: session, queries and template, without a socket. The figure is the processors' time, of this process and of
PostgreSQL, which other load on the machine hardly lengthens. The stock page is asked by turns with ours. Then `manage.py serve` is asked
for all pages, 8 at once, and a gunicorn for the stock page.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from random import Random
from statistics import median, quantiles
from time import process_time
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.template.base import Template
from django.test import Client

from accounts.models import User
from benchmarks import environment
from benchmarks.options import Options
from benchmarks.processes import Failed, Process, cpu_with, started
from benchmarks.results import Goal, Row, number, percentile
from benchmarks.web import request, serving
from common.web.middleware.server_timing import Timing

FEW: Final = 100
AT_ONCE: Final = 8
# One store's searches may take an eighth of the threads, and all of these are of one.
THREADS: Final = "32"
ROUNDS: Final = 5
IN_A_ROW: Final = 4
SERVED: Final = 3_500  # requests of one area, in parts by turns with the stock page
PART: Final = 500
# Of a stock page, which has a list of 25 rows and nothing else.
FRAME: Final = Goal(1.5, 1.2)
PAGE: Final = Goal(3, 2)
SLOWEST: Final = Goal(6, 4)
STOCK_SERVER: Final = (
    "-m", "gunicorn", "--worker-class", "gthread", "--threads", "8", "--keep-alive", "75",
    "benchmarks.baselines.page:application",
)  # fmt: skip


class StockPage:
    def __init__(self, process: Process, variables: dict[str, str]) -> None:
        self._process = process
        self.variables = variables
        self.cookies: dict[str, str] = process.hear()

    def seconds(self) -> float:
        """Of the processors, for one page."""
        self._process.tell("page")
        return float(self._process.hear())


@contextmanager
def stock_page(options: Options) -> Iterator[StockPage]:
    with ExitStack() as stack:
        url = stack.enter_context(environment.database(f"benchmark_stock_{os.getpid()}"))
        variables = {
            "STOCK_DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "benchmarks.baselines.page_settings",
        }
        process = started(options.folder, "stock-page", "-m", "benchmarks.baselines.page", **variables)
        yield StockPage(stack.enter_context(process), variables)


@dataclass(frozen=True, slots=True)
class Asked:
    """A page: its name, by whom it is asked, and its path for something small and for something with many rows.

    `before` is called before each request, and isn't measured. `goal` is what the small one is held to, or the large one.
    """

    name: str
    client: Client
    few: str
    many: str
    goal: Goal | None = PAGE
    of_many: bool = False
    client_of_many: Client | None = None  # where it is another one's
    before: Callable[[], object] = lambda: None

    @property
    def many_client(self) -> Client:
        return self.client_of_many or self.client


@dataclass
class Area:
    """Measures the pages of one part of the product, with `rows` rows each."""

    name: str
    options: Options
    stock: StockPage
    rows: int
    asked: list[Asked] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)  # of the pages with many rows, by name

    def row(self, asked: Asked) -> Row:
        """The median of a page's cost, to the stock page's in the same rounds."""
        costs: tuple[list[float], list[float], list[float]] = ([], [], [])
        for _ in range(2 if self.options.quick else ROUNDS):
            costs[0].extend(self._warm(self.stock.seconds))
            costs[1].extend(self._warm(lambda: _seconds(asked, asked.client, asked.few)))
            costs[2].extend(self._warm(lambda: _seconds(asked, asked.many_client, asked.many)))
        stock, few, many = (median(seconds) * 1000 for seconds in costs)
        highest = quantiles(costs[2], n=20)[-1] * 1000
        statements, share = _statements_and_rendering(asked)
        self.asked.append(asked)
        self.ratios[asked.name] = many / stock
        ours = many if asked.of_many else few
        return Row(
            f"{self.name}: {asked.name}",
            f"{number(stock)} ms",
            f"{number(ours)} ms",
            ours / stock,
            asked.goal,
            note=f"{number(few)} ms with {FEW}, {number(many)} ms with {self.rows:,} ({number(many / stock)} of a stock page, p95 "
            f"{number(highest)} ms); {statements} statements; rendering {share:.0%} of it",
        )

    @staticmethod
    def _warm(measure: Callable[[], float]) -> list[float]:
        """Some in a row, without the first, which finds another process's work in the processor's caches."""
        return [measure() for _ in range(IN_A_ROW + 1)][1:]

    def slowest(self) -> Row:
        name, ratio = max(self.ratios.items(), key=lambda each: each[1])
        return Row(
            f"{self.name}, {self.rows:,} rows, the slowest: {name}", "1", number(ratio), ratio, SLOWEST
        )

    def served(self) -> Iterator[Row]:
        """The wait for a page among all of them, to that for the stock page."""
        count, part = (200, 100) if self.options.quick else (SERVED, PART)
        theirs = [_get(self.stock.cookies, "/")] * part
        pages = [request_of(each.many_client, each.many) for each in self.asked]
        every = pages * (count // len(pages) + 1)
        Random(1).shuffle(every)
        waits: tuple[list[float], list[float]] = ([], [])
        with (
            serving(self.options.folder, "pages", "benchmarks.settings", WEB_THREADS=THREADS) as ours,
            serving(
                self.options.folder, "stock-served", command=STOCK_SERVER, **self.stock.variables
            ) as plain,
        ):
            ours.waits(pages, AT_ONCE)  # warms up
            plain.waits(theirs[:AT_ONCE], AT_ONCE)
            for start in range(0, count, part):
                waits[0].extend(plain.waits(theirs, AT_ONCE))
                waits[1].extend(ours.waits(every[start : start + part], AT_ONCE))
        for share, goal in ((0.95, Goal(4, 3)), (0.99, Goal(5, 4))):
            stock, own = (percentile(seconds, share) * 1000 for seconds in waits)
            yield Row(
                f"{self.name}, served, {AT_ONCE} at once: p{share * 100:.0f}",
                f"{number(stock)} ms",
                f"{number(own)} ms",
                own / stock,
                goal,
                note=f"{len(waits[1]):,} requests over {len(pages)} pages",
            )


def browser_of(person: User | None, **defaults: Any) -> Client:
    """Signed in at a process as ready as a web process is. After the tables have been filled."""
    call_command("collectstatic", interactive=False, verbosity=0)
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("SET max_parallel_workers_per_gather = 0")  # its workers' time isn't measured
    client = Client(headers={"accept": "text/html"}, **defaults)
    if person:
        client.force_login(person)
    import_module("config.wsgi")  # which loads all pages
    return client


def _seconds(asked: Asked, client: Client, path: str) -> float:
    asked.before()
    connection.ensure_connection()
    backend = connection.connection.info.backend_pid
    began = cpu_with(backend)
    answer = client.get(path)
    if answer.status_code != 200:
        raise Failed(f"{path} answered {answer.status_code}")
    return cpu_with(backend) - began


def _statements_and_rendering(asked: Asked) -> tuple[int, float]:
    """The statements of the large page, and the share of its time that went into templates outside statements."""
    plain = Template.render
    asked.before()
    timing = Timing(process_time)
    Template.render = lambda *args: timing.rendered(partial(plain, *args))  # type: ignore[method-assign]
    try:
        with connection.execute_wrapper(timing.asked):
            asked.many_client.get(asked.many)
        took = timing.total
    finally:
        Template.render = plain  # type: ignore[method-assign]
    return timing.statements, timing.rendering / took


def request_of(client: Client, path: str) -> bytes:
    """A request for a page over HTTP, as the person who is signed in at this client."""
    return _get({name: each.value for name, each in client.cookies.items()}, path, client)


def _get(cookies: dict[str, str], path: str, client: Client | None = None) -> bytes:
    headers = {
        "Accept": "text/html",
        "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
    }
    if client and (host := client.defaults.get("SERVER_NAME")):
        headers["Host"] = str(host)
    return request("GET", path, headers)
