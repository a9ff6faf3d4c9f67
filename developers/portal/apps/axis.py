"""The axis that all plots of an overview share: hours of the sandbox store, or days of merchants' stores, both as UTC begins them."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final
from urllib.parse import urlencode

from django.utils import timezone

from common.web.charts import Point
from webhooks.insight.analytics import Span

HOURS: Final = 24
DAYS: Final = 7


class PlaceOfUse(StrEnum):
    """Whose use of an app is shown."""

    SANDBOX = "sandbox"
    STORES = "stores"


@dataclass(frozen=True, slots=True)
class Axis:
    """`begins` of each point, the oldest first. The last one is still running."""

    begins: tuple[datetime, ...]
    step: timedelta

    @classmethod
    def of(cls, place: PlaceOfUse, now: datetime) -> "Axis":
        hour = now.replace(minute=0, second=0, microsecond=0)
        last, step, number = hour.replace(hour=0), timedelta(days=1), DAYS
        if place == PlaceOfUse.SANDBOX:
            last, step, number = hour, timedelta(hours=1), HOURS
        return cls(tuple(last - ago * step for ago in range(number - 1, -1, -1)), step)

    @classmethod
    def of_span(cls, span: Span, now: datetime) -> "Axis":
        return cls(tuple(begin for begin, _ in span.ranges(now)), span.step)

    @property
    def first(self) -> datetime:
        return self.begins[0]

    @property
    def ranges(self) -> list[tuple[datetime, datetime]]:
        return [(begin, begin + self.step) for begin in self.begins]

    @property
    def range_name(self) -> str:
        """Of the lists' filters, for all of it."""
        return "24h" if self.step < timedelta(days=1) else "7d"

    def number_of(self, moment: datetime) -> int | None:
        """The point that a moment belongs to, if it is on the axis."""
        number = (moment - self.first) // self.step
        return number if 0 <= number < len(self.begins) else None

    def at(self, begin: datetime) -> date:
        """As plots name it: hours by a time in the zone of the page, days by a date."""
        return timezone.localtime(begin) if self.step < timedelta(days=1) else begin.date()

    def points(self, address: str) -> list[Point]:
        """Each leads to the list at this address (`filtered`), with its range as filters."""
        return [Point(self.at(begin), f"{address}{_filters(begin, end)}") for begin, end in self.ranges]


def filtered(url: str, **filters: str) -> str:
    """A list's address with filters, to which one more can be added."""
    return f"{url}?{urlencode(filters)}&" if filters else f"{url}?"


@lru_cache(maxsize=400)
def _filters(begin: datetime, end: datetime) -> str:
    """Of a range, both in UTC."""
    return urlencode({"since": _minute(begin), "until": _minute(end)})


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%MZ}"
