"""``versions``: the approved versions of an app."""

from __future__ import annotations

import argparse

from extension_platform_sdk.transport import Record

from .output import add_json_argument, show
from .platform import app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "versions"
HELP = "list the approved versions of your app"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        found = platform.get(app_path(chosen_app(platform, args), "/versions"), limit=100)["data"]
    lines = [
        f"{each['number']:>4}  {each['version']:12} {each['approvedAt'][:10]}{_state(each)}" for each in found
    ]
    show(found, args, "\n".join(lines) or "No version is approved yet.")
    return 0


def _state(version: Record) -> str:
    if version["isTakenBack"]:
        return "  taken back"
    return "  in use" if version["isCurrent"] else ""
