"""Whether a reader of the feed gets exactly what was committed, while writers commit in any order and processes are killed.

Used by `python -m benchmarks feed-proof` in full, and by a test in small.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from django.db import connection, transaction

from accounts.models import Business
from benchmarks.environment import ROOT
from benchmarks.feed_reader import Notes
from benchmarks.web import SERVE, serve_at
from webhooks import catalogue
from webhooks.models import Event
from webhooks.services.publishing import publish

EVENT: Final = "order.created"
PER_TRANSACTION: Final = 5  # events at most
ROLLED_BACK: Final = 0.05  # share of the transactions
PATIENCE: Final = 180.0  # seconds until the reader has to have read another page


class Mortal(Protocol):
    """A process that can be killed, with those that it started."""

    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Size:
    """`events` and `kills` of each kind are what is done at least; writers go on until both are reached."""

    writers: int
    events: int
    longest: float  # seconds that a transaction stays open, at most
    kills: int  # of the web process, and as many of the reader


@dataclass(slots=True)
class Outcome:
    committed: list[str]  # in the order of the feed
    read: list[str]
    kills: Counter[str]
    overtaken: int  # transactions that committed after one that had written later
    seconds: float

    @property
    def missing(self) -> int:
        return len(set(self.committed) - set(self.read))

    @property
    def repeated(self) -> int:
        return len(self.read) - len(set(self.read))

    @property
    def is_in_order(self) -> bool:
        return self.read == self.committed


def prove(
    *,
    business: Business,
    token: str,
    port: int,
    start_web: Callable[[], Mortal],
    folder: Path,
    size: Size,
) -> Outcome:
    """Write, read and kill. `token` is of an installation in `business`, which has no events yet."""
    began = time.monotonic()
    file = folder / "reader.sqlite"
    url = f"http://127.0.0.1:{port}"
    writers = _Writers(business, size)
    with closing(Notes(file)) as notes:
        killer = _Killer(start_web, lambda: _Reader(url, token, file), notes)
        try:
            killer.wait_for_pages(1)
            with writers.writing():
                killer.kill_alternately(size.kills)
            last = writers.write_last()
            while last not in notes.seen():
                killer.wait_for_pages(1)
        finally:
            killer.end()
        read = notes.seen()
    rows = Event.objects.filter(business=business).order_by("position", "id")
    return Outcome(
        committed=[str(pk) for pk in rows.values_list("pk", flat=True)],
        read=read,
        kills=killer.kills,
        overtaken=writers.overtaken(),
        seconds=time.monotonic() - began,
    )


@dataclass(slots=True)
class _Writers:
    """Threads that each hold one transaction open after the other, and write a few events in it."""

    business: Business
    size: Size
    commits: list[int] = field(default_factory=list)  # the positions of transactions as they were committed
    _written: list[int] = field(default_factory=list)  # events of each committed transaction
    _enough: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """They write during the block, and after it until there are enough events."""
        with ThreadPoolExecutor(self.size.writers) as threads:
            running = [threads.submit(self._write, number) for number in range(self.size.writers)]
            try:
                yield
            finally:
                self._enough.set()
            for each in running:
                each.result()

    def write_last(self) -> str:
        """An event behind all others: once it is there for a reader, so must be all others."""
        return str(self._publish().pk)

    def overtaken(self) -> int:
        return sum(later < max(self.commits[:at], default=0) for at, later in enumerate(self.commits))

    def _write(self, number: int) -> None:
        dice = random.Random(number)
        try:
            while not (self._enough.is_set() and sum(self._written) >= self.size.events):
                self._transaction(dice)
        finally:
            connection.close()

    def _transaction(self, dice: random.Random) -> None:
        count, seconds = dice.randint(1, PER_TRANSACTION), dice.uniform(0, self.size.longest)
        rolled_back = dice.random() < ROLLED_BACK
        with transaction.atomic():
            for _ in range(count):
                event = self._publish()
                time.sleep(seconds / count)
            event.refresh_from_db(fields=["position"])
            transaction.set_rollback(rolled_back)
        if not rolled_back:
            self._written.append(count)
            self.commits.append(event.position)

    def _publish(self) -> Event:
        event = publish(business_id=self.business.pk, event_type=EVENT, data=catalogue.EVENTS[EVENT].example)
        assert event is not None
        return event


class _Reader:
    def __init__(self, url: str, token: str, file: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.feed_reader", url, token, str(file)]
        path = os.pathsep.join([str(ROOT), str(ROOT / "sdk" / "python")])
        self._popen = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path})

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()


class Web:
    """gunicorn in a process group of its own."""

    def __init__(self, port: int, log: Path) -> None:
        environment = os.environ | serve_at(port) | {"LOG_LEVEL": "CRITICAL"}
        with log.open("ab") as target:
            self._popen = subprocess.Popen(
                [sys.executable, *SERVE], cwd=ROOT, env=environment, stderr=target, start_new_session=True
            )

    def kill(self) -> None:
        os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()


class _Killer:
    """Runs the web process and the reader, and kills them by turns, each after another page was read."""

    def __init__(
        self, start_web: Callable[[], Mortal], start_reader: Callable[[], Mortal], notes: Notes
    ) -> None:
        self.kills: Counter[str] = Counter()
        self._starts = {"web": start_web, "reader": start_reader}
        self._notes = notes
        self._running = {name: start() for name, start in self._starts.items()}
        self._dice = random.Random(0)

    def kill_alternately(self, times: int) -> None:
        for _ in range(times):
            for name in self._starts:
                self.wait_for_pages(1)
                time.sleep(self._dice.uniform(0, 1))
                self._running[name].kill()
                self.kills[name] += 1
                self._running[name] = self._starts[name]()

    def wait_for_pages(self, count: int) -> None:
        enough = self._notes.pages() + count
        _wait(lambda: self._notes.pages() >= enough, "the reader to read on")

    def end(self) -> None:
        for each in self._running.values():
            each.kill()


def _wait(condition: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"Waited {PATIENCE:.0f} s in vain for {what}."
        time.sleep(0.05)
