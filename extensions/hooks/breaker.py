"""The circuit breaker: skips a hook that keeps failing on one installation (contract section 6).

After 5 failures in a row the hook is skipped for 30 seconds. Then whoever comes first makes one trial call; all
others go on skipping meanwhile. If it fails the hook is skipped for twice as long, up to 10 minutes; if it succeeds
the breaker closes. All of it is kept in rows, so that processes agree, and moved by single statements whose
conditions decide between those who race. A hook that works costs one read, shared with the others of its point.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Case, DateTimeField, F, PositiveIntegerField, Q, QuerySet, Value, When

from extensions.hooks.live import HookKey, LiveHook
from extensions.models import Breaker, Definition
from installations.models import Installation

THRESHOLD: Final = 5
FIRST_PAUSE: Final = timedelta(seconds=30)
LONGEST_PAUSE: Final = timedelta(minutes=10)
# A trial whose caller died is somebody else's this long after it should have ended.
TRIAL_GRACE: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Admission:
    """Leave to call. `trial` is set where this call is the trial, and names it; `opened_times` then counts the
    openings so far. `failures` is what was read."""

    failures: int = 0
    trial: datetime | None = None
    opened_times: int = 0


def breakers_of(hooks: Iterable[LiveHook]) -> dict[HookKey, Breaker]:
    """The rows of those that have failed before."""
    keys = {hook.key for hook in hooks}
    if not keys:
        return {}
    rows = Breaker.objects.filter(
        installation__in={installation for installation, _ in keys},
        definition__in={definition for _, definition in keys},
    )
    return {(row.installation_id, row.definition_id): row for row in rows}


def admit(breaker: Breaker | None, *, timeout: float, now: datetime) -> Admission | None:
    """Leave to make one call of at most `timeout` seconds; None: skip it."""
    if breaker is None:
        return Admission()
    if breaker.open_until is None:
        return Admission(breaker.failures)
    if breaker.open_until > now or (breaker.trial_until and breaker.trial_until > now):
        return None
    trial = now + timedelta(seconds=timeout) + TRIAL_GRACE
    free = Q(trial_until=None) | Q(trial_until__lte=now)
    won = Breaker.objects.filter(free, pk=breaker.pk, open_until__lte=now).update(trial_until=trial)
    return Admission(breaker.failures, trial, breaker.opened_times) if won else None


def succeeded(key: HookKey, admission: Admission, *, now: datetime) -> None:
    """Close it, or forget the failures before. A success that was asked for before it opened does not close it."""
    if admission.trial:
        _trial_of(key, admission).update(
            failures=0, opened_times=0, open_until=None, trial_until=None, updated_at=now
        )
    elif admission.failures:
        _row_of(key).filter(open_until=None).update(failures=0, updated_at=now)


def failed(key: HookKey, admission: Admission, *, now: datetime) -> None:
    """Count it, and open where it was the last straw or the trial. Calls that were under way when it opened only
    count."""
    if admission.trial:
        _trial_of(key, admission).update(
            failures=F("failures") + 1,
            opened_times=F("opened_times") + 1,
            open_until=now + pause(admission.opened_times),
            trial_until=None,
            updated_at=now,
        )
        return
    if not _count(key, now):
        installation, definition = key
        Breaker.objects.bulk_create(
            [Breaker(installation_id=installation, definition_id=definition, updated_at=now)],
            ignore_conflicts=True,  # another may have made it at this moment
        )
        _count(key, now)


def undecided(key: HookKey, admission: Admission) -> None:
    """The call said nothing about the hook: give a trial back, for the next to take."""
    if admission.trial:
        _trial_of(key, admission).update(trial_until=None)


def reset(*, installation: Installation, definition: Definition) -> bool:
    """Call the hook again from now on, as if it had never failed. Whether there was anything to reset."""
    removed, _ = _row_of((installation.pk, definition.pk)).delete()
    return bool(removed)


def pause(opened_times: int) -> timedelta:
    """How long it is skipped when it opens once more after this many times."""
    return min(FIRST_PAUSE * 2 ** min(opened_times, 10), LONGEST_PAUSE)


def _count(key: HookKey, now: datetime) -> int:
    last_straw = Q(open_until=None, failures__gte=THRESHOLD - 1)
    return _row_of(key).update(
        failures=F("failures") + 1,
        opened_times=Case(
            When(last_straw, then=Value(1)), default=F("opened_times"), output_field=PositiveIntegerField()
        ),
        open_until=Case(
            When(last_straw, then=Value(now + FIRST_PAUSE)),
            default=F("open_until"),
            output_field=DateTimeField(),
        ),
        updated_at=now,
    )


def _row_of(key: HookKey) -> QuerySet[Breaker]:
    installation, definition = key
    return Breaker.objects.filter(installation=installation, definition=definition)


def _trial_of(key: HookKey, admission: Admission) -> QuerySet[Breaker]:
    """The row, unless this trial is not the one any more: it ran late, or somebody reset the breaker."""
    return _row_of(key).filter(trial_until=admission.trial)
