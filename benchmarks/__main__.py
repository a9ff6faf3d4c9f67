"""`python -m benchmarks [name …]`: see `--help`."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks import environment
from benchmarks.processes import Failed
from benchmarks.results import Row, heading, line

NAMES = ("drain", "drain-slow")


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


def _run(chosen: argparse.Namespace, folder: Any) -> int:
    # These import models, which need the environment.
    from benchmarks import drain
    from benchmarks.options import Options
    from benchmarks.sink import sink

    benchmarks: dict[str, Callable[[Options], Iterable[Row]]] = {
        "drain": drain.drain,
        "drain-slow": drain.drain_slow,
    }
    unknown = set(chosen.names) - set(benchmarks)
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(benchmarks)}.")
    rows: list[Row] = []
    print(heading(), flush=True)
    for name in chosen.names or benchmarks:
        began = time.monotonic()
        with sink(folder) as receiver:
            try:
                for row in benchmarks[name](Options(folder, receiver, chosen.quick, chosen.full)):
                    rows.append(row)
                    print(line(row.cells()), flush=True)
                    if row.note:
                        print(f"  {row.note}", file=sys.stderr, flush=True)
            except Failed as failure:
                print(f"{name} failed: {failure}", file=sys.stderr, flush=True)
                rows.append(Row(name, "", "", doubt="it failed"))
                print(line(rows[-1].cells()), flush=True)
        print(f"  {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
