"""``listen``: webhooks and hook calls of the sandbox store, for a server on this machine.

One thread asks the platform for work, and waits up to 20 seconds for it. Deliveries are forwarded ten at a time, hook calls at
once. Another thread reports the answers, several at a time while they come quickly. Whatever is not reported, since this
process died or the network did, the platform resends under the same id.
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any

from extension_platform_sdk.errors import ApiError, PlatformError, RateLimited, Unreachable
from extension_platform_sdk.transport import Record

from . import config
from .errors import CliError
from .forwarding import Answer, Target
from .install import standard
from .platform import Platform, app_path
from .project import add_app_argument, chosen_app

NAME = "listen"
HELP = "receive webhooks and hook calls of your sandbox store on this machine"

WAIT = 20  # seconds that the platform waits for something to come
DEADLINE = 10.0  # seconds that a server has for a delivery
AT_ONCE = 10  # deliveries that are forwarded side by side
KEPT = 4096  # bytes of the answer to a delivery, and of that to a hook call
KEPT_OF_CALLS = 64 * 1024
REPORTED_AT_ONCE = 20
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 15.0  # seconds between two tries to reach the platform
FAREWELL = 2.0  # seconds after Ctrl-C for what is being answered

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_FAILURES = {
    "refused": "nothing listens on {address}",
    "dns": "{address} has no such host",
    "tls": "the TLS handshake with {address} failed (--skip-verify accepts any certificate of this machine)",
    "reset": "the connection was closed without an answer",
    "timeout_connect": "no connection in time",
    "timeout_response": "no answer in time",
    "protocol": "the answer was not HTTP",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--forward-to",
        metavar="URL",
        required=True,
        help="your server, such as http://localhost:3000, or its port; requests keep their paths",
    )
    parser.add_argument(
        "--skip-verify",
        action="store_true",
        help="accept any certificate of your server, if that is https://localhost",
    )
    add_app_argument(parser)
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=_moment,
        help="also fetch what was not delivered since then: 30m, 2h, 1d or 2026-11-20T15:04:05Z",
    )
    parser.add_argument("--print", dest="prints", action="store_true", help="show headers and bodies")


def run(args: argparse.Namespace) -> int:
    target = _target(args.forward_to, verify=not args.skip_verify)
    account = config.account()
    with Platform(account) as platform:
        app = chosen_app(platform, args)
        token = _install(platform, app)
    session = Session(account, app, target, prints=args.prints)
    if token:
        session.screen.say(f"{app['name']} was not on your sandbox store, and is now installed there.")
        session.screen.say(f"Access token, shown only now: {token}")
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        session.run(since=args.since)
    except KeyboardInterrupt:
        session.screen.say("Stopping.")
    finally:
        session.stop()
        signal.signal(signal.SIGTERM, before)
    return 0


def _install(platform: Platform, app: Record) -> str | None:
    """Install the app on the sandbox store unless it is there, and return the access token."""
    if platform.get(app_path(app, "/test-status"))["installed"]:
        return None
    return str(platform.post(app_path(app, "/test-install"))["accessToken"])


class Screen:
    """Lines of several threads, each whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def say(self, text: str) -> None:
        with self._lock:
            print(text, flush=True)


class Session:
    """A connection with the platform, which begins again by itself whenever it breaks."""

    def __init__(self, account: config.Account, app: Record, target: Target, *, prints: bool) -> None:
        self.screen = Screen()
        self._account, self._path, self._target, self._prints = (
            account,
            app_path(app, "/listener"),
            target,
            prints,
        )
        self._name = str(app["name"])
        self._listener = ""
        self._busy: set[str] = set()
        self._waiting: queue.SimpleQueue[Record] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[str, Record]] = queue.SimpleQueue()
        self._unreported = 0
        self._changed = threading.Condition()

    def run(self, *, since: datetime | None) -> None:
        """Forward until Ctrl-C. Raises ``PlatformError`` or ``CliError`` for what doesn't pass by itself."""
        for _ in range(AT_ONCE):
            _begin(self._forward_deliveries)
        _begin(self._report)
        with Platform(self._account, timeout=WAIT + 15.0) as platform:
            self._attach(platform, since)
            while True:
                self._ask(platform)

    def stop(self) -> None:
        """Wait a moment for what is being answered, and give the rest back to the platform."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unreported, FAREWELL)
        if self._listener:
            with suppress(PlatformError), Platform(self._account, timeout=5.0) as platform:
                platform.delete(f"{self._path}/{self._listener}")

    # The platform

    def _attach(self, platform: Platform, since: datetime | None = None) -> None:
        body = {"since": since.isoformat()} if since else {}
        record = self._call(lambda: platform.post(self._path, body))
        is_first, self._listener = not self._listener, record["listenerId"]
        if not is_first:
            self.screen.say("Listening again.")
            return
        self.screen.say(f"Listening for {self._name} on your sandbox store. Ctrl-C stops it.")
        self.screen.say(f"Forwarding to {self._target.address}")
        self.screen.say(f"Webhook secret: {record['webhookSecret']}")
        self.screen.say(f"For Standard Webhooks libraries: {standard(record['webhookSecret'])}")
        if not record["webhookUrl"]:
            self.screen.say(
                "The app has no Webhook URL, so it gets no hook calls, and events for its own webhooks only. Set one in the "
                "portal: while you listen, nothing is sent there."
            )
        if since:
            self.screen.say(f"Fetching {record['resent']} deliveries since {since:%Y-%m-%d %H:%M:%S} UTC.")

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
            if error.status_code == 404:  # silent for too long, such as a laptop that slept
                self._attach(platform)
                return
            raise
        for delivery in work["deliveries"]:
            with self._changed:
                self._busy.add(delivery["lease"])
                self._unreported += 1
            self._waiting.put(delivery)
        for call in work["hookCalls"]:
            with self._changed:
                self._unreported += 1
            _begin(self._forward_call, call)
        if not room or work["pauseMs"]:
            time.sleep(work["pauseMs"] / 1000)

    def _call(self, send: Callable[[], Record]) -> Record:
        """Its answer, however long the platform can't be reached."""
        pause, lost = FIRST_PAUSE, False
        while True:
            try:
                answer = send()
            except RateLimited as error:
                pause = error.retry_after or LONGEST_PAUSE
                self.screen.say(f"{error.message} Trying again in {pause:.0f} s.")
            except ApiError as error:
                if error.status_code == 409 and self._listener:
                    self._listener = ""
                    raise CliError(
                        "Another command line listens for this app now, so this one has stopped."
                    ) from None
                if error.status_code < 500:
                    raise
                lost = self._lose(lost, f"the platform answered {error.status_code}")
            except Unreachable as error:
                lost = self._lose(lost, str(error))
            else:
                if lost:
                    self.screen.say("The platform can be reached again.")
                return answer
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _lose(self, lost: bool, reason: str) -> bool:
        if not lost:
            self.screen.say(f"Lost the connection ({reason}). Trying again until it works.")
        return True

    def _report(self) -> None:
        """Send answers as they come, all that are there at once."""
        with Platform(self._account, timeout=15.0) as platform:
            while True:
                found = [self._answers.get()]
                with suppress(queue.Empty):
                    while len(found) < REPORTED_AT_ONCE:
                        found.append(self._answers.get_nowait())
                self._send(platform, found)
                with self._changed:
                    self._busy -= {answer["lease"] for kind, answer in found if kind == "deliveries"}
                    self._unreported -= len(found)
                    self._changed.notify_all()

    def _send(self, platform: Platform, found: list[tuple[str, Record]]) -> None:
        """What can't be reported in time, the platform resends."""
        body = {
            kind: [answer for each, answer in found if each == kind] for kind in ("deliveries", "hookCalls")
        }
        pause, end = FIRST_PAUSE, time.monotonic() + DEADLINE
        while True:
            try:
                platform.post(f"{self._path}/{self._listener}/answers", body)
                return
            except ApiError as error:
                if error.status_code < 500:
                    return
            except Unreachable:
                pass
            if time.monotonic() > end:
                return
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    # The server on this machine

    def _forward_deliveries(self) -> None:
        while True:
            delivery = self._waiting.get()
            answer = self._send_on(delivery, delivery["event"], DEADLINE, KEPT)
            self._answers.put(("deliveries", {"lease": delivery["lease"], **answer.record()}))

    def _forward_call(self, call: Record) -> None:
        with suppress(ValueError):
            point = f"hook {json.loads(call['body']).get('hookPoint', '')}"
        answer = self._send_on(call, point, call["timeoutMs"] / 1000, KEPT_OF_CALLS)
        self._answers.put(("hookCalls", {"id": call["id"], **answer.record()}))

    def _send_on(self, request: Record, name: str, timeout: float, most: int) -> Answer:
        sent = request["body"].encode()
        answer = self._target.send(request["url"], request["headers"], sent, timeout=timeout, most=most)
        at = datetime.now().astimezone()
        outcome = answer.status or _FAILURES[answer.error or "reset"].format(address=self._target.address)
        lines = [f"{at:%H:%M:%S}  {name:<28} {outcome}  {answer.duration_ms} ms"]
        if self._prints:
            lines += [f"    {header}: {value}" for header, value in request["headers"].items()]
            lines += [f"    {request['body']}"]
            if answer.body:
                lines += [f"  answer: {answer.body.decode('utf-8', 'replace')}"]
        self.screen.say("\n".join(lines))
        return answer


def _begin(target: Callable[..., Any], *args: Any) -> None:
    threading.Thread(target=target, args=args, daemon=True).start()


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _target(text: str, *, verify: bool) -> Target:
    try:
        return Target(text, verify=verify)
    except ValueError:
        here = "" if verify else " of this machine, as --skip-verify wants"
        raise CliError(
            f"{text} is no address{here}. Give one such as http{'' if verify else 's'}://localhost:3000.",
            status=2,
        ) from None


def _moment(text: str) -> datetime:
    if found := re.fullmatch(r"(\d{1,6})([smhd])", text):
        return datetime.now(UTC) - timedelta(**{_UNITS[found[2]]: int(found[1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is no time such as 30m, 2h, 1d or 2026-11-20T15:04:05Z"
        ) from None
    return moment.astimezone(UTC)
