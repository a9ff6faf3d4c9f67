"""``logout``: forgets the token of ``login``."""

from __future__ import annotations

import argparse

from . import config
from .errors import CliError
from .output import add_json_argument, show

NAME = "logout"
HELP = "sign out on this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    kept = config.forget()
    if kept is None:
        raise CliError("You are not signed in.")
    file, url = kept
    show(
        {"url": url, "file": str(file)},
        args,
        f"Deleted {file}. The token still works elsewhere until you revoke it: {url}/accounts/tokens/",
    )
    return 0
