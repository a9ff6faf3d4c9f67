"""Shows operators how many deliveries are due, how long they have waited, how many dispatchers run, and how the newest attempts went."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Min

from webhooks.engine import claim_selection, slots
from webhooks.models import Attempt, Delivery

RECENT: Final = timedelta(seconds=60)
READ: Final = 10_000  # attempts at most
COUNTED: Final = 10_000
OVERDUE: Final = timedelta(seconds=60)  # a dispatcher claims due deliveries within fractions of a second
LOST_AFTER: Final = timedelta(seconds=10)  # after the end of a lease; a dispatcher frees it within a second


@dataclass(frozen=True, slots=True)
class Backlog:
    due: int  # not counting those in flight; counted up to `COUNTED`
    waited: timedelta  # how long the first one that could be sent has been due
    dispatchers: int  # that claim deliveries


def backlog(now: datetime) -> Backlog:
    due = Delivery.objects.filter(due_at__lte=now, lease_until=None).order_by()
    return Backlog(due[:COUNTED].count(), waited(now), slots.claiming().count())


def in_flight() -> int:
    """Deliveries that are being sent, counted up to `COUNTED`."""
    return Delivery.objects.filter(lease_until__isnull=False).order_by()[:COUNTED].count()


def waited(now: datetime) -> timedelta:
    """How long the first delivery that could be claimed now has been due. Zero if there is none.

    Deliveries to an endpoint at its lease limit are left out: they wait for that endpoint. Deliveries with expired
    leases count, because they stay leased while no dispatcher runs.
    """
    lost = Delivery.objects.filter(lease_until__lt=now - LOST_AFTER).aggregate(first=Min("due_at"))["first"]
    return max(
        (now - since for since in (claim_selection.first_due(now), lost) if since), default=timedelta(0)
    )


def is_overdue(now: datetime) -> bool:
    """Whether a delivery that could be sent has been due for a minute: dispatchers are missing or too slow."""
    return waited(now) > OVERDUE


# What the newest attempts came to, for operators. It costs the same however many deliveries there are.


@dataclass(frozen=True, slots=True)
class Recent:
    by_outcome: Counter[str]  # "2xx", "5xx", or the class of an error without a response
    lag_p99: float | None  # seconds between an event and its first attempt; None without one


def recent_attempts(now: datetime) -> Recent:
    newest = Attempt.objects.filter(attempted_at__gte=now - RECENT).order_by("-attempted_at")
    rows = newest.values_list("http_status", "error_class", "number", "attempted_at", "delivery__created_at")
    outcomes: Counter[str] = Counter()
    lags = []
    for status, error_class, number, attempted_at, created_at in rows[:READ]:
        outcomes[f"{status // 100}xx" if status else error_class] += 1
        if number == 1:
            lags.append((attempted_at - created_at).total_seconds())
    lags.sort()
    return Recent(outcomes, max(0.0, lags[len(lags) * 99 // 100]) if lags else None)
