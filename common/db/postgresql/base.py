"""The database backend `common.db.postgresql`."""

import select
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base

READ_ONLY: Final = ("in_hot_standby", "default_transaction_read_only")


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks whether a kept session is alive (`CONN_HEALTH_CHECKS`) only where there is a sign that it is not.

    A server that ends a session says so on the connection, or its system closes it. While nothing has come on
    an idle connection, a `SELECT 1` before each request's first statement would learn nothing.
    """

    connection: Any
    health_check_enabled: bool
    health_check_done: bool

    def close_if_health_check_failed(self) -> None:
        if self.health_check_enabled and not self.health_check_done and self._is_silent():
            self.health_check_done = True
        super().close_if_health_check_failed()

    def close_if_unusable_or_obsolete(self) -> None:
        """Before and after each request and task: also close a session that can only read.

        In a failover, the address may have led to a standby when the session began, and lead to the primary by now. Sessions
        of the replica are kept.
        """
        if self.alias == DEFAULT_DB_ALIAS and self._reads_only():
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
