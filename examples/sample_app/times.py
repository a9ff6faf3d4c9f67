"""Times as the platform writes them, and for people."""

from __future__ import annotations

from datetime import UTC, datetime


def now_text() -> str:
    """The time now, as the platform writes it."""
    return time_text(datetime.now(UTC))


def time_text(moment: datetime) -> str:
    """``2026-11-20T15:04:05.123Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def for_people(text: str) -> str:
    """What ``time_text`` wrote, as ``20 Nov 2026, 15:04:05 UTC``."""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    return f"{moment.day} {moment:%b %Y, %H:%M:%S} UTC"
