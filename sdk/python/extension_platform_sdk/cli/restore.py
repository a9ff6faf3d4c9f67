"""``restore``: brings an approved version back, in stores and as the working copy, without a review."""

from __future__ import annotations

import argparse
import sys

from .errors import CliError
from .output import add_json_argument, agreed, show
from .platform import app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "restore"
HELP = "bring an approved version of your app back, in stores and as the working copy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", type=int, metavar="NUMBER", help="of the version, as `versions` lists it")
    parser.add_argument(
        "--yes", action="store_true", help="don't ask; without a terminal nothing is asked anyway"
    )
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        app = chosen_app(platform, args)
        if sys.stdin and sys.stdin.isatty() and not args.yes:
            what = f"Stores get version number {args.number} of {app['name']}, and it replaces your working copy."
            if not agreed(f"{what} What you changed there since is lost. Restore it?"):
                raise CliError("Nothing is changed.")
        restored = platform.post(app_path(app, f"/versions/{args.number}/restore"))
    show(
        restored,
        args,
        f"{app['name']} is at version {restored['version']} again, in stores and in the portal.",
    )
    return 0
