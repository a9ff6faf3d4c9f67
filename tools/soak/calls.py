"""How the load makes its requests, and writes down what was answered."""

import random
import re
import threading
from collections.abc import Callable
from itertools import count
from time import monotonic, sleep
from typing import Any
from weakref import WeakSet

import requests

from tools.soak.ledger import Ledger

GIVE_UP = 150.0  # seconds: after a kill, an idempotency key is free again after a minute
Job = Callable[[requests.Session, random.Random], None]
Paced = tuple[Job, Callable[[random.Random], float]]  # a job, and the seconds before it
ERASED_AFTER = 15.0  # seconds, instead of 48 hours


def every(seconds: float) -> Callable[[random.Random], float]:
    return lambda _: seconds


class GivenUp(Exception):
    """What was not accepted in time, or not understood."""


class Calls:
    """`is_current`: whether the newest version serves, in which alone some of the jobs are done."""

    def __init__(self, url: str, world: dict[str, Any]) -> None:
        self.ledger = Ledger()
        self.url = url
        self.world = world
        self.is_current = True
        self.over = threading.Event()
        self.repeated: WeakSet[requests.Response] = WeakSet()  # answers to what may have been done already
        self.away_for = 3 * ERASED_AFTER  # until an app is installed again that is away for its erasure
        self._markers = count(1)

    def marker(self) -> str:
        """The name of the next buyer."""
        return f"Kim {next(self._markers):06}"

    def failed(self, what: str, answer: requests.Response) -> None:
        said = " ".join(re.sub("<[^>]+>", " ", answer.text.partition("<main")[2] or answer.text).split())
        self.ledger.failed(f"{what} was answered {answer.status_code}: {said[:500]}")

    def call(
        self, session: requests.Session, method: str, path: str, *, again: bool = True, **options: Any
    ) -> requests.Response:
        """The answer. Without one it is tried again, as after a 503, a 429, and a 409 of an order whose first try is being made.

        With `again=False` a request without an answer raises `requests.RequestException`.
        """
        route = f"{method} {re.sub(r'[0-9a-f-]{30,}', ':id', path.partition('?')[0])}"
        end = monotonic() + GIVE_UP
        is_repeated = False
        while True:
            try:
                response = session.request(
                    method, self.url + path, timeout=60, allow_redirects=False, **options
                )
            except requests.RequestException:
                self.ledger.unanswered(route)
                if not again or monotonic() > end:
                    raise
                sleep(0.5)
                is_repeated = True
                continue
            self.ledger.answered(route, response)
            if is_repeated:
                self.repeated.add(response)
            is_running = response.status_code == 409 and "Idempotency-Key" in options.get("headers", {})
            if not again or (response.status_code not in (429, 503) and not is_running):
                return response
            if monotonic() > end:
                raise GivenUp(
                    f"{route} was answered {response.status_code} for {GIVE_UP:.0f} s: {response.text[:200]}"
                )
            is_repeated = True
            sleep(5.0 if is_running else float(response.headers.get("Retry-After", 1)))
