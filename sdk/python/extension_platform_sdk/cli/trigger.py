"""``trigger``: cause an event by a real change on the sandbox store."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from extension_platform_sdk.transport import Record

from .errors import UsageError
from .output import add_json_argument, show
from .platform import Platform, app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "trigger"
HELP = "cause an event by a real change on your sandbox store"

ERASURE = "business.data_erasure"
UPDATED = "installation.updated"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("event", nargs="?", metavar="EVENT", help="such as order.created")
    what.add_argument("--scenario", metavar="NAME", help="several changes, such as day")
    what.add_argument("--list", action="store_true", help="list events and scenarios")
    parser.add_argument(
        "--settings",
        metavar="JSON",
        type=_settings,
        help=f'the settings that {UPDATED} saves, such as \'{{"color": "blue"}}\'',
    )
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        if args.list:
            known = platform.get("/developer/test-changes")
            show(known, args, "\n".join(_names(known)))
            return 0
        app = chosen_app(platform, args)
        wanted = {"scenario": args.scenario} if args.scenario else {"event": args.event}
        if args.settings is not None and args.event != UPDATED:
            raise UsageError(f"--settings belongs to the event {UPDATED}.")
        _check(platform, wanted)
        if args.settings is not None:
            wanted["settings"] = args.settings
        steps = platform.post(app_path(app, "/test-changes"), wanted)["steps"]
    lines = [line for step in steps for line in _lines(step)]
    if args.event == ERASURE:
        lines.append("To try it again, install the app on your sandbox store: extension-platform install")
    show({"steps": steps}, args, "\n".join(lines))
    return 1 if any(step["problem"] for step in steps) else 0


def _settings(text: str) -> Record:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"this is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError("settings are a JSON object")
    return found


def _names(known: Record) -> Iterator[str]:
    yield "Events:"
    for each in known["changes"]:
        yield f"  {each['event']:24} {each['title']}"
    yield "Scenarios:"
    for each in known["scenarios"]:
        yield f"  {each['scenario']:24} {each['description']}"


def _check(platform: Platform, wanted: dict[str, str]) -> None:
    """Say what there is instead of an unknown name. Raises ``UsageError``."""
    known = platform.get("/developer/test-changes")
    for kind, name in wanted.items():
        names = [each[kind] for each in known[f"{kind}s" if kind == "scenario" else "changes"]]
        if name not in names:
            raise UsageError(f"There is no {kind} {name}. Choose one of: {', '.join(names)}.")


def _lines(step: Record) -> Iterator[str]:
    yield step["problem"] or step["result"]
    for event in step["events"]:
        deliveries = len(event["deliveries"])
        webhooks = "1 webhook" if deliveries == 1 else f"{deliveries} webhooks"
        if deliveries or not event["reason"]:
            yield f"  {event['event']}: queued for {webhooks}."
        if event["reason"]:
            yield f"  {event['event']}: {event['reason']}"
