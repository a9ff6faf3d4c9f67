"""A circuit breaker for a server: while it is silent, a process doesn't ask it for a while."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic


class Circuit:
    """The circuit breaker of one server. Each process has its own.

    `pause` is in seconds. `not_asked` makes the error of those who come during the pause.
    """

    def __init__(self, pause: float, not_asked: Callable[[], Exception]) -> None:
        self._pause, self._not_asked = pause, not_asked
        self._lock = threading.Lock()
        self._open_until: float | None = None

    @contextmanager
    def asking(self, *silence: type[Exception]) -> Iterator[None]:
        """Ask the server. Raises during the pause; the first caller after it may try.

        An error of the types `silence` begins a pause. Any other says nothing against the server: it was an answer, or a fault
        on this side. So a trial that ends with one begins no pause.
        """
        self._enter()
        try:
            yield
        except silence:
            self._open_until = monotonic() + self._pause
            raise
        except BaseException:
            self.answered()
            raise
        self.answered()

    def answered(self) -> None:
        """Have everybody ask it again."""
        self._open_until = None

    def _enter(self) -> None:
        if self._open_until is None:
            return
        with self._lock:
            if self._open_until is not None and monotonic() < self._open_until:
                raise self._not_asked()
            self._open_until = monotonic() + self._pause
