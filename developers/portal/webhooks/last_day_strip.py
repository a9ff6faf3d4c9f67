"""The strip of a webhook's last 24 hours, in the units of its drawing: an hour is 6 wide and at most 24 high."""

from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from common.web.charts import Bar, strip
from webhooks.insight.last_day import MOST, LastDay

STEP: Final = 8


@dataclass(frozen=True, slots=True)
class Strip:
    """A webhook's last day as it is drawn and said."""

    day: LastDay

    @property
    def width(self) -> int:
        return len(self.day.hours) * STEP - 2

    @property
    def is_empty(self) -> bool:
        return not (self.day.succeeded or self.day.failed or self.day.retrying)

    @property
    def bars(self) -> list[Bar]:
        return strip([(hour.succeeded, hour.failed) for hour in self.day.hours], step=STEP)

    @property
    def summary(self) -> str:
        """`1,204+ delivered, 3 failed`; a `+` where the hours have more than was counted."""
        succeeded = "+" if any(hour.succeeded >= MOST for hour in self.day.hours) else ""
        failed = "+" if any(hour.failed >= MOST for hour in self.day.hours) else ""
        counts = {
            f"{self.day.succeeded:,}{succeeded} delivered": self.day.succeeded,
            f"{self.day.failed:,}{failed} failed": self.day.failed,
            f"{_capped(self.day.retrying)} being retried": self.day.retrying,
        }
        return ", ".join(text for text, count in counts.items() if count) or "No deliveries"

    @property
    def failures(self) -> str:
        """`Failed: 2 from 14:00, 100+ from 15:00 UTC.`, or nothing."""
        found = [(hour.failed, timezone.localtime(hour.begin)) for hour in self.day.hours if hour.failed]
        hours = ", ".join(f"{_capped(failed)} from {begin:%H:%M}" for failed, begin in found)
        return f"Failed: {hours} {found[-1][1].tzname()}." if found else ""


def _capped(count: int) -> str:
    return f"{MOST}+" if count >= MOST else str(count)
