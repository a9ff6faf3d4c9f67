"""``python -m extension_platform_store check DRIVER`` and ``new-shop DIR``: try a connected shop, or begin with a small one.

======  ==========================================
status  when
======  ==========================================
0       done, and no rule failed
1       a rule failed; the output says which
2       the command couldn't run; the message says why
130     interrupted with Ctrl-C
======  ==========================================
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import __version__, new_shop
from .check.door import Door
from .check.driver import DriverError, load_driver
from .check.report import Lines, record_of, summary, write_json, write_junit
from .check.run import UnknownRule, chosen, run_rules
from .check.subject import PATIENCE, Subject

PROGRAM = "python -m extension_platform_store"


def main(argv: Sequence[str] | None = None) -> int:
    """Read the arguments, run one command, and return the exit status."""
    args = _parser().parse_args(argv)
    try:
        return int(args.run(args))
    except (DriverError, UnknownRule, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Connect a shop to an Extension Platform.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    check = commands.add_parser("check", help="try whether your shop behaves as the guide asks")
    check.add_argument("driver", type=Path, help="the file of your driver")
    check.add_argument(
        "--platform", metavar="URL", default=os.environ.get("PLATFORM_URL"), help="default: PLATFORM_URL; the key is in PLATFORM_KEY"
    )  # fmt: skip
    check.add_argument("--store", default="main", help="your own id of the store (default: main)")
    check.add_argument(
        "--only", action="append", default=[], metavar="RULE", help="a rule, or the beginning of several; may be repeated"
    )  # fmt: skip
    check.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML, for a CI")
    check.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    check.add_argument(
        "--port",
        type=int,
        default=0,
        help="where your shop finds the check on this machine (default: a free port)",
    )
    check.add_argument(
        "--patience",
        type=float,
        default=PATIENCE,
        metavar="SECONDS",
        help="that a row may take (default: 30)",
    )
    check.set_defaults(run=_check)
    making = commands.add_parser(new_shop.NAME, help=new_shop.HELP)
    new_shop.add_arguments(making)
    making.set_defaults(run=new_shop.run)
    return parser


def _check(args: argparse.Namespace) -> int:
    key = os.environ.get("PLATFORM_KEY", "")
    if not args.platform or not key:
        raise DriverError(
            "The check needs a platform: set PLATFORM_URL, and the connection's key as PLATFORM_KEY."
        )
    platform, rules, driver = args.platform.rstrip("/"), chosen(args.only), load_driver(args.driver)
    began = time.monotonic()

    lines = Lines(platform, lambda text: print(text, flush=True))
    with Door(platform, key, port=args.port) as door:
        results = run_rules(Subject(driver, door, args.store, args.patience), rules, lines.add)
    lines.end()
    print(summary(results))
    record = record_of(results, platform=platform, store=args.store, seconds=time.monotonic() - began)
    if args.json:
        write_json(args.json, record)
    if args.junit:
        write_junit(args.junit, record)
    return 0 if record["status"] == "PASSED" else 1


if __name__ == "__main__":
    sys.exit(main())
