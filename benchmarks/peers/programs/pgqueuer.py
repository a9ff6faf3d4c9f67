"""PgQueuer: jobs in PostgreSQL, queued in the transaction of the event.

As its guide on performance says: `pgq autovac`, one connection for the manager, a larger batch for short jobs. It does as many jobs at
once as it gets.
"""

import asyncio
import json
import sys
import time

import aiohttp
import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job as QueuedJob
from pgqueuer.queries import Queries

from benchmarks.peers.programs.jobs import DATABASE, TIMEOUT, Job, produce, request

EVENT = "INSERT INTO events (id, data) VALUES ($1, $2)"
RESULT = "INSERT INTO results (id, status) VALUES ($1, $2) ON CONFLICT DO NOTHING"


async def _work() -> None:
    queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(DATABASE)))
    results = await asyncpg.create_pool(DATABASE, min_size=1, max_size=10)
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=TIMEOUT)
    )

    @queue.entrypoint("send")
    async def send(queued: QueuedJob) -> None:
        assert queued.payload
        job = json.loads(queued.payload)
        url, headers, body = request(job)
        try:
            async with session.post(url, data=body, headers=headers) as answer:
                await answer.read()
                status = answer.status
        except (aiohttp.ClientError, TimeoutError):
            status = 0
        await results.execute(RESULT, job["id"], status)

    # Not by `pgq run`, which fails at its start with the version of typer that pip chooses.
    await queue.run(batch_size=100)


async def _setup() -> None:
    queries = Queries(AsyncpgDriver(await asyncpg.connect(DATABASE)))
    await queries.install()
    await queries.optimize_autovacuum()


def _produce() -> None:
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(DATABASE))
        queries = Queries(AsyncpgDriver(connection))

        async def add(jobs: list[Job]) -> None:
            payloads = [json.dumps(job).encode() for job in jobs]
            await queries.enqueue(["send"] * len(jobs), payloads, [0] * len(jobs))

        async def publish(job: Job) -> float:
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute(EVENT, job["id"], job["body"])
            await queries.enqueue("send", json.dumps(job).encode())
            at = time.monotonic()
            await transaction.commit()
            return at

        produce(lambda jobs: runner.run(add(jobs)), lambda job: runner.run(publish(job)))


if __name__ == "__main__":
    match sys.argv[1]:
        case "setup":
            asyncio.run(_setup())
        case "work":
            asyncio.run(_work())
        case "produce":
            _produce()
