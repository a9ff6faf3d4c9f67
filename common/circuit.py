"""A circuit breaker for a server: after a failure, a process doesn't ask it for a while."""

import threading
from collections.abc import Callable
from time import monotonic


class Circuit:
    """The circuit breaker of one server. Each process has its own.

    `pause` is in seconds. `not_asked` makes the error of those who come during the pause.
    """

    def __init__(self, pause: float, not_asked: Callable[[], Exception]) -> None:
        self._pause, self._not_asked = pause, not_asked
        self._lock = threading.Lock()
        self._open_until: float | None = None

    def enter(self) -> None:
        """Raise during the pause. The first caller after it may try the server."""
        if self._open_until is None:
            return
        with self._lock:
            if self._open_until is not None and monotonic() < self._open_until:
                raise self._not_asked()
            self._open_until = monotonic() + self._pause

    def failed(self) -> None:
        self._open_until = monotonic() + self._pause

    def answered(self) -> None:
        self._open_until = None
