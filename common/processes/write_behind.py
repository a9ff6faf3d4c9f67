"""Writing rows behind requests: they leave them in memory, and a thread of the process writes them in batches.

The thread starts at the first call of `start`, so that a server may fork before, and sleeps while there is nothing to write. A stop
of the process writes the rest; a kill loses the rows of the last half second, or of `every`.
"""

import threading
from abc import ABC, abstractmethod
from typing import ClassVar, Final

from django.db import close_old_connections, connections

EVERY: Final = 0.5  # seconds
RETRY: Final = 2.0  # seconds after the database refused a batch
STOP_TIMEOUT: Final = 5.0  # seconds


class WriteBehind(ABC):
    """The thread of a process that writes one kind of rows."""

    name: ClassVar[str]
    every: ClassVar[float] = EVERY
    keeps_session: ClassVar[bool] = True  # of the database, between batches

    def __init__(self) -> None:
        self.refused = False  # whether the database refused the last batch
        self._writing = threading.Lock()
        self._stopping = threading.Event()
        self._has_come = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    @abstractmethod
    def has_work(self) -> bool: ...

    @property
    def looks_again(self) -> bool:
        """Whether there may be work without another `start`."""
        return self.refused and self.has_work

    @abstractmethod
    def write_batch(self) -> int:
        """Write the oldest batch. Returns its number of rows; sets `refused` if it has to be tried again later."""

    def start(self) -> None:
        """Say that there is work. Starts the thread, unless it runs."""
        if not self._has_come.is_set():
            self._has_come.set()
        if self._thread is not None:
            return
        with self._writing:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
                self._thread.start()

    def flush(self) -> int:
        """Write all that waits, in the caller's database session. Returns the number of rows."""
        written = 0
        with self._writing:
            self.refused = False
            while self.has_work and not self.refused:
                written += self.write_batch()
        return written

    def stop(self) -> None:
        """At the end of the process: the thread ends, and what is left is written."""
        self._stopping.set()
        self._has_come.set()
        if self._thread is None:
            return
        self._thread.join(STOP_TIMEOUT)
        if not self._thread.is_alive():
            self.flush()
            connections.close_all()

    def _run(self) -> None:
        wait = self.every
        while True:
            self._has_come.wait()
            if self._stopping.wait(wait):
                break
            self._has_come.clear()  # before the look, so that later work sets it again
            wait = self.every
            if self.has_work:
                close_old_connections()
                self.flush()
                if not self.keeps_session:
                    connections.close_all()
            if self.looks_again:
                wait = RETRY if self.refused else self.every
                self._has_come.set()
        connections.close_all()
