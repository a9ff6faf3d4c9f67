"""A real HTTP endpoint on this machine, for tests of whatever sends requests.

    with Receiver() as receiver:
        receiver.respond_with(503, Answer(status=200, body=b"ok"))
        ...send two requests to receiver.url...
        first, second = receiver.wait_for(2)
        assert first.headers["x-webhook-event"] == "order.created"

It speaks HTTP/1.1 with kept-alive connections straight on sockets, one thread per connection, so that a test sees
the very bytes that were sent, and can answer in ways that no decent server would.
"""

import contextlib
import itertools
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from tests.waiting import TimedOut


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request. `head` is the raw request line and headers, `at` the `time.monotonic()` of its last byte."""

    method: str
    target: str
    headers: Mapping[str, str]  # lower-case names
    head: bytes
    body: bytes
    connection: int  # 0 for the first connection that was accepted, and so on
    at: float


@dataclass(frozen=True, slots=True)
class Answer:
    """How to answer one request. Times are in seconds."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0  # before the first byte
    drip: float = 0.0  # between single bytes of the body
    close: bool = False  # hang up after the answer, without having said so
    script: Callable[[socket.socket], None] | None = None  # does all the answering itself; then we hang up


class Receiver:
    """A context manager. Every request gets 200 with an empty body until `respond_with` says otherwise."""

    def __init__(self, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self._tls = tls
        self._answers = [Answer()]
        self._answers_at: dict[str, Answer] = {}
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server((host, port), backlog=256)
        self.host, self.port = host, self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}/"

    def respond_with(self, *answers: Answer | int) -> None:
        """Answer the coming requests with these in turn, and all later ones with the last. A number is a status."""
        with self._changed:
            self._answers = [Answer(status=each) if isinstance(each, int) else each for each in answers]

    def answer_at(self, target: str, answer: Answer) -> None:
        """Answer each request for this path so, whatever `respond_with` says."""
        self._answers_at[target] = answer

    def wait_for(self, count: int, timeout: float = 5.0) -> list[ReceivedRequest]:
        """All requests so far, once there are at least `count`. Fails the test where they don't come in time."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: len(self.requests) >= count, timeout)
            if not arrived:
                raise TimedOut(f"{len(self.requests)} of {count} requests came within {timeout} s.")
            return list(self.requests)

    def hang_up(self) -> None:
        """Close all connections, as a restarted server would, and stay ready for new ones."""
        with self._changed:
            while self._open:
                _close(self._open.pop())

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        _close(self._listener)
        self.hang_up()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            for number in itertools.count():
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._changed:
                    self.connections += 1
                    self._open.add(connection)
                threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        plain = connection
        with contextlib.suppress(OSError, EOFError, ValueError):
            if self._tls:
                connection = self._tls.wrap_socket(plain, server_side=True)
                with self._changed:
                    self._open.discard(plain)
                    self._open.add(connection)
            with connection.makefile("rb") as stream:
                while self._answer(connection, self._record(stream.readline, stream.read, number)):
                    pass
        with self._changed:
            self._open.discard(connection)
        _close(connection)

    def _record(self, readline: Callable[[], bytes], read: Callable[[int], bytes], number: int) -> Answer:
        lines = [readline()]
        if not lines[0]:
            raise EOFError
        while lines[-1] not in (b"\r\n", b""):
            lines.append(readline())
        method, target, _ = lines[0].decode().split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.decode("latin-1").partition(":") for line in lines[1:-1])
        }
        body = read(int(headers.get("content-length", 0)))
        request = ReceivedRequest(method, target, headers, b"".join(lines), body, number, time.monotonic())
        with self._changed:
            answer = self._answers_at.get(target) or (
                self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            )
            self.requests.append(request)
            self._changed.notify_all()
        return answer

    def _answer(self, connection: socket.socket, answer: Answer) -> bool:
        """Send the answer; whether the connection stays open."""
        self._stopping.wait(answer.delay)
        if answer.script:
            answer.script(connection)
            return False
        headers = {"Content-Length": str(len(answer.body)), **answer.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head_bytes = f"HTTP/1.1 {answer.status} Status\r\n{head}\r\n".encode("latin-1")
        if answer.drip:
            connection.sendall(head_bytes)
            for byte in answer.body:
                self._stopping.wait(answer.drip)
                connection.sendall(bytes([byte]))
        else:
            connection.sendall(head_bytes + answer.body)
        return not answer.close


def _close(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
