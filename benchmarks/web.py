"""gunicorn as `manage.py serve` starts it, requests to it over kept connections, and what they cost."""

import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter, sleep

from benchmarks.dispatchers import cpu_of_sessions
from benchmarks.processes import Failed, Process, cpu_of, started, wait_for
from config.management.commands.serve import COMMAND

CONNECTIONS = 4
# What `manage.py serve` runs. It refuses to start without collected static files, which nothing here asks for.
SERVE = COMMAND[1:]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds per request: of the worker's processor, of its sessions' in PostgreSQL (None where that is
    elsewhere), and until the answer was there."""

    worker: float
    postgres: float | None
    answered: float

    @property
    def all(self) -> float:
        """Of all processors that work on it."""
        return self.worker + (self.postgres or 0.0)


class Server:
    def __init__(self, process: Process, port: int) -> None:
        self.port = port
        self._process = process
        wait_for(self._listens, 60, f"{process.name} to listen")
        (self._worker,) = children(process.pid)

    def cost(self, requests: Sequence[bytes], expected: int = 200, settles: float = 0.0) -> Cost:
        """Send them all over a few connections, the next one when the answer to the last one is there.

        The worker's time in the `settles` seconds after the last answer counts, too.
        Raises `Failed` for an answer of another status than expected.
        """
        before, sql_before = cpu_of(self._worker), cpu_of_sessions([self._process.name])
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            parts = [requests[start::CONNECTIONS] for start in range(CONNECTIONS)]
            seconds = sum(threads.map(lambda part: self._send(part, expected), parts))
        sleep(settles)
        after, sql_after = cpu_of(self._worker), cpu_of_sessions([self._process.name])
        sql = None if sql_before is None or sql_after is None else (sql_after - sql_before) / len(requests)
        return Cost((after - before) / len(requests), sql, seconds / len(requests))

    def spent(self) -> float:
        """Seconds of processor until now: of the worker, and of its sessions in PostgreSQL where that is on this machine."""
        return cpu_of(self._worker) + (cpu_of_sessions([self._process.name]) or 0.0)

    def times(self, requests: Sequence[bytes], expected: int = 200) -> list[float]:
        """Seconds until each was answered, one after another over one connection."""
        return list(self._answered(requests, expected))

    def waits(self, requests: Sequence[bytes], at_once: int) -> list[float]:
        """Seconds until each was answered, so many at once."""
        with ThreadPoolExecutor(at_once) as threads:
            parts = [requests[start::at_once] for start in range(at_once)]
            return [each for part in threads.map(self.times, parts) for each in part]

    def paced(self, requests: Sequence[bytes], seconds: float, expected: int = 200) -> list[float]:
        """Seconds until each was answered, sent at an even pace within so many seconds."""
        began = monotonic()

        def send(position: int) -> float:
            sleep(max(0.0, began + position * seconds / len(requests) - monotonic()))
            (answered,) = self.times([requests[position]], expected)
            return answered

        with ThreadPoolExecutor(8) as threads:
            return list(threads.map(send, range(len(requests))))

    def _send(self, requests: Sequence[bytes], expected: int) -> float:
        """Seconds until all had been answered, one after another."""
        return sum(self._answered(requests, expected))

    def _answered(self, requests: Sequence[bytes], expected: int) -> Iterator[float]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            for request in requests:
                began = perf_counter()
                connection.sendall(request)
                answer = _answer(connection)
                yield perf_counter() - began
                if int(answer.split(b" ", 2)[1]) != expected:
                    raise Failed(f"{self._process.name} answered {answer[:400]!r} … {answer[-1200:]!r}")

    def _listens(self) -> bool:
        if not self._process.alive():
            self._process.hear()  # which tells why
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return bool(children(self._process.pid))
        return False


@contextmanager
def serving(
    folder: Path, name: str, settings: str = "", command: Sequence[str] = SERVE, **variables: str
) -> Iterator[Server]:
    """One worker of 8 threads, of the product with a settings module, or of another `command`."""
    port = free_port()
    if settings:
        variables["DJANGO_SETTINGS_MODULE"] = settings
    if command is not SERVE:
        command = (*command, "--bind", f"127.0.0.1:{port}")
    with started(folder, name, *command, **(serve_at(port) | variables)) as process:
        yield Server(process, port)


def serve_at(port: int) -> dict[str, str]:
    """The variables for `SERVE`."""
    return {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1", "WEB_THREADS": "8"}


def request(method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in ({"Host": "127.0.0.1:8000"} | (headers or {})).items()]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def _answer(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _some(connection)
    head = received.partition(b"\r\n\r\n")[0]
    if b"chunked" in head.lower():
        while not received.endswith(b"0\r\n\r\n"):
            received += _some(connection)
        return received
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(received) < len(head) + 4 + length:
        received += _some(connection)
    return received


def _some(connection: socket.socket) -> bytes:
    part = connection.recv(262_144)
    if not part:
        raise Failed("The server closed a connection in the middle of an answer.")
    return part


def children(pid: int) -> list[int]:
    """Those that any thread of the process has started."""
    found = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for line in found for child in line.split()]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
