"""The ledger's rows of skipped calls, written behind the request.

Nothing happened at the app that such a row would have to prove, and a shopper must not wait because an app is broken.
"""

import atexit
import logging
import os
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Final

from django.db import InterfaceError, OperationalError, transaction

from common.db.transactions import do_not_wait_for_the_disk
from common.processes.write_behind import WriteBehind
from extensions.enums import CallOutcome
from extensions.hooks import breaker
from extensions.hooks.live import HookKey
from extensions.models import HookCall

log = logging.getLogger(__name__)

MOST: Final = 5_000  # that wait
BATCH: Final = 500


class SkippedCalls(WriteBehind):
    """What waits in this process. A full queue drops what is new; the database has been away for long then."""

    name = "skipped-hook-calls"

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[HookCall] = deque()

    @property
    def has_work(self) -> bool:
        return bool(self._waiting)

    def put(self, items: Sequence[HookCall]) -> None:
        if len(self._waiting) < MOST:
            self._waiting.extend(items)
        self.start()

    def write_batch(self) -> int:
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        try:
            _write(batch)
        except (OperationalError, InterfaceError) as error:
            self._waiting.extendleft(reversed(batch))
            self.refused = True
            log.warning("%d skipped hook calls could not be recorded yet: %s", len(batch), error)
            return 0
        except Exception:
            log.exception("Skipped hook calls are recorded one by one, because one of them can't be.")
            _write_each(batch)
        return len(batch)


def _write(batch: Sequence[HookCall]) -> None:
    with transaction.atomic():
        do_not_wait_for_the_disk()
        _count_in_releases(batch)
        HookCall.objects.bulk_create(batch)


def _count_in_releases(batch: Sequence[HookCall]) -> None:
    """Mark the first skipped calls of each opening of a breaker. Breakers are locked in one order."""
    by_hook: dict[HookKey, list[HookCall]] = defaultdict(list)
    for each in batch:
        each.opening_at = None
        if each.outcome == CallOutcome.BREAKER_OPEN:
            by_hook[each.installation_id, each.definition_id].append(each)
    for key in sorted(by_hook):
        opening_at, number = breaker.count_skips(key, len(by_hook[key]))
        for each in by_hook[key][:number]:
            each.opening_at = opening_at


def _write_each(batch: Sequence[HookCall]) -> None:
    """Also where one belongs to an installation that was removed meanwhile."""
    for item in batch:
        try:
            _write([item])
        except Exception:
            log.exception("A skipped hook call could not be recorded.")


_skipped = SkippedCalls()


def record(items: Sequence[HookCall]) -> None:
    """Leave rows to the writer. Never waits."""
    _skipped.put(items)


def flush() -> int:
    """Write all that waits now, for tests."""
    return _skipped.flush()


def _forked() -> None:
    """A child process has no thread yet, and its parent writes what waited there."""
    global _skipped
    _skipped = SkippedCalls()


atexit.register(lambda: _skipped.stop())
os.register_at_fork(after_in_child=_forked)
