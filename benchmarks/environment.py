"""Prepares a run: PostgreSQL, Redis, and a separate database that is dropped afterwards.

Enter `prepared` before Django is set up, because it writes the environment variables that the settings read.
"""

import base64
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import django
import psycopg
import redis
from psycopg.sql import SQL, Identifier

ROOT = Path(__file__).resolve().parent.parent
DEFAULTS = {
    "DATABASE_URL": "postgres://postgres@127.0.0.1:5432/extension_platform",
    "REDIS_URL": "redis://127.0.0.1:6379/15",
}


class Missing(Exception):
    """A service that the benchmarks need is missing. The message is for the person who started them."""


@contextmanager
def prepared() -> Iterator[Path]:
    """Set the environment and Django up on a fresh, migrated database. Gives a folder for the run's files."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-")))
        name = f"benchmark_{os.getpid()}"
        redis_url = _service("REDIS_URL")
        stack.enter_context(_keys(redis_url, name))
        database_url = stack.enter_context(database(name))
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "benchmarks.settings",
            "BENCHMARK_NAME": name,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "CELERY_BROKER_URL": redis_url,
            "DEBUG": "0",
            "ALLOW_LOCAL_DESTINATIONS": "0",  # `benchmarks.settings` allows them
            "STORES_URL": "http://{slug}.stores.localhost",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            "VAR_DIR": str(folder),
            "EMAIL_URL": "dummymail://",
            "LOG_LEVEL": "WARNING",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "sdk" / "python")]),
        }
        django.setup()
        _migrate()
        stack.callback(_disconnect)
        yield folder


@contextmanager
def database(name: str, template: str = "template1") -> Iterator[str]:
    """A new database beside the one that `DATABASE_URL` names, dropped in the end. Gives its URL.

    PostgreSQL copies no database that somebody is connected to, so sessions in another `template` are ended.
    """
    server = urlsplit(_service("DATABASE_URL"))
    if server.scheme not in ("postgres", "postgresql"):
        raise Missing("The benchmarks measure PostgreSQL: DATABASE_URL must be a postgres:// URL.")
    try:
        admin = psycopg.connect(
            server._replace(path="/postgres").geturl(), autocommit=True, connect_timeout=3
        )
    except psycopg.OperationalError as error:
        raise Missing(f"PostgreSQL can't be reached (DATABASE_URL): {error}") from error
    with admin:
        if template != "template1":
            ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
            admin.execute(ended, [template])
        admin.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template)))
        try:
            yield server._replace(path=f"/{name}").geturl()
        finally:
            admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@contextmanager
def _keys(url: str, prefix: str) -> Iterator[None]:
    """Removes what the run has left in Redis."""
    client = redis.Redis.from_url(url, socket_connect_timeout=3)
    try:
        client.ping()
    except redis.RedisError as error:
        raise Missing(f"Redis can't be reached (REDIS_URL): {error}") from error
    try:
        yield
    finally:
        for key in client.scan_iter(f"*{prefix}*", count=1000):
            client.delete(key)
        client.close()


def _service(variable: str) -> str:
    # Kept apart, since DATABASE_URL is overwritten with the run's own database.
    return os.environ.setdefault(f"BENCHMARK_{variable}", os.environ.get(variable) or DEFAULTS[variable])


def _migrate() -> None:
    from django.core.management import call_command

    print("Migrating a database of our own …", file=sys.stderr)
    call_command("migrate", verbosity=0)


def _disconnect() -> None:
    from django.db import connections

    connections.close_all()
