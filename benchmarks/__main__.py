"""`python -m benchmarks [name …]`: see `--help`."""

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.utils.module_loading import import_string

from benchmarks import environment, pairs
from benchmarks.processes import Failed
from benchmarks.results import Row, heading, line

# Where each is found. They import models, and so can only be imported on a prepared environment.
BENCHMARKS = {
    "drain": "benchmarks.drain.drain",
    "drain-slow": "benchmarks.drain.drain_slow",
    "dispatchers": "benchmarks.sharing.dispatchers",
    "latency": "benchmarks.latency.latency",
    "isolation": "benchmarks.latency.isolation",
    "claims": "benchmarks.claiming.claims_among_finished",
    "judging": "benchmarks.jobs.judging",
    "jobs": "benchmarks.jobs.jobs",
    "stray-files": "benchmarks.stray_files.stray_files",
    "month": "benchmarks.history.month",
    "long-transaction": "benchmarks.long_transaction.long_transaction",
    "fan-out": "benchmarks.fanout.fan_out",
    "backlog": "benchmarks.backlog.backlog",
    "memory": "benchmarks.memory.memory",
    "idle": "benchmarks.idle.idle",
    "product-list": "benchmarks.app_api.product_list",
    "call-log": "benchmarks.app_api.call_log",
    "call-log-load": "benchmarks.call_log.call_log_load",
    "product-list-size": "benchmarks.app_api.product_list_size",
    "app-api": "benchmarks.app_api.app_api_calls",
    "hook": "benchmarks.hooks.hook",
    "approval": "benchmarks.approval.approvals",
    "portal": "benchmarks.portal.portal",
    "merchant": "benchmarks.merchant.merchant",
    "storefront": "benchmarks.storefront.storefront",
    "connected": "benchmarks.connected.connected",
    "trial": "benchmarks.trial.trial",
    "export-size": "benchmarks.exports.export_size",
    "export-seam": "benchmarks.exports.export_seam",
    "feed-page": "benchmarks.feed.feed_page",
    "feed-proof": "benchmarks.feed.feed_proof",
    "oscar": "benchmarks.connected_shop.oscar",
    "peers": "benchmarks.peers.comparison.peers",
}
ONLY_WHEN_NAMED = {
    "jobs",
    "oscar",
    "peers",
}  # the last two need packages of others, and `peers` takes an hour
QUIET = 0.25  # load per core that leaves figures as they are


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["pairs"]:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
        return pairs.main(arguments[1:])
    chosen = _parser().parse_args(arguments)
    unknown = set(chosen.names) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    try:
        with environment.prepared() as folder:
            return _run(chosen, folder)
    except environment.Missing as missing:
        sys.exit(f"The benchmarks need PostgreSQL and Redis. {missing}")
    except KeyboardInterrupt:
        sys.exit("Stopped.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures the product against a baseline of the same run, on PostgreSQL and Redis "
        "(DATABASE_URL and REDIS_URL, else the loopback defaults), in a database of its own.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"one of {', '.join(BENCHMARKS)}; by default all but {', '.join(sorted(ONLY_WHEN_NAMED))}",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="measure little and once, to see that all works")
    size.add_argument("--full", action="store_true", help="the sizes of the goals, however long they take")
    return parser


def _run(chosen: argparse.Namespace, folder: Path) -> int:
    """The number of benchmarks that failed."""
    from benchmarks.options import Options
    from benchmarks.sink import sink

    failed = 0
    print(_machine(), file=sys.stderr)
    print(heading(), flush=True)
    for name in wanted(chosen.names):
        began = time.monotonic()
        try:
            with sink(folder) as receiver:
                _print(import_string(BENCHMARKS[name])(Options(folder, receiver, chosen.quick, chosen.full)))
        except Failed as failure:
            failed += 1
            print(f"  {name} failed: {failure}", file=sys.stderr)
        print(f"  {name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return failed


def wanted(names: Sequence[str]) -> Sequence[str]:
    """Those that are named, else all but those that run only then."""
    return names or [name for name in BENCHMARKS if name not in ONLY_WHEN_NAMED]


def _print(rows: Iterable[Row]) -> None:
    """Each row as soon as it is there."""
    for row in rows:
        print(line(row.cells()), flush=True)
        if row.note:
            print(f"  {row.note}", file=sys.stderr)


def _machine() -> str:
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    words = f"{cores} cores, load {load:.1f} before we began, Python {platform.python_version()}."
    if load > cores * QUIET:
        words += " Others are busy on this machine: do not trust figures of time, and ratios little."
    return words


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
