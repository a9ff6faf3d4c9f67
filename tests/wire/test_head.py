"""HEAD over the demo's server: the headers of GET, and nothing after them on a connection that is kept."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.db import connections

from common.web.middleware.bodies import Environ, Start
from config.wsgi import without_body_to_head
from tests.security.sites import waitress
from tests.wire.conversations import conversation

SPEC = pytest.mark.spec("Contract 0 Conventions", "HEAD answers like GET without a body")


@pytest.fixture
def site(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(connections.databases["default"], "CONN_MAX_AGE", 0)
    with waitress() as port:
        yield f"http://127.0.0.1:{port}"


def length_of(head: bytes) -> str | None:
    lines = (line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    return {name.lower(): value.decode() for name, value in lines}.get(b"content-length")


@SPEC
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/healthz", 200),
        ("/", 200),
        ("/marketplace/", 200),
        ("/app-api/products", 401),
        ("/docs/openapi.json", 200),
        ("/nothing/here", 404),
        ("/portal/", 302),
        ("/static/css/consent.css", 200),
    ],
)
def test_nothing_follows_the_headers(site: str, path: str, status: int) -> None:
    head, next_answer = conversation(site, f"HEAD {path}", "GET /healthz").split(b"\r\n\r\n", 1)
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert next_answer.startswith(b"HTTP/1.1 200 OK\r\n"), next_answer[:80]
    got = conversation(site, f"GET {path}").split(b"\r\n\r\n", 1)[0]
    assert length_of(head) == length_of(got)


@pytest.mark.long
def test_body_of_unknown_length_is_no_chunks() -> None:
    def streaming(environ: Environ, start: Start) -> Iterable[bytes]:
        start("200 OK", [("Content-Type", "text/plain")])
        yield from (b"one", b"two")

    app: Any = without_body_to_head(streaming)
    with waitress(app) as port:
        url = f"http://127.0.0.1:{port}"
        head, next_answer = conversation(url, "HEAD /", "GET /").split(b"\r\n\r\n", 1)
    assert length_of(head) == "6"
    assert next_answer.startswith(b"HTTP/1.1 200 OK\r\n")
