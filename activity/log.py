"""The queue between requests and the log: a request appends to it, and a thread of the process writes batches.

A request never waits: a full queue drops the call and counts it. The thread's rows and transactions are in `activity.services.writing`; when it
writes, in `common.processes.write_behind`.
"""

import atexit
import logging
import os
import threading
from collections import Counter, deque
from typing import Final
from uuid import UUID

from django.db import InterfaceError, OperationalError

from activity.calls import Batch, Gap, RecordedCall, Use, uses_of
from common.observability.metrics import CALLS_NOT_LOGGED
from common.processes.write_behind import WriteBehind

log = logging.getLogger(__name__)

MOST: Final = 5_000  # calls that wait
MOST_UNKNOWN: Final = 500  # of these, calls whose token may be anybody's invention
BATCH: Final = 500


class Queue:
    """Calls that wait to be written, at most `most`."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._calls: deque[RecordedCall] = deque()
        self._lock = threading.Lock()
        self._gaps: dict[UUID, Gap] = {}
        self._uses: Counter[Use] = Counter()

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def has_work(self) -> bool:
        return bool(self._calls or self._gaps)

    def put(self, call: RecordedCall) -> None:
        most = self.most if call.installation is not None else min(MOST_UNKNOWN, self.most)
        if len(self._calls) < most:
            self._calls.append(call)  # atomic; a few more than `most` do no harm
        elif call.installation is not None:
            self._drop([call])

    def take(self, most: int = BATCH) -> Batch | None:
        """The oldest calls, with everything that is known about dropped ones. None if there is nothing."""
        calls: list[RecordedCall] = []
        while len(calls) < most and self._calls:
            calls.append(self._calls.popleft())
        with self._lock:
            gaps, self._gaps = self._gaps, {}
            uses, self._uses = self._uses, Counter()
        return Batch(calls, gaps, uses) if calls or gaps else None

    def put_back(self, batch: Batch) -> None:
        """Keep a batch that could not be written. The oldest calls are dropped where there is no room any more."""
        too_many = max(0, len(self._calls) + len(batch.calls) - self.most)
        dropped, kept = batch.calls[:too_many], batch.calls[too_many:]
        self._calls.extendleft(reversed(kept))
        self._drop(dropped)
        with self._lock:
            for app_id, gap in batch.gaps.items():
                _add(self._gaps, app_id, gap)
            self._uses.update(batch.uses)

    def drop(self, batch: Batch) -> None:
        """Give up a batch that can never be written."""
        self.put_back(Batch([], batch.gaps, batch.uses))
        self._drop(batch.calls)

    def _drop(self, calls: list[RecordedCall]) -> None:
        known = [call for call in calls if call.installation is not None]
        CALLS_NOT_LOGGED.inc(len(known))
        with self._lock:
            for call in known:
                _add(self._gaps, call.installation.app_id, Gap(call.at, call.at, 1))
                self._uses.update(uses_of(call))


def _add(gaps: dict[UUID, Gap], app_id: UUID, more: Gap) -> None:
    gap = gaps.setdefault(app_id, Gap(more.since, more.until, 0))
    gap.since, gap.until = min(gap.since, more.since), max(gap.until, more.until)
    gap.count += more.count


class CallLog(WriteBehind):
    """The queue of a process, and the thread that writes it."""

    name = "call-log"

    def __init__(self) -> None:
        super().__init__()
        self.queue = Queue()

    @property
    def has_work(self) -> bool:
        return self.queue.has_work

    def record(self, call: RecordedCall) -> None:
        self.queue.put(call)
        self.start()

    def write_batch(self) -> int:
        from activity.services.writing import (
            write,  # which imports models; apps are not loaded before a request
        )

        batch = self.queue.take()
        if batch is None:
            return 0
        try:
            write(batch)
        except (OperationalError, InterfaceError) as error:
            self.queue.put_back(batch)
            log.warning("%d API calls could not be logged yet: %s", len(batch.calls), error)
        except Exception:
            self.queue.drop(batch)
            log.exception("%d API calls could not be logged.", len(batch.calls))
        else:
            return len(batch.calls)
        self.refused = True
        return 0


_log = CallLog()


def record(call: RecordedCall) -> None:
    """Leave a call to the writer. Takes microseconds, and never waits."""
    _log.record(call)


def flush() -> int:
    """Write all that waits now, for tests. Returns the number of calls."""
    return _log.flush()


def _forked() -> None:
    """A child process has no thread yet, and its parent writes what waited there."""
    global _log
    _log = CallLog()


atexit.register(lambda: _log.stop())
os.register_at_fork(after_in_child=_forked)
