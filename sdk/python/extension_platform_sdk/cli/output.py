"""What a command prints: a sentence for people, or with ``--json`` one JSON value for programs.

Commands print by these functions and ``main`` prepares what they print to, so that none of them ends in a traceback because of a
terminal without a letter or a pipe that was closed.

``schemas.json`` beside this file describes the JSON of each command, and ``extension-platform schema`` prints it.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from typing import Any

from extension_platform_sdk.errors import ApiError
from extension_platform_sdk.transport import Record

from .errors import CliError


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, errors included")


def prepare() -> None:
    """Have letters that the terminal's encoding lacks printed as ``\\u5bff``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def finish() -> None:
    """Write what is still to be printed. Raises ``OSError``; the interpreter won't try it again."""
    if sys.stdout is None:  # closed from the start
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def say(text: str, *, apart: bool = False) -> None:
    """Print a line now; ``apart`` from what programs read, on standard error."""
    print(text, file=sys.stderr if apart else sys.stdout, flush=True)


def show(record: Any, args: argparse.Namespace, text: str) -> None:
    if args.json:
        say(json.dumps(record, indent=2))
    elif text:
        say(text)


def agreed(question: str) -> bool:
    """Whether the person at the terminal says yes. Raises ``CliError`` where there is no terminal to ask."""
    if not sys.stdin or not sys.stdin.isatty():
        raise CliError(f"{question} There is no terminal to ask in.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def named(app: Record) -> Record:
    """What programs need of an app."""
    return {name: app[name] for name in ("id", "slug", "name")}


def error_record(message: str, error: Exception) -> Record:
    """An error in the shape of the developer API. ``statusCode`` and ``code`` are null unless the platform answered."""
    record: Record = {"type": "error", "statusCode": None, "message": message, "error": type(error).__name__}
    if not isinstance(error, ApiError):
        return record | {"code": None}
    record |= {
        "statusCode": error.status_code,
        "message": error.message,
        "error": error.error,
        "code": error.code,
    }
    return record | ({"details": error.details} if error.details else {})
