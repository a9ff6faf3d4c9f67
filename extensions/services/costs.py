"""Counts what apps add to the pages of a store, as shoppers' browsers measured it.

Anyone can send such numbers, and an app's own script runs on the store's origin, so they are hints and not proof. They are
clamped, and one row takes at most `MOST_VISITS` a day: a flood costs little and ends.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Sum
from django.utils import timezone

from accounts.models import Business
from extensions.models import StorefrontCost
from extensions.queries import running_installations
from installations.models import Installation

MOST_MS: Final = 30_000
MOST_BYTES: Final = 20_000_000
MOST_APPS: Final = 20  # of one visit
MOST_VISITS: Final = 5_000  # of one app and store on one day
WINDOW: Final = timedelta(days=7)
KEPT: Final = timedelta(days=30)
ENOUGH: Final = 20  # visits


@dataclass(frozen=True, slots=True)
class Measured:
    """What one page view loaded for one app. `bytes` is None if the app doesn't let pages read its sizes."""

    slug: str
    milliseconds: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Averages of the last seven days. None where unknown: too few visits, or sizes that the app doesn't share."""

    visits: int
    milliseconds: int | None
    bytes: int | None

    @property
    def is_known(self) -> bool:
        return self.milliseconds is not None


def record_visit(*, business: Business, measured: Iterable[Measured], now: datetime | None = None) -> None:
    """Add one page view. Apps that don't work in this store are left out, numbers that can't be are cut.

    At most three statements for each of at most `MOST_APPS` apps.
    """
    day = (now or timezone.now()).date()
    known = {each.app.slug: each for each in running_installations(business)}
    by_slug = {each.slug: each for each in measured if each.slug in known}
    for slug, each in list(by_slug.items())[:MOST_APPS]:
        _add(StorefrontCost(installation=known[slug], day=day), each)


def _add(row: StorefrontCost, measured: Measured) -> None:
    own = StorefrontCost.objects.filter(installation=row.installation_id, day=row.day)
    values = {
        "visits": F("visits") + 1,
        "unshared": F("unshared") + int(measured.bytes is None),
        "milliseconds": F("milliseconds") + min(max(measured.milliseconds, 0), MOST_MS),
        "bytes": F("bytes") + min(max(measured.bytes or 0, 0), MOST_BYTES),
    }
    if own.filter(visits__lt=MOST_VISITS).update(**values) or own.exists():
        return
    StorefrontCost.objects.bulk_create([row], ignore_conflicts=True)
    own.update(**values)


def cost_in(installation: Installation, now: datetime | None = None) -> Cost:
    """One statement."""
    since = ((now or timezone.now()) - WINDOW).date()
    rows = StorefrontCost.objects.filter(installation=installation, day__gt=since)
    sums = rows.aggregate(
        visits=Sum("visits"), unshared=Sum("unshared"), ms=Sum("milliseconds"), size=Sum("bytes")
    )
    visits, unshared = sums["visits"] or 0, sums["unshared"] or 0
    if visits < ENOUGH:
        return Cost(visits, None, None)
    sized = visits - unshared
    return Cost(
        visits, round(sums["ms"] / visits), round(sums["size"] / sized) if 2 * sized >= visits else None
    )


def remove_old(*, now: datetime | None = None) -> int:
    """Delete days older than 30 days."""
    removed, _ = StorefrontCost.objects.filter(day__lt=((now or timezone.now()) - KEPT).date()).delete()
    return removed
