"""Events at a steady pace: `python -m benchmarks.publishers` commits each in a transaction of its own.

By default they go the product's way, through `publish`. Written plainly they are the same rows in one statement, for
paces at which publishing would take the processors from what is measured.

Times are `time.monotonic`, one clock for all processes of the machine. An event's time is taken just before its
COMMIT, so that what is measured from it includes the commit.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from benchmarks.processes import Process, started

if TYPE_CHECKING:
    from webhooks.models import Webhook

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
    folder: Path,
    webhooks: "Sequence[Webhook]",
    *,
    rate: int,
    seconds: float,
    plainly: bool = False,
    post_to: str | None = None,
) -> Iterator[Publishers]:
    """Events for the webhooks in turn, `rate` a second.

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
                    "webhooks": [str(webhook.id) for webhook in webhooks],
                    "plainly": plainly,
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
    from benchmarks.events import insert, publish, warm_up
    from webhooks.models import Webhook

    job = json.loads(sys.stdin.readline())
    known = Webhook.objects.select_related("installation__app", "installation__business").in_bulk()
    webhooks = [known[UUID(each)] for each in job["webhooks"]]
    send = _sender(job["post_to"])
    write = insert if job["plainly"] else publish
    warm_up()
    print(json.dumps("ready"), flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    committed = []
    for number, due in enumerate(job["times"]):
        time.sleep(max(0.0, began + due - time.monotonic()))
        if time.monotonic() - began > job["give_up"]:
            break
        event_id, at = write(webhooks[(job["first"] + number * PROCESSES) % len(webhooks)])
        send(event_id)
        committed.append((event_id, at))
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
