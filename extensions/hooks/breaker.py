"""The circuit breaker: skips a hook that keeps failing on one installation (contract, section 6).

`RULE` says what it does. While one caller makes the trial call, all others keep skipping. The state is kept in rows, so that processes agree, and changed by single statements whose conditions resolve races. A
working hook costs one read, shared with the others of its point.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Case, Count, DateTimeField, F, PositiveIntegerField, Q, QuerySet, Value, When

from accounts.models import Business
from common.db.compiled import AmongIds, Compiled
from common.db.leases import held, take
from common.times import duration
from extensions.hooks.live import HookKey, LiveHook
from extensions.models import Breaker, Definition
from installations.models import Installation
from marketplace.enums import ReleaseMode
from marketplace.models import Release

THRESHOLD: Final = 5
FIRST_PAUSE: Final = timedelta(seconds=30)
LONGEST_PAUSE: Final = timedelta(minutes=10)
MOST_SKIPS: Final = 15
RULE: Final = (
    f"After {THRESHOLD} consecutive failures in one store, the hook is skipped there for {duration(FIRST_PAUSE)}. Then we make one "
    "trial call. If it succeeds, calls resume. If it fails, the hook is skipped for twice as long, up to "
    f"{duration(LONGEST_PAUSE)}."
)
# If a trial's caller dies, another may try this long after the trial should have ended.
TRIAL_GRACE: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Admission:
    """Permission to call. `trial` is set and identifies the trial if this call is one; `opened_times` then counts the
    openings so far. `failures` is the number read.
    """

    failures: int = 0
    trial: datetime | None = None
    opened_times: int = 0


_OF_INSTALLATIONS: Final = Compiled(
    lambda: Breaker.objects.filter(AmongIds("installation", "installations")),
    prepared_as="extensions_breakers",
)


def breakers_of(hooks: Iterable[LiveHook]) -> dict[HookKey, Breaker]:
    """The breakers of hooks that have failed before, and of others on the same installations."""
    keys = {hook.key for hook in hooks}
    if not keys:
        return {}
    rows = _OF_INSTALLATIONS.rows(installations={installation for installation, _ in keys})
    return {(row.installation_id, row.definition_id): row for row in rows}


def count_states(now: datetime) -> dict[str, int]:
    """How many breakers are open, wait for a trial call, or are closed after failures."""
    is_open, waits = Q(open_until__gt=now), Q(open_until__lte=now)
    return Breaker.objects.aggregate(
        open=Count("pk", filter=is_open),
        half_open=Count("pk", filter=waits),
        closed=Count("pk", filter=Q(open_until=None)),
    )


def admit(breaker: Breaker | None, *, timeout: float, now: datetime) -> Admission | None:
    """Permission for one call of at most `timeout` seconds; None: skip it."""
    if breaker is None:
        return Admission()
    if breaker.open_until is None:
        return Admission(breaker.failures)
    if breaker.open_until > now or (breaker.trial_until and breaker.trial_until > now):
        return None
    lasts = timedelta(seconds=timeout) + TRIAL_GRACE
    trial = take(Breaker.objects.filter(pk=breaker.pk, open_until__lte=now), lasts=lasts, now=now)
    return Admission(breaker.failures, trial, breaker.opened_times) if trial else None


def succeeded(key: HookKey, admission: Admission, *, now: datetime) -> None:
    """Close it, or reset the count of failures. A success whose call began before it opened does not close it."""
    if admission.trial:
        _trial_of(key, admission).update(
            failures=0, opened_times=0, open_until=None, open_since=None, trial_until=None, updated_at=now
        )
    elif admission.failures:
        _row_of(key).filter(open_until=None).update(failures=0, updated_at=now)


def failed(key: HookKey, admission: Admission, *, now: datetime) -> None:
    """Count the failure, and open if it reached the limit or was the trial. Calls already running when it opened are
    only counted.
    """
    if admission.trial:
        _trial_of(key, admission).update(
            failures=F("failures") + 1,
            opened_times=F("opened_times") + 1,
            open_until=now + pause(admission.opened_times),
            opened_at=now,
            skips_counted=0,
            trial_until=None,
            updated_at=now,
        )
        return
    if not _count(key, now):
        installation, definition = key
        Breaker.objects.bulk_create(
            [Breaker(installation_id=installation, definition_id=definition, updated_at=now)],
            ignore_conflicts=True,  # another process may have created it meanwhile
        )
        _count(key, now)


def undecided(key: HookKey, admission: Admission) -> None:
    """The call doesn't count: return a trial, so that the next caller can take it."""
    if admission.trial:
        _trial_of(key, admission).update(trial_until=None)


def count_skips(key: HookKey, number: int) -> tuple[datetime | None, int]:
    """How many of this number of skipped calls count as failed in a release, and when their breaker opened. In a transaction.

    At most `MOST_SKIPS` of one opening do: together with the failures that opened it they are enough to judge a version whose hook never
    answers (`releases.sequential`). More would only say the same again.
    """
    left = _row_of(key).filter(
        open_until__isnull=False, opened_at__isnull=False, skips_counted__lt=MOST_SKIPS
    )
    row = left.select_for_update(no_key=True).first()
    if row is None:
        return None, 0
    counted = min(number, MOST_SKIPS - row.skips_counted)
    _row_of(key).update(skips_counted=F("skips_counted") + counted)
    return row.opened_at, counted


def reset(*, installation: Installation, definition: Definition) -> bool:
    """Reset: call the hook again as if it had never failed. Returns whether there was anything to reset."""
    removed, _ = _row_of((installation.pk, definition.pk)).delete()
    return bool(removed)


def close_those_of(release: Release) -> None:
    """Close what opened in stores while they ran a version that is taken back now."""
    opened = Breaker.objects.filter(
        installation__app=release.version.app_id, open_since__gte=release.started_at
    )
    by_step = Q(installation__runs=release.version_id, open_since__gte=F("installation__followed_at"))
    opened.filter(by_step if release.mode == ReleaseMode.STEPS else Q()).delete()


def pause(opened_times: int) -> timedelta:
    """How long it is skipped after this many openings."""
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
        open_since=Case(
            When(last_straw, then=Value(now)), default=F("open_since"), output_field=DateTimeField()
        ),
        opened_at=Case(
            When(last_straw, then=Value(now)), default=F("opened_at"), output_field=DateTimeField()
        ),
        skips_counted=Case(
            When(last_straw, then=Value(0)), default=F("skips_counted"), output_field=PositiveIntegerField()
        ),
        updated_at=now,
    )


def _row_of(key: HookKey) -> QuerySet[Breaker]:
    installation, definition = key
    return Breaker.objects.filter(installation=installation, definition=definition)


def _trial_of(key: HookKey, admission: Admission) -> QuerySet[Breaker]:
    """The row, unless this trial is outdated: it ran late, or the breaker was reset."""
    return held(_row_of(key), admission.trial)


def bring_forward(*, business: Business, by: timedelta) -> None:
    """Of a test store: let open ones be due for their trial earlier by so much."""
    rows = Breaker.objects.filter(installation__business=business)
    rows.update(open_until=F("open_until") - by, open_since=F("open_since") - by)
