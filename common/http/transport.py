"""Sends HTTP requests to servers that we don't trust. All outgoing HTTP on hot paths goes through here.

Each process has one event loop in one thread, started at first use and again after a fork, so that a slow server
blocks no thread. docs/decisions/0051 has the reasons, and the contract, section 5, the limits:

* one deadline covers name lookup, connect, TLS, request, headers and body, no matter how slowly they arrive;
* a connection only goes to an address that `common.http.addresses` allows, checked on the socket's own address, or to a server
  of the operator's own;
* there are no redirects, cookies or decompression, and no proxies or .netrc from the environment;
* at most `max_body` bytes of the response body are kept, and the rest is not read.
"""

import asyncio
import atexit
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache, partial
from ipaddress import IPv4Address
from time import monotonic
from typing import Final, Literal, Required, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.encoding import iri_to_uri

from common import strangers
from common.http.addresses import Resolver, literal_address
from common.http.exchanges import ErrorClass, Exchange
from common.http.multi import Multi
from common.http.transfers import BlockedAddress, Transfer, is_allowed

TIMEOUT: Final = 10.0  # seconds for a whole exchange
MAX_BODY: Final = 16 * 1024  # bytes kept of a response body
MAX_UNUSED: Final = 32  # transfers, of some 20 KB; to make one takes 20 µs
_PORTS: Final = {"http": 80, "https": 443}
_UNSENDABLE: Final = re.compile(r"[\x00-\x20\x7f]")  # could end a part of the request line
_LINE_BREAK: Final = re.compile(r"[\r\n\0]")

T = TypeVar("T")


class Closed(Exception):
    """The request was broken off, or the transport was closed before it ended."""


class NoSuchName(Exception):
    """A host with letters beyond ASCII: programs don't agree which name is meant."""


class Options(TypedDict, total=False):
    """The arguments of `submit` besides the URL. `timeout` is in seconds, `max_body` in bytes."""

    headers: Required[Mapping[str, str]]
    body: Required[bytes]
    timeout: float
    max_body: int
    fresh_connection: bool
    method: Literal["POST", "GET"]
    of_operator: bool


class Coming(Future[Exchange]):
    """The outcome of a request under way. To wait for it on a web thread, use `strangers.result` with the app and store."""

    break_off: Callable[[], object]

    def result(self, timeout: float | None = None) -> Exchange:
        return strangers.result(self) if timeout is None else super().result(timeout)

    def cancel(self) -> bool:
        """Break off the request, unless it has ended. No thread may wait for it any longer."""
        return not self.done() and bool(self.break_off())


def submit(url: str, **options: Unpack[Options]) -> Coming:
    """Send one request, from any thread. Returns its coming outcome at once.

    Failures of the network or the server never raise. `url` is sent exactly as given, including its escapes. `headers`
    override the defaults; a line break in one raises `ValueError`. Use GET, with an empty body, to check a page that
    a browser would load.

    If a kept-alive connection has died before any byte of the response arrived, the request is sent once more on a new
    connection, within the same deadline. A request that must never arrive twice needs `fresh_connection`.

    A server that the operator named in a setting may be at any address (`of_operator`). It has a connection of its own, which no
    request for others uses.
    """
    future = Coming()

    def done(outcome: Exchange | Exception) -> None:
        if isinstance(outcome, Exchange):
            future.set_result(outcome)
        else:
            future.set_exception(outcome)

    client, job = _client(), _Job(done, url, **options)
    future.break_off = partial(client.loop.call_soon_threadsafe, client.break_off, job)
    client.loop.call_soon_threadsafe(client.begin, job)
    return future


def submit_all(
    requests: Iterable[tuple[T, str, Mapping[str, str], bytes]],
    done: Callable[[T, Exchange | Exception], None],
) -> None:
    """Send many from any thread, waking the transport's thread once. Returns at once.

    A request is a key for `done`, the URL, the headers and the body. `done` runs on the transport's thread with the
    key and the outcome: an exception for a request that can't be sent, or that `close` has broken off.
    """
    client = _client()
    client.loop.call_soon_threadsafe(client.begin_all, requests, done)


def send(url: str, *who: object, **options: Unpack[Options]) -> Exchange:
    """`submit` from any thread but the transport's own. Waits for the result, for these apps and stores
    (`common.strangers`)."""
    return strangers.result(submit(url, **options), *who)


def look_up(host: str, *, timeout: float) -> Future[list[str]]:
    """Find the addresses of a name, from any thread. None if it is unknown, or takes longer than `timeout` seconds."""
    client = _client()
    return asyncio.run_coroutine_threadsafe(client.resolver.addresses(host, timeout=timeout), client.loop)


def close() -> None:
    """Cancel running requests, close all connections and end the thread. The next use starts a new one."""
    global _running
    with _start_lock:
        client, _running = _running, None
    if client is not None:
        client.close()


def usual_headers() -> dict[str, str]:
    """The headers of every request, beside `Host`, `Accept` and `Content-Length`."""
    return {
        "User-Agent": settings.OUTGOING_USER_AGENT,
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
    }


# One request


@dataclass(slots=True, eq=False)
class _Job:
    """A request, as in `Options`, and what to do with its outcome."""

    done: Callable[[Exchange | Exception], None]
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout: float = TIMEOUT
    max_body: int = MAX_BODY
    fresh_connection: bool = False
    method: Literal["POST", "GET"] = "POST"
    of_operator: bool = False
    began: float = field(default_factory=monotonic)
    transfer: Transfer | None = None  # while it is under way
    is_broken_off: bool = False

    def prepare(self, transfer: Transfer, target: "_Target", addresses: Iterable[str]) -> None:
        transfer.prepare(
            method=self.method,
            url=target.origin,
            target=target.path,
            headers=_header_lines(self.headers, has_body=self.method != "GET"),
            body=self.body,
            max_body=self.max_body,
            fresh_connection=self.fresh_connection,
            of_operator=self.of_operator,
            resolved=_resolved(target, addresses) if target.name else "",
            deadline=self.began + self.timeout,
        )

    def fail(self, error_class: ErrorClass) -> None:
        """End before anything was sent."""
        self.done(Exchange(None, {}, b"", False, self.took(), error_class))

    def took(self) -> int:
        """Milliseconds until now."""
        return round((monotonic() - self.began) * 1000)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a URL leads. `path` includes the query. `name` is empty for a literal address, which needs no lookup."""

    origin: str
    path: str
    name: str
    port: int


@lru_cache(4096)
def _target(url: str) -> _Target:
    """The parsed URL, with its path unchanged if it is ASCII.

    Raises `ValueError` if a request can't safely be sent to it, `NoSuchName` and `BlockedAddress`.
    """
    if _UNSENDABLE.search(url):
        raise ValueError("The URL has a space or a control character.")
    parts = urlsplit(url)
    host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    if parts.scheme not in _PORTS or not host or not port or "@" in parts.netloc:
        raise ValueError("The URL has no host that a request can be sent to.")
    if not host.isascii():  # `url_policy` accepts none
        raise NoSuchName(f"{host} is not a name that DNS has.")
    literal = literal_address(host)
    if isinstance(literal, IPv4Address) and str(literal) != host:
        raise BlockedAddress(f"{host} is an address in an unusual notation.")
    path = url.partition("#")[0].partition("//")[2][len(parts.netloc) :]
    path = path if path.startswith("/") else f"/{path}"
    return _Target(
        origin=f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}/",
        path=path if path.isascii() else iri_to_uri(path),
        name="" if literal else host,
        port=port,
    )


def _resolved(target: _Target, addresses: Iterable[str]) -> str:
    """The addresses of a name for libcurl, which keeps them as if it had looked them up."""
    literals = (f"[{address}]" if ":" in address else address for address in addresses)
    return f"+{target.name}:{target.port}:{','.join(literals)}"


def _header_lines(headers: Mapping[str, str], *, has_body: bool) -> list[bytes]:
    """The lines of these headers and the usual ones, as libcurl wants them. Raises `ValueError` for a line break."""
    given = {name.lower() for name in headers} | (set() if has_body else {"content-type"})
    usual = ((name, value) for name, value in usual_headers().items() if name.lower() not in given)
    lines = [f"{name}: {value}" if value else f"{name};" for name, value in (*usual, *headers.items())]
    if _LINE_BREAK.search("".join(lines)):
        raise ValueError("A header has a line break.")
    lines.append("Expect:")  # this one is not sent: no server is asked first whether it takes a large body
    return [line.encode() for line in lines]


# The thread


class _Client:
    """The event loop, its thread, and libcurl with its connections."""

    loop: asyncio.AbstractEventLoop
    resolver: Resolver

    def __init__(self) -> None:
        self._ready: Future[None] = Future()
        self._lookups: set[asyncio.Task[None]] = set()
        self._unused: list[Transfer] = []
        self._thread = threading.Thread(target=self._run, name="transport", daemon=True)
        self._thread.start()
        self._ready.result()

    def begin_all(
        self,
        requests: Iterable[tuple[T, str, Mapping[str, str], bytes]],
        done: Callable[[T, Exchange | Exception], None],
    ) -> None:
        for key, url, headers, body in requests:
            self.begin(_Job(partial(done, key), url, headers, body))

    def begin(self, job: _Job) -> None:
        try:
            target = _target(job.url)
            addresses = self.resolver.known(target.name) if target.name else []
        except BlockedAddress:
            job.fail("blocked_address")
        except NoSuchName:
            job.fail("dns")
        except ValueError:
            job.fail("protocol")
        except Exception as error:  # such as no thread for the lookup; no caller may wait for ever
            job.done(error)
        else:
            if addresses is None:
                lookup = self.loop.create_task(self._wait_for_addresses(job, target))
                self._lookups.add(lookup)  # the loop itself only keeps weak references
                lookup.add_done_callback(self._lookups.discard)
            else:
                self._send(job, target, addresses)

    def break_off(self, job: _Job) -> None:
        job.is_broken_off = True
        if job.transfer is not None:
            self._multi.break_off(job.transfer)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                runner.run(self._main())
        except Exception as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self.resolver, self._multi = Resolver(), Multi()
        self._ready.set_result(None)
        await self._stop.wait()
        for lookup in self._lookups:
            lookup.cancel()
        self._multi.close()
        self.resolver.close()

    async def _wait_for_addresses(self, job: _Job, target: _Target) -> None:
        left = job.began + job.timeout - monotonic()
        try:
            addresses = await self.resolver.addresses(target.name, timeout=left)
        except asyncio.CancelledError:
            job.done(Closed())
            raise
        except Exception as error:
            job.done(error)
        else:
            self._send(job, target, addresses)

    def _send(self, job: _Job, target: _Target, addresses: Iterable[str]) -> None:
        if job.is_broken_off:
            job.done(Closed())
            return
        try:
            allowed = [address for address in addresses if job.of_operator or is_allowed(address)]
            if target.name and not allowed:
                job.fail("blocked_address" if addresses else "dns")
                return
            transfer = self._unused.pop() if self._unused else Transfer()
            try:
                job.prepare(transfer, target, allowed)
                self._multi.start(transfer, partial(self._end, job, transfer))
                job.transfer = transfer
            except Exception:
                self._put_back(transfer)
                raise
        except Exception as error:  # such as a line break in a header
            job.done(error)

    def _end(self, job: _Job, transfer: Transfer, code: int | None) -> None:
        outcome: Exchange | Exception
        job.transfer = None
        try:
            outcome = Closed() if code is None else transfer.exchange(code, job.took())
        except Exception as error:
            outcome = error
        self._put_back(transfer)
        job.done(outcome)

    def _put_back(self, transfer: Transfer) -> None:
        """Keep it for a later request, or free its memory."""
        if len(self._unused) < MAX_UNUSED:
            self._unused.append(transfer)
        else:
            transfer.close()


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
