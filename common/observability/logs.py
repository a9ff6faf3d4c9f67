"""The JSON lines of the log."""

import linecache
from collections.abc import Iterator
from itertools import groupby
from traceback import FrameSummary, TracebackException
from typing import Any

from pythonjsonlogger.orjson import OrjsonFormatter


class JsonFormatter(OrjsonFormatter):
    """Reads the files that a traceback shows one after another. Python would read them all and keep them: a megabyte for
    one failure of the database."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name is logging's
        _, error, traceback = ei
        raised = TracebackException(type(error), error, traceback, lookup_lines=False, compact=True)
        frames = sorted((frame for each in _with_causes(raised) for frame in each.stack), key=_file)
        try:
            for _, of_one_file in groupby(frames, key=_file):
                for frame in of_one_file:
                    frame.line  # noqa: B018  # reads it; from now on the frame has it
                linecache.clearcache()
            return "".join(raised.format()).removesuffix("\n")
        finally:
            linecache.clearcache()  # also of what Celery has read for a task that failed


def _with_causes(raised: TracebackException) -> Iterator[TracebackException]:
    """It, what it was raised from, and the members of a group."""
    waiting = [raised]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += filter(None, (each.__cause__, each.__context__, *(each.exceptions or ())))


def _file(frame: FrameSummary) -> str:
    return frame.filename
