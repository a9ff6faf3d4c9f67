"""The receiver of every benchmark: `python -m benchmarks.sink`, a separate process on a loopback port.

It does as little as possible, so that it isn't what is measured: an asyncio protocol without a framework. The first part of
the path selects its behavior:

/instant/…   answers at once         /endless/…  an endless body
/wait/20/…   answers after 20 ms     /bomb/…     1 GB of zeros, packed to 1 MB
/hang/…      never answers           /drip/…     a byte of the headers every 0.1 s
/fee/…       answers a shipping hook
/shop/…      answers a command to move an order, as its shop
"""

import asyncio
import gzip
import json
import re
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Final, cast

from benchmarks.processes import Process, started

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
FEE: Final = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"fee":350}'
ID_HEADER: Final = b"\r\nX-Service-Event-Id: "
LENGTH_HEADER: Final = b"\r\nContent-Length: "
# Of peers: some HTTP clients write the header in small letters, and some libraries send the ID only in the body.
SMALL_LENGTH_HEADER: Final = LENGTH_HEADER.lower()
ID_IN_BODY: Final = re.compile(rb'"serviceEventId": ?"([^"]*)"')
BLOCK: Final = b"x" * 65536
BOMB: Final = gzip.compress(bytes(64 * 1024 * 1024), 9) * 16  # gzip allows members in a row

HOSTS: Final = 200  # addresses on the loopback

arrivals: list[tuple[str, float]] = []


class Connection(asyncio.Protocol):
    """One keep-alive connection. Requests come one after another; an arrival is the time of the first byte."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._buffer = b""
        self._began = 0.0
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._answering: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answering:
            self._answering.cancel()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def data_received(self, data: bytes) -> None:
        if not self._buffer:
            self._began = monotonic()
        data = self._buffer + data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            size = end + 4 + _body_length(data, end)
            if len(data) < size:
                break
            self._answer(data[:end], data[end:size])
            data = data[size:]
        self._buffer = data

    def _answer(self, head: bytes, body: bytes) -> None:
        _method, path, _version = head[: head.index(b"\r\n")].split(b" ")
        _, behaviour, *rest = path.split(b"/")
        if behaviour == b"-":
            self.transport.write(_told())
            return
        arrivals.append(((_header(head, ID_HEADER) or _id_in(body)).decode(), self._began))
        if behaviour == b"instant":
            self.transport.write(OK)
        elif behaviour == b"fee":
            self.transport.write(FEE)
        elif behaviour == b"shop":
            self.transport.write(_moved(json.loads(body)["data"]))
        elif behaviour == b"wait":
            asyncio.get_running_loop().call_later(int(rest[0]) / 1000, self.transport.write, OK)
        elif behaviour != b"hang":
            self._answering = asyncio.create_task(HOSTILE[behaviour](self))

    async def write(self, data: bytes) -> None:
        await self._may_write.wait()
        self.transport.write(data)


async def _endless(connection: Connection) -> None:
    await connection.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        await connection.write(BLOCK)


async def _bomb(connection: Connection) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(BOMB)}\r\n\r\n"
    await connection.write(head.encode() + BOMB)


async def _drip(connection: Connection) -> None:
    await connection.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        await asyncio.sleep(0.1)
        await connection.write(b"x")


HOSTILE: Final = {b"endless": _endless, b"bomb": _bomb, b"drip": _drip}


def _header(head: bytes, name: bytes) -> bytes:
    start = head.find(name)
    if start < 0:
        return b""
    start += len(name)
    end = head.find(b"\r\n", start)
    return head[start:end] if end >= 0 else head[start:]


def _body_length(data: bytes, end: int) -> int:
    head = data[:end]
    return int(_header(head, LENGTH_HEADER) or _header(head, SMALL_LENGTH_HEADER) or 0)


def _id_in(body: bytes) -> bytes:
    found = ID_IN_BODY.search(body)
    return found[1] if found else b""


def order_row(status: str) -> dict[str, Any]:
    """An order of a connected store, as its software sends it."""
    return {
        "orderNumber": "1001",
        "status": status,
        "items": [{"productId": "p-1", "name": "Product", "quantity": 2, "price": 4.5}],
        "subtotal": 9,
        "amount": 9,
        "createdAt": "2026-11-20T15:04:05.123Z",
    }


def _moved(asked: dict[str, Any]) -> bytes:
    row = {"order": {"id": asked["orderId"], "version": 2} | order_row(asked["status"])}
    body = json.dumps(row).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


def _told() -> bytes:
    """The arrivals since the last time somebody asked."""
    body = json.dumps(arrivals).encode()
    arrivals.clear()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def _host(number: int) -> str:
    return f"127.0.0.{number + 1}"


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, _host(0), 0, backlog=2048)
    port = server.sockets[0].getsockname()[1]
    await loop.create_server(Connection, [_host(number) for number in range(1, HOSTS)], port, backlog=2048)
    print(json.dumps(port), flush=True)
    # The harness holds the other end of our input, and is gone when it ends.
    await loop.run_in_executor(None, sys.stdin.read)


class Sink:
    """The harness's side: the sink's address, the requests that it received, and its CPU time."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._port = process.hear()

    def url(self, path: str) -> str:
        """Paths that end with another number are on another host, up to `HOSTS`, as the servers of different apps are."""
        last = path.rsplit("/", 1)[-1]
        return f"http://{_host(int(last) % HOSTS if last.isdigit() else 0)}:{self._port}/{path}"

    def arrivals(self) -> list[tuple[str, float]]:
        """Delivery ids and times (`time.monotonic`) since the last call."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.url("-/")) as answer:
            told: list[Any] = json.load(answer)
        return [(delivery_id, arrived) for delivery_id, arrived in told]


@contextmanager
def sink(folder: Path) -> Iterator[Sink]:
    with started(folder, "sink", "-m", "benchmarks.sink") as process:
        yield Sink(process)


if __name__ == "__main__":
    asyncio.run(_serve())
