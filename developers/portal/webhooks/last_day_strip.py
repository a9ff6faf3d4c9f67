"""The strip of a webhook's last 24 hours, in the units of its drawing: an hour is 6 wide and at most 24 high."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.templatetags.charts import bars
from common.templatetags.ui import percent
from common.web.charts import Bar, strip
from webhooks.insight.last_day import MOST, Hour, LastDay

STEP: Final = 8
DRAWN: Final = """<svg class="strip last-day" viewBox="0 0 {0} 24" width="{0}" height="24" role="img"
  aria-label="By the hour, until now. {1}"><line class="base" x1="0" x2="{0}" y1="23.5" y2="23.5"></line>{2}</svg>{3}"""
SAID: Final = '<span class="small soft">{}</span>'


@dataclass(frozen=True, slots=True)
class Strip:
    """A webhook's last day as it is drawn and said."""

    day: LastDay

    @property
    def drawn(self) -> SafeString:
        if self.is_empty:
            return format_html(SAID, self.summary)
        said = self.failures or "None failed."
        return format_html(DRAWN, self.width, said, bars(self.bars), format_html(SAID, self.summary))

    @property
    def width(self) -> int:
        return len(self.day.hours) * STEP - 2

    @property
    def is_empty(self) -> bool:
        return not (self.day.succeeded or self.day.failed or self.day.retrying)

    @property
    def bars(self) -> list[Bar]:
        retrying = [0] * (len(self.day.hours) - 1) + [self.day.retrying]  # as of now
        counts = [
            (hour.succeeded, waiting, hour.failed)
            for hour, waiting in zip(self.day.hours, retrying, strict=True)
        ]
        return strip(counts, step=STEP)

    @property
    def summary(self) -> str:
        """`1,204+ delivered, 3 failed`; a `+` where the hours have more than was counted."""
        succeeded = "+" if max([hour.succeeded for hour in self.day.hours], default=0) >= MOST else ""
        failed = "+" if max([hour.failed for hour in self.day.hours], default=0) >= MOST else ""
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


def drawn_together(days: Iterable[LastDay]) -> SafeString:
    """The last day of several webhooks, and how much of it succeeded. The latter is left out where an hour has more than was counted."""
    days = list(days)
    hours = [
        Hour(hour[0].begin, sum([each.succeeded for each in hour]), sum([each.failed for each in hour]))
        for hour in zip(*[each.hours for each in days], strict=True)
    ]
    strip = Strip(LastDay(hours, sum([each.retrying for each in days])))
    if strip.is_empty:
        return format_html(SAID, "No deliveries")
    is_capped = any(max(hour.succeeded, hour.failed) >= MOST for each in days for hour in each.hours)
    ended = strip.day.succeeded + strip.day.failed
    said = "" if is_capped or not ended else f"{percent(strip.day.succeeded / ended)} delivered"
    return format_html(
        DRAWN, strip.width, strip.failures or "None failed.", bars(strip.bars), format_html(SAID, said)
    )


def _capped(count: int) -> str:
    return f"{MOST}+" if count >= MOST else str(count)
