"""Sends a request of the platform to a server on this machine: the same bytes and headers as over the network."""

from __future__ import annotations

import base64
import http.client
import io
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from extension_platform_sdk.transport import Record, is_local

_SAFE = "/%:=&?~+!$,;'@()*[]"
_INTERIM = re.compile(rb"HTTP/1\.\d 1(?!01)\d\d\b")  # 101 is final: nothing was asked to be switched
_READ = (b"transfer-encoding", b"content-length", b"connection", b"retry-after")  # headers of an answer
_LARGEST_LINE, _LARGEST_HEAD = 8 * 1024, 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answered. Without a ``status``, ``error`` is the platform's name for why not."""

    status: int | None
    duration_ms: int
    error: str | None = None
    body: bytes = b""
    truncated: bool = False
    retry_after: str | None = None

    def record(self) -> Record:
        """As the platform takes it."""
        return {
            "httpStatus": self.status,
            "durationMs": self.duration_ms,
            "error": self.error,
            "body": base64.b64encode(self.body).decode(),
            "truncated": self.truncated,
            "retryAfter": self.retry_after[:100] if self.retry_after else None,
        }


class Target:
    """The server at an address such as ``http://localhost:3000``. A path in it goes before that of each request.

    ``3000``, ``:3000``, ``3000/path`` and ``/path`` are of localhost. ``verify`` off accepts any certificate, of this machine
    only. Raises ``ValueError`` for anything else.
    """

    def __init__(self, address: str, *, verify: bool = True) -> None:
        parts = urlsplit(_whole(address))
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(address)
        if parts.hostname.isdecimal():  # a port, most likely; as a host, it would be an address elsewhere
            raise ValueError(address)
        if not (verify or is_local(parts.hostname)):
            raise ValueError(address)
        self.address = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
        self._tls = parts.scheme == "https"
        self._netloc, self._path = parts.netloc.rpartition("@")[2], parts.path.rstrip("/")
        self._host, self._port = parts.hostname, parts.port
        self._context = ssl.create_default_context()
        if not verify:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE

    def send(self, url: str, headers: Mapping[str, str], body: bytes, *, timeout: float, most: int) -> Answer:
        """Post it with the path and query of ``url``. Never raises. At most ``most`` bytes of the answer are kept."""
        began = time.monotonic()
        end = began + timeout
        connection = self._connection(timeout)
        try:
            answer = self._exchange(connection, url, headers, body, end, most)
        except OSError as error:
            answer = Answer(None, 0, _failure(error, connected=connection.sock is not None))
        except (http.client.HTTPException, ValueError):  # the latter of a header that can't be sent
            answer = Answer(None, 0, "protocol")
        finally:
            connection.close()
        took = round((time.monotonic() - began) * 1000)
        return Answer(answer.status, took, answer.error, answer.body, answer.truncated, answer.retry_after)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        end: float,
        most: int,
    ) -> Answer:
        parts = urlsplit(url)
        path = self._path + (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.connect()
        connection.putrequest("POST", quote(path, safe=_SAFE), skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", self._netloc)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        with _Response(connection.sock, method="POST") as response:
            response.begin_with(lambda: _give(connection, end))
            received, whole = _read(connection, response, end, most + 1)
        return Answer(
            response.status,
            0,
            body=received[:most],
            truncated=not whole or len(received) > most,
            retry_after=response.getheader("Retry-After"),
        )


def _whole(address: str) -> str:
    """The address with its scheme and host."""
    if "://" in address:
        return address
    found = re.fullmatch(r"(?::?([0-9]+))?(/.*)?", address)
    if not (found and address):
        return f"http://{address}"
    port = f":{found[1]}" if found[1] else ""
    return f"http://localhost{port}{found[2] or ''}"


class _Response(http.client.HTTPResponse):
    """As its base, but it reads on behind interim answers, and any number of headers of any length."""

    def begin_with(self, give: Callable[[], None]) -> None:
        """Read the head. ``give`` is called before each line."""
        received, self.fp = self.fp, io.BufferedReader(io.BytesIO(_final_head(self.fp, give)))
        try:
            self.begin()
        finally:
            self.fp = received


def _final_head(received: io.BufferedReader, give: Callable[[], None]) -> bytes:
    """The head of the final answer, with the headers that are read of it."""
    size, status, kept = 0, b"", b""
    while size < _LARGEST_HEAD:
        give()
        line = received.readline(_LARGEST_HEAD)
        size += len(line)
        if not status:
            status = line
            if not line:
                return b""
        elif line in (b"\r\n", b"\n", b""):
            if not _INTERIM.match(status):
                return status + kept + b"\r\n"
            status, kept = b"", b""
        elif len(line) < _LARGEST_LINE and line.partition(b":")[0].lower() in _READ:
            kept += line
    raise http.client.LineTooLong("header line")


def _read(
    connection: http.client.HTTPConnection, response: http.client.HTTPResponse, end: float, most: int
) -> tuple[bytes, bool]:
    """The body's beginning, and whether nothing broke off. Once there is a status, only that decides over success."""
    received = bytearray()
    try:
        while len(received) < most:
            _give(connection, end)
            chunk = response.read1(most - len(received))
            if not chunk:
                break
            received += chunk
    except (OSError, http.client.HTTPException):
        return bytes(received), False
    return bytes(received), True


def _give(connection: http.client.HTTPConnection, end: float) -> None:
    """Let the connection have what is left of the time."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    if connection.sock is not None:  # None once the answer has said that it is the last
        connection.sock.settimeout(left)


def _failure(error: OSError, *, connected: bool) -> str:
    if isinstance(error, TimeoutError):
        return "timeout_response" if connected else "timeout_connect"
    if isinstance(error, ssl.SSLError):
        return "tls"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if connected or isinstance(error, ConnectionError):
        return "reset"
    return "dns" if error.__class__.__name__ == "gaierror" else "refused"
