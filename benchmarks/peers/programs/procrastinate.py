"""Procrastinate: jobs in PostgreSQL, queued in the transaction of the event.

As its guide says: an asynchronous task, LISTEN, and a periodic task that retries what a dead worker left, here each minute instead of
each ten.
"""

import asyncio
import functools
import sys
import time

import aiohttp
import psycopg
from procrastinate import App, JobContext, PsycopgConnector
from psycopg_pool import AsyncConnectionPool

from benchmarks.peers.programs.jobs import DATABASE, EVENT, RESULT, TIMEOUT, Job, produce, request

CONCURRENCY = 300

app = App(connector=PsycopgConnector(conninfo=DATABASE, min_size=4, max_size=20))
results = AsyncConnectionPool(DATABASE, min_size=1, max_size=10, kwargs={"autocommit": True}, open=False)


@app.task(name="send")
async def send(job: Job) -> None:
    url, headers, body = request(job)
    try:
        async with _session().post(url, data=body, headers=headers) as answer:
            await answer.read()
            status = answer.status
    except (aiohttp.ClientError, TimeoutError):
        status = 0
    async with results.connection() as connection:
        await connection.execute(RESULT, (job["id"], status))


@app.periodic(cron="* * * * *")
@app.task(queueing_lock="retry_stalled_jobs", pass_context=True)
async def retry_stalled_jobs(context: JobContext, timestamp: int) -> None:
    for job in await app.job_manager.get_stalled_jobs():
        await app.job_manager.retry_job(job)


@functools.cache
def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=TIMEOUT)
    )


async def _work() -> None:
    async with app.open_async(), results, _session():
        await app.run_worker_async(concurrency=CONCURRENCY)


def _produce() -> None:
    with app.open(), psycopg.connect(DATABASE) as connection:

        def add(jobs: list[Job]) -> None:
            send.batch_defer(*({"job": job} for job in jobs))

        def publish(job: Job) -> float:
            connection.execute(EVENT, (job["id"], job["body"]))
            send.configure(connection=connection).defer(job=job)
            at = time.monotonic()
            connection.commit()
            return at

        produce(add, publish)


if __name__ == "__main__":
    match sys.argv[1]:
        case "setup":
            with app.open():
                app.schema_manager.apply_schema()
        case "work":
            asyncio.run(_work())
        case "produce":
            _produce()
