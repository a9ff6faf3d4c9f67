"""What all peers in Python share: a job, its request, its result, and the conversation with the harness.

Free of Django and of whatever isn't in the environment of every peer.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from webhooks.messages.message import signature_headers

DATABASE: Final = os.environ["DATABASE_URL"]
REDIS: Final = os.environ["REDIS_URL"]
PREFIX: Final = os.environ["PEER_PREFIX"]  # of keys in Redis
# URL, secret, headers and body of each endpoint, read once: a peer has no webhooks to look up.
ENDPOINTS: Final[list[dict[str, Any]]] = json.loads(Path(os.environ["PEER_ENDPOINTS"]).read_text())

TIMEOUT: Final = 10  # seconds, as the product's
EVENT: Final = "INSERT INTO events (id, data) VALUES (%s, %s)"
RESULT: Final = "INSERT INTO results (id, status) VALUES (%s, %s) ON CONFLICT DO NOTHING"

Job = dict[str, Any]  # "id", "endpoint" (its number), "body"


def request(job: Job) -> tuple[str, dict[str, str], bytes]:
    """URL, signed headers and body."""
    endpoint, body = ENDPOINTS[job["endpoint"]], job["body"].encode()
    headers = {
        **endpoint["headers"],
        "X-Service-Event-Id": job["id"],
        **signature_headers(endpoint["secret"], job["id"], int(time.time()), body),
    }
    return endpoint["url"], headers, body


def produce(add: Callable[[list[Job]], None], publish: Callable[[Job], float]) -> None:
    """Do what the harness asks for.

    `add` queues many jobs as fast as it can. `publish` commits an event, with its job, in a transaction of its own, and returns the time
    (`time.monotonic`) just before the COMMIT.
    """
    _say("ready")
    for line in sys.stdin:
        asked = json.loads(line)
        if "add" in asked:
            jobs = [_job(number) for number in range(asked["add"])]
            add(jobs)
            _say([job["id"] for job in jobs])
        else:
            _say(_at_pace(asked["rate"], asked["seconds"], publish))


def _at_pace(rate: int, seconds: float, publish: Callable[[Job], float]) -> list[tuple[str, int, float]]:
    """Id, endpoint and time of each; no longer than a fifth over the time asked for."""
    began, published = time.monotonic(), []
    for number in range(int(rate * seconds)):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        if time.monotonic() - began > seconds * 1.2:
            break
        job = _job(number)
        published.append((job["id"], job["endpoint"], publish(job)))
    return published


def _job(number: int) -> Job:
    endpoint = number % len(ENDPOINTS)
    return {"id": str(uuid4()), "endpoint": endpoint, "body": ENDPOINTS[endpoint]["body"]}


def _say(message: Any) -> None:
    print(json.dumps(message), flush=True)
