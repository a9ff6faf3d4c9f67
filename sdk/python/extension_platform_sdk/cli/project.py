"""The app that the current folder holds.

``new`` writes ``extension-platform.json`` with the app's ID beside the app's code, so that commands in this folder, and in the
folders below it, need no ``--app``.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from extension_platform_sdk.transport import Record

from .errors import CliError
from .platform import Platform

FILE = "extension-platform.json"
APP = "EXTENSION_PLATFORM_APP"


def add_app_argument(parser: argparse.ArgumentParser) -> None:
    """``--app`` for commands about one app."""
    parser.add_argument(
        "--app", metavar="APP", help=f"the app's slug or ID (default: {APP}, then {FILE}, then your only app)"
    )


def chosen_app(platform: Platform, args: argparse.Namespace) -> Record:
    """The app's record in the developer API, of ``--app``, the environment, this folder, or the only one."""
    return find_app(platform, args.app)


def find_app(platform: Platform, name: str | None = None) -> Record:
    """The app with this slug or ID; without one that of the environment, of this folder, or the only one."""
    return platform.app(name or os.environ.get(APP) or _app_of_folder())


def write(folder: Path, app: Record) -> None:
    """Note the app in its folder."""
    (folder / FILE).write_text(json.dumps({"app": app["id"]}, indent=2) + "\n", encoding="utf-8")


def root() -> Path | None:
    """The nearest folder with the file, from here upward."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def _app_of_folder() -> str | None:
    folder = root()
    if folder is None:
        return None
    try:
        return str(json.loads((folder / FILE).read_text(encoding="utf-8-sig"))["app"])
    except (ValueError, KeyError, TypeError):
        raise CliError(f'{folder / FILE} must be a JSON object with "app", the ID of your app.') from None
