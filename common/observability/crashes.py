"""What is written of a crash: in mails to `ADMINS`, by Django's own handler, and in the log while the database is away.

Mail leaves the platform, so it contains only each error's type and stack: no error messages, URLs, headers, cookies,
bodies, variables or settings. The log has the messages.
"""

import logging
from copy import copy
from http import HTTPStatus
from time import monotonic
from traceback import StackSummary, walk_tb
from typing import Final

from django.utils.log import AdminEmailHandler
from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter

from common.db.outages import is_outage

UNAVAILABLE: Final = HTTPStatus.SERVICE_UNAVAILABLE
SAME_AFTER: Final = 600.0  # seconds until a process mails the same crash again
TRACED_AGAIN: Final = 60.0  # seconds until it logs the stack of the same outage again


class CrashFilter(logging.Filter):
    """Passes crashes, each line of code once in `SAME_AFTER`. Database outages are left to `/readyz`."""

    def __init__(self) -> None:
        super().__init__()
        self._mailed: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = _error_of(record)
        if error is None or is_outage(error) or record.name.startswith("django.security"):
            return False
        now, title = monotonic(), _title(error)
        if now - self._mailed.get(title, -SAME_AFTER) < SAME_AFTER:
            return False
        self._mailed[title] = now
        return True


class OutageFilter(logging.Filter):
    """Keeps an outage of the database from filling the log, since each request that fails of it writes a stack of 7 kB.

    A line for each stays. Of Django's own for the same response there is none, and the stack comes once in `TRACED_AGAIN`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._traced: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.request" and getattr(record, "status_code", None) == UNAVAILABLE:
            return False
        error = _error_of(record)
        if error is None or not is_outage(error):
            return True
        now, title = monotonic(), _title(error)
        if now - self._traced.get(title, -TRACED_AGAIN) < TRACED_AGAIN:
            record.exc_info = record.exc_text = None
        else:
            self._traced[title] = now
        return True


class CrashMail(AdminEmailHandler):
    """Leaves out the log message: ours contain paths, and Celery's the error message."""

    def emit(self, record: logging.LogRecord) -> None:
        crash = copy(record)
        crash.msg, crash.args = _title(_error_of(record)), ()
        super().emit(crash)


class CrashReport(ExceptionReporter):
    """Replaces Django's report, which hides settings and headers but not messages, URLs and queries."""

    def get_traceback_text(self) -> SafeString:
        parts: list[str] = []
        error, seen = self.exc_value, set[int]()
        while error and id(error) not in seen:
            seen.add(id(error))
            parts += [
                *StackSummary.extract(walk_tb(error.__traceback__)).format(),
                f"{type(error).__name__}\n\n",
            ]
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return SafeString("".join(parts))


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _title(error: BaseException | None) -> str:
    """The kind of error and the line that raised it."""
    places = StackSummary.extract(walk_tb(error.__traceback__ if error else None), lookup_lines=False)
    return type(error).__name__ + "".join(f" in {at.name}, {at.filename}:{at.lineno}" for at in places[-1:])
