"""Moments on the wire: ISO 8601 in UTC with milliseconds and `Z`."""

from datetime import UTC, datetime, timedelta

from django.utils.dateparse import parse_datetime

LAST = datetime.max.replace(tzinfo=UTC) - timedelta(milliseconds=1)


def iso(moment: datetime) -> str:
    """`2026-11-20T15:04:05.123Z` for an aware datetime."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def after(moment: datetime) -> datetime:
    """The first moment that reads later than `moment` on the wire, where times are cut to milliseconds."""
    if moment > LAST:
        return moment
    return moment - timedelta(microseconds=moment.microsecond % 1000) + timedelta(milliseconds=1)


def not_before(moment: datetime) -> datetime:
    """The first moment that does not read earlier than `moment` on the wire."""
    return after(moment - timedelta(microseconds=1)) if moment.microsecond % 1000 else moment


def parse_moment(text: str) -> datetime:
    """Read an ISO 8601 moment that names its offset.

    Raises ValueError for anything else: a moment without an offset would mean a different instant
    to each reader, and one outside the years 1 to 9999 in UTC fits no column.
    """
    try:
        moment = parse_datetime(text)
        if moment is not None and moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("Enter an ISO 8601 time with an offset, such as 2026-11-20T15:04:05Z.")
