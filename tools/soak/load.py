"""The threads that use the installation. Their work is in `apps` and `people`."""

import random
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import requests

from tools.soak.apps import Apps
from tools.soak.calls import GIVE_UP, Calls, GivenUp, Job
from tools.soak.people import People
from tools.soak.shop import Shop


class Load(Calls):
    """`start` begins it, and `stop` ends it. Before, every app has to be installed on every store."""

    def __init__(self, url: str, world: dict[str, Any], chance: random.Random) -> None:
        super().__init__(url, world)
        self._chance = chance
        self._threads: list[threading.Thread] = []
        self._calm: list[Any] = []  # locks of jobs that a restore to a moment must not undo
        self.people = People(self)
        self.apps = Apps(self, self.people)
        self.shop = Shop(self, world["shop"]) if world.get("shop") else None

    def start(self) -> None:
        for job in self.apps.orders:
            self._begin(job, threading.Lock())
        for job in (*self.apps.jobs, *self.people.jobs):
            self._begin(job, self.calm_lock())
        if self.shop:
            self._begin(self.shop.change, self.calm_lock())

    def calm_lock(self) -> Any:
        """For what a restore to a moment must not undo, which is done while this is held."""
        self._calm.append(threading.Lock())
        return self._calm[-1]

    def stop(self) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join(GIVE_UP + 30)

    def read_on(self) -> None:
        """Every app reads the feed to its end, and the connected store is compared with its mirror."""
        session = requests.Session()
        for install in self.ledger.active():
            self.apps.read_feed(session, install)
        if self.shop:
            self.shop.finish(session)

    @contextmanager
    def only_orders(self) -> Iterator[None]:
        """Nothing but orders is changed within the block."""
        with ExitStack() as held:
            for lock in self._calm:
                held.enter_context(lock)
            yield

    def _begin(self, job: Job, calm: Any) -> None:
        arguments = [job, random.Random(self._chance.random()), calm]
        self._threads.append(threading.Thread(target=self._forever, args=arguments, daemon=True))
        self._threads[-1].start()

    def _forever(self, job: Job, chance: random.Random, calm: Any) -> None:
        session = requests.Session()
        while not self.over.wait(0.01):
            try:
                with calm:
                    job(session, chance)
            except GivenUp as problem:
                self.ledger.failed(str(problem))
            except Exception as problem:  # an answer that the load doesn't understand must not end it
                self.ledger.failed(f"{job.__name__}: {problem!r}")
