"""`python -m benchmarks pairs --before COMMIT [name …]`: what things cost in processor time, to what they cost at an earlier commit.

Both trees run beside each other, each with a database and processes of its own, and are measured by turns. Processor time is read from
the kernel, so what others do on the machine moves it much less than it moves the time on a clock.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from math import comb
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.environment import ROOT
from benchmarks.processes import Failed, Process, started
from benchmarks.results import Row, heading, line, milliseconds
from tools.released_tree import extract

NAMES: Final = ("drain", "fan-out", "app-api")  # of `benchmarks.units`, which needs a prepared environment
UNITS: Final = Path("benchmarks") / "units.py"
WIDEST: Final = 0.05  # of the interval, on each side of the median
PATIENCE: Final = 600.0  # seconds
TURNS: Final = 5  # of a pair, whose costs are the medians of these
SERVE: Final = """
import signal, sys
from benchmarks import environment
signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that the database is dropped
with environment.prepared() as folder:
    from benchmarks.units import serve
    serve(folder)
"""


def main(arguments: Sequence[str]) -> int:
    chosen = _parser().parse_args(arguments)
    if unknown := set(chosen.names) - set(NAMES):
        sys.exit(f"There are no pairs of {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pairs-")))
        earlier = folder / "before"
        try:
            extract(chosen.before, earlier)
        except subprocess.CalledProcessError:
            sys.exit(f"{chosen.before} is no commit of this repository.")
        shutil.copy(ROOT / UNITS, earlier / UNITS)
        before, after = (
            stack.enter_context(started(folder, name, "-c", SERVE, tree=tree))
            for name, tree in (("before", earlier), ("after", ROOT))
        )
        print(heading(), flush=True)
        try:
            for name in chosen.names or NAMES:
                for row in _compared(name, before, after, chosen.pairs, quick=chosen.quick):
                    print(line(row.cells()), flush=True)
                    print(f"  {row.note}", file=sys.stderr)
        except Failed as failure:
            sys.exit(str(failure))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks pairs", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"some of {', '.join(NAMES)}; all by default"
    )
    parser.add_argument(
        "--before", required=True, metavar="COMMIT", help="the commit to compare this tree with"
    )
    parser.add_argument("--pairs", type=int, default=10, help="how often both are measured (10)")
    parser.add_argument("--quick", action="store_true", help="measure a tenth, to see that all works")
    return parser


def _compared(name: str, before: Process, after: Process, pairs: int, *, quick: bool) -> Iterator[Row]:
    scale, turns = (1, 1) if quick else (2, TURNS)
    for each in (before, after):
        each.tell([name, scale])
    things, _ = before.hear(PATIENCE), after.hear(PATIENCE)
    for thing in things:
        for each in (before, after):
            _sample(each, thing)  # warms up
        costs: dict[Process, list[float]] = {before: [], after: []}
        for _ in range(pairs):
            seconds: dict[Process, list[float]] = {before: [], after: []}
            for number in range(turns):
                for each in (after, before) if number % 2 else (before, after):  # neither is always the first
                    seconds[each].append(_sample(each, thing))
            for each in (before, after):
                costs[each].append(median(seconds[each]))
        yield _row(f"{name}: {thing}, CPU to before", costs[before], costs[after])
    for each in (before, after):
        each.tell("")


def _sample(process: Process, thing: str) -> float:
    process.tell(thing)
    return float(process.hear(PATIENCE))


def _row(what: str, before: Sequence[float], after: Sequence[float]) -> Row:
    ratios = [mine / theirs for mine, theirs in zip(after, before, strict=True)]
    middle, interval = median(ratios), interval_of_median(ratios)
    low, high = interval or (min(ratios), max(ratios))
    words = "95 % interval of the median" if interval else "too few pairs for an interval; all were"
    return Row(
        what,
        milliseconds(median(before)),
        milliseconds(median(after)),
        middle,
        doubt="" if interval and max(middle - low, high - middle) <= WIDEST else "wide interval",
        note=f"{len(ratios)} pairs: {middle - 1:+.1%}; {words}: {low - 1:+.1%} to {high - 1:+.1%}.",
    )


def interval_of_median(values: Sequence[float]) -> tuple[float, float] | None:
    """Two of the values, between which the median of all such values lies with 95 %, whatever their distribution is.

    Each of n values is under the median with one half, so that the number of these is binomial. None for under six values.
    """
    ordered, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    while rank < count / 2 and (outside := outside + 2 * comb(count, rank) / 2**count) <= 0.05:
        rank += 1
    return (ordered[rank - 1], ordered[-rank]) if rank else None
