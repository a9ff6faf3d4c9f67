"""``filter``: which events the app's Webhook URL gets."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .errors import CliError
from .output import add_json_argument, show
from .platform import app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "filter"
HELP = "show, set or remove the filter of your app's Webhook URL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--set", metavar="FILE", help="save the JSON in this file as the filter; - reads the standard input"
    )
    what.add_argument("--remove", action="store_true", help="deliver every event again")
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    wanted = _read(args.set) if args.set else None
    with signed_in() as platform:
        app = chosen_app(platform, args)
        if args.set or args.remove:
            app = platform.patch(app_path(app), {"webhookFilter": wanted})
    found = app["webhookFilter"]
    words = "Every event is delivered." if found is None else json.dumps(found, ensure_ascii=False, indent=2)
    show({"webhookFilter": found}, args, words)
    return 0


def _read(file: str) -> Any:
    """The JSON in a file. Raises ``CliError``; what is wrong with the filter itself is for the platform to say."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
        return json.loads(text)
    except FileNotFoundError:
        raise CliError(f"There is no {file}.") from None
    except (OSError, ValueError) as error:
        raise CliError(f"{file} can't be read as JSON: {error}.") from None
