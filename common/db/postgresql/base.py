"""The database backend `common.db.postgresql`."""

import select
from typing import Any

from django.db.backends.postgresql import base


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

    def _is_silent(self) -> bool:
        """Whether the connection is open and there is nothing to read on it."""
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN | select.POLLPRI)
        return not poll.poll(0)
