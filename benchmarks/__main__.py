"""`python -m benchmarks [name …]`: see `--help`."""

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import environment
from benchmarks.processes import Failed
from benchmarks.results import Row, heading, line

NAMES = ("drain", "drain-slow", "latency", "isolation", "claims", "fan-out", "backlog", "memory")
QUIET = 0.25  # load per core that leaves figures as they are

Benchmark = Callable[[Any], Iterable[Row]]  # it takes Options


def main(arguments: Sequence[str]) -> int:
    chosen = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Told to stop."))
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
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of {', '.join(NAMES)}; all by default")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="measure little and once, to see that all works")
    size.add_argument("--full", action="store_true", help="the sizes of the goals, however long they take")
    return parser


def _run(chosen: argparse.Namespace, folder: Path) -> int:
    # These import models, which need the environment.
    from benchmarks import backlog, claiming, drain, fanout, latency, memory

    benchmarks: dict[str, Benchmark] = {
        "drain": drain.drain,
        "drain-slow": drain.drain_slow,
        "latency": latency.latency,
        "isolation": latency.isolation,
        "claims": claiming.claims_among_finished,
        "fan-out": fanout.fan_out,
        "backlog": backlog.backlog,
        "memory": memory.memory,
    }
    unknown = set(chosen.names) - set(benchmarks)
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(benchmarks)}.")
    print(_machine(), file=sys.stderr)
    print(heading(), flush=True)
    failed = [
        name for name in chosen.names or benchmarks if not _measure(name, benchmarks[name], chosen, folder)
    ]
    return len(failed)


def _measure(name: str, benchmark: Benchmark, chosen: argparse.Namespace, folder: Path) -> bool:
    """Print its rows as they come. False where it could not be brought to its end."""
    from benchmarks.options import Options
    from benchmarks.sink import sink

    began = time.monotonic()
    try:
        with sink(folder) as receiver:
            for row in benchmark(Options(folder, receiver, chosen.quick, chosen.full)):
                print(line(row.cells()), flush=True)
                if row.note:
                    print(f"  {row.note}", file=sys.stderr, flush=True)
    except Failed as failure:
        print(f"  {name} failed: {failure}", file=sys.stderr, flush=True)
        return False
    print(f"  {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return True


def _machine() -> str:
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    words = f"{cores} cores, load {load:.1f} before we began, Python {platform.python_version()}."
    if load > cores * QUIET:
        words += " Others are busy on this machine: do not trust figures of time, and ratios little."
    return words


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
