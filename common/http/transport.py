"""Sends HTTP requests to servers that we don't trust. All outgoing HTTP on hot paths goes through here.

Each process has one event loop in one thread, started at first use and again after a fork, so that a slow server
blocks no thread. docs/decisions/0003 has the reasons, and the contract, section 5, the limits:

* one deadline covers name lookup, connect, TLS, request, headers and body, no matter how slowly they arrive;
* a connection only goes to an address that `common.http.addresses` allows, checked on the socket's own address;
* there are no redirects, cookies or decompression, and no proxies or .netrc from the environment;
* at most `max_body` bytes of the response body are kept, and the rest is not read.
"""

import asyncio
import atexit
import os
import re
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from ipaddress import IPv4Address
from time import monotonic
from typing import Final, Literal, Required, TypedDict, TypeVar, Unpack

import aiohttp
from django.conf import settings
from yarl import URL

from common.http.addresses import literal_address
from common.http.vetted_connections import (
    MAX_CONNECTIONS,
    BlockedAddress,
    Connector,
    Progress,
    Resolver,
    current,
    vetted_socket,
)

TIMEOUT: Final = 10.0  # seconds for a whole exchange
MAX_BODY: Final = 16 * 1024  # bytes kept of a response body
_KEPT_HEADERS: Final = (
    "content-type", "location", "retry-after", "content-security-policy", "x-frame-options", "set-cookie"
)  # fmt: skip
_UNSENDABLE: Final = re.compile(r"[\x00-\x20\x7f]")  # could end a part of the request line

T = TypeVar("T")

ErrorClass = Literal[
    "dns",
    "refused",
    "reset",
    "tls",
    "timeout_connect",
    "timeout_response",
    "blocked_address",
    "redirect",
    "protocol",
    "http_4xx",
    "http_5xx",
]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The outcome of one request. `status` is None without a response, and `error_class` is None on success.

    `headers` has those of `_KEPT_HEADERS` that the response has, with lower-case names. `body` has the received bytes,
    not decoded. `truncated` means that the body was longer, broke off or took too long.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    truncated: bool
    duration_ms: int
    error_class: ErrorClass | None

    @property
    def succeeded(self) -> bool:
        return self.error_class is None


class Options(TypedDict, total=False):
    """The arguments of `post` besides the URL."""

    headers: Required[Mapping[str, str]]
    body: Required[bytes]
    timeout: float
    max_body: int
    fresh_connection: bool
    ssl_context: ssl.SSLContext | None
    method: Literal["POST", "GET"]


async def post(
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes,
    timeout: float = TIMEOUT,
    max_body: int = MAX_BODY,
    fresh_connection: bool = False,
    ssl_context: ssl.SSLContext | None = None,
    method: Literal["POST", "GET"] = "POST",
) -> Exchange:
    """Send one request and return its outcome. Await it on `event_loop()`.

    Use GET, with an empty body, to check a page that a browser would load.

    Failures of the network or the server never raise. `url` is sent exactly as given, including its escapes. `headers`
    override the defaults; a line break in one raises `ValueError`. `timeout` is in seconds, `max_body` in bytes.

    If a kept-alive connection has died before any byte of the response arrived, the request is sent once more on a new
    connection, within the same deadline. A request that must never arrive twice needs `fresh_connection`.
    `ssl_context` replaces the system's certificate authorities.
    """
    began = monotonic()
    attempt = _Attempt(Progress(fresh_connection))
    current.set(attempt.progress)
    error: ErrorClass | None = None
    try:
        async with asyncio.timeout(timeout):
            attempt.answer = await _request(
                attempt,
                partial(
                    _client().session.request,
                    method,
                    _sendable(url),
                    headers=headers,
                    data=body,
                    allow_redirects=False,
                    ssl=ssl_context or True,
                ),
            )
            await attempt.read_body(max_body)
    except TimeoutError:
        error = _TIMEOUT_CLASSES[attempt.progress.phase]
    except (aiohttp.ClientError, OSError) as failure:
        error = _error_class(failure)
    finally:
        if attempt.answer is not None:
            attempt.answer.close()  # a connection whose body was read to its end is already back in the pool
    return attempt.exchange(error, began, max_body)


def submit(url: str, **options: Unpack[Options]) -> Future[Exchange]:
    """`post` from any thread. Returns at once."""
    return asyncio.run_coroutine_threadsafe(post(url, **options), event_loop())


def submit_all(
    requests: Iterable[tuple[T, str, Mapping[str, str], bytes]],
    done: Callable[[T, asyncio.Future[Exchange]], None],
) -> None:
    """`post` many from any thread, waking the transport's thread once. Returns at once.

    A request is a key for `done`, the URL, the headers and the body. `done` runs on the transport's thread with the
    key and a finished future.
    """
    client = _client()
    client.loop.call_soon_threadsafe(client.begin, requests, done)


def send(url: str, **options: Unpack[Options]) -> Exchange:
    """`post` from any thread but the transport's own. Waits for the result."""
    return submit(url, **options).result()


def event_loop() -> asyncio.AbstractEventLoop:
    """The loop on which all exchanges of this process run."""
    return _client().loop


def close() -> None:
    """Cancel running requests, close all connections and end the thread. The next use starts a new one."""
    global _running
    with _start_lock:
        client, _running = _running, None
    if client is not None:
        client.close()


# One attempt


@dataclass(slots=True)
class _Attempt:
    """One request and its outcome so far."""

    progress: Progress
    answer: aiohttp.ClientResponse | None = None
    body: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def exchange(self, error: ErrorClass | None, began: float, max_body: int) -> Exchange:
        """The outcome. A status alone decides over success; without one, `error` is the error class."""
        status, headers = None, {}
        if self.answer is not None:
            status, error = self.answer.status, status_class(self.answer.status)
            headers = {
                name: ", ".join(self.answer.headers.getall(name))
                for name in _KEPT_HEADERS
                if name in self.answer.headers
            }
        return Exchange(
            status=status,
            headers=headers,
            body=bytes(self.body[:max_body]),
            truncated=self.truncated,
            duration_ms=round((monotonic() - began) * 1000),
            error_class=error,
        )

    async def read_body(self, limit: int) -> None:
        """Read to the end or just past `limit`. A body that breaks off is not a failure: only the status counts."""
        assert self.answer is not None
        self.truncated = True
        with suppress(aiohttp.ClientError, OSError, RuntimeError):
            while len(self.body) <= limit:
                chunk = await self.answer.content.readany()
                if not chunk:
                    self.truncated = False
                    return
                self.body += chunk


async def _request(
    attempt: _Attempt, request: Callable[[], Awaitable[aiohttp.ClientResponse]]
) -> aiohttp.ClientResponse:
    """The response, read up to its headers.

    A server may close an idle connection just as we write to it, and then it has most likely not seen the request. In
    this case aiohttp only repeats idempotent methods. We repeat every request, unless its caller asks for a fresh
    connection.
    """
    try:
        return await request()
    except aiohttp.ClientConnectionError:
        if not attempt.progress.died_unanswered():
            raise
        attempt.progress.fresh_connection = True
        return await request()


@lru_cache(4096)
def _sendable(url: str) -> URL:
    """The parsed URL, unchanged if it is ASCII. Raises if a request can't safely be sent to it."""
    if _UNSENDABLE.search(url):
        raise aiohttp.InvalidURL(url)
    try:
        parsed = URL(url, encoded=url.isascii())
        host = parsed.raw_host or ""
    except ValueError as error:  # yarl checks host and port at their first use
        raise aiohttp.InvalidURL(url) from error
    literal = literal_address(host)
    if isinstance(literal, IPv4Address) and str(literal) != host:
        raise BlockedAddress(f"{host} is an address in an unusual notation.")
    return parsed


def usual_headers() -> dict[str, str]:
    """The headers of every request, beside `Host`, `Accept` and `Content-Length`."""
    return {
        "User-Agent": settings.OUTGOING_USER_AGENT,
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
    }


# Errors


_TIMEOUT_CLASSES: Final[Mapping[str, ErrorClass]] = {
    "dns": "dns",
    "connect": "timeout_connect",
    "response": "timeout_response",
}


def status_class(status: int) -> ErrorClass | None:
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return "redirect"
    if 400 <= status < 500:
        return "http_4xx"
    return "http_5xx" if 500 <= status < 600 else "protocol"


def _error_class(failure: Exception) -> ErrorClass:
    """The class of a failure without a response."""
    cause = getattr(failure, "os_error", failure)
    for kinds, error_class in _ERROR_CLASSES:
        if isinstance(failure, kinds) or isinstance(cause, kinds):
            return error_class
    return "protocol"


# The first match counts. An unreachable host or network counts as refused.
_ERROR_CLASSES: Final[tuple[tuple[tuple[type[Exception], ...], ErrorClass], ...]] = (
    ((BlockedAddress,), "blocked_address"),
    ((aiohttp.ClientConnectorDNSError,), "dns"),
    ((aiohttp.ClientSSLError, ssl.SSLError), "tls"),
    ((TimeoutError,), "timeout_connect"),
    ((ConnectionResetError, ConnectionAbortedError, BrokenPipeError), "reset"),
    ((aiohttp.ClientConnectorError,), "refused"),
    ((aiohttp.ClientConnectionError,), "reset"),
)


# The thread


class _Client:
    """The event loop, its thread, and the session with its connections."""

    loop: asyncio.AbstractEventLoop
    session: aiohttp.ClientSession

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[Exchange]] = set()
        self._thread = threading.Thread(
            target=asyncio.run, args=[self._main()], name="transport", daemon=True
        )
        self._thread.start()
        self._ready.wait()

    def begin(
        self,
        requests: Iterable[tuple[T, str, Mapping[str, str], bytes]],
        done: Callable[[T, asyncio.Future[Exchange]], None],
    ) -> None:
        for key, url, headers, body in requests:
            task = self.loop.create_task(post(url, headers=headers, body=body))
            self._tasks.add(task)  # the loop itself only keeps weak references
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(partial(done, key))

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        resolver = Resolver()
        connector = Connector(
            resolver=resolver,
            use_dns_cache=False,  # the resolver has its own cache
            socket_factory=vetted_socket,
            limit=MAX_CONNECTIONS,
        )
        async with aiohttp.ClientSession(
            connector=connector,
            headers=usual_headers(),
            timeout=aiohttp.ClientTimeout(),  # none: `post` has the deadline
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            read_bufsize=MAX_BODY,
        ) as self.session:
            self._ready.set()
            await self._stop.wait()
            under_way = asyncio.all_tasks() - {asyncio.current_task()}
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
        await resolver.close()


_running: _Client | None = None
_start_lock = threading.Lock()
_inherited: list[_Client | None] = []


def _client() -> _Client:
    global _running
    if _running is None:
        with _start_lock:
            if _running is None:
                _running = _Client()
    return _running


def _restart_after_fork() -> None:
    """A child process has no thread for its parent's loop. It keeps the objects, because closing them would close the
    parent's connections."""
    global _running, _start_lock
    _inherited.append(_running)
    _running, _start_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_restart_after_fork)
atexit.register(close)
