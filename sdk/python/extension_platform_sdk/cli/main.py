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
from typing import NoReturn, Protocol

from extension_platform_sdk import __version__
from extension_platform_sdk.errors import PlatformError

from . import (
    app,
    apps,
    check,
    dev,
    filter,
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
from .errors import CliError, UsageError
from .output import error_record, finish, prepare, say
from .platform import description


class Command(Protocol):
    NAME: str
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


COMMANDS: tuple[Command, ...] = (
    login, logout, apps, app, new, install, dev, listen, trigger, manifest, filter, logs, resend, check, submit, status, versions,
    release, restore, members, schema,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    as_json = "--json" in words  # so that wrong arguments are JSON, too
    prepare()
    try:
        try:
            args = _parser().parse_args(words)
            as_json = args.json
            return int(args.command.run(args))
        finally:  # also of --help, which exits
            finish()
    except CliError as error:
        return _fail(error, error.message, error.status, as_json=as_json)
    except PlatformError as error:
        return _fail(error, description(error), 1, as_json=as_json)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        return 0
    except OSError as error:  # of a file
        reason = f"{error.filename}: {error.strerror}." if error.filename else f"{error}."
        return _fail(error, reason, 1, as_json=as_json)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise UsageError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="extension-platform", description="Build and test apps for an Extension Platform.")
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


def _fail(error: Exception, message: str, status: int, *, as_json: bool) -> int:
    if as_json:
        say(json.dumps(error_record(message, error)))
    say(f"error: {message}", apart=True)
    return status
