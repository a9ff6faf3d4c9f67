"""The program: reads the arguments, runs one command, and turns errors into a message and an exit status.

======  ==================================================
status  when
======  ==================================================
0       done
1       the platform or a check said no; the message says why
2       the arguments make no sense
130     interrupted with Ctrl-C
======  ==================================================
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Protocol

from extension_platform_sdk import __version__
from extension_platform_sdk.errors import ApiError, PlatformError
from extension_platform_sdk.transport import Record

from . import (
    check,
    install,
    listen,
    login,
    logs,
    manifest,
    members,
    new,
    release,
    restore,
    status,
    submit,
    trigger,
    versions,
)
from .errors import CliError
from .platform import description


class Command(Protocol):
    NAME: str
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


COMMANDS: tuple[Command, ...] = (
    login, new, install, listen, trigger, manifest, logs, check, submit, status, versions, release, restore,
    members,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    command: Command = args.command
    try:
        return command.run(args)
    except CliError as error:
        return _say(error.message, error.status)
    except PlatformError as error:
        if getattr(args, "json", False) and isinstance(error, ApiError):
            print(json.dumps(_record(error), indent=2))
        return _say(description(error), 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        sys.stderr.close()
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="extension-platform", description="Build and test apps for an Extension Platform."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        summary = command.HELP
        one = commands.add_parser(
            command.NAME, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        command.add_arguments(one)
        one.set_defaults(command=command)
    return parser


def _record(error: ApiError) -> Record:
    """An error in the shape of the developer API, for ``--json``."""
    record: Record = {"statusCode": error.status_code, "message": error.message, "error": error.error}
    return record | ({"details": error.details} if error.details else {})


def _say(message: str, status: int) -> int:
    print(f"error: {message}", file=sys.stderr)
    return status
