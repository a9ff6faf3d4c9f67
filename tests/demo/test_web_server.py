"""The demo's web server while all of its threads wait."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from waitress.server import create_server

from config.demo.processes import RequestDispatcher
from tests.servers import serving

pytestmark = pytest.mark.timed

THREADS = 2
Start = Callable[[str, list[tuple[str, str]]], Any]


class Hanging:
    """A site on which only `/healthz` answers before `over`."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.waiting = threading.Semaphore(0)

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/healthz":
            self.waiting.release()
            self.over.wait(10)
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]


@pytest.fixture
def hanging() -> Iterator[tuple[Hanging, str]]:
    site = Hanging()
    server = create_server(site, listen="127.0.0.1:0", _dispatcher=RequestDispatcher(THREADS))
    with serving(server):
        yield site, f"http://127.0.0.1:{server.effective_port}"
        site.over.set()


@pytest.mark.spec("Contract 15 Doors", "While apps are waited for, /healthz answers within half a second")
def test_probe_is_answered_while_all_threads_wait(hanging: tuple[Hanging, str]) -> None:
    site, url = hanging
    with ThreadPoolExecutor(2 * THREADS) as pool:
        others = [pool.submit(ask, f"{url}/{number}", seconds=20) for number in range(2 * THREADS)]
        for _ in range(THREADS):
            assert site.waiting.acquire(timeout=5)
        assert ask(f"{url}/healthz?from=probe", seconds=0.5) == "ok"
        site.over.set()
        assert [each.result() for each in others] == ["ok"] * len(others)


def ask(url: str, *, seconds: float) -> str:
    return requests.get(url, timeout=seconds, headers={"Connection": "close"}).text
