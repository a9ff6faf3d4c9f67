"""gunicorn's worker with threads, and a thread of its own for `/healthz`.

While a database or another server is silent, all threads may be waiting for it. A probe that waited with them would have
the machine replaced, which would not help.
"""

import selectors
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from gunicorn.workers.gthread import TConn, ThreadWorker

PROBES: Final = (b"GET /healthz ", b"HEAD /healthz ")
LOOKED_AT: Final = 4096  # bytes of a request
WITH_BODY: Final = (b"\r\ncontent-length:", b"\r\ntransfer-encoding:")


class Worker(ThreadWorker):
    def init_process(self) -> None:
        self._for_probes = ThreadPoolExecutor(max_workers=1, thread_name_prefix="probes")
        super().init_process()

    def enqueue_req(self, conn: TConn) -> None:
        """Hand a request to a thread. A connection on which nothing has come yet waits without one."""
        beginning = _beginning_of(conn)
        if beginning is None and not conn.initialized:
            self._wait_for(conn)
            return
        pool = self._for_probes if _is_probe(beginning or b"") else self.tpool
        future = pool.submit(self.handle, conn)
        future.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, conn, done))

    def _wait_for(self, conn: TConn) -> None:
        """As gunicorn does with a connection whose thread has waited for data in vain."""
        conn.timeout = time.monotonic() + self.cfg.keepalive
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))


def _beginning_of(conn: TConn) -> bytes | None:
    """What has come of the next request and was not read yet; None if nothing has."""
    connection: Any = conn.sock
    try:
        beginning: bytes = connection.recv(LOOKED_AT, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""  # a thread finds out what is wrong with it
    return beginning


def _is_probe(beginning: bytes) -> bool:
    """Whether this is a whole request for `/healthz`, so that its thread waits for nothing."""
    head, end, _ = beginning.partition(b"\r\n\r\n")
    return bool(end) and head.startswith(PROBES) and not any(each in head.lower() for each in WITH_BODY)
