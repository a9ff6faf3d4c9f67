"""The threads that use the installation. Their work is in `apps` and `people`."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import requests

from tools.soak.apps import Apps
from tools.soak.calls import GIVE_UP, Calls, GivenUp, Job, Paced
from tools.soak.people import People
from tools.soak.shop import Shop


class Load(Calls):
    """`start` begins it, and `stop` ends it. Before, every app has to be installed on every store."""

    def __init__(self, url: str, world: dict[str, Any], chance: random.Random) -> None:
        super().__init__(url, world)
        self._chance = chance
        self._threads: list[threading.Thread] = []
        self._locks: list[Any] = []  # of the jobs that place orders
        self._calm: list[Any] = []  # of those that a restore to a moment must not undo
        self.people = People(self)
        self.apps = Apps(self, self.people)
        self.shop = Shop(self, world["shop"]) if world.get("shop") else None

    def start(self) -> None:
        for paced in self.apps.orders:
            self._begin(paced, threading.Lock())
        for paced in (*self.apps.jobs, *self.people.jobs, *(self.shop.jobs if self.shop else ())):
            self._begin(paced, self.calm_lock())

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
        with _held(self._calm):
            yield

    @contextmanager
    def rest(self) -> Iterator[None]:
        """Nothing is asked of the installation within the block."""
        with _held(self._locks + self._calm):
            yield

    def _begin(self, paced: Paced, lock: Any) -> None:
        if lock not in self._calm:
            self._locks.append(lock)
        arguments = [*paced, random.Random(self._chance.random()), lock]
        self._threads.append(threading.Thread(target=self._forever, args=arguments, daemon=True))
        self._threads[-1].start()

    def _forever(
        self, job: Job, pause: Callable[[random.Random], float], chance: random.Random, lock: Any
    ) -> None:
        session = requests.Session()
        while not self.over.wait(pause(chance)):
            try:
                with lock:
                    if not self.over.is_set():
                        job(session, chance)
            except GivenUp as problem:
                self.ledger.failed(str(problem))
            except Exception as problem:  # an answer that the load doesn't understand must not end it
                self.ledger.failed(f"{job.__name__}: {problem!r}")


@contextmanager
def _held(locks: list[Any]) -> Iterator[None]:
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(lock)
        yield
