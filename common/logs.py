"""The JSON lines of the log."""

import linecache
from collections.abc import Iterator
from itertools import islice
from traceback import FrameSummary, StackSummary, TracebackException
from typing import Any

from pythonjsonlogger.orjson import OrjsonFormatter


class JsonFormatter(OrjsonFormatter):
    """Reads the source of a traceback line by line. Python would read each file as a whole and keep it: a megabyte for
    one failure of the database."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name is logging's
        told = TracebackException(*ei, lookup_lines=False, compact=True)
        for each in _with_causes(told):
            each.stack = StackSummary.from_list(map(_with_source, each.stack))
        linecache.clearcache()  # Celery has filled it, if a task failed
        return "".join(told.format()).rstrip("\n")


def _with_causes(told: TracebackException | None) -> Iterator[TracebackException]:
    """It, what it was raised from, and the members of a group."""
    if told:
        yield told
        for each in (told.__cause__, told.__context__, *(told.exceptions or ())):
            yield from _with_causes(each)


def _with_source(frame: FrameSummary) -> FrameSummary:
    return FrameSummary(
        frame.filename,
        frame.lineno,
        frame.name,
        lookup_line=False,
        line=_line(frame.filename, frame.lineno or 0),
        end_lineno=frame.end_lineno,
        colno=frame.colno,
        end_colno=frame.end_colno,
    )


def _line(path: str, number: int) -> str:
    """Empty where there is no such line, as in code that was made by a program."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next(islice(file, max(0, number - 1), None), "")
    except OSError:
        return ""
