"""The demo's web server: waitress, and a thread of its own for `/healthz`, as `config.web_worker` gives to gunicorn."""

from typing import Any, Final

from django.conf import settings
from waitress.channel import HTTPChannel
from waitress.server import create_server
from waitress.task import ThreadedTaskDispatcher

from config.wsgi import application

PROBE: Final = "/healthz"


class RequestDispatcher(ThreadedTaskDispatcher):
    """Hands requests to threads, once all of their bytes are there."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.set_thread_count(threads)
        self._for_probes = ThreadedTaskDispatcher()
        self._for_probes.set_thread_count(1)

    def add_task(self, task: HTTPChannel) -> None:
        if _is_probe(task):
            self._for_probes.add_task(task)
        else:
            super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> Any:
        self._for_probes.shutdown(cancel_pending, timeout)
        return super().shutdown(cancel_pending, timeout)


def web_server(listen: str) -> Any:
    """A server that listens at these addresses (`HOST:PORT HOST:PORT`) until its `close`. `run` serves."""
    return create_server(
        application,
        listen=listen,
        clear_untrusted_proxy_headers=True,
        _dispatcher=RequestDispatcher(settings.WEB_THREADS),
    )


def _is_probe(channel: HTTPChannel) -> bool:
    """Whether nothing but a whole request for `/healthz` is there, and nothing that the client has yet to read."""
    return [each.path for each in channel.requests] == [PROBE] and not channel.total_outbufs_len
