"""The app that the current folder holds.

``new`` writes ``extension-platform.json`` with the app's ID beside the app's code, so that commands in this folder, and in the
folders below it, need no ``--app``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path

from extension_platform_sdk.transport import Record

from .errors import CliError
from .platform import Platform

FILE = "extension-platform.json"
APP = "EXTENSION_PLATFORM_APP"
ENVIRONMENTS = "environments"


def add_app_argument(parser: argparse.ArgumentParser) -> None:
    """``--app`` for commands about one app."""
    parser.add_argument(
        "--app", metavar="APP", help=f"the app's slug or ID (default: {APP}, then {FILE}, then your only app)"
    )
    parser.add_argument(
        "--environment",
        metavar="NAME",
        type=_environment,
        help="the app of this environment, such as staging; app.json says what is different there",
    )


def _environment(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,19}", text):
        raise argparse.ArgumentTypeError(f"{text} is no name of an environment, such as staging")
    return text


def chosen_app(platform: Platform, args: argparse.Namespace) -> Record:
    """The app's record in the developer API, of ``--app``, the environment, this folder, or the only one."""
    if args.environment and not args.app:
        found = app_of(args.environment)
        if found is None:
            raise CliError(
                f"{FILE} names no app for {args.environment}. Register one: extension-platform app push --environment "
                f"{args.environment}"
            )
        return platform.app(found)
    return find_app(platform, args.app)


def find_app(platform: Platform, name: str | None = None) -> Record:
    """The app with this slug or ID; without one that of the environment, of this folder, or the only one."""
    return platform.app(name or os.environ.get(APP) or app_of())


def write(folder: Path, app: Record, environment: str | None = None, **more: str | int) -> None:
    """Note the app in its folder; that of an environment beside the others. ``more`` is for ``dev``: ``start`` and ``port``."""
    path = folder / FILE
    kept = _read(path) if environment and path.exists() else {}
    if environment:
        kept[ENVIRONMENTS] = kept.get(ENVIRONMENTS, {}) | {environment: app["id"]}
    else:
        kept = {"app": app["id"], **more}
    path.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def root() -> Path | None:
    """The nearest folder with the file, from here upward."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def app_of(environment: str | None = None) -> str | None:
    """The ID of the folder's app, or of its app in an environment; None if it isn't known."""
    folder = root()
    if folder is None:
        return None
    found = _read(folder / FILE)
    if environment is None:
        return str(found["app"])
    of_environment = found.get(ENVIRONMENTS, {}).get(environment)
    return str(of_environment) if of_environment else None


def noted(name: str) -> str | int | None:
    """Something else that the file says, such as ``start``."""
    folder = root()
    found: str | int | None = _read(folder / FILE).get(name) if folder else None
    return found


def _read(path: Path) -> Record:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
        found["app"], dict(found.get(ENVIRONMENTS, {}))
    except (ValueError, KeyError, TypeError):
        raise CliError(f'{path} must be a JSON object with "app", the ID of your app.') from None
    return dict(found)
