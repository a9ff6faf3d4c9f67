"""Mails to `ADMINS` of what went wrong on our side.

A mail leaves the house: it says what was called, what was raised and where, and holds no values, headers, bodies or
settings. What looks like a credential is taken out of the messages too. A storm of crashes makes few mails.
"""

import logging
import re
import threading
import traceback
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Final

from django.http import HttpRequest
from django.utils.log import AdminEmailHandler

from common.rest.errors import is_outage

SAME_AFTER: Final = 600.0  # seconds until the same crash is mailed again
MOST_AN_HOUR: Final = 10  # mails of one process
HOUR: Final = 3600.0

_SECRETS: Final = re.compile(
    r"""
    \b(?:fbat|fbcs|whsec)_[\w+/=-]+                     # ours
    | \beyJ[\w-]+\.[\w-]+\.[\w-]*                       # a JWT
    | (?<=://)[^\s/@]*@                                 # user and password of a URL
    | (?<=password-reset/)\S+                           # a link that opens an account
    | (?i:\b(?:bearer|basic)\s+)\S+
    | (?i:\b[\w-]*(?:password|passwd|secret|token|api_?key|authorization|cookie|sessionid|code|verifier)[\w-]*
        ["']?\s*[=:]\s*["']?)[^\s"'&,;)}]+
    """,
    re.VERBOSE,
)


def without_secrets(text: str) -> str:
    return _SECRETS.sub("[removed]", text)


class Report:
    """In the place of Django's reporter, which adds the request's headers and fields, and all settings."""

    def __init__(
        self,
        request: HttpRequest | None,
        kind: type[BaseException] | None,
        error: BaseException | str | None,
        trace: TracebackType | None,
        is_email: bool = False,
    ) -> None:
        self.error = error if isinstance(error, BaseException) else None

    def get_traceback_text(self) -> str:
        return without_secrets("".join(traceback.format_exception(self.error))) if self.error else ""


class CrashFilter(logging.Filter):
    """Lets through what is a crash, the same one once in `SAME_AFTER`, and `MOST_AN_HOUR` in all; in each process.

    A database that is away is none: `/readyz` tells of it, and each request in that time would be one.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._mailed: dict[str, float] = {}
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or is_outage(error) or record.name.startswith("django.security"):
            return False
        with self._lock:
            return self._may_go(record, _place(error))

    def _may_go(self, record: logging.LogRecord, place: str) -> bool:
        now = self._clock()
        self._mailed = {at: when for at, when in self._mailed.items() if now - when < HOUR}
        last = self._mailed.get(place)
        if (last is not None and now - last < SAME_AFTER) or len(self._mailed) >= MOST_AN_HOUR:
            self._left_out += 1
            return False
        self._mailed[place] = now
        record.left_out, self._left_out = self._left_out, 0
        return True


class CrashMail(AdminEmailHandler):
    """Plain text, with how many crashes were not mailed since the last one."""

    def __init__(self) -> None:
        super().__init__(include_html=False, reporter_class="common.crashes.Report")
        self.setLevel(logging.ERROR)
        self.addFilter(CrashFilter())

    def format(self, record: logging.LogRecord) -> str:
        left_out = getattr(record, "left_out", 0)
        more = f"\n{left_out} more crashes were not mailed; they are in the log." if left_out else ""
        return without_secrets(super().format(record)) + more

    def format_subject(self, subject: str) -> str:
        return super().format_subject(without_secrets(subject))[:200]


def _place(error: BaseException) -> str:
    """What makes two crashes the same: the kind, and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    return (
        f"{type(error).__name__} {frames[-1].filename}:{frames[-1].lineno}"
        if frames
        else type(error).__name__
    )
