import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from benchmarks.sink import Sink, sink

pytestmark = pytest.mark.slow  # processes of their own


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Sink]:
    with sink(tmp_path) as started:
        yield started


def post(url: str, delivery_id: str = "one", **options: float) -> requests.Response:
    return requests.post(url, data=b"{}" * 9000, headers={"X-Service-Event-Id": delivery_id}, **options)


def test_sink_tells_each_arrival_once_with_the_time_of_its_first_byte(receiver: Sink) -> None:
    before = time.monotonic()
    post(receiver.url("instant/0"), "one")
    post(receiver.url("instant/0"), "two")
    post(receiver.url("instant/0"), "two")
    after = time.monotonic()

    told = receiver.arrivals()
    assert [delivery_id for delivery_id, _ in told] == ["one", "two", "two"]
    assert before < told[0][1] < told[1][1] < told[2][1] < after
    assert receiver.arrivals() == []


def test_sink_counts_every_request_of_a_kept_connection(receiver: Sink) -> None:
    with requests.Session() as session:
        for number in range(200):
            headers = {"X-Service-Event-Id": str(number)}
            assert session.post(receiver.url("instant/0"), data=b"{}", headers=headers).text == "ok"

    assert [delivery_id for delivery_id, _ in receiver.arrivals()] == [str(n) for n in range(200)]


def test_sink_reads_the_id_in_the_body_and_a_length_in_small_letters_where_a_peer_sends_these(
    receiver: Sink,
) -> None:
    body = b'{"data": {}, "serviceEventId": "three"}'
    parts = urlsplit(receiver.url("instant/0"))
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as connection:
        for _ in range(2):
            connection.sendall(
                b"POST /instant/0 HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
            )
            assert connection.recv(100).endswith(b"ok")

    assert [delivery_id for delivery_id, _ in receiver.arrivals()] == ["three", "three"]


def test_sink_waits_as_long_as_the_path_says_and_tells_when_the_request_came(receiver: Sink) -> None:
    began = time.monotonic()
    post(receiver.url("wait/300/0"))
    took = time.monotonic() - began

    assert 0.3 <= took < 1.0
    ((_, arrived),) = receiver.arrivals()
    assert arrived - began < 0.2


def test_sink_never_answers_where_it_hangs(receiver: Sink) -> None:
    with pytest.raises(requests.ReadTimeout):
        post(receiver.url("hang/0"), timeout=0.3)

    assert len(receiver.arrivals()) == 1


@pytest.mark.slow
def test_sink_unpacks_to_a_gigabyte(receiver: Sink) -> None:
    with requests.post(receiver.url("bomb/0"), stream=True) as answer:
        size = sum(len(chunk) for chunk in answer.iter_content(1024 * 1024))

    assert size == 1024**3
    assert int(answer.headers["Content-Length"]) < 2 * 1024**2


def raw(url: str) -> socket.socket:
    """A connection on which the request has been sent."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=5)
    connection.sendall(f"POST {parts.path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n".encode())
    return connection


def test_sink_goes_on_for_ever_where_the_body_is_endless(receiver: Sink) -> None:
    received = 0
    with raw(receiver.url("endless/0")) as connection:
        while received < 20_000_000:
            received += len(connection.recv(65536))


def test_sink_drips_headers_that_never_end(receiver: Sink) -> None:
    began, received = time.monotonic(), b""
    with raw(receiver.url("drip/0")) as connection:
        while time.monotonic() - began < 1.0:
            received += connection.recv(65536)

    assert b"\r\n\r\n" not in received
    assert 5 <= received.count(b"x") <= 11
