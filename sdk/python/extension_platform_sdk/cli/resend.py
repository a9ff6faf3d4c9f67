"""``resend``: sends a delivery again, under its own ID."""

from __future__ import annotations

import argparse
from urllib.parse import quote

from .output import add_json_argument, show
from .platform import app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "resend"
HELP = "resend a delivery"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "delivery", metavar="ID", help="of the delivery, as `logs --json` and X-Service-Event-Id have it"
    )
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    with signed_in() as platform:
        app = chosen_app(platform, args)
        again = platform.post(app_path(app, f"/deliveries/{quote(args.delivery, safe='')}/redeliver"))
    show(again, args, f"{again['event']} is queued again. See the response: extension-platform logs -f")
    return 0
