"""``logs``: what the app did and was sent: API calls, hook calls and webhook deliveries, with reasons."""

from __future__ import annotations

import argparse
import json
import time
from collections import OrderedDict
from datetime import datetime

from extension_platform_sdk.transport import Record

from .output import add_json_argument, say
from .patience import patiently
from .platform import Platform, app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "logs"
HELP = "show API calls, hook calls and webhook deliveries, with reasons"

EVERY = 2.0  # seconds between two looks
REMEMBERED = 5_000  # entries
MOST_PAGES = 20  # for one look: 1,000 entries
KINDS = {"api": "call", "hook": "hook", "webhook": "event"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_app_argument(parser)
    parser.add_argument(
        "-f", "--follow", action="store_true", help="go on, and show each entry as it happens"
    )
    parser.add_argument(
        "-n", type=int, default=20, metavar="N", help="how many earlier entries (default: 20)"
    )
    parser.add_argument("--kind", choices=tuple(KINDS), help="only API calls, hook calls or webhooks")
    parser.add_argument("--failed", action="store_true", help="only what failed")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        log = Log(platform, chosen_app(platform, args), kind=args.kind, failed=args.failed)
        for entry in reversed(log.newest(max(0, args.n))):
            _show(entry, as_json=args.json)
        while args.follow:
            time.sleep(EVERY)
            # Nothing is lost meanwhile: a look reads back to the last entry that was shown.
            for entry in patiently(log.fresh, say=_say_apart, wait=time.sleep):
                _show(entry, as_json=args.json)
    return 0


class Log:
    """The activity of an app, and which of it was returned already.

    A delivery is returned again when its status changes. Calls are recorded about a second late, so new ones are found
    by comparing IDs, not times.
    """

    def __init__(self, platform: Platform, app: Record, *, kind: str | None, failed: bool) -> None:
        self._platform = platform
        self._path = app_path(app, "/activity")
        self._filters = {"kind": kind, "status": "failed" if failed else None}
        self._seen: OrderedDict[str, str] = OrderedDict()

    def newest(self, count: int) -> list[Record]:
        """The newest entries, newest first; the rest of the newest page counts as returned, too."""
        data: list[Record] = []
        before: str | None = None
        while True:
            page = self._page(before)
            data += page["data"]
            before = page["next"]
            if before is None or len(data) >= count:
                break
        self._remember(data)
        return data[:count]

    def fresh(self) -> list[Record]:
        """New and changed entries since the last look, oldest first."""
        found: list[Record] = []
        before: str | None = None
        for _ in range(MOST_PAGES):
            page = self._page(before)
            new = [entry for entry in page["data"] if self._seen.get(entry["id"]) != _state(entry)]
            found += new
            before = page["next"]
            if before is None or len(new) < len(page["data"]):
                break
        self._remember(found)
        return found[::-1]

    def _page(self, before: str | None) -> Record:
        return self._platform.get(self._path, before=before, **self._filters)

    def _remember(self, entries: list[Record]) -> None:
        for entry in reversed(entries):
            self._seen[entry["id"]] = _state(entry)
            self._seen.move_to_end(entry["id"])
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)


def _say_apart(text: str, *, wait: float = 0.0) -> None:
    say(text, apart=True)


def _state(entry: Record) -> str:
    return f"{entry['status']} {entry['reason']}"


def _show(entry: Record, *, as_json: bool) -> None:
    if as_json:
        say(json.dumps(entry))
        return
    at = datetime.fromisoformat(entry["at"]).astimezone()
    took = f"{entry['durationMs']} ms" if entry["durationMs"] is not None else ""
    reason = f"  {entry['reason']}" if entry["reason"] else ""
    status, kind = entry["status"], KINDS[entry["kind"]]
    say(f"{at:%H:%M:%S}  {kind:5}  {status:10}  {took:>8}  {entry['name']}{reason}")
