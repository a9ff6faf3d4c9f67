"""A plain Celery task for each delivery, on Redis.

As Celery's guide says: gevent and `-c 1000` for HTTP requests, late acknowledgment for what may be done twice, no results in a backend.
Each of the 1,000 may acknowledge at the same moment, and Kombu's 10 connections to Redis would be too few.
"""

import functools
import sys
import time

import psycopg
import requests
from celery import Celery
from psycopg_pool import ConnectionPool
from requests.adapters import HTTPAdapter

from benchmarks.peers.programs.jobs import (
    DATABASE,
    EVENT,
    PREFIX,
    REDIS,
    RESULT,
    TIMEOUT,
    Job,
    produce,
    request,
)

app = Celery("peer", broker=REDIS)
app.conf.update(
    broker_transport_options={"global_keyprefix": PREFIX, "max_connections": 1000},
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_hijack_root_logger=False,
)


@app.task(name="send")
def send(job: Job) -> None:
    url, headers, body = request(job)
    try:
        status = _session().post(url, data=body, headers=headers, timeout=TIMEOUT).status_code
    except requests.RequestException:
        status = 0
    with _pool().connection() as connection:
        connection.execute(RESULT, (job["id"], status))


@functools.cache
def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", HTTPAdapter(pool_connections=100, pool_maxsize=1000))
    return session


@functools.cache
def _pool() -> ConnectionPool:
    return ConnectionPool(DATABASE, min_size=1, max_size=10, kwargs={"autocommit": True}, open=True)


def _produce() -> None:
    with psycopg.connect(DATABASE) as connection, app.producer_or_acquire() as producer:

        def add(jobs: list[Job]) -> None:
            for job in jobs:
                send.apply_async((job,), producer=producer)

        def publish(job: Job) -> float:
            connection.execute(EVENT, (job["id"], job["body"]))
            at = time.monotonic()
            connection.commit()
            send.apply_async((job,), producer=producer)
            return at

        produce(add, publish)


if __name__ == "__main__" and sys.argv[1] == "produce":
    _produce()
