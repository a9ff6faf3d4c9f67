"""System checks of a start: production settings, and whether Python and the servers that a process connects to are of versions that the platform
supports. A missing or weak secret stops it earlier, in the settings.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import redis
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import InterfaceError, NotSupportedError, OperationalError, connections
from django.utils import timezone
from kombu.exceptions import KombuError

from common.http.sites import is_same_site
from common.processes import redis_client
from common.supported import Numbers, numbers, why_too_new, why_too_old
from config.celery import app as celery_app
from config.env.reading import Environment, misspelled


@register(Tags.security)
def production_settings(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Problems of a start without `DEBUG`, each with a hint that says what to set."""
    if settings.DEBUG:
        return []
    return [*_addresses(), *_servers(), *_security_txt()]


@register(Tags.compatibility)
def variables(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Names that are probably spelled wrong: such a setting has no effect, and no page or log says so."""
    wrong = misspelled(os.environ, Environment.asked)
    return [
        Warning(f"No setting is named {name}.", hint=f"Is {meant} meant?", id="config.W017")
        for name, meant in wrong.items()
    ]


def _addresses() -> Iterator[CheckMessage]:
    if not settings.BASE_URL.startswith("https://"):
        yield Warning(
            "BASE_URL is not HTTPS: tokens and sign-ins would travel in the clear.",
            hint="Set BASE_URL to the site's https:// address.",
            id="config.W001",
        )
    if is_same_site(settings.BASE_URL, settings.STORES_URL.replace("{slug}.", "slug.")):
        yield Warning(
            "The stores are under the same domain as the platform: to browsers they are one site, so requests that "
            "scripts in stores send to the platform carry its cookies.",
            hint="Set STORES_URL to a host of another registered domain.",
            id="config.W004",
        )
    if "{slug}." in settings.STORES_URL and not settings.STORES_DOMAIN_IS_PUBLIC_SUFFIX:
        yield Warning(
            "The domain of the stores is not on the Public Suffix List: a script in one store can set cookies for all of them, "
            "with which no other store opens for that visitor.",
            hint="Have it added, as docs/operations-install.md describes, and then set STORES_DOMAIN_IS_PUBLIC_SUFFIX=on.",
            id="config.W007",
        )


def _servers() -> Iterator[CheckMessage]:
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        yield Warning(
            "The database is the embedded SQLite file, which serves one process.",
            hint="Set DATABASE_URL to a PostgreSQL database.",
            id="config.W002",
        )
    if not settings.REDIS_URL:
        yield Warning(
            "Rate limits are counted per process, since there is no shared cache.",
            hint="Set REDIS_URL to a Redis server.",
            id="config.W003",
        )


def _security_txt() -> Iterator[CheckMessage]:
    if not settings.SECURITY_TXT:
        yield Warning(
            "There is no /.well-known/security.txt, so people who find a vulnerability don't know where to report it.",
            hint="Set SECURITY_CONTACT, for example to mailto:security@example.com.",
            id="config.W005",
        )
    elif settings.SECURITY_TXT.partition("Expires: ")[2] < timezone.now().isoformat():
        yield Warning(
            "/.well-known/security.txt has expired.",
            hint="Check SECURITY_CONTACT, and set SECURITY_EXPIRES to a date within a year.",
            id="config.W006",
        )


# --- Versions ----------------------------------------------------------------------------------------

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
