"""What a test store's listener brings, and what became of it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from extension_platform_sdk.cli.config import Account
from extension_platform_sdk.cli.forwarding import Answer, Target
from extension_platform_sdk.cli.session import Session
from extension_platform_sdk.transport import Record

ATTACHED_WITHIN = 15.0  # seconds, and as long as the platform asks to wait
WAITS_AT_MOST = 150.0


class AppServer:
    """The app's server, or what takes its place while ``down_with`` is a status."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.down_with: int | None = None

    def send(self, url: str, headers: Mapping[str, str], body: bytes, *, timeout: float, most: int) -> Answer:
        if self.down_with is not None:
            return Answer(self.down_with, 0)
        return self._target.send(url, headers, body, timeout=timeout, most=most)


@dataclass(frozen=True, slots=True)
class Reported:
    """An attempt of which the platform knows."""

    event: str
    delivery: str
    status: int | None
    error: str | None

    @property
    def succeeded(self) -> bool:
        return 200 <= (self.status or 0) < 300

    def __str__(self) -> str:
        return str(self.status or f"no answer ({self.error})")


class Listening:
    """A listener in a thread of its own. It is the session's ``Screen``, too."""

    def __init__(self, account: Account, app: Record, store: str, server: AppServer) -> None:
        self._session = Session(account, app, server, self, test_store=store)
        self._events: dict[str, str] = {}  # names by delivery
        self._reported: list[Reported] = []
        self._changed = threading.Condition()
        self._began, self._failure, self._said = False, "", ""
        self._latest = self._until = 0.0

    def start(self) -> None:
        """Return once the platform knows of it. Raises ``RuntimeError`` if it doesn't in time."""
        now = time.monotonic()
        self._until, self._latest = now + ATTACHED_WITHIN, now + WAITS_AT_MOST
        threading.Thread(target=self._run, daemon=True).start()
        with self._changed:
            while not (self._began or self._failure) and (left := self._until - time.monotonic()) > 0:
                self._changed.wait(left)
        self._check()
        if not self._began:
            raise RuntimeError(f"This test couldn't listen to its store in time. {self._said}".strip())

    def stop(self) -> None:
        self._session.stop()

    def wait_for(self, event: str, *, timeout: float, attempts: int | None, known: set[str]) -> str | None:
        """The delivery of an event that has succeeded, or that had so many attempts.

        None once there was no attempt for so many seconds. ``known`` are the deliveries that a test has seen already.
        """
        with self._changed:
            seen, end = len(self._reported), time.monotonic() + timeout
            while True:
                self._check()
                if found := self._find(event, attempts, known):
                    return found
                if len(self._reported) > seen:
                    seen, end = len(self._reported), time.monotonic() + timeout
                if (left := end - time.monotonic()) <= 0:
                    return None
                self._changed.wait(left)

    def came(self, known: set[str]) -> str:
        """What has reached the app but these deliveries, for a message: a line for each event."""
        outcomes: dict[str, list[str]] = {}
        with self._changed:
            for each in self._reported:
                if each.delivery not in known:
                    outcomes.setdefault(each.event, []).append(str(each))
        lines = [f"  {event}: {', '.join(of_event)}" for event, of_event in sorted(outcomes.items())]
        return "\n".join(lines) or "  none"

    def _find(self, event: str, attempts: int | None, known: set[str]) -> str | None:
        tried: dict[str, int] = {}
        for each in self._reported:
            if each.event == event and each.delivery not in known:
                tried[each.delivery] = tried.get(each.delivery, 0) + 1
                if each.succeeded if attempts is None else tried[each.delivery] >= attempts:
                    return each.delivery
        return None

    def _run(self) -> None:
        try:
            self._session.run()
        except Exception as error:  # the test's own thread raises it
            with self._changed:
                self._failure = str(error) or type(error).__name__
                self._changed.notify_all()

    def _check(self) -> None:
        if self._failure:
            raise RuntimeError(f"This test doesn't listen to its store any more: {self._failure}")

    # The screen

    def say(self, text: str, *, wait: float = 0.0) -> None:
        sys.stderr.write(f"{text}\n")  # pytest shows it for a failed test
        with self._changed:
            self._said, self._until = text, min(time.monotonic() + wait + ATTACHED_WITHIN, self._latest)
            self._changed.notify_all()

    def began(self, listener: Record) -> None:
        with self._changed:
            self._began = True
            self._changed.notify_all()

    def handled(self, kind: str, name: str, request: Record, answer: Answer) -> None:
        if kind == "webhook":
            with self._changed:
                self._events[request["id"]] = name

    def reported(self, answers: list[tuple[str, Record]]) -> None:
        with self._changed:
            for kind, answer in answers:
                if kind == "deliveries":
                    delivery = answer["lease"].partition(":")[0]
                    sent = Reported(self._events[delivery], delivery, answer["httpStatus"], answer["error"])
                    self._reported.append(sent)
            self._changed.notify_all()
