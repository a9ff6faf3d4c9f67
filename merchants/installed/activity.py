"""What an installed app did in a store in the last seven days, in words and as a plot for its owner."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from django.utils import timezone

from activity.summaries import Summary, done_in
from common.web.charts import Chart, Point, Series, chart
from extensions.hooks.health import NEWEST
from installations.models import Installation
from merchants.installed.call_descriptions import deeds_of
from merchants.installed.hook_descriptions import AtCheckout
from stores.dashboard import Span
from webhooks.queries import MANY, delivery_health

DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """One thing that the app did. `count` is None where it isn't counted; `problem` says what went wrong."""

    words: str
    count: int | None
    last: datetime | None
    is_cut: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Activity:
    lines: list[ActivityLine]  # latest first
    chart: Chart


def activity_of(installation: Installation, at_checkout: list[AtCheckout]) -> Activity:
    """Calls of the app, what checkout asked it, and updates that it received. Two statements."""
    calls = done_in(installation)
    return Activity(_lines(installation, calls, at_checkout), _chart(installation, calls, at_checkout))


def _lines(installation: Installation, calls: Summary, at_checkout: list[AtCheckout]) -> list[ActivityLine]:
    lines = [ActivityLine(each.words, each.count, each.last, calls.is_cut) for each in deeds_of(calls)]
    lines += [_hook(each) for each in at_checkout if each.health.asked]
    health = delivery_health(installation, timezone.now())
    if health.last_at or health.given_up:
        many = "1,000 or more" if health.given_up >= MANY else f"{health.given_up:,}"
        missed = f"{many} missed" if health.given_up else ""
        lines.append(ActivityLine("Received updates from your store", None, health.last_at, problem=missed))
    return sorted(lines, key=lambda line: line.last.timestamp() if line.last else 0, reverse=True)


def _hook(part: AtCheckout) -> ActivityLine:
    health = part.health
    failed = f"{health.failed:,} failed" if health.failed else ""
    return ActivityLine(part.description.done, health.asked, health.last, health.asked >= NEWEST, failed)


def _chart(installation: Installation, calls: Summary, at_checkout: list[AtCheckout]) -> Chart:
    """By days of the store. Of more calls than are read, the older days are left out: they would look too low."""
    span = Span.until(timezone.now(), ZoneInfo(installation.business.timezone), DAYS)

    def known(times: Sequence[datetime], is_cut: bool) -> list[bool]:
        oldest = times[-1].astimezone(span.zone).date() if is_cut and times else None
        return [oldest is None or day > oldest for day in span.dates]

    def by_day(times: list[datetime], kept: list[bool]) -> list[int | None]:
        found = Counter(at.astimezone(span.zone).date() for at in times)
        return [found[day] if is_kept else None for day, is_kept in zip(span.dates, kept, strict=True)]

    kept = known([at for at, _ in calls.times], calls.is_cut)
    series = [
        Series("Read", "first", by_day([at for at, changed in calls.times if not changed], kept)),
        Series("Changed", "second", by_day([at for at, changed in calls.times if changed], kept)),
    ]
    if at_checkout:
        asked = [each.health.times for each in at_checkout]
        days = [all(day) for day in zip(*(known(each, len(each) >= NEWEST) for each in asked), strict=True)]
        series.append(
            Series("Asked at checkout", "third", by_day([at for each in asked for at in each], days))
        )
    points = [Point(day) for day in span.dates]
    return chart(
        "activity", "What it did by day", points, series, empty="Nothing in these days.", is_stacked=True
    )
