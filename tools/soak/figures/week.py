"""A week that passed in leaps: each thing that it must bring was seen, and none before its time."""

from collections.abc import Iterator
from typing import Final

from tools.soak.figures.finding import NONE, Finding, none_of
from tools.soak.run import Run
from tools.soak.week.clock import LEAP, WEEK

HOUR: Final = 3600.0


def passed(run: Run) -> Iterator[Finding]:
    if run.week is None:
        return
    due = WEEK * LEAP / HOUR
    hours = run.clock.passed / HOUR
    yield Finding("hours that passed", f"{hours:g}", f"a week has {due:g}" if hours < due else "")


def seen(run: Run) -> Iterator[Finding]:
    for due in run.week.dues if run.week else ():
        problem = "it was not seen" if due.seen is None else "it came too early" if due.is_early else ""
        yield Finding(due.name, "no" if due.seen is None else "yes", problem)


def partitions(run: Run) -> Iterator[Finding]:
    if run.week is None:
        return
    for table, names in sorted(run.week.dropped.items()):
        yield Finding(f"partitions of {table} that were dropped", f"{len(names)}", "" if names else NONE)
    yield none_of("partitions that stayed longer than their rows are kept", run.week.overdue)
    yield none_of("partitions ahead that were not made again", run.week.missing)


def keys(run: Run) -> Iterator[Finding]:
    if run.week is not None:
        changed = run.week.has_new_key
        yield Finding("the encryption key was changed", "yes" if changed else "no", "" if changed else NONE)


FIGURES = (passed, seen, partitions, keys)
