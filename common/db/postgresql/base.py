"""The database backend `common.db.postgresql`."""

import select
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base
from psycopg.errors import ConnectionTimeout
from psycopg.types.datetime import TimestamptzLoader

from common.processes.circuit import Circuit
from common.web.visits import current

READ_ONLY: Final = ("in_hot_standby", "default_transaction_read_only")
# A page's statements read few rows, and to start workers for them takes longer than to read.
IN_REQUESTS: Final = "-c lock_timeout=1s -c statement_timeout=5s -c max_parallel_workers_per_gather=0"
PAUSE: Final = 2.0  # seconds without a try to connect, after one that was not answered


class ImpatientConnection(psycopg.Connection[Any]):
    """A session that ends with an `OperationalError` when the server doesn't answer a statement in time.

    A server that is stopped still acknowledges what it is sent, so its silence can't be seen in the network.
    """

    def wait(self, *args: Any, **options: Any) -> Any:
        try:
            return super().wait(*args, **{"timeout": DatabaseWrapper.answers_within} | options)
        except psycopg.errors._WaitTimeout as late:  # noqa: SLF001  has no other name
            self.close()
            raise psycopg.OperationalError("The database didn't answer in time.") from late


class UtcTimes(TimestamptzLoader):
    """Reads a time in a tenth of what Django's own takes, which has psycopg split it up in Python. A list has hundreds."""

    timezone = UTC  # by which Django sees that the session's needs no other

    def load(self, data: Any) -> datetime:
        try:
            return datetime.fromisoformat(str(data, "ascii"))
        except ValueError:  # beyond the years of Python
            return super().load(data)


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks whether a kept session is alive (`CONN_HEALTH_CHECKS`) only where there is a sign that it is not.

    A server that ends a session says so on the connection, or its system closes it. While nothing has come on
    an idle connection, a `SELECT 1` before each request's first statement would learn nothing.
    """

    answers_within: ClassVar[float | None] = (
        None  # seconds, in processes where people wait; set before the first session
    )

    connection: Any
    health_check_enabled: bool
    health_check_done: bool

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Where people wait, only one of a process's threads waits for a server that doesn't answer.

        Sessions of requests wait a second for a lock and five for a statement. A pooler sees to that for its own.
        """
        if current() is not None and settings.DATABASE_POOLER != "transaction":
            conn_params = conn_params | {"options": f"{IN_REQUESTS} {conn_params.get('options', '')}"}
        if not self.answers_within:
            session = super().get_new_connection(conn_params)
        else:
            with self._circuit().asking(ConnectionTimeout):
                session = super().get_new_connection(conn_params)
            session.__class__ = ImpatientConnection
        session.adapters.register_loader("timestamptz", UtcTimes)
        return session

    def _circuit(self) -> Circuit:
        return CIRCUITS.setdefault(self.alias, Circuit(PAUSE, _not_asked))

    def close_if_health_check_failed(self) -> None:
        if self.health_check_enabled and not self.health_check_done and self._is_silent():
            self.health_check_done = True
        super().close_if_health_check_failed()

    def close_if_unusable_or_obsolete(self) -> None:
        """Before and after each request and task: also close a session that can only read.

        In a failover, the address may have led to a standby when the session began, and lead to the primary by now.
        """
        if self._reads_only():
            self.close()
        super().close_if_unusable_or_obsolete()

    def _reads_only(self) -> bool:
        """By what servers report by themselves, from PostgreSQL 14 on."""
        if self.connection is None or self.connection.closed:
            return False
        reported = map(self.connection.info.parameter_status, READ_ONLY)
        return "on" in reported

    def _is_silent(self) -> bool:
        """Whether the connection is open and there is nothing to read on it."""
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN | select.POLLPRI)
        return not poll.poll(0)


CIRCUITS: Final[dict[str, Circuit]] = {}  # by the alias of the database


def _not_asked() -> psycopg.OperationalError:
    return psycopg.OperationalError("The database server did not answer a moment ago.")
