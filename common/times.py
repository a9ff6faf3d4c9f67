"""Formats and parses times: ISO 8601 in UTC with milliseconds and `Z` for APIs, and plain text for people."""

import re
from datetime import UTC, date, datetime, timedelta

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.translation import pgettext, pgettext_lazy

UNITS = (("day", "d", 86_400), ("hour", "h", 3600), ("minute", "min", 60), ("second", "s", 1))
# Those with names of their own in a store's language.
_ZONES = {"CET": pgettext_lazy("time zone", "CET"), "CEST": pgettext_lazy("time zone", "CEST")}
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC) - timedelta(milliseconds=1)


def iso(moment: datetime) -> str:
    """`2026-11-20T15:04:05.123Z` for an aware datetime."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def after(moment: datetime) -> datetime:
    """The first moment that is later than `moment` in the API, which cuts times to milliseconds."""
    if moment > LAST:
        return moment
    return moment - timedelta(microseconds=moment.microsecond % 1000) + timedelta(milliseconds=1)


def shifted(moment: datetime, by: timedelta) -> datetime:
    """`moment + by` in UTC, or the first or last moment that there is, if that is beyond. `by` is in the zone of `moment`."""
    try:
        return (moment + by).astimezone(UTC)
    except OverflowError:
        return FIRST if moment.year == FIRST.year else LAST


def not_before(moment: datetime) -> datetime:
    """The first moment that is not earlier than `moment` in the API."""
    return after(moment - timedelta(microseconds=1)) if moment.microsecond % 1000 else moment


class OutOfRange(ValueError):
    """A well-formed time outside the years 1 to 9999 in UTC, which fits no column."""


def parse_moment(text: str) -> datetime:
    """Parse an ISO 8601 time with an offset.

    Raises ValueError for anything else, including times without an offset, which would be ambiguous, and `OutOfRange`.
    """
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("Enter an ISO 8601 time with an offset, such as 2026-11-20T15:04:05Z.")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise OutOfRange("Enter a time from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.") from None


_RFC_3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)


def instant_of(text: str) -> tuple[int, str]:
    """An RFC 3339 time with an offset, exactly: its seconds, and the digits of their fraction. Earlier ones are smaller.

    Raises ValueError for anything else. A leap second is the same as the second after it.
    """
    found = _RFC_3339.fullmatch(text)
    if found is None:
        raise ValueError("Enter an RFC 3339 time with an offset, such as 2026-11-20T15:04:05Z.")
    day, hour, minute, second, fraction, sign, *ahead = found.groups()
    minutes = date.fromisoformat(day).toordinal() * 1440 + int(hour) * 60 + int(minute)
    if sign:
        offset = int(ahead[0]) * 60 + int(ahead[1])
        minutes += offset if sign == "-" else -offset
    return minutes * 60 + int(second), (fraction or "").rstrip("0")


def to_the_minute(moment: datetime) -> str:
    """`20 Nov 2026, 15:31 UTC`, in the current time zone and the active language."""
    local = timezone.localtime(moment)
    zone = local.tzname() or ""
    words = date_format(local, pgettext("date format", "j M Y, H:i"))
    return f"{words} {_ZONES.get(zone, zone)}"


def to_the_day(moment: datetime) -> str:
    """`20 Nov 2026`, in the current time zone and the active language."""
    return date_format(timezone.localtime(moment), pgettext("date format", "j M Y"))


def since_day(moment: datetime) -> str:
    """`3 November`, in the current time zone; with its year if that is another one."""
    local = timezone.localtime(moment)
    return date_format(local, "j F" if local.year == timezone.localtime().year else "j F Y")


def lately(moment: datetime) -> str:
    """`14:02` of today and `24 Nov` of earlier days, in the current time zone."""
    local, today = timezone.localtime(moment), timezone.localdate()
    return date_format(local, "H:i" if local.date() == today else "j M")


def day_name(day: date, today: date) -> str:
    """`Today`, `Yesterday` or `24 Nov 2026`, in English: the head of a list's day."""
    if day == today:
        return "Today"
    return "Yesterday" if day == today - timedelta(days=1) else f"{day.day} {day:%b %Y}"


def duration(wait: timedelta) -> str:
    """`48 hours` or `2 hours 42 minutes`: at most two units, with days only from three days on."""
    return " ".join(f"{n} {name}{'' if n == 1 else 's'}" for n, name, _ in _parts(wait)) or "0 seconds"


def short_duration(wait: timedelta) -> str:
    """`48 h`, `2 h 42 min`: `duration` for figures and tables."""
    return " ".join(f"{n} {abbreviation}" for n, _, abbreviation in _parts(wait)) or "0 s"


def _parts(wait: timedelta) -> list[tuple[int, str, str]]:
    rest = round(wait.total_seconds())
    parts = []
    for name, abbreviation, seconds in UNITS[wait < timedelta(days=3) :]:
        count, rest = divmod(rest, seconds)
        if count:
            parts.append((count, name, abbreviation))
    return parts[:2]
