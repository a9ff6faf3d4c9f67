"""``listen``: webhooks and hook calls of the sandbox store, for a server on this machine."""

from __future__ import annotations

import argparse
import json
import re
import signal
import threading
from datetime import UTC, datetime, timedelta
from types import FrameType

from extension_platform_sdk.transport import Record

from . import config
from .errors import UsageError
from .forwarding import Answer, Target
from .install import standard
from .output import add_json_argument, say
from .platform import Platform, app_path
from .project import add_app_argument, chosen_app
from .session import Session

NAME = "listen"
HELP = "receive webhooks and hook calls of your sandbox store on this machine"

_FAILURES = {
    "refused": "nothing listens on {address}",
    "dns": "{address} has no such host",
    "tls": "the TLS handshake with {address} failed (--skip-verify accepts any certificate of this machine)",
    "reset": "the connection was closed without an answer",
    "timeout_connect": "no connection in time",
    "timeout_response": "no answer in time",
    "protocol": "the answer was not HTTP",
}
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


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
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    forward(args, _target(args.forward_to, verify=not args.skip_verify))
    return 0


def forward(args: argparse.Namespace, target: Target) -> None:
    """Listen until Ctrl-C or SIGTERM. ``args`` has ``app``, ``environment``, ``since``, ``prints`` and ``json``."""
    account = config.account()
    with Platform(account) as platform:
        app = chosen_app(platform, args)
        token = _install(platform, app)
    screen = JsonLines(app) if args.json else Lines(app, target.address, args.since, prints=args.prints)
    session = Session(account, app, target, screen)
    if token:
        screen.installed(token)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        session.run(since=args.since)
    except KeyboardInterrupt:
        screen.say("Stopping.")
    finally:
        session.stop()
        signal.signal(signal.SIGTERM, before)


def _install(platform: Platform, app: Record) -> str | None:
    """Install the app on the sandbox store unless it is there, and return the access token."""
    if platform.get(app_path(app, "/test-status"))["installed"]:
        return None
    return str(platform.post(app_path(app, "/test-install"))["accessToken"])


class Lines:
    """For people."""

    def __init__(self, app: Record, address: str, since: datetime | None, *, prints: bool) -> None:
        self._name, self._address, self._since, self._prints = app["name"], address, since, prints
        self._lock = threading.Lock()

    def say(self, text: str, *, wait: float = 0.0) -> None:
        with self._lock:
            say(text)

    def installed(self, token: str) -> None:
        self.say(f"{self._name} was not on your sandbox store, and is now installed there.")
        self.say(f"Access token, shown only now: {token}")

    def began(self, listener: Record) -> None:
        self.say(f"Listening for {self._name} on your sandbox store. Ctrl-C stops it.")
        self.say(f"Forwarding to {self._address}")
        self.say(f"Webhook secret: {listener['webhookSecret']}")
        self.say(f"For Standard Webhooks libraries: {standard(listener['webhookSecret'])}")
        if not listener["webhookUrl"]:
            self.say(
                "The app has no Webhook URL, so it gets no hook calls, and events for its own webhooks only. Set one in the "
                "portal: while you listen, nothing is sent there."
            )
        if self._since:
            self.say(f"Fetching {listener['resent']} deliveries since {self._since:%Y-%m-%d %H:%M:%S} UTC.")

    def handled(self, kind: str, name: str, request: Record, answer: Answer) -> None:
        at, shown = datetime.now().astimezone(), f"hook {name}" if kind == "hook" else name
        outcome = answer.status or _FAILURES[answer.error or "reset"].format(address=self._address)
        lines = [f"{at:%H:%M:%S}  {shown:<28} {outcome}  {answer.duration_ms} ms"]
        if self._prints:
            lines += [f"    {header}: {value}" for header, value in request["headers"].items()]
            lines += [f"    {request['body']}"]
            if answer.body:
                lines += [f"  answer: {answer.body.decode('utf-8', 'replace')}"]
        self.say("\n".join(lines))

    def reported(self, answers: list[tuple[str, Record]]) -> None:
        pass


class JsonLines:
    """For programs: one object a line, whose ``type`` says which."""

    def __init__(self, app: Record) -> None:
        self._app = app
        self._lock = threading.Lock()

    def say(self, text: str, *, wait: float = 0.0) -> None:
        self._write("message", message=text)

    def installed(self, token: str) -> None:
        self._write("installed", accessToken=token)

    def began(self, listener: Record) -> None:
        self._write("listening", app=self._app["slug"], **listener)

    def handled(self, kind: str, name: str, request: Record, answer: Answer) -> None:
        self._write(
            "request",
            kind=kind,
            name=name,
            id=request["id"],
            installationId=request["installationId"],
            status=answer.status,
            error=answer.error,
            durationMs=answer.duration_ms,
            headers=request["headers"],
            body=request["body"],
        )

    def reported(self, answers: list[tuple[str, Record]]) -> None:
        pass

    def _write(self, name: str, /, **record: object) -> None:
        with self._lock:
            say(json.dumps({"type": name, **record}))


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _target(text: str, *, verify: bool) -> Target:
    try:
        return Target(text, verify=verify)
    except ValueError:
        here = "" if verify else " of this machine, as --skip-verify wants"
        raise UsageError(
            f"{text} is no address{here}. Give one such as http{'' if verify else 's'}://localhost:3000."
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
