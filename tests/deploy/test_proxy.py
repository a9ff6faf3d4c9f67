"""What `deploy/nginx.conf` does when web servers are away or of two versions, what it refuses by itself, and what it logs."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
import requests
from django.urls import reverse
from whitenoise import WhiteNoise

from common.errors import error_body
from common.web.errors import API_ROOTS
from tests.faults.disks import Disk
from tests.faults.machines import ip, require
from tests.faults.servers import skipped_if_missing
from tests.pages_table import UPLOAD, marked
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tests.waiting import wait_until
from tests.wire.pages import routes
from tools.servers import NGINX, Nginx

pytestmark = pytest.mark.timed

FLOOD = "Too many requests from your address. Try again in a second."
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


@pytest.mark.long
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


SECRET = "fbat-in-a-query-or-a-cookie"
LOGGED = {"time", "request_id", "class", "method", "status", "seconds", "bytes", "network"}


def logged(folder: Path, count: int) -> list[dict[str, Any]]:
    wait_until(lambda: (folder / "access.log").read_text().count("\n") >= count)
    text = (folder / "access.log").read_text()
    assert SECRET not in text + (folder / "error.log").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_access_log_has_the_class_of_a_request_and_no_secret(proxy: Proxy, tmp_path: Path) -> None:
    """Paths have secrets, too: addresses of mails, of inboxes, of apps' pages."""
    headers = {
        "Cookie": f"sessionid={SECRET}",
        "Referer": f"https://a.example/?x={SECRET}",
        "User-Agent": SECRET,
    }
    classes = {
        f"/accounts/confirm-email/{SECRET}/": "accounts",
        f"/app-api/products?token={SECRET}": "app-api",
        f"/?next={SECRET}": "home",
        f"/{SECRET}": "other",
        f"/portal/?code={SECRET}&state=1": "portal",
    }
    with Receiver() as web:
        web.respond_with(Answer(headers={"X-Request-Id": "0198f000-0000-7000-8000-000000000001"}))
        url = proxy(web.port)
        for path in classes:
            assert requests.get(url + path, headers=headers, timeout=10).status_code == 200
        in_store = headers | {"Host": "harbour-bakery.stores.example"}
        assert requests.get(f"{url}/?q={SECRET}", headers=in_store, timeout=10).status_code == 200
    refused = requests.get(f"{url}/app-api/products?token={SECRET}", headers=headers, timeout=10)
    *lines, last = logged(tmp_path, len(classes) + 2)
    assert [line["class"] for line in lines] == [*classes.values(), "store"]
    for line in lines:
        assert line.keys() == LOGGED
        assert (line["status"], line["method"], line["network"]) == ("200", "GET", "127.0.0.0/24")
        assert line["request_id"] == "0198f000-0000-7000-8000-000000000001"
    assert (last["status"], last["request_id"]) == ("503", refused.headers["X-Request-Id"])


def test_log_is_removed_after_30_days(proxy: Proxy, tmp_path: Path) -> None:
    """By Debian's logrotate, with `deploy/logrotate`. nginx goes on in a new file."""
    require("logrotate", "nginx")
    requests.get(proxy(free_port()), timeout=10)
    logged(tmp_path, 1)  # an empty log isn't rotated
    text = NGINX.with_name("logrotate").read_text()
    for before, after in {
        "/var/log/nginx": str(tmp_path),
        "invoke-rc.d nginx rotate": f"kill -USR1 $(cat {tmp_path}/nginx.pid)",
    }.items():
        assert before in text, before
        text = text.replace(before, after)
    (tmp_path / "rotation").write_text(text)
    for days in (29, 31):
        kept = tmp_path / f"access.log.{days - 10}.gz"
        kept.touch()
        os.utime(kept, (time.time() - 86400 * days,) * 2)
    state = ["--force", "--state", str(tmp_path / "state")]
    subprocess.run(["logrotate", *state, str(tmp_path / "rotation")], check=True)
    assert {file.name for file in tmp_path.glob("access.log*")} == {
        "access.log",
        "access.log.1",
        "access.log.20.gz",
    }
    for file in ("access.log", "error.log"):
        wait_until(lambda file=file: str(tmp_path / file) in open_files(tmp_path))  # type: ignore[misc]


def open_files(folder: Path) -> set[str]:
    """Of nginx's first process."""
    descriptors = Path(f"/proc/{(folder / 'nginx.pid').read_text().strip()}/fd")
    return {os.readlink(each) for each in descriptors.iterdir()}


def test_addresses_are_logged_as_networks(tmp_path: Path) -> None:
    require("ip", "nginx")
    name, port = f"log{tmp_path.stat().st_ino % 10**6}", 8080
    addresses = {"203.0.113.77/32": "203.0.113.0/24", "2001:db8:12:34::5/128": "2001:db8:12::/48"}
    inside = ("ip", "netns", "exec", name)
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        for address in addresses:
            ip("-n", name, "addr", "add", address, "dev", "lo")
        both = f"{port};\n        listen [::]:{port}"
        with Nginx(tmp_path, listen=both, web=["127.0.0.1:9"], before=inside):
            for address in addresses:
                host = address.partition("/")[0]
                ask = f"import socket\nsocket.create_connection(({host!r}, {port}), 5).sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')"
                asked = [*inside, sys.executable, "-c", ask]
                wait_until(lambda asked=asked: subprocess.run(asked, check=False).returncode == 0)  # type: ignore[misc]
            lines = logged(tmp_path, len(addresses))
    finally:
        ip("netns", "delete", name)
    assert [line["network"] for line in lines] == list(addresses.values())


def test_flood_from_one_address_is_refused_in_the_error_shape(proxy: Proxy) -> None:
    url = proxy(free_port())
    port = int(url.rpartition(":")[2])
    statuses: Counter[bytes] = Counter()
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as flood:
            flood.sendall(b"GET /app-api/x HTTP/1.1\r\nHost: a\r\n\r\n" * 499)
            flood.sendall(b"GET /app-api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            answers = b"".join(iter(lambda: flood.recv(1 << 16), b""))
        statuses.update(re.findall(rb"HTTP/1.1 (\d+)", answers))
    assert statuses[b"503"] >= 500  # which a page with many pictures may need
    assert statuses[b"429"] > 500
    refused = answers[answers.index(b"HTTP/1.1 429") :]
    for part in (
        b"Retry-After: 1\r\n",
        b"X-Error-Code: rate_limited\r\n",
        json.dumps(error_body(429, FLOOD)).encode(),
    ):
        assert part in refused


def test_address_has_200_requests_at_a_time(proxy: Proxy) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=400) as silent, ExitStack() as stack:
        url = proxy(silent.getsockname()[1])
        port = int(url.rpartition(":")[2])
        for _ in range(200):
            waiting = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            waiting.sendall(b"GET /app-api/x HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: requests.get(url, headers=PAGE, timeout=10).status_code == 429)
        page = requests.get(url, headers=PAGE, timeout=10)
    assert page.headers["Retry-After"] == "1"
    assert FLOOD in page.text


UPLOADS = [
    *(r.path(dict.fromkeys(r.parameters, "1")) for r in routes() if r.name in marked(UPLOAD)),
    reverse("developer_api:apps"),
    reverse("developer_api:app", args=["1"]),
]


@pytest.mark.parametrize("path", UPLOADS)
def test_upload_of_pictures_passes(proxy: Proxy, path: str) -> None:
    with Receiver() as web:
        assert requests.post(proxy(web.port) + path, data=bytes(42 * 1024**2), timeout=30).status_code == 200
        assert len(web.requests[0].body) == 42 * 1024**2


@pytest.mark.parametrize("path", ["/app-api/orders", "/developer/apps/1/manifest", "/oauth/revoke"])
@pytest.mark.parametrize("in_chunks", [False, True])
def test_large_body_elsewhere_is_a_413_in_the_error_shape(proxy: Proxy, path: str, in_chunks: bool) -> None:
    body = bytes(4 * 1024**2)
    with Receiver() as web:
        response = requests.post(
            proxy(web.port) + path, data=iter([body]) if in_chunks else body, headers=PAGE, timeout=30
        )
        assert not web.requests
    assert (response.status_code, response.headers["X-Error-Code"]) == (413, "body_too_large")
    assert "Retry-After" not in response.headers
    assert response.json() == error_body(413, "The body is too large.")


def test_large_form_of_a_browser_is_a_413_as_a_page(proxy: Proxy) -> None:
    response = requests.post(
        proxy(free_port()) + "/portal/", data=bytes(4 * 1024**2), headers=PAGE, timeout=30
    )
    assert (response.status_code, response.headers["Content-Type"]) == (413, "text/html; charset=utf-8")
    assert "The body is too large." in response.text


def test_json_of_3_mb_is_judged_by_the_web_server(proxy: Proxy) -> None:
    """Whose error says what the limit is."""
    with Receiver() as web:
        web.respond_with(413)
        response = requests.post(proxy(web.port) + "/app-api/orders", data=bytes(3_000_000), timeout=30)
        assert (response.status_code, len(web.requests)) == (413, 1)
        assert "X-Error-Code" not in response.headers


def test_full_disk_of_the_proxy_is_a_503_for_what_needs_it(tmp_path: Path) -> None:
    """Large bodies are on its disk until they are sent on. A small body doesn't need it, and neither does a log line."""
    with Disk(tmp_path / "disk", megabytes=8) as disk, Receiver() as web, skipped_if_missing():
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        with Nginx(disk.folder / "nginx", listen=f"127.0.0.1:{port}", web=[f"127.0.0.1:{web.port}"]):
            wait_until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
            upload = bytes(2 * 1024**2)
            with disk.full():
                response = requests.post(f"{url}/app-api/orders", data=upload, timeout=30)
                assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
                assert response.json() == error_body(503, MESSAGE)
                assert requests.post(f"{url}/app-api/orders", json={}, timeout=30).status_code == 200
                web.respond_with(Answer(body=bytes(1024**2)))
                for path in ("/media/x", "/app-api/orders"):
                    assert len(requests.get(url + path, timeout=30).content) == 1024**2
            assert requests.post(f"{url}/app-api/orders", data=upload, timeout=30).status_code == 200
