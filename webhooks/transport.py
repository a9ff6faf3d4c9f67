"""The one door for outgoing HTTP on hot paths: webhook deliveries and hook calls.

One event loop in one thread per process, started at first use and anew after a fork, so that waiting for slow
endpoints costs no threads. The rules are in contract section 5, the reasons in docs/decisions/0003.

What each exchange is held to:

* one deadline over name look-up, connect, TLS, request, headers and body, however slowly they drip;
* no connection to an address that `common.addresses` refuses, judged on the very address that is connected;
* no redirects, cookies, decompression, and nothing from the environment: no proxies, no .netrc;
* at most `max_body` bytes of the answer are kept, and the rest is not read.
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
from yarl import URL

from common.addresses import literal_address
from webhooks.connections import (
    MAX_CONNECTIONS,
    BlockedAddress,
    Connector,
    Progress,
    Resolver,
    current,
    vetted_socket,
)

USER_AGENT: Final = "Service-Webhooks/1.0"
TIMEOUT: Final = 10.0  # seconds for a whole exchange
MAX_BODY: Final = 16 * 1024  # bytes kept of an answer
_DEFAULT_HEADERS: Final = {
    "User-Agent": USER_AGENT,
    "Content-Type": "application/json",
    "Accept-Encoding": "identity",
}
_KEPT_HEADERS: Final = (
    "content-type", "location", "retry-after", "content-security-policy", "x-frame-options"
)  # fmt: skip
_UNSENDABLE: Final = re.compile(r"[\x00-\x20\x7f]")  # could end the request line, or a part of it

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
    """What came of one request. `status` is None where no answer came, `error_class` None on success.

    `headers` holds those of `_KEPT_HEADERS` that the answer has, with lower-case names. `body` is as it came over
    the wire, undecoded; `truncated` says that more was to come, or that it broke off or took too long.
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
    """What `post` takes beside the URL."""

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
    """Send one POST and say what came of it. To be awaited on `event_loop()`.

    A GET, with an empty body, is for looking at what a browser would load.

    Nothing that the network or the endpoint does raises. `url` goes out as given, down to its escapes. `headers`
    overrule the defaults; one with a line break raises `ValueError`. `timeout` is in seconds, `max_body` in bytes.

    Where a kept-alive connection turns out to have died before a byte of the answer came, the request is sent once
    more on a new connection, within the same deadline. A call that must on no account arrive twice takes a
    `fresh_connection` from the start. `ssl_context` replaces the system's certificate authorities.
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
            attempt.answer.close()  # goes back to the pool before this where the body was read to its end
    return attempt.exchange(error, began, max_body)


def submit(url: str, **options: Unpack[Options]) -> Future[Exchange]:
    """`post` from any thread. Returns at once."""
    return asyncio.run_coroutine_threadsafe(post(url, **options), event_loop())


def submit_all(
    requests: Iterable[tuple[T, str, Mapping[str, str], bytes]],
    done: Callable[[T, asyncio.Future[Exchange]], None],
) -> None:
    """`post` many from any thread, waking the transport's once. Returns at once.

    A request is what `done` is to be told, the URL, the headers and the body. `done` runs on the transport's
    thread, with a future that is done.
    """
    client = _client()
    client.loop.call_soon_threadsafe(client.begin, requests, done)


def send(url: str, **options: Unpack[Options]) -> Exchange:
    """`post` from any thread but the transport's own. Waits for the result."""
    return submit(url, **options).result()


def event_loop() -> asyncio.AbstractEventLoop:
    """The loop that all exchanges of this process run on."""
    return _client().loop


def close() -> None:
    """Cancel what is under way, close all connections, end the thread. The next use starts anew."""
    global _running
    with _start_lock:
        client, _running = _running, None
    if client is not None:
        client.close()


# One attempt


@dataclass(slots=True)
class _Attempt:
    """One request and what has come of it so far."""

    progress: Progress
    answer: aiohttp.ClientResponse | None = None
    body: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def exchange(self, error: ErrorClass | None, began: float, max_body: int) -> Exchange:
        """The result. Once a status came, it alone decides; before that, `error` says what went wrong."""
        status, headers = None, {}
        if self.answer is not None:
            status, error = self.answer.status, _status_class(self.answer.status)
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
        """Read until the end or just past `limit`. A body that breaks off is no failure: the status counts."""
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
    """The answer, read up to its headers.

    An endpoint may close an idle connection just as we write to it. A failure would then cost the delivery half a
    minute, though the endpoint hardly ever saw the request. aiohttp sends only idempotent methods again in this
    case; a delivery is made so that it may come twice.
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
    """The URL, untouched where it is ASCII. Raises where there is no safe way to send to it as it stands."""
    if _UNSENDABLE.search(url):
        raise aiohttp.InvalidURL(url)
    try:
        parsed = URL(url, encoded=url.isascii())
        host = parsed.raw_host or ""
    except ValueError as error:  # yarl looks at host and port when first asked
        raise aiohttp.InvalidURL(url) from error
    literal = literal_address(host)
    if isinstance(literal, IPv4Address) and str(literal) != host:
        raise BlockedAddress(f"{host} is an address in an unusual notation.")
    return parsed


# What went wrong


_TIMEOUT_CLASSES: Final[Mapping[str, ErrorClass]] = {
    "dns": "dns",
    "connect": "timeout_connect",
    "response": "timeout_response",
}


def _status_class(status: int) -> ErrorClass | None:
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return "redirect"
    if 400 <= status < 500:
        return "http_4xx"
    return "http_5xx" if 500 <= status < 600 else "protocol"


def _error_class(failure: Exception) -> ErrorClass:
    """The class of a failure that left us without an answer."""
    cause = getattr(failure, "os_error", failure)
    for kinds, error_class in _ERROR_CLASSES:
        if isinstance(failure, kinds) or isinstance(cause, kinds):
            return error_class
    return "protocol"


# The first that fits counts. A connection that an unreachable host or network refuses counts as refused.
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
    """The loop, its thread, and on it the session with its connections."""

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
            self._tasks.add(task)  # the loop itself would let go of them
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
            use_dns_cache=False,  # the resolver remembers by itself
            socket_factory=vetted_socket,
            limit=MAX_CONNECTIONS,
        )
        async with aiohttp.ClientSession(
            connector=connector,
            headers=_DEFAULT_HEADERS,
            timeout=aiohttp.ClientTimeout(),  # none: `post` keeps the time
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


def _start_anew_after_fork() -> None:
    """A child has no thread for its parent's loop. It keeps the objects: tidying them up would reach the parent."""
    global _running, _start_lock
    _inherited.append(_running)
    _running, _start_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_start_anew_after_fork)
atexit.register(close)
