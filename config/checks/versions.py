"""Whether Python and the servers that a process connects to are of versions that the platform supports."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import redis
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import InterfaceError, NotSupportedError, OperationalError, connections
from kombu.exceptions import KombuError

from common.processes import redis_client
from common.supported import Numbers, numbers, why_too_new, why_too_old
from config.celery import app as celery_app

HINT = "docs/operations-install.md has the table of supported versions."


@register(Tags.database)
def supported_versions(
    app_configs: Sequence[Any] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Servers are asked with `databases` only: when the platform starts, migrates, or `check --database default` runs."""
    found = [("Python", tuple(sys.version_info[:3]))]
    for alias in databases or ():
        found += [*_postgresql(alias)]
    if databases:
        found += [*_redis(), *_rabbitmq()]
    return [message for name, version in found for message in _judged(name, version)]


def _judged(name: str, version: Numbers) -> Iterator[CheckMessage]:
    if problem := why_too_old(name, version):
        yield Error(problem, hint=HINT, id="config.E010")
    if problem := why_too_new(name, version):
        yield Warning(problem, hint=HINT, id="config.W013")


# A server that is away may come back, so it is no reason to refuse a start. `/readyz` names it.


def _postgresql(alias: str) -> Iterator[tuple[str, Numbers]]:
    connection = connections[alias]
    if connection.vendor != "postgresql":
        return
    is_ours = connection.connection is None
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            yield "PostgreSQL", numbers(cursor.fetchone()[0])
    except NotSupportedError as older:  # than Django allows
        yield "PostgreSQL", numbers(str(older).rpartition("found ")[2].strip(")."))
    except (OperationalError, InterfaceError):
        pass
    finally:
        if is_ours:
            connection.close()


def _redis() -> Iterator[tuple[str, Numbers]]:
    urls = {settings.REDIS_URL, settings.CELERY_BROKER_URL}
    for url in filter(None, urls):
        if url != settings.REDIS_URL and not url.startswith(("redis:", "rediss:")):
            continue
        with suppress(redis.RedisError):  # away, or a user who may not ask
            about = redis_client.client(url).info("server")
            # Valkey also names the Redis that it is like.
            name = "Valkey" if "valkey_version" in about else "Redis"
            yield name, numbers(about[f"{name.lower()}_version"])


def _rabbitmq() -> Iterator[tuple[str, Numbers]]:
    if not settings.CELERY_BROKER_URL.startswith(("amqp:", "amqps:")):
        return
    with suppress(OSError, KombuError), celery_app.connection_for_write(settings.CELERY_BROKER_URL) as broker:
        broker.ensure_connection(max_retries=1, timeout=2)
        yield "RabbitMQ", numbers(broker.connection.server_properties["version"])
