"""``release``: how the newest approved version reaches stores; advances, halts, resumes it or takes it back."""

from __future__ import annotations

import argparse

from extension_platform_sdk.transport import Record

from .errors import UsageError
from .output import add_json_argument, show
from .platform import app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "release"
HELP = "show, advance, halt, resume or take back the release of your app"
ACTIONS = ("advance", "halt", "resume", "back")
WITH_REASON = ("halt", "back")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, help="what to do; without it, the release is shown"
    )
    parser.add_argument("--reason", metavar="TEXT", help="why you halt it or take it back")
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.reason is not None and args.action not in WITH_REASON:
        raise UsageError(f"--reason goes with {' and '.join(WITH_REASON)}.")
    with signed_in() as platform:
        path = app_path(chosen_app(platform, args), "/release")
        if args.action is None:
            found = platform.get(path)
        elif args.reason is not None:
            found = platform.post(f"{path}/{args.action}", {"reason": args.reason})
        else:
            found = platform.post(f"{path}/{args.action}")
    show(found, args, "\n".join(_lines(found)))
    return 0


def _lines(release: Record) -> list[str]:
    stores = release["stores"]
    lines = [
        f"{release['version']}: {release['state']}, {release['percent']}%",
        f"stores  {stores['new']} with the new version, {stores['old']} with the old one",
    ]
    lines += [f"{name:7} {_calls(release['health'][name])}" for name in ("new", "old")]
    if release["nextStepAt"]:
        lines.append(f"next step at {release['nextStepAt']}")
    if release["reason"]:
        lines.append(release["reason"])
    return lines


def _calls(calls: Record) -> str:
    if not calls["calls"]:
        return "no calls"
    return f"{calls['failed']} of {calls['calls']} calls failed, p95 {calls['p95Ms']} ms"
