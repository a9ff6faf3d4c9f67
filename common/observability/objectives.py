"""The service's objectives: what counts as good, the target for a window of 30 days, and how fast a budget may burn.

Prometheus adds up what `Objective.count` counts, in every process. A budget is the share of events that may be bad. A burn of 1
uses exactly the budget within the window. Windows and factors are those of the SRE Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts"
(https://sre.google/workbook/alerting-on-slos/); `tests/config/test_watched.py` holds the alert rules to them.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from prometheus_client import Counter

from common.observability import counts  # noqa: F401  before anything is counted

LEAST_BAD: Final = 10  # in an alert's long window, so that a few errors of a quiet hour fire nothing

EVENTS: Final = Counter(
    "extension_platform_objective_events",
    "Events that count for the service's objectives.",
    ["objective", "outcome"],
)


@dataclass(frozen=True, slots=True)
class Objective:
    name: str  # as metrics have it
    target: float  # the share that is good
    within: float = 0.0  # seconds; 0 where time doesn't count

    def count(self, *, good: int = 0, bad: int = 0) -> None:
        """Takes microseconds, and never waits. Call it after the commit of what it counts."""
        for outcome, number in (("good", good), ("bad", bad)):
            if number:
                EVENTS.labels(self.name, outcome).inc(number)


@dataclass(frozen=True, slots=True)
class Burn:
    """What an alert is about: a budget burns this many times as fast as it may, in a long window and still in a short one."""

    alert: str
    factor: float
    long: timedelta
    short: timedelta


# The first attempt begins within 5 seconds of the time when the delivery is due. Endpoints that respond slowly or not at all, listeners
# and test stores don't count.
FIRST_ATTEMPTS: Final = Objective("first_attempts", target=0.995, within=5)
# The call is answered within a second, and not with 5xx. Placing an order counts as checkout; 401, 429 and tests of webhooks don't count.
API: Final = Objective("api", target=0.999, within=1)
# The checkout's page, or an order by the API, is answered within 5 seconds, hooks of apps included, and not with 5xx.
CHECKOUT: Final = Objective("checkout", target=0.995, within=5)
# The page is answered within a second, and not with 5xx. Forms don't count: some wait for an app's server.
PORTAL: Final = Objective("portal", target=0.995, within=1)
# The app confirms the erasure at one of the attempts. An erasure that was cancelled, or has no address, doesn't count.
ERASURES: Final = Objective("erasures", target=0.99)
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
