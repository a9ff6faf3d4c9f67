"""Reads reports from a replica of the database (`DATABASE_REPLICA_URL`), to keep them away from the one that everything waits for.

A function whose figures may be some seconds old has the decorator `may_lag`, by its name and nowhere else. Everything else
reads what was written a moment ago, and so asks the database itself. Without a replica nothing changes.
"""

import logging
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from time import monotonic
from typing import Any, Final, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, Error, connections, models
from django.http import HttpRequest

log = logging.getLogger(__name__)

REPLICA: Final = "replica"
LOOK_EVERY: Final = 5.0  # seconds
# A dispatcher's heartbeat writes every second, so a replica without news for longer doesn't follow any more.
LONGEST_LAG: Final = 60.0  # seconds

P = ParamSpec("P")
R = TypeVar("R")

_wanted: ContextVar[bool] = ContextVar("replica", default=False)


class Router:
    """Sends the reads of `may_lag` functions to the replica, and nothing else."""

    def db_for_read(self, model: type[models.Model], **hints: Any) -> str | None:
        return REPLICA if _wanted.get() else None

    def db_for_write(self, model: type[models.Model], **hints: Any) -> str | None:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: models.Model, second: models.Model, **hints: Any) -> bool:
        """They are the same rows, whichever database they were read from."""
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS


def may_lag(report: Callable[P, R]) -> Callable[P, R]:
    """Let this function read from the replica, if there is one that follows. It must only read.

    If the replica fails meanwhile, the function runs again on the database itself.
    """

    @wraps(report)
    def reported(*args: P.args, **kwargs: P.kwargs) -> R:
        if _wanted.get() or not follows.now():
            return report(*args, **kwargs)
        token = _wanted.set(True)
        try:
            return report(*args, **kwargs)
        except Error as error:
            follows.fail(error)
        finally:
            _wanted.reset(token)
        return report(*args, **kwargs)

    return reported


class LaggingList:
    """For a `ModelAdmin` whose list may be some seconds old. A single object is read from the database itself."""

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        rows: models.QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("_changelist")
        return rows.using(REPLICA) if is_list and request.method == "GET" and follows.now() else rows


class _Follows:
    """Whether the replica follows the database. Looks every few seconds, so that one that is down doesn't cost each page a wait."""

    def __init__(self) -> None:
        self._look_at, self._follows = 0.0, False

    def now(self) -> bool:
        if REPLICA not in connections.settings:
            return False
        if monotonic() >= self._look_at:
            self._look_at = monotonic() + LOOK_EVERY
            before, self._follows = self._follows, _is_close()
            if before and not self._follows:
                log.warning("The replica of the database doesn't follow. Reports read the database itself.")
        return self._follows

    def fail(self, error: Error) -> None:
        """Don't use it until the next look."""
        log.warning("The replica of the database failed. Reports read the database itself: %s", error)
        connections[REPLICA].close()
        self._look_at, self._follows = monotonic() + LOOK_EVERY, False

    def forget(self) -> None:
        """Look again at the next use."""
        self._look_at = 0.0


follows = _Follows()


def _is_close() -> bool:
    """Whether the replica has heard of a change within the last minute."""
    connection = connections[REPLICA]
    if connection.vendor != "postgresql":
        return True
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT NOT pg_is_in_recovery()"
                " OR COALESCE(clock_timestamp() - pg_last_xact_replay_timestamp() < make_interval(secs => %s), false)",
                [LONGEST_LAG],
            )
            return bool(cursor.fetchone()[0])
    except Error as error:
        log.info("The replica of the database can't be reached: %s", error)
        connection.close()
        return False
