"""What `check --deploy --database default` finds out from the servers that the settings name. Part of it is also found at each
start: sessions of others that nothing ends, and clocks that differ.

A server that can't be reached is a warning of its own, and nothing else is said about it.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

import redis
from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, DatabaseError, Error, connection

from common.processes import redis_client, sentinel
from config.env.reading import env
from webhooks.engine.clocks import TOLERATED, database_ahead

OTHERS: Final = 2  # sessions of a machine: the scheduler's, and one for a command
LONG: Final = 'docs/operations-run.md, "Long transactions"'


@register(Tags.database, deploy=True)
def servers(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    return [*_database(), *_broker()]


@register(Tags.database)
def gone(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """A setting of an earlier release that nothing reads any more."""
    if not env.str("DATABASE_REPLICA_URL", default=""):
        return []
    message = "DATABASE_REPLICA_URL is gone: reports are read from DATABASE_URL, which keeps up with them."
    return [Warning(message, hint="Remove it, and the replica if it served nothing else.", id="config.W016")]


@register(Tags.database)
def at_start(
    app_configs: Sequence[Any] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Whether the database ends transactions that others leave open: beside them, claims of deliveries get slow. And whether
    its clock is this machine's.
    """
    if DEFAULT_DB_ALIAS not in (databases or ()) or connection.vendor != "postgresql":
        return []
    usual = connection.copy()  # has none of the limits that our own sessions set for themselves
    usual.settings_dict["OPTIONS"].pop("options", None)
    try:
        with usual.cursor() as cursor:
            cursor.execute(_USUAL_IDLE_LIMIT)
            (limit,) = cursor.fetchone()
            cursor.execute(_ROLES_WITHOUT_LIMIT)
            roles = ", ".join(name for (name,) in cursor.fetchall())
        ahead = database_ahead()
    except DatabaseError:  # it may come back, so it is no reason for a warning at the start
        return []
    finally:
        usual.close()
    return [*_idle(limit), *_long(roles), *_clock(ahead)]


# Of a session that sets nothing itself. NULL if only the limit of our own role is known.
_USUAL_IDLE_LIMIT: Final = """
SELECT COALESCE(
    (
        SELECT split_part(entry, '=', 2) FROM pg_db_role_setting, unnest(setconfig) AS entry
        WHERE setrole = 0 AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND entry LIKE 'idle_in_transaction_session_timeout=%'
    ), (
        SELECT setting FROM pg_settings
        WHERE name = 'idle_in_transaction_session_timeout' AND source NOT IN ('user', 'database user')
    )
)
"""
# Which of them can read deliveries. Superusers are left out: providers have some of their own.
_ROLES_WITHOUT_LIMIT: Final = """
SELECT rolname FROM pg_roles
WHERE rolcanlogin AND NOT rolsuper AND rolname <> current_user
    AND has_table_privilege(oid, to_regclass('webhooks_delivery'), 'SELECT')
    AND NOT EXISTS (
        SELECT FROM pg_db_role_setting, unnest(setconfig) AS entry
        WHERE setrole IN (0, pg_roles.oid) AND entry ~ '^(statement|transaction)_timeout=[1-9]'
            AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    )
ORDER BY rolname
"""


def _idle(limit: str | None) -> Iterator[CheckMessage]:
    if limit and limit.startswith("0"):
        name = connection.settings_dict["NAME"]
        yield Warning(
            "PostgreSQL doesn't end transactions that somebody leaves open, such as in a forgotten console. The longer one lasts, "
            "the later deliveries are sent.",
            hint=f"ALTER DATABASE {name} SET idle_in_transaction_session_timeout = '60s'. See {LONG}.",
            id="config.W014",
        )


def _long(roles: str) -> Iterator[CheckMessage]:
    if roles:
        yield Warning(
            f"PostgreSQL doesn't end long statements of roles that can read deliveries: {roles}. The longer one takes, the later "
            "deliveries are sent.",
            hint=f"For each, ALTER ROLE … SET statement_timeout = '5min', or have it read a standby. See {LONG}.",
            id="config.W015",
        )


def _database() -> Iterator[CheckMessage]:
    if connection.vendor != "postgresql":
        return
    try:
        yield from (*_extension(), *_sessions())
    except Error as error:
        yield _unreachable("PostgreSQL", "DATABASE_URL", error)


def _extension() -> Iterator[CheckMessage]:
    if not _value("SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm'"):
        yield Warning(
            "The database lacks the extension pg_trgm: each search reads all products of its store.",
            hint="CREATE EXTENSION pg_trgm, as a user who may, and then migrate to make the indexes, if they are missing.",
            id="config.W008",
        )


def _sessions() -> Iterator[CheckMessage]:
    """For one machine that runs everything."""
    web = settings.WEB_PROCESSES * (settings.WEB_THREADS + 1)
    needed = web + settings.WORKER_THREADS + OTHERS
    allowed = _value(
        "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
    )
    if needed > allowed and settings.DATABASE_POOLER != "transaction":
        yield Warning(
            f"PostgreSQL allows {allowed} sessions, and one machine may need {needed}: {web} for {settings.WEB_PROCESSES} "
            f"web processes of {settings.WEB_THREADS} threads and the log of calls, {settings.WORKER_THREADS} for a worker.",
            hint="Raise max_connections to what all machines need together, lower WEB_PROCESSES or WEB_THREADS, or put "
            "PgBouncer in front of the web processes.",
            id="config.W009",
        )


def _clock(ahead: timedelta) -> Iterator[CheckMessage]:
    if abs(ahead) > TOLERATED:
        yield Warning(
            f"The clocks of this machine and of the database differ by {abs(ahead.total_seconds()):.1f} s. Apps reject "
            "signatures that are 5 minutes off, and a worker whose clock is a minute ahead does none of the periodic tasks.",
            hint="Synchronize both, for instance with chrony.",
            id="config.W010",
        )


def _broker() -> Iterator[CheckMessage]:
    url = settings.CELERY_BROKER_URL
    if url.startswith("sentinel") and sentinel.is_sentinel(settings.REDIS_URL):
        url = settings.REDIS_URL  # in the form that has the name of the master
    elif not url.startswith(("redis:", "rediss:")):
        return
    try:
        policy = redis_client.client(url).info("memory")["maxmemory_policy"]
    except redis.RedisError as error:
        yield _unreachable("The broker", "CELERY_BROKER_URL or REDIS_URL", error)
        return
    if policy.startswith("allkeys"):
        yield Warning(
            f"Redis may remove waiting tasks when its memory is full: its maxmemory-policy is {policy}.",
            hint="Set maxmemory-policy to volatile-lru, which removes what has an end anyway, or to noeviction.",
            id="config.W011",
        )


def _unreachable(server: str, setting: str, error: Exception) -> CheckMessage:
    return Warning(
        f"{server} can't be asked: {str(error).strip()}",
        hint=f"Start it, or correct {setting}.",
        id="config.W012",
    )


def _value(query: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])
