"""``schema``: the JSON Schema of what a command prints with ``--json``."""

from __future__ import annotations

import argparse
import json
from importlib.resources import files

from extension_platform_sdk.transport import Record

from .errors import UsageError
from .output import add_json_argument, say

NAME = "schema"
HELP = "print the JSON Schema of what a command prints with --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "command_name", metavar="COMMAND", nargs="?", help="such as submit (default: all of them)"
    )
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    found = schemas()
    if args.command_name is None:
        say(json.dumps(found, indent=2))
        return 0
    if args.command_name not in found["properties"]:
        raise UsageError(f"There is no {args.command_name}. Choose one of: {', '.join(found['properties'])}.")
    say(json.dumps(schema_of(args.command_name), indent=2))
    return 0


def schemas() -> Record:
    """One schema, with a property for each command."""
    text = (files("extension_platform_sdk.cli") / "schemas.json").read_text(encoding="utf-8")
    found: Record = json.loads(text)
    return found


def schema_of(command: str) -> Record:
    """Of the output of one command, or of \"error\"."""
    found = schemas()
    return {"$schema": found["$schema"], "$defs": found["$defs"], **found["properties"][command]}
