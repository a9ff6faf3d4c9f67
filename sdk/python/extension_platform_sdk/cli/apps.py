"""``apps``: your apps on the platform."""

from __future__ import annotations

import argparse

from .output import add_json_argument, named, show
from .platform import signed_in

NAME = "apps"
HELP = "list your apps"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        found = [named(app) | {"status": app["status"]} for app in platform.apps()]
    lines = [f"{app['slug']:24} {app['status']:15} {app['name']}" for app in found]
    show(
        found,
        args,
        "\n".join(lines) or "You have no apps yet. Make one: extension-platform new NAME --template flask",
    )
    return 0
