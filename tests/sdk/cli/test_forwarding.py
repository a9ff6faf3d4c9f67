"""What `listen` sends to a server on this machine, and how it reads the answer."""

import ssl
from collections.abc import Iterator
from typing import Any

import pytest
import trustme
from extension_platform_sdk.cli.forwarding import Target

from tests.receivers import Answer, Receiver


@pytest.fixture
def server() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def send(server: Receiver, path: str = "", **options: Any) -> Any:
    return send_to(Target(server.url.rstrip("/") + path), **options)


def send_to(target: Target, **options: Any) -> Any:
    return target.send(
        "https://a.example/in?b=1", {"X-A": "1"}, b"{}", **({"timeout": 2.0, "most": 5} | options)
    )


def test_answer_is_cut_and_paths_are_joined(server: Receiver) -> None:
    server.respond_with(Answer(status=503, body=b"too late", headers={"Retry-After": "7"}))
    answer = send(server, "/dev/")
    assert (answer.status, answer.body, answer.truncated, answer.retry_after) == (503, b"too l", True, "7")
    assert server.requests[0].target == "/dev/in?b=1"
    assert server.requests[0].head.endswith(b"X-A: 1\r\nContent-Length: 2\r\n\r\n")


@pytest.mark.long
def test_failures_have_the_platforms_names(server: Receiver) -> None:
    server.respond_with(Answer(delay=5))
    assert send(server, timeout=0.2).error == "timeout_response"
    server.respond_with(Answer(script=lambda connection: None))
    assert send(server).error == "reset"
    server.respond_with(Answer(script=lambda connection: connection.sendall(b"SSH-2.0-x\r\n\r\n")))
    assert send(server).error == "protocol"
    with Receiver() as gone:
        pass
    assert send(gone).error == "refused"
    server.respond_with(Answer(body=b"12345678", drip=0.2))
    answer = send(server, timeout=0.5, most=100)
    assert (answer.status, answer.truncated) == (200, True)


def raw(answer: bytes) -> Answer:
    return Answer(script=lambda connection: connection.sendall(answer))


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + OK,
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nContent-Length: 9\r\n\r\n" + OK,
        OK.replace(b"\r\nC", b"".join(b"\r\nX-%d: 1" % number for number in range(300)) + b"\r\nC"),
        OK.replace(b"\r\nC", b"\r\nX-ChromeLogger-Data: " + b"a" * 200_000 + b"\r\nC"),
        OK.replace(b"\r\nC", b"\r\nRetry-After: " + b"1" * 200_000 + b"\r\nC"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
        b"HTTP/1.0 200\n\nok",
    ],
    ids=["100", "102 twice", "103", "300 headers", "long header", "long read header", "chunks", "bare"],
)
def test_final_answer_is_read_behind_whatever_comes_before(server: Receiver, answer: bytes) -> None:
    server.respond_with(raw(answer))
    found = send(server)
    assert (found.status, found.body, found.truncated, found.error) == (200, b"ok", False, None)


@pytest.mark.long
def test_an_answer_that_never_becomes_final_is_none(server: Receiver) -> None:
    server.respond_with(raw(b"HTTP/1.1 103 Early Hints\r\n\r\n"))
    assert send(server).error == "reset"
    server.respond_with(raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 200_000))
    assert send(server).error == "protocol"
    server.respond_with(raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"))
    assert send(server).status == 101


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("3000", "http://localhost:3000"),
        (":3000", "http://localhost:3000"),
        ("3000/dev/", "http://localhost:3000/dev"),
        ("/dev", "http://localhost/dev"),
        ("localhost:3000", "http://localhost:3000"),
        ("[::1]:3000", "http://[::1]:3000"),
        ("dev.example", "http://dev.example"),
    ],
)
def test_a_port_or_a_path_alone_is_of_this_machine(given: str, address: str) -> None:
    assert Target(given).address == address


def test_own_certificate_is_taken_of_this_machine_only(server: Receiver) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    with Receiver(tls=context) as own:
        assert send(own).error == "tls"
        assert send_to(Target(own.url, verify=False)).status == 200
    with pytest.raises(ValueError, match=r"dev\.example"):
        Target("https://dev.example", verify=False)
