"""The baseline of deliveries: `python -m benchmarks.loop`, what a good plain implementation would do.

32 threads over one `requests.Session` whose pool is as large, nothing from the environment, the same headers and
bodies, signed the same. No database: whatever ours does besides sending is to its own cost.
"""

import itertools
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import requests
from requests.adapters import HTTPAdapter

from benchmarks.processes import started
from benchmarks.targets import Target
from webhooks.messages.message import signature_headers

PROCESSES = 2
THREADS = 32


@dataclass(frozen=True, slots=True)
class Looped:
    """A run of the loop. `cpu` is in seconds, of all processes."""

    sent: int
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        return self.sent / self.seconds


def looped(folder: Path, targets: Sequence[Target], count: int) -> Looped:
    """Send `count` requests to the targets in turn, by all processes together."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(started(folder, f"loop-{number}", "-m", "benchmarks.loop"))
            for number in range(PROCESSES)
        ]
        for process in processes:
            process.tell({"targets": [target.plain() for target in targets], "count": count // PROCESSES})
        for process in processes:
            process.hear()
        began = time.monotonic()
        for process in processes:
            process.tell("go")
        told = [process.hear() for process in processes]
    return Looped(
        sent=count // PROCESSES * PROCESSES,
        seconds=max(each["ended"] for each in told) - began,
        cpu=sum(each["cpu"] for each in told),
    )


def _main() -> None:
    job = json.loads(sys.stdin.readline())
    targets = [Target(**each) for each in job["targets"]]
    session = _session()
    _in_threads(session, targets, [str(uuid4()) for _ in range(THREADS * 4)])  # opens the connections
    ids = [str(uuid4()) for _ in range(job["count"])]
    print(json.dumps("ready"), flush=True)
    sys.stdin.readline()
    cpu = time.process_time()
    _in_threads(session, targets, ids)
    print(json.dumps({"ended": time.monotonic(), "cpu": time.process_time() - cpu}), flush=True)


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=THREADS))
    return session


def _in_threads(session: requests.Session, targets: Sequence[Target], ids: Sequence[str]) -> None:
    work = zip(itertools.cycle(targets), ids, strict=False)
    lock = threading.Lock()
    failures: list[Any] = []

    def take() -> Iterator[tuple[Target, str]]:
        while True:
            with lock:
                item = next(work, None)
            if item is None:
                return
            yield item

    def send() -> None:
        try:
            for target, delivery_id in take():
                _post(session, target, delivery_id)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=send) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _post(session: requests.Session, target: Target, delivery_id: str) -> None:
    body = target.body.encode()
    headers = {
        **target.headers,
        "X-Service-Event-Id": delivery_id,
        **signature_headers(target.secret, delivery_id, int(time.time()), body),
    }
    answer = session.post(target.url, headers=headers, data=body, timeout=10, allow_redirects=False)
    if answer.status_code != 200:
        raise RuntimeError(f"The sink answered {answer.status_code}.")


if __name__ == "__main__":
    _main()
