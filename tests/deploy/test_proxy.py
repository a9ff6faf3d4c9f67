"""What `deploy/nginx.conf` does when web servers are away or of two versions."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
import requests
from whitenoise import WhiteNoise

from common.errors import error_body
from common.web.errors import API_ROOTS
from tests.faults.servers import skipped_if_missing
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tests.waiting import wait_until
from tools.servers import Nginx

pytestmark = pytest.mark.timed

MESSAGE = "The platform didn't answer. Try again in a second."
PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
Proxy = Callable[..., str]


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    """Start nginx before web servers, given by their ports. Gives its URL."""
    with ExitStack() as stack:

        def start(*ports: int) -> str:
            port = free_port()
            with skipped_if_missing():
                server = Nginx(
                    tmp_path, listen=f"127.0.0.1:{port}", web=[f"127.0.0.1:{each}" for each in ports]
                )
            stack.enter_context(server)
            wait_until(
                lambda: not socket.socket().connect_ex(("127.0.0.1", port)),
                said=(tmp_path / "nginx.log").read_text,
            )
            return f"http://127.0.0.1:{port}"

        yield start


def hang_up(connection: socket.socket) -> None:
    """As a web server that is killed in the middle of a request."""


@pytest.fixture
def away(proxy: Proxy) -> Iterator[str]:
    """The URL of a proxy whose only web server is killed by every request."""
    with Receiver() as web:
        web.respond_with(Answer(script=hang_up))
        yield proxy(web.port)


@pytest.mark.parametrize(
    "path", [*(root + "/x" for root in API_ROOTS), "/app-api", "/app-api/x.css", "/unknown"]
)
def test_killed_web_server_is_a_503_in_the_error_shape(away: str, path: str) -> None:
    accepted = {} if path == "/unknown" else PAGE
    response = requests.post(away + path, json={}, headers=accepted, timeout=10)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.headers["Content-Type"] == "application/json"
    assert response.json() == error_body(503, MESSAGE)


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/token/", "/developer/device/token"])
def test_oauth_has_its_own_error(away: str, path: str) -> None:
    response = requests.post(away + path, data={}, timeout=10)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.json() == {"error": "temporarily_unavailable", "error_description": MESSAGE}


@pytest.mark.parametrize("path", ["/portal/", "/oauth/authorize", "/webhooks-of-mine", "/static/x.css"])
def test_browser_gets_a_page(away: str, path: str) -> None:
    response = requests.get(away + path, headers=PAGE, timeout=10)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert MESSAGE.split(".")[0] in response.text


@pytest.mark.spec("Contract 15 Doors", "A request line of 8,000 octets is read")
def test_long_request_and_its_redirect_pass(proxy: Proxy) -> None:
    """An authorization with a long `state`, and the answer that brings it to the app."""
    path = "/oauth/authorize?state=" + "s" * (8000 - len("GET /oauth/authorize?state= HTTP/1.1"))
    with Receiver() as web:
        web.respond_with(Answer(302, headers={"Location": f"https://app.example.com{path}"}))
        response = requests.get(proxy(web.port) + path, allow_redirects=False, timeout=10)
        assert response.status_code == 302
        assert response.headers["Location"].endswith(path)
        assert web.requests[0].target == path


@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "/readyz", "/readyz/", "/readyz?strict"])
def test_pages_for_operators_are_not_for_the_world(proxy: Proxy, path: str) -> None:
    with Receiver() as web:
        assert requests.get(proxy(web.port) + path, timeout=10).status_code == 404
        assert not web.requests


def test_no_web_server_at_all_is_a_503(proxy: Proxy) -> None:
    url = proxy(free_port(), free_port())
    for _ in range(3):
        response = requests.get(url + "/app-api/products", timeout=10)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "1")


def test_request_that_may_have_changed_something_is_sent_once(proxy: Proxy) -> None:
    with Receiver() as first, Receiver() as second:
        for web in (first, second):
            web.respond_with(Answer(script=hang_up))
        url = proxy(first.port, second.port)
        assert requests.post(url + "/app-api/orders", json={}, timeout=10).status_code == 503
        assert len(first.requests) + len(second.requests) == 1


def test_one_machine_after_the_other_can_be_replaced(proxy: Proxy) -> None:
    ports = [free_port(), free_port()]
    with Receiver(port=ports[1]):
        url = proxy(*ports)
        for _ in range(2):  # the first is away, and found to be so
            assert requests.get(url, timeout=10).status_code == 200
    with Receiver(port=ports[0]):
        time.sleep(2.1)  # nginx counts in whole seconds
        assert [requests.get(url, timeout=10).status_code for _ in range(4)] == [200] * 4


class Web:
    """A web server that serves files as the platform's do, by WhiteNoise. A context manager."""

    def __init__(self, folder: Path, *names: str) -> None:
        folder.mkdir()
        for name in names:
            (folder / name).write_text(name)
        application: Any = WhiteNoise(
            _not_found, root=folder, prefix="static/", immutable_file_test=r"\.[0-9a-f]{12}\."
        )
        self._server = make_server("127.0.0.1", 0, application, handler_class=_Quiet)
        self.port = self._server.server_port

    def __enter__(self) -> "Web":
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None: ...


def _not_found(_environment: object, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [("Content-Type", "text/plain")])
    return [b"Not found"]


def test_static_files_of_both_versions_are_there_in_an_upgrade_and_after_it(
    proxy: Proxy, tmp_path: Path
) -> None:
    old, new = ([f"{kind}{number}.{number:012x}.css" for number in range(6)] for kind in ("old", "new"))
    with Web(tmp_path / "web1", *new) as upgraded:
        with Web(tmp_path / "web2", *old, "unseen.aaaaaaaaaaaa.css") as waiting:
            url = proxy(upgraded.port, waiting.port)
            for name in old + new:
                response = requests.get(f"{url}/static/{name}", timeout=10)
                assert (response.status_code, response.text) == (200, name)
            assert requests.get(f"{url}/static/missing.css", timeout=10).status_code == 404
        # The last machine of the old version is gone.
        found = {name: requests.get(f"{url}/static/{name}", timeout=10).status_code for name in old + new}
        assert found == dict.fromkeys(old + new, 200)
        assert requests.get(f"{url}/static/unseen.aaaaaaaaaaaa.css", timeout=10).status_code == 404
