"""``trigger``: cause an event by a real change on the sandbox store."""

from __future__ import annotations

import argparse

from extension_platform_sdk.transport import Record

from .errors import CliError
from .platform import Platform, app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "trigger"
HELP = "cause an event by a real change on your sandbox store"

ERASURE = "business.data_erasure"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("event", nargs="?", metavar="EVENT", help="such as order.created")
    what.add_argument("--scenario", metavar="NAME", help="several changes, such as day")
    what.add_argument("--list", action="store_true", help="list events and scenarios")
    add_app_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        if args.list:
            return _list(platform)
        app = chosen_app(platform, args)
        wanted = {"scenario": args.scenario} if args.scenario else {"event": args.event}
        _check(platform, wanted)
        steps = platform.post(app_path(app, "/test-changes"), wanted)["steps"]
    for step in steps:
        _say(step)
    if args.event == ERASURE:
        print("To try it again, install the app on your sandbox store: extension-platform install")
    return 1 if any(step["problem"] for step in steps) else 0


def _list(platform: Platform) -> int:
    known = platform.get("/developer/test-changes")
    print("Events:")
    for each in known["changes"]:
        print(f"  {each['event']:24} {each['title']}")
    print("Scenarios:")
    for each in known["scenarios"]:
        print(f"  {each['scenario']:24} {each['description']}")
    return 0


def _check(platform: Platform, wanted: dict[str, str]) -> None:
    """Say what there is instead of an unknown name. Raises ``CliError``."""
    known = platform.get("/developer/test-changes")
    for kind, name in wanted.items():
        names = [each[kind] for each in known[f"{kind}s" if kind == "scenario" else "changes"]]
        if name not in names:
            raise CliError(f"There is no {kind} {name}. Choose one of: {', '.join(names)}.")


def _say(step: Record) -> None:
    print(step["problem"] or step["result"])
    for event in step["events"]:
        deliveries = len(event["deliveries"])
        webhooks = "1 webhook" if deliveries == 1 else f"{deliveries} webhooks"
        print(f"  {event['event']}: {event['reason'] or f'sent to {webhooks}.'}")
