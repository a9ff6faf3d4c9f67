"""Runs libcurl's transfers on an asyncio loop, for `common.http.transport`."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import Final

import pycurl

from common.http.transfers import Transfer

MAX_KEPT: Final = 640  # connections of one process, unless more are in use

Ended = Callable[[int | None], None]  # gets libcurl's code, or None if `close` broke it off

_EVENTS: Final = {
    pycurl.POLL_IN: EVENT_READ,
    pycurl.POLL_OUT: EVENT_WRITE,
    pycurl.POLL_INOUT: EVENT_READ | EVENT_WRITE,
}


class Multi:
    """Transfers side by side. Use it on its event loop only.

    libcurl says which sockets to watch and when to wake it, and works in `socket_action`. The sockets have a selector of
    their own, and the loop watches this selector, which takes half of the processor time of `add_reader` for each.

    Idle connections are watched too. libcurl looks at one before it uses it again, but not within a second, and bytes that
    came meanwhile would be read as the next response. Here nothing may come on an idle connection but its end.

    The callers limit how many run at once. A limit here would have requests wait for a connection within their deadline,
    and a sound endpoint would fail with `timeout_connect`.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._under_way: dict[pycurl.Curl, tuple[Transfer, Ended]] = {}
        self._sockets = DefaultSelector()
        self._idle: set[int] = set()
        self._loop.add_reader(self._sockets, self._on_sockets)
        self._due: float | None = None  # when libcurl wants to be woken, by the loop's clock
        self._timer: asyncio.TimerHandle | None = None
        self._multi = multi = pycurl.CurlMulti()
        multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        multi.setopt(pycurl.M_MAXCONNECTS, MAX_KEPT)
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    def start(self, transfer: Transfer, ended: Ended) -> None:
        self._multi.add_handle(transfer.curl)
        self._under_way[transfer.curl] = transfer, ended

    def break_off(self, transfer: Transfer) -> None:
        """End one that is under way, and close its connection."""
        _, ended = self._under_way.pop(transfer.curl)
        self._multi.remove_handle(transfer.curl)
        ended(None)

    def close(self) -> None:
        """Break off what is under way, and close all connections."""
        for curl in self._under_way:
            self._multi.remove_handle(curl)
        self._multi.close()
        for _, ended in self._under_way.values():
            ended(None)
        self._loop.remove_reader(self._sockets)
        self._sockets.close()
        if self._timer:
            self._timer.cancel()

    # The loop calls these

    def _on_sockets(self) -> None:
        ready = self._sockets.select(0)
        for key, _ in ready:  # first, while libcurl has closed none of them
            if key.fd in self._idle:
                self._sockets.unregister(key.fd)
                _make_useless(key.fd)
        for key, events in ready:
            if key.fd not in self._idle:
                readable = pycurl.CSELECT_IN if events & EVENT_READ else 0
                writable = pycurl.CSELECT_OUT if events & EVENT_WRITE else 0
                self._multi.socket_action(key.fd, readable | writable)
        self._end_transfers()

    def _on_time(self) -> None:
        self._timer = None
        if self._due is None:
            return
        if self._due > self._loop.time():
            self._timer = self._loop.call_at(self._due, self._on_time)
            return
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._end_transfers()

    def _end_transfers(self) -> None:
        queued = 1
        while queued:
            queued, succeeded, failed = self._multi.info_read()
            for curl in succeeded:
                self._end(curl, pycurl.E_OK)
            for curl, code, _ in failed:
                self._end(curl, code)

    def _end(self, curl: pycurl.Curl, code: int) -> None:
        transfer, ended = self._under_way.pop(curl)
        self._multi.remove_handle(curl)
        if transfer.begins_again(code):
            self.start(transfer, ended)
        else:
            ended(code)

    # libcurl calls these, from within its own functions, so they must not call these again

    def _watch(self, events: int, fd: int, *_: object) -> None:
        # It may have been closed meanwhile and its number given to another, so it is registered again.
        if fd in self._sockets.get_map():
            self._sockets.unregister(fd)
        self._idle.discard(fd)
        if events != pycurl.POLL_REMOVE:
            self._sockets.register(fd, _EVENTS[events])
        elif _is_connection(fd):
            self._sockets.register(fd, EVENT_READ)
            self._idle.add(fd)

    def _set_timer(self, milliseconds: int) -> None:
        """Each transfer sets and stops it, so an earlier timer is left to fire, and looks what is due."""
        self._due = self._loop.time() + milliseconds / 1000 if milliseconds >= 0 else None
        if self._due is not None and (self._timer is None or self._timer.when() > self._due):
            if self._timer:
                self._timer.cancel()
            self._timer = self._loop.call_at(self._due, self._on_time)


# A copy would need a free file descriptor, so these borrow libcurl's own and hand it back before it is closed.


def _is_connection(fd: int) -> bool:
    """Whether this isn't what libcurl wakes itself up with."""
    try:
        borrowed = socket.socket(fileno=fd)
    except OSError:
        return False
    borrowed.detach()
    return borrowed.family in (socket.AF_INET, socket.AF_INET6)


def _make_useless(fd: int) -> None:
    """Shut a connection down, so that libcurl finds it dead and opens another."""
    with suppress(OSError):
        borrowed = socket.socket(fileno=fd)
        try:
            borrowed.shutdown(socket.SHUT_RDWR)
        finally:
            borrowed.detach()
