"""The program: reads the arguments, runs one command, and turns errors into a message and an exit status.

======  ==================================================
status  when
======  ==================================================
0       done
1       the platform, a check or a test said no; the message says why
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
from extension_platform_sdk.errors import PlatformError

from . import (
    apps,
    check,
    install,
    listen,
    login,
    logout,
    logs,
    manifest,
    members,
    new,
    release,
    resend,
    restore,
    schema,
    status,
    submit,
    trigger,
    versions,
)
from .errors import CliError
from .output import error_record
from .platform import description


class Command(Protocol):
    NAME: str
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


COMMANDS: tuple[Command, ...] = (
    login, logout, apps, new, install, listen, trigger, manifest, logs, resend, check, submit, status, versions,
    release, restore, members, schema,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    command: Command = args.command
    try:
        return command.run(args)
    except CliError as error:
        return _fail(error, error.message, error.status, args)
    except PlatformError as error:
        return _fail(error, description(error), 1, args)
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


def _fail(error: Exception, message: str, status: int, args: argparse.Namespace) -> int:
    if getattr(args, "json", False):
        print(json.dumps(error_record(message, error), indent=2))
    return _say(message, status)


def _say(message: str, status: int) -> int:
    print(f"error: {message}", file=sys.stderr)
    return status
