"""Events at a steady pace: `python -m benchmarks.publishers` publishes each in a transaction of its own.

Times are `time.monotonic`, one clock for all processes of the machine. An event's time is taken just before its
COMMIT, so that what is measured from it includes the commit.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.processes import Process, started

PROCESSES = 2  # one could hardly publish 400 a second
OVERTIME = 1.2  # of the time asked for; a machine too slow for the pace publishes fewer events


class Publishers:
    """Ready to publish; `go` starts them, `committed` waits for their end."""

    def __init__(self, processes: Sequence[Process]) -> None:
        self._processes = processes

    def go(self) -> None:
        for process in self._processes:
            process.tell("go")

    def committed(self) -> dict[str, float]:
        """The time of each event, by its id."""
        return {event_id: at for process in self._processes for event_id, at in process.hear()}


@contextmanager
def publishing(
    folder: Path, businesses: Sequence[str], *, rate: int, seconds: float, post_to: str | None = None
) -> Iterator[Publishers]:
    """Publish for the businesses in turn, `rate` events a second.

    With `post_to` each event is also sent to that URL at once, by the process that committed it.
    """
    with ExitStack() as stack:
        processes = [
            stack.enter_context(started(folder, f"publisher-{number}", "-m", "benchmarks.publishers"))
            for number in range(PROCESSES)
        ]
        for number, process in enumerate(processes):
            process.tell(
                {
                    "businesses": businesses,
                    "times": [n / rate for n in range(number, int(rate * seconds), PROCESSES)],
                    "give_up": seconds * OVERTIME,
                    "first": number,
                    "post_to": post_to,
                }
            )
        for process in processes:
            process.hear()
        yield Publishers(processes)


def _main() -> None:
    import django

    django.setup()
    from django.db import transaction

    from accounts.models import Business
    from benchmarks import shops
    from webhooks.services.publishing import publish

    job = json.loads(sys.stdin.readline())
    known = Business.objects.in_bulk(job["businesses"])
    businesses = [known[key] for key in map(type(next(iter(known))), job["businesses"])]
    send = _sender(job["post_to"])
    publish(business=Business(), event_type=shops.EVENT_TYPE, data=shops.DATA)  # nobody listens: warms us up
    print(json.dumps("ready"), flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    committed = []
    for number, due in enumerate(job["times"]):
        business = businesses[(job["first"] + number * PROCESSES) % len(businesses)]
        time.sleep(max(0.0, began + due - time.monotonic()))
        if time.monotonic() - began > job["give_up"]:
            break
        with transaction.atomic():
            event = publish(business=business, event_type=shops.EVENT_TYPE, data=shops.DATA)
            assert event
            at = time.monotonic()
        send(str(event.id))
        committed.append((str(event.id), at))
    print(json.dumps(committed), flush=True)


def _sender(url: str | None) -> Any:
    """Sends an event id to the sink as plainly as can be."""
    if url is None:
        return lambda event_id: None
    import requests

    session = requests.Session()
    session.trust_env = False
    session.post(url, data=b"{}")
    return lambda event_id: session.post(url, data=b"{}", headers={"X-Service-Event-Id": event_id})


if __name__ == "__main__":
    _main()
