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
        server.trigger.pull_trigger(lambda: close_all(server._map))  # noqa: SLF001 - wakes it up, and is all that it waits for
        thread.join(10)
