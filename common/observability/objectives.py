"""The service's objectives: what counts as good, the target for a window of 30 days, and how fast a budget may burn.

Each event is counted once, by `Objective.count`: for Prometheus, and for the rows that the administration's page adds up. So alerts and
page agree about what is good. A budget is the share of events that may be bad. A burn of 1 uses exactly the budget within the window.
Windows and factors are those of the SRE Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts"
(https://sre.google/workbook/alerting-on-slos/); `tests/config/test_objectives.py` holds the alert rules to them.
"""

import atexit
import logging
import os
import threading
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone
from prometheus_client import Counter

from common import counts  # noqa: F401  before anything is counted
from common.processes.write_behind import WriteBehind

log = logging.getLogger(__name__)

WINDOW: Final = timedelta(days=30)
KEPT: Final = WINDOW + timedelta(days=1)
STEP: Final = timedelta(minutes=5)  # of a row
LEAST_BAD: Final = 10  # in an alert's long window, so that a few errors of a quiet hour fire nothing

EVENTS: Final = Counter(
    "extension_platform_objective_events",
    "Events that count for the service's objectives.",
    ["objective", "outcome"],
)


@dataclass(frozen=True, slots=True)
class Objective:
    name: str  # as metrics and rows have it
    title: str
    good: str  # what counts as good, as a sentence
    target: float  # the share that is good
    within: float = 0.0  # seconds; 0 where time doesn't count

    @property
    def budget(self) -> float:
        return 1 - self.target

    def count(self, *, good: int = 0, bad: int = 0) -> None:
        """Takes microseconds, and never waits. Call it after the commit of what it counts."""
        for outcome, number in (("good", good), ("bad", bad)):
            if number:
                EVENTS.labels(self.name, outcome).inc(number)
        _counts.add(self.name, good, bad)


@dataclass(frozen=True, slots=True)
class Burn:
    """What an alert is about: a budget burns this many times as fast as it may, in a long window and still in a short one."""

    alert: str
    factor: float
    long: timedelta
    short: timedelta


FIRST_ATTEMPTS: Final = Objective(
    "first_attempts",
    "First attempts",
    "The first attempt begins within 5 seconds of the time when the delivery is due. Endpoints that respond slowly or not at all, "
    "listeners and test stores don't count.",
    target=0.995,
    within=5,
)
API: Final = Objective(
    "api",
    "App API",
    "The call is answered within a second, and not with 5xx. Placing an order counts as checkout; 401, 429 and tests of webhooks don't count.",
    target=0.999,
    within=1,
)
CHECKOUT: Final = Objective(
    "checkout",
    "Checkout",
    "The checkout's page, or an order by the API, is answered within 5 seconds, hooks of apps included, and not with 5xx.",
    target=0.995,
    within=5,
)
PORTAL: Final = Objective(
    "portal",
    "Developer portal",
    "The page is answered within a second, and not with 5xx. Forms don't count: some wait for an app's server.",
    target=0.995,
    within=1,
)
ERASURES: Final = Objective(
    "erasures",
    "Data erasures",
    "The app confirms the erasure at one of the attempts. An erasure that was cancelled, or has no address, doesn't count.",
    target=0.99,
)
OBJECTIVES: Final = (FIRST_ATTEMPTS, API, CHECKOUT, PORTAL, ERASURES)

BURNS: Final = (
    Burn("BudgetBurnsFast", 14.4, timedelta(hours=1), timedelta(minutes=5)),  # 2 % of the budget in an hour
    Burn("BudgetBurnsFast", 6, timedelta(hours=6), timedelta(minutes=30)),  # 5 % in six hours
    Burn("BudgetBurnsSlowly", 1, timedelta(days=3), timedelta(hours=6)),  # 10 % in three days
)

# Prometheus sees a first bad event only where it has seen none before.
for _each in OBJECTIVES:
    for _outcome in ("good", "bad"):
        EVENTS.labels(_each.name, _outcome)


def begin_of_step(at: datetime) -> datetime:
    """The five minutes that a moment is in."""
    return datetime.fromtimestamp(at.timestamp() // STEP.total_seconds() * STEP.total_seconds(), UTC)


class UnwrittenCounts(WriteBehind):
    """What this process has counted and not yet written. A kill loses the last seconds."""

    name = "objective-counts"
    every: ClassVar[float] = 10.0
    keeps_session: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._counted: dict[tuple[str, datetime], list[int]] = defaultdict(lambda: [0, 0])

    @property
    def has_work(self) -> bool:
        return bool(self._counted)

    def add(self, objective: str, good: int, bad: int) -> None:
        self._add((objective, begin_of_step(timezone.now())), good, bad)
        self.start()

    def _add(self, key: tuple[str, datetime], good: int, bad: int) -> None:
        with self._lock:
            sums = self._counted[key]
            sums[0] += good
            sums[1] += bad

    def write_batch(self) -> int:
        with self._lock:
            batch, self._counted = self._counted, defaultdict(lambda: [0, 0])
        try:
            _write(batch)
        except (OperationalError, InterfaceError) as error:
            self.refused = True
            log.warning("%d counts of objectives could not be written yet: %s", len(batch), error)
            for key, (good, bad) in batch.items():
                self._add(key, good, bad)
            return 0
        except Exception:
            self.refused = True
            log.exception("%d counts of objectives could not be written.", len(batch))
            return 0
        return len(batch)


@transaction.atomic
def _write(batch: dict[tuple[str, datetime], list[int]]) -> None:
    """In the order of the keys, since other processes write the same rows."""
    from common.models import ObjectiveCount  # apps are not loaded before something is counted

    rows = [(objective, at, good, bad) for (objective, at), (good, bad) in sorted(batch.items())]
    ObjectiveCount.objects.bulk_create(
        [ObjectiveCount(objective=objective, at=at) for objective, at, _, _ in rows], ignore_conflicts=True
    )
    for objective, at, good, bad in rows:
        row = ObjectiveCount.objects.filter(objective=objective, at=at)
        row.update(good=F("good") + good, bad=F("bad") + bad)


def remove_old() -> None:
    from common.models import ObjectiveCount

    ObjectiveCount.objects.filter(at__lt=timezone.now() - KEPT).delete()


_counts = UnwrittenCounts()


def flush() -> int:
    """Write all that was counted now, for tests. Returns the number of rows."""
    return _counts.flush()


def _forked() -> None:
    """A child process has no thread yet, and its parent writes what waited there."""
    global _counts
    _counts = UnwrittenCounts()


atexit.register(lambda: _counts.stop())
os.register_at_fork(after_in_child=_forked)
