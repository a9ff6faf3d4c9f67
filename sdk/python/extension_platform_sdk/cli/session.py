"""A connection with the platform that brings webhooks and hook calls to a server on this machine.

One thread asks the platform for work, and waits up to 20 seconds for it. Each delivery and hook call is forwarded in a thread of its
own. Another thread reports the answers, several at a time while they come quickly. Whatever is not reported, since this
process died or the network did, the platform resends under the same id.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Protocol

from extension_platform_sdk.errors import ApiError, PlatformError
from extension_platform_sdk.transport import Record

from . import config
from .errors import CliError
from .forwarding import Answer
from .patience import FIRST_PAUSE, LONGEST_PAUSE, passes, patiently
from .platform import Platform, app_path

WAIT = 20  # seconds that the platform waits for something to come
DEADLINE = 10.0  # seconds that a server has for a delivery
AT_ONCE = 10  # deliveries that are forwarded side by side
KEPT = 4096  # bytes of the answer to a delivery, and of that to a hook call
KEPT_OF_CALLS = 64 * 1024
REPORTED_AT_ONCE = 20
FAREWELL = 2.0  # seconds at the end for what is being answered

_END: tuple[str, Record] = ("", {})  # of the answers


class Server(Protocol):
    """Where requests go: a ``Target``, or what takes its place."""

    def send(
        self, url: str, headers: Mapping[str, str], body: bytes, *, timeout: float, most: int
    ) -> Answer: ...


class Screen(Protocol):
    """Gets what happens, from several threads."""

    def say(self, text: str, *, wait: float = 0.0) -> None:
        """Something that the developer should know, and the seconds until the session goes on."""

    def began(self, listener: Record) -> None:
        """The platform's record of the listener."""

    def handled(self, kind: str, name: str, request: Record, answer: Answer) -> None:
        """A request of kind "webhook" or "hook" that was forwarded."""

    def reported(self, answers: list[tuple[str, Record]]) -> None:
        """The platform has these answers."""


class Session:
    """A connection with the platform, which begins again by itself whenever it breaks."""

    def __init__(
        self,
        account: config.Account,
        app: Record,
        server: Server,
        screen: Screen,
        *,
        test_store: str | None = None,
    ) -> None:
        self._account, self._path, self._server, self._screen = (
            account,
            app_path(app, "/listener"),
            server,
            screen,
        )
        self._test_store = test_store
        self._listener = ""
        self._busy: set[str] = set()
        self._answers: queue.SimpleQueue[tuple[str, Record]] = queue.SimpleQueue()
        self._unreported = 0
        self._over = threading.Event()
        self._failure: Exception | None = None  # of a thread
        self._changed = threading.Condition()

    def run(self, *, since: datetime | None = None) -> None:
        """Forward until ``stop``. Raises ``PlatformError`` or ``CliError`` for what doesn't pass by itself.

        An error in one of the threads ends the session, and is raised here.
        """
        self._begin(self._report)
        with Platform(self._account, timeout=WAIT + 15.0, wait_on_rate_limit=False, retries=0) as platform:
            self._attach(platform, since)
            while not self._over.is_set():
                self._ask(platform)
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """Wait a moment for what is being answered, and give the rest back to the platform."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unreported, FAREWELL)
        self._over.set()
        self._answers.put(_END)
        if self._listener:
            with suppress(PlatformError), Platform(self._account, timeout=5.0) as platform:
                platform.delete(f"{self._path}/{self._listener}")

    # The platform

    def _attach(self, platform: Platform, since: datetime | None = None) -> None:
        body = {"since": since.isoformat()} if since else {}
        if self._test_store:
            body["testStoreId"] = self._test_store
        record = self._call(lambda: platform.post(self._path, body))
        if record is None:
            return
        is_first, self._listener = not self._listener, record["listenerId"]
        if is_first:
            self._screen.began(record)
        else:
            self._screen.say("Listening again.")

    def _ask(self, platform: Platform) -> None:
        """Ask for work once, and hand it to the threads."""
        with self._changed:
            busy = sorted(self._busy)
        room = max(0, AT_ONCE - len(busy))
        body = {"busy": busy, "room": room, "wait": WAIT if room else 1}
        path = f"{self._path}/{self._listener}/work"
        try:
            work = self._call(lambda: platform.post(path, body))
        except ApiError as error:
            if error.status_code != 404:
                raise
            self._attach(platform)  # it was silent for too long, such as a laptop that slept
            return
        if work is None:
            return
        for delivery in work["deliveries"]:
            with self._changed:
                self._busy.add(delivery["lease"])
                self._unreported += 1
            self._begin(self._forward_delivery, delivery)
        for call in work["hookCalls"]:
            with self._changed:
                self._unreported += 1
            self._begin(self._forward_call, call)
        if not room or work["pauseMs"]:
            self._over.wait(work["pauseMs"] / 1000)

    def _call(self, send: Callable[[], Record]) -> Record | None:
        """Its answer, however long the platform can't be reached. None once the session is over."""
        if self._over.is_set():
            return None
        try:
            return patiently(send, say=self._screen.say, wait=self._over.wait, is_over=self._over.is_set)
        except PlatformError as error:
            if self._over.is_set():
                return None
            raise (self._end_of(error) if isinstance(error, ApiError) else error) from None

    def _end_of(self, error: ApiError) -> Exception:
        """Why the session can't go on."""
        if error.status_code != 409 or not self._listener:
            return error
        self._listener = ""
        what = "test store" if self._test_store else "app"
        return CliError(f"Another command line listens for this {what} now, so this one has stopped.")

    def _report(self) -> None:
        """Send answers as they come, all that are there at once."""
        with Platform(self._account, timeout=15.0) as platform:
            while True:
                found = [self._answers.get()]
                with suppress(queue.Empty):
                    while len(found) < REPORTED_AT_ONCE:
                        found.append(self._answers.get_nowait())
                if _END in found:
                    return
                if self._send(platform, found):
                    self._screen.reported(found)
                with self._changed:
                    self._busy -= {answer["lease"] for kind, answer in found if kind == "deliveries"}
                    self._unreported -= len(found)
                    self._changed.notify_all()

    def _send(self, platform: Platform, found: list[tuple[str, Record]]) -> bool:
        """Whether the platform has them. It resends requests that can't be reported in time."""
        body = {
            kind: [answer for each, answer in found if each == kind] for kind in ("deliveries", "hookCalls")
        }
        pause, end = FIRST_PAUSE, time.monotonic() + DEADLINE
        while True:
            try:
                platform.post(f"{self._path}/{self._listener}/answers", body)
                return True
            except PlatformError as error:
                if not passes(error):
                    return False
            if time.monotonic() > end:
                return False
            if self._over.wait(pause):
                return False
            pause = min(2 * pause, LONGEST_PAUSE)

    # The server on this machine

    def _forward_delivery(self, delivery: Record) -> None:
        self._forward(
            ("webhook", delivery["event"], delivery),
            (DEADLINE, KEPT),
            lambda answer: ("deliveries", {"lease": delivery["lease"], **answer.record()}),
        )

    def _forward_call(self, call: Record) -> None:
        self._forward(
            ("hook", str(json.loads(call["body"])["hookPoint"]), call),
            (call["timeoutMs"] / 1000, KEPT_OF_CALLS),
            lambda answer: ("hookCalls", {"id": call["id"], **answer.record()}),
        )

    def _forward(
        self,
        what: tuple[str, str, Record],
        limits: tuple[float, int],
        report: Callable[[Answer], tuple[str, Record]],
    ) -> None:
        """Send a request on and report the answer, which the platform has to know even where it can't be shown."""
        (_, _, request), (timeout, most) = what, limits
        sent = request["body"].encode()
        answer = self._server.send(request["url"], request["headers"], sent, timeout=timeout, most=most)
        try:
            self._screen.handled(*what, answer)
        finally:
            self._answers.put(report(answer))

    def _begin(self, target: Callable[..., None], *args: Any) -> None:
        threading.Thread(target=self._guarded, args=(target, *args), daemon=True).start()

    def _guarded(self, target: Callable[..., None], *args: Any) -> None:
        """No thread dies alone: what it had would count as busy for good, while the session looks alive."""
        try:
            target(*args)
        except Exception as error:  # `run` raises it
            self._failure = self._failure or error
            self._over.set()
