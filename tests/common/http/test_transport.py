"""The outgoing HTTP door against real sockets. Only name look-ups are made up."""

import gc
import gzip
import os
import queue
import resource
import signal
import socket
import ssl
import struct
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from common.http import addresses, multi, transfers, transport
from common.http.exchanges import Exchange
from tests.receivers import Answer, Receiver

pytestmark = pytest.mark.timed

SPEC_DEADLINE = pytest.mark.spec("Limits", "Ten seconds are the whole exchange, however slowly it drips")
SPEC_SUCCESS = pytest.mark.spec(
    "Contract 5 Webhooks",
    "A 2xx whose headers came in time is a success; the body is cut at 16 KiB without harm",
)
SPEC_ADDRESSES = pytest.mark.spec(
    "Contract 5 Webhooks", "A destination that is not a global unicast address is refused at connect time"
)
SPEC_CLASSES = pytest.mark.spec("Contract 5 Webhooks", "Each failure has a class")


FORKS = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture(autouse=True)
def _own_transport() -> Iterator[None]:
    yield
    transport.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An operator trusts this authority."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    transfers.authorities.cache_clear()
    yield
    transfers.authorities.cache_clear()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> "Names":
    made_up = Names()
    monkeypatch.setattr(socket, "getaddrinfo", made_up.getaddrinfo)
    return made_up


class Names(dict[str, list[str]]):
    """Host names and their addresses, in place of DNS."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.delay = 0.0
        self.error: Exception | None = None

    def getaddrinfo(self, host: str, *_: object, **__: object) -> list[Any]:
        self.asked.append(host)
        time.sleep(self.delay)
        if self.error:
            raise self.error
        if host not in self:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))
            for address in self[host]
        ]


def send(url: str, **options: Any) -> Exchange:
    return transport.send(url, **{"headers": {}, "body": b"{}", "timeout": 5.0, **options})


def handles() -> int:
    """How many there are in this process."""
    return sum(type(each) is transfers.Transfer for each in gc.get_objects())


def in_a_child(work: Callable[[], object]) -> bool:
    """Whether `work` ends within ten seconds and without an error, in a process that has no other threads."""
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            work()
            os._exit(0)
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextmanager
def no_file_descriptors() -> Iterator[None]:
    """None is free in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def took(exchange: Exchange, seconds: float) -> bool:
    """Whether it ended at its time, with some room for a busy machine."""
    return seconds * 1000 <= exchange.duration_ms <= seconds * 1000 + 250


def server_context(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def writes(*parts: bytes, every: float = 0.0) -> Callable[[socket.socket], None]:
    """A script that sends these parts and hangs up."""

    def script(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
            time.sleep(every)

    return script


def resets(connection: socket.socket) -> None:
    """A script that breaks the connection off without a word."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def drips_headers(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    for _ in range(200):
        connection.sendall(b"a")
        time.sleep(0.02)


def never_ends(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")


class TestAnswered:
    def test_the_request_arrives_as_it_was_given(self, receiver: Receiver) -> None:
        exchange = send(
            receiver.url + "a/../b%2fc?q=%7e&x=a+b&&y=%zz",
            headers={"X-Webhook-Event": "order.created"},
            body=b"{ }",
        )
        (request,) = receiver.wait_for(1)
        assert exchange.succeeded
        assert (request.method, request.target) == ("POST", "/a/../b%2fc?q=%7e&x=a+b&&y=%zz")
        assert request.body == b"{ }"
        assert request.headers["x-webhook-event"] == "order.created"
        assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
        assert request.headers["content-type"] == "application/json"
        assert request.headers["accept-encoding"] == "identity"

    def test_letters_beyond_ascii_are_encoded(self, receiver: Receiver, names: Names) -> None:
        names["xn--bcher-kva.example"] = ["127.0.0.1"]
        assert send(f"http://xn--bcher-kva.example:{receiver.port}/straße/%2f?q=ä").succeeded
        (request,) = receiver.wait_for(1)
        assert request.target == "/stra%C3%9Fe/%2f?q=%C3%A4"
        assert request.headers["host"] == f"xn--bcher-kva.example:{receiver.port}"

    @pytest.mark.parametrize("host", ["faß.example", "lo\u200ccalhost"])
    def test_a_host_beyond_ascii_is_no_name(self, receiver: Receiver, names: Names, host: str) -> None:
        """One that was saved before it was refused. The standard of 2003 makes another name of it."""
        names["fass.example"] = names["localhost"] = ["127.0.0.1"]
        assert send(f"http://{host}:{receiver.port}/").error_class == "dns"
        assert not receiver.requests

    def test_a_large_body_goes_without_asking(self, receiver: Receiver) -> None:
        assert send(
            receiver.url, headers={"X-Empty": "", "content-type": "text/plain"}, body=bytes(2**21)
        ).succeeded
        (request,) = receiver.wait_for(1)
        assert len(request.body) == 2**21
        assert "expect" not in request.headers
        assert request.headers["x-empty"] == ""
        assert request.head.lower().count(b"content-type") == 1

    @pytest.mark.spec("Events/Delivery format", "User-Agent: Service-Webhooks/1.0")
    def test_it_says_who_is_calling(self, receiver: Receiver) -> None:
        send(receiver.url)
        assert receiver.wait_for(1)[0].headers["user-agent"] == "Service-Webhooks/1.0"

    def test_the_exchange_tells_what_came_back(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(429, b"later", {"Retry-After": "7", "X-Other": "1"}, delay=0.05))
        began = time.monotonic()
        exchange = send(receiver.url)
        took = (time.monotonic() - began) * 1000
        assert (exchange.status, exchange.error_class, exchange.body) == (429, "http_4xx", b"later")
        assert exchange.headers == {"retry-after": "7"}
        assert not exchange.truncated
        assert not exchange.succeeded
        assert 50 <= exchange.duration_ms <= took + 1

    @SPEC_CLASSES
    @pytest.mark.parametrize(
        ("status", "error_class"),
        [
            *((200, None), (204, None), (299, None), (300, "redirect"), (304, "redirect")),
            *((400, "http_4xx"), (410, "http_4xx"), (500, "http_5xx"), (599, "http_5xx"), (600, "protocol")),
        ],
    )
    def test_the_status_decides(self, receiver: Receiver, status: int, error_class: str | None) -> None:
        receiver.respond_with(status)
        exchange = send(receiver.url)
        assert (exchange.status, exchange.error_class) == (status, error_class)

    def test_connections_are_kept_alive(self, receiver: Receiver) -> None:
        for _ in range(5):
            assert send(receiver.url).succeeded
        assert receiver.connections == 1

    def test_cookies_are_not_sent_back(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(headers={"Set-Cookie": "a=b"}))
        send(receiver.url)
        send(receiver.url)
        assert "cookie" not in receiver.wait_for(2)[1].headers

    def test_a_break_in_a_header_is_an_error_of_the_caller(self, receiver: Receiver) -> None:
        with pytest.raises(ValueError, match=r"(?i)newline|header"):
            send(receiver.url, headers={"X-Webhook-Event": "a\r\nX-Evil: 1"})
        assert receiver.requests == []

    def test_bytes_on_an_idle_connection_are_not_the_next_answer(self, receiver: Receiver) -> None:
        forged = b"HTTP/1.1 500 Forged\r\nContent-Length: 0\r\n\r\n"
        receiver.respond_with(Answer(body=forged, headers={"Content-Length": "0"}, drip=0.001), 200)
        send(receiver.url)
        time.sleep(0.6)  # until a busy machine has sent them all
        assert send(receiver.url).status == 200
        assert receiver.connections == 2

    @pytest.mark.long
    @FORKS
    def test_idle_connections_are_watched_without_a_free_file_descriptor(self, receiver: Receiver) -> None:
        forged = b"HTTP/1.1 500 Forged\r\nContent-Length: 0\r\n\r\n"
        first = Answer(body=forged, headers={"Content-Length": "0"}, delay=0.3, drip=0.001)
        receiver.respond_with(first, 200)

        def work() -> None:
            coming = transport.submit(receiver.url, headers={}, body=b"{}")
            time.sleep(0.15)  # it has its connection
            with no_file_descriptors():
                assert coming.result().status == 200
                time.sleep(0.6)
            assert send(receiver.url).status == 200

        assert in_a_child(work)
        assert receiver.connections == 2


class TestUnusualAnswers:
    @SPEC_SUCCESS
    def test_a_body_that_drips_after_a_2xx(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(body=b"x" * 100, drip=0.05), 200)
        exchange = send(receiver.url, timeout=0.4)
        assert exchange.succeeded
        assert exchange.truncated
        assert 1 <= len(exchange.body) < 20
        assert took(exchange, 0.4)
        assert send(receiver.url).succeeded
        assert receiver.connections == 2, "the rest of a cut body must not be read as the next answer"

    def test_a_body_that_drips_after_a_failure_leaves_the_status(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(503, b"x" * 100, drip=0.05))
        assert send(receiver.url, timeout=0.2).error_class == "http_5xx"

    @SPEC_SUCCESS
    def test_a_body_that_breaks_off(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(body=b"short", headers={"Content-Length": "100"}, close=True))
        exchange = send(receiver.url)
        assert exchange.succeeded
        assert (exchange.body, exchange.truncated) == (b"short", True)

    @SPEC_SUCCESS
    @pytest.mark.parametrize(("size", "truncated"), [(0, False), (16384, False), (16385, True)])
    def test_bodies_are_cut_at_16_kib(self, receiver: Receiver, size: int, truncated: bool) -> None:
        receiver.respond_with(Answer(body=b"x" * size))
        exchange = send(receiver.url)
        assert exchange.succeeded
        assert (len(exchange.body), exchange.truncated) == (min(size, 16384), truncated)

    @SPEC_SUCCESS
    @FORKS
    def test_many_bodies_without_end_take_little_memory(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(script=never_ends))

        def work() -> None:  # in a child, which has a peak of its own
            send(receiver.url)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            coming = [transport.submit(receiver.url, headers={}, body=b"{}") for _ in range(64)]
            exchanges = [future.result() for future in coming]
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert all(each.succeeded and each.truncated and len(each.body) == 16384 for each in exchanges)
            assert grown < 64 * 1024, f"{grown} KiB"

        assert in_a_child(work)

    def test_a_gzip_bomb_stays_packed(self, receiver: Receiver) -> None:
        bomb = gzip.compress(bytes(50_000_000))
        receiver.respond_with(Answer(body=bomb, headers={"Content-Encoding": "gzip"}))
        exchange = send(receiver.url)
        assert exchange.succeeded
        assert exchange.body == bomb[:16384]

    @pytest.mark.spec("Contract 5 Webhooks", "Redirects are never followed, and are failures")
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_redirects_are_not_followed(self, receiver: Receiver, status: int) -> None:
        with Receiver() as target:
            receiver.respond_with(Answer(status, headers={"Location": target.url}))
            exchange = send(receiver.url)
            assert (exchange.status, exchange.error_class) == (status, "redirect")
            assert exchange.headers["location"] == target.url
            assert len(receiver.requests) == 1
            assert target.connections == 0

    @SPEC_CLASSES
    @pytest.mark.parametrize(
        "answer",
        [
            b"SSH-2.0-OpenSSH_9.6\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX: " + b"x" * 40000 + b"\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10000 + b"\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
        ],
    )
    def test_what_is_not_an_http_answer(self, receiver: Receiver, answer: bytes) -> None:
        receiver.respond_with(Answer(script=writes(answer, every=0.05)))
        assert send(receiver.url).error_class == "protocol"


class TestDeadline:
    @SPEC_DEADLINE
    def test_headers_that_drip(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(script=drips_headers))
        exchange = send(receiver.url, timeout=0.4)
        assert (exchange.status, exchange.error_class) == (None, "timeout_response")
        assert took(exchange, 0.4)

    @SPEC_DEADLINE
    def test_no_answer_at_all(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(delay=1.0))
        assert send(receiver.url, timeout=0.3).error_class == "timeout_response"

    @SPEC_DEADLINE
    def test_a_tls_handshake_that_stalls(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            exchange = send(f"https://127.0.0.1:{silent.getsockname()[1]}/", timeout=0.3)
        assert exchange.error_class == "timeout_connect"
        assert took(exchange, 0.3)

    @SPEC_DEADLINE
    def test_a_name_look_up_that_stalls(self, names: Names) -> None:
        names.delay = 0.8
        exchange = send("http://slow.example/", timeout=0.3)
        assert exchange.error_class == "dns"
        assert took(exchange, 0.3)

    @SPEC_DEADLINE
    def test_a_request_that_nobody_reads(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            exchange = send(url, body=bytes(1_000_000), timeout=0.3)
        assert exchange.error_class == "timeout_response"
        assert took(exchange, 0.3)

    @pytest.mark.long
    @SPEC_DEADLINE
    def test_it_is_kept_while_many_hang(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(script=drips_headers))
        coming = [transport.submit(receiver.url, headers={}, body=b"{}", timeout=1.0) for _ in range(50)]
        assert all(took(future.result(), 1.0) for future in coming)


class TestNoAnswer:
    @SPEC_CLASSES
    def test_nobody_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        assert send(f"http://127.0.0.1:{port}/").error_class == "refused"

    @SPEC_CLASSES
    @pytest.mark.parametrize("script", [writes(), resets, writes(b"HTTP/1.1 20")])
    def test_the_connection_breaks(self, receiver: Receiver, script: Callable[[socket.socket], None]) -> None:
        receiver.respond_with(Answer(script=script))
        assert send(receiver.url).error_class in {"reset", "protocol"}
        assert len(receiver.requests) == 1, "only a kept-alive connection excuses a second request"

    @SPEC_CLASSES
    @pytest.mark.parametrize(
        "url", ["", "http://", "ftp://127.0.0.1/", "http://a b/", "http://a/\r\nX: y", "http://a:x/"]
    )
    def test_urls_that_cannot_be_sent_to(self, url: str) -> None:
        assert send(url).error_class == "protocol"


class TestReusedConnections:
    @pytest.mark.parametrize("script", [writes(), resets])
    def test_a_request_that_met_the_end_of_a_connection_is_sent_again(
        self, receiver: Receiver, script: Callable[[socket.socket], None]
    ) -> None:
        receiver.respond_with(200, Answer(script=script), 201)
        send(receiver.url)
        exchange = send(receiver.url, headers={"X-Service-Event-Id": "1"}, body=b'{"a": 1}')
        assert exchange.status == 201
        _, missed, again = receiver.wait_for(3)
        assert (missed.head, missed.body) == (again.head, again.body)
        assert receiver.connections == 2

    def test_it_is_sent_again_only_once(self, receiver: Receiver) -> None:
        receiver.respond_with(200, Answer(script=writes()))
        send(receiver.url)
        assert send(receiver.url).error_class == "reset"
        assert len(receiver.requests) == 3

    def test_it_is_sent_again_on_a_new_connection(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(delay=0.2))
        for future in [transport.submit(receiver.url, headers={}, body=b"") for _ in range(3)]:
            assert future.result().succeeded
        receiver.respond_with(Answer(script=writes()), 201)
        assert send(receiver.url).status == 201
        assert receiver.wait_for(5)[-1].connection == 3

    @pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-"])
    def test_it_is_not_sent_again_once_an_answer_began(self, receiver: Receiver, start: bytes) -> None:
        receiver.respond_with(200, Answer(script=writes(start)), 200)
        send(receiver.url)
        assert not send(receiver.url).succeeded
        assert len(receiver.requests) == 2

    def test_it_is_not_sent_again_after_a_timeout(self, receiver: Receiver) -> None:
        receiver.respond_with(200, Answer(delay=0.5), 200)
        send(receiver.url)
        assert send(receiver.url, timeout=0.2).error_class == "timeout_response"
        assert len(receiver.requests) == 2

    def test_a_fresh_connection_leaves_nothing_to_send_again(self, receiver: Receiver) -> None:
        receiver.respond_with(200, Answer(script=writes()), 200)
        send(receiver.url)
        assert send(receiver.url, fresh_connection=True).error_class == "reset"
        assert [request.connection for request in receiver.requests] == [0, 1]

    def test_endpoints_that_hang_up_between_requests_cause_no_failures(self, receiver: Receiver) -> None:
        for number in range(100):
            time.sleep(0.0005 * (number % 4))
            receiver.respond_with(Answer(close=number % 2 == 0))
            assert send(receiver.url).succeeded
            if number % 5 == 0:
                receiver.hang_up()
        assert receiver.connections > 50


class TestTls:
    @pytest.mark.usefixtures("trusted")
    def test_a_trusted_certificate(self, authority: trustme.CA) -> None:
        with Receiver(tls=server_context(authority, "127.0.0.1")) as receiver:
            assert send(receiver.url).succeeded
            assert send(receiver.url).succeeded
            assert receiver.connections == 1

    @pytest.mark.spec("Contract 5 Webhooks", "TLS certificates are verified")
    def test_an_unknown_authority(self, authority: trustme.CA) -> None:
        with Receiver(tls=server_context(authority, "127.0.0.1")) as receiver:
            assert send(receiver.url).error_class == "tls"
            assert receiver.requests == []

    @pytest.mark.spec("Contract 5 Webhooks", "TLS certificates are verified")
    @pytest.mark.usefixtures("trusted")
    def test_a_certificate_for_another_name(self, authority: trustme.CA) -> None:
        with Receiver(tls=server_context(authority, "other.example")) as receiver:
            assert send(receiver.url).error_class == "tls"

    @pytest.mark.usefixtures("trusted")
    def test_the_name_is_asked_for_though_the_address_is_vetted(
        self, authority: trustme.CA, names: Names
    ) -> None:
        names["shop.example"] = ["127.0.0.1"]
        with Receiver(tls=server_context(authority, "shop.example")) as receiver:
            assert send(f"https://shop.example:{receiver.port}/").succeeded
            assert receiver.requests[0].headers["host"] == f"shop.example:{receiver.port}"

    @SPEC_CLASSES
    def test_plain_http_where_tls_is_expected(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
            coming = pool.submit(send, f"https://127.0.0.1:{listener.getsockname()[1]}/")
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                assert coming.result().error_class == "tls"


class TestNames:
    @SPEC_CLASSES
    def test_a_name_that_does_not_resolve(self, names: Names) -> None:
        assert send("https://nowhere.example/").error_class == "dns"

    def test_answers_are_remembered_for_a_short_time(
        self, names: Names, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(addresses, "TTL", 0.2)
        monkeypatch.setattr(addresses, "NEGATIVE_TTL", 0.2)
        names["shop.example"] = ["127.0.0.1"]
        for _ in range(3):
            assert send(f"http://shop.example:{receiver.port}/", fresh_connection=True).succeeded
            assert send("http://nowhere.example/").error_class == "dns"
        assert names.asked == ["shop.example", "nowhere.example"]
        time.sleep(0.25)
        names["nowhere.example"] = ["127.0.0.1"]
        assert send(f"http://nowhere.example:{receiver.port}/").succeeded

    def test_one_look_up_serves_all_who_wait_for_it(self, names: Names, receiver: Receiver) -> None:
        names["shop.example"], names.delay = ["127.0.0.1"], 0.2
        url = f"http://shop.example:{receiver.port}/"
        coming = [transport.submit(url, headers={}, body=b"{}") for _ in range(40)]
        assert all(future.result().succeeded for future in coming)
        assert names.asked == ["shop.example"]

    def test_a_late_look_up_serves_the_next_attempt(
        self, names: Names, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(addresses, "BUDGET", 0.1)
        names["shop.example"], names.delay = ["127.0.0.1"], 0.3
        url = f"http://shop.example:{receiver.port}/"
        assert send(url).error_class == "dns"
        time.sleep(0.3)
        assert send(url).succeeded
        assert names.asked == ["shop.example"]

    def test_the_memory_is_bounded(self, names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(addresses, "CACHED", 2)
        for host in ("a", "b", "c", "c", "b", "a"):
            send(f"http://{host}.example/")
        assert [name[0] for name in names.asked] == ["a", "b", "c", "a"]


class TestAddresses:
    @SPEC_ADDRESSES
    @pytest.mark.parametrize(
        "host",
        [
            *("10.0.0.1", "169.254.169.254", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[::127.0.0.1]"),  # noqa: S104
            *("[fec0::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
            *("2130706433", "0x7f000001", "017700000001", "127.1"),
        ],
    )
    def test_literals_that_lead_inside(self, receiver: Receiver, host: str) -> None:
        assert send(f"http://{host}:{receiver.port}/").error_class == "blocked_address"
        assert receiver.connections == 0

    @SPEC_ADDRESSES
    @pytest.mark.parametrize(
        "address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "169.254.169.254"]
    )
    def test_names_that_lead_inside(
        self, receiver: Receiver, names: Names, settings: Any, address: str
    ) -> None:
        settings.ALLOW_LOCAL_DESTINATIONS = False
        names["inside.example"] = [address]
        assert send(f"http://inside.example:{receiver.port}/").error_class == "blocked_address"
        assert receiver.connections == 0

    @SPEC_ADDRESSES
    def test_loopback_without_the_setting(self, receiver: Receiver, settings: Any) -> None:
        settings.ALLOW_LOCAL_DESTINATIONS = False
        assert send(receiver.url).error_class == "blocked_address"
        assert send(receiver.url.replace("127.0.0.1", "localhost")).error_class == "blocked_address"
        assert receiver.connections == 0

    @SPEC_ADDRESSES
    def test_of_mixed_records_only_the_good_ones_are_tried(self, receiver: Receiver, names: Names) -> None:
        names["mixed.example"] = ["10.255.255.1", "::ffff:127.0.0.1", "fd00::1", "127.0.0.1", "192.168.0.1"]
        exchange = send(f"http://mixed.example:{receiver.port}/")
        assert exchange.succeeded
        assert took(exchange, 0.0), "an address that is left out costs no time"
        assert receiver.connections == 1

    @SPEC_ADDRESSES
    def test_a_name_that_changes_is_judged_again(
        self, receiver: Receiver, names: Names, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(addresses, "TTL", 0.0)
        names["changes.example"] = ["127.0.0.1"]
        url = f"http://changes.example:{receiver.port}/"
        assert send(url).succeeded
        names["changes.example"] = ["10.0.0.1"]
        assert send(url, fresh_connection=True).error_class == "blocked_address"

    @SPEC_ADDRESSES
    def test_the_socket_itself_is_refused(self) -> None:
        tcp = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        with pytest.raises(transfers.BlockedAddress):
            transfers.vetted_socket(*tcp, "192.168.1.1")
        transfers.vetted_socket(*tcp, "127.0.0.1").close()

    @SPEC_ADDRESSES
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
    def test_server_of_the_operator_opens_no_way_for_others(
        self, receiver: Receiver, settings: Any, host: str
    ) -> None:
        """Its connection is kept for no request of an app to the same address."""
        settings.ALLOW_LOCAL_DESTINATIONS = False
        url = receiver.url.replace("127.0.0.1", host)
        for _ in range(2):
            assert send(url, of_operator=True).succeeded
            assert send(url).error_class == "blocked_address"
        assert len(receiver.requests) == receiver.connections == 2


class TestEnvironment:
    @pytest.mark.spec("Contract 5 Webhooks", "The environment's proxies and credentials are not used")
    def test_proxies_and_netrc_are_ignored(
        self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        netrc = tmp_path / "netrc"
        netrc.write_text("machine 127.0.0.1 login mallory password secret\n")
        monkeypatch.setenv("NETRC", str(netrc))
        with Receiver() as proxy:
            for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url)
            assert send(receiver.url).succeeded
            assert proxy.connections == 0
        (request,) = receiver.wait_for(1)
        assert request.target == "/"
        assert "authorization" not in request.headers


class TestProcess:
    def test_many_threads_share_it(self, receiver: Receiver) -> None:
        with ThreadPoolExecutor(32) as pool:
            exchanges = list(pool.map(lambda _: send(receiver.url), range(200)))
        assert all(exchange.succeeded for exchange in exchanges)
        assert receiver.connections <= 32

    @pytest.mark.long
    def test_more_run_at_once_than_connections_are_kept(self) -> None:
        """None waits for a connection of another within its own deadline."""
        timeouts = [5.0] * multi.MAX_KEPT + [1.5] * 100
        with socket.create_server(("127.0.0.1", 0), backlog=len(timeouts)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            coming = [transport.submit(url, headers={}, body=b"{}", timeout=each) for each in timeouts]
            assert {each.result().error_class for each in coming[-100:]} == {"timeout_response"}

    @FORKS
    def test_a_forked_child_starts_its_own(self, receiver: Receiver) -> None:
        assert send(receiver.url).succeeded

        def work() -> None:
            assert send(receiver.url).succeeded

        assert in_a_child(work)
        assert send(receiver.url).succeeded
        assert [request.connection for request in receiver.requests] == [0, 1, 0]

    @pytest.mark.long
    @FORKS
    def test_many_requests_at_once_leave_few_handles(self, receiver: Receiver) -> None:
        """Each keeps 20 KB, which is free again without a garbage collection."""
        receiver.respond_with(Answer(delay=0.2))

        def work() -> None:  # in a child, where no thread collects
            gc.collect()
            gc.disable()
            begun = [transport.submit(receiver.url, headers={}, body=b"{}") for _ in range(100)]
            assert {each.result().status for each in begun} == {200}
            end = time.monotonic() + 5
            while handles() > transport.MAX_UNUSED:
                assert time.monotonic() < end
                time.sleep(0.01)

        assert in_a_child(work)

    @pytest.mark.long
    @FORKS
    def test_requests_that_cannot_be_sent_leave_no_handles(self, receiver: Receiver) -> None:
        def work() -> None:
            gc.collect()
            gc.disable()
            before = handles()
            for _ in range(20):
                with pytest.raises(ValueError, match="line break"):
                    send(receiver.url, headers={"X-Name": "a\r\nb"})
            assert handles() - before <= 1

        assert in_a_child(work)

    @FORKS
    def test_no_file_descriptor_to_start_with(self, receiver: Receiver) -> None:
        def work() -> None:
            with no_file_descriptors(), pytest.raises(OSError, match="Too many open files"):
                send(receiver.url)
            assert send(receiver.url).succeeded

        assert in_a_child(work)

    @FORKS
    def test_no_thread_for_a_lookup(self, receiver: Receiver, names: Names) -> None:
        """It ends with an error, and those after it go on."""
        names["one.example"] = ["127.0.0.1"]
        url = f"http://one.example:{receiver.port}/"

        def work() -> None:
            assert send(receiver.url).succeeded
            ended: queue.SimpleQueue[tuple[str, Exchange | Exception]] = queue.SimpleQueue()
            threading.stack_size(2**46)  # more than there is
            requests = [("name", url, {}, b"{}"), ("address", receiver.url, {}, b"{}")]
            transport.submit_all(requests, lambda key, outcome: ended.put((key, outcome)))
            outcomes = dict(ended.get(timeout=5) for _ in requests)
            threading.stack_size(0)
            assert isinstance(outcomes["name"], RuntimeError)
            assert isinstance(outcomes["address"], Exchange)
            assert send(url).succeeded

        assert in_a_child(work)

    def test_a_lookup_that_breaks_is_not_kept(self, receiver: Receiver, names: Names) -> None:
        names["one.example"] = ["127.0.0.1"]
        url = f"http://one.example:{receiver.port}/"
        names.error = MemoryError()
        with pytest.raises(MemoryError):
            transport.submit(url, headers={}, body=b"{}").result(5)
        names.error = None
        assert send(url).succeeded

    def test_close_cancels_what_is_under_way_and_use_starts_anew(self, receiver: Receiver) -> None:
        receiver.respond_with(Answer(delay=1.0), 200)
        under_way = transport.submit(receiver.url, headers={}, body=b"{}")
        receiver.wait_for(1)
        transport.close()
        with pytest.raises(transport.Closed):
            under_way.result(1)
        assert send(receiver.url).succeeded
