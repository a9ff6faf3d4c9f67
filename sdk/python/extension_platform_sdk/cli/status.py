"""``status``: whether an app is in review, what the reviewers wrote, and which version stores use."""

from __future__ import annotations

import argparse

from extension_platform_sdk.transport import Record

from .output import add_json_argument, show
from .platform import app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "status"
HELP = "show your app's status, its newest submission, and the version that stores use"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        app = chosen_app(platform, args)
        submissions = platform.get(app_path(app, "/submissions"), limit=1)["data"]
        versions = platform.get(app_path(app, "/versions"), limit=100)["data"]
    found: Record = {
        "app": {name: app[name] for name in ("id", "slug", "name", "status", "isListed", "version")},
        "submission": submissions[0] if submissions else None,
        "liveVersion": next((each for each in versions if each["isCurrent"]), None),
    }
    show(found, args, "\n".join(_lines(found)))
    return 0


def _lines(found: Record) -> list[str]:
    app, submission, live = found["app"], found["submission"], found["liveVersion"]
    lines = [f"{app['name']} ({app['slug']}): {app['status']}"]
    if live:
        lines.append(f"Stores use version {live['version']}, approved on {live['approvedAt'][:10]}.")
    if submission:
        lines.append(f"Submission of {submission['submittedAt'][:10]}: {submission['status']}")
        lines += [f"  {line}" for line in (submission["notes"] or "").splitlines()]
    return lines
