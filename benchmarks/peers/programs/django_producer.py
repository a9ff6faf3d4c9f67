"""How the peers that are Django apps are set up and handed jobs."""

import json
import sys
import time
from collections.abc import Callable

import django
from django.core.management import call_command
from django.db import connection, transaction

from benchmarks.peers.programs import django_celery  # noqa: F401 - the app that the library's tasks are of
from benchmarks.peers.programs.jobs import ENDPOINTS, EVENT, Job, produce

Body = dict[str, object]

django.setup()


def main(subscribe: Callable[[int, str, str], None], deliver: Callable[[Job], None]) -> None:
    """`subscribe` stores an endpoint (number from 0, URL, secret), and `deliver` queues a job."""

    def add(jobs: list[Job]) -> None:
        for job in jobs:
            deliver(job)

    def publish(job: Job) -> float:
        with transaction.atomic():
            connection.cursor().execute(EVENT, (job["id"], job["body"]))
            # The library's own way out of a transaction.
            transaction.on_commit(lambda: deliver(job))
            return time.monotonic()

    if sys.argv[1] == "setup":
        call_command("migrate", verbosity=0)
        for number, endpoint in enumerate(ENDPOINTS):
            subscribe(number, endpoint["url"], endpoint["secret"])
    else:
        produce(add, publish)


def body_of(job: Job) -> Body:
    """The body with the job's id in it, since these libraries send no header of ours."""
    return {**json.loads(job["body"]), "serviceEventId": job["id"]}
