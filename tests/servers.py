"""Servers in threads of the test's process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from waitress.wasyncore import close_all


@contextmanager
def serving(server: Any) -> Iterator[Any]:
    """A server that waitress's `create_server` made, while it serves."""
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.task_dispatcher.shutdown()
        pulled = (
            threading.Event()
        )  # an earlier wake-up may run it, and would close what is still being pulled
        server.trigger.pull_trigger(lambda: pulled.wait(10) and close_all(server._map))  # noqa: SLF001 - all that it waits for
        pulled.set()
        thread.join(10)
