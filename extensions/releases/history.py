"""The hours and days of a release in which there were calls: the newest of each, with their figures.

Stored with the sum of all calls (`CountedCalls.history`), by unit and oldest first. Calls are added only to the newest hour and the newest day, so
only these keep all times, from which a p95 is made: `{"at": …, "new": {"times": …, "failed": 1}, "old": …}`. The others have
their figures: `{"at": …, "new": {"calls": …, "failed": …, "failureRate": …, "p95Ms": …}, "old": …}`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from extensions.releases.calls import Health, as_json, restored, stored

MOST: Final = 48  # hours, and days: a page draws no more
_UNITS: Final = ("hour", "day")


def with_calls(history: Mapping[str, Any], of_hours: Mapping[datetime, Health]) -> dict[str, Any]:
    """The history with newer calls, by the hour in which they were made."""
    found = {unit: list(history.get(unit, ())) for unit in _UNITS}
    for hour in sorted(of_hours):
        for unit, parts in found.items():
            _add(parts, floor(hour, unit).isoformat(), of_hours[hour])
    return found


def _add(parts: list[dict[str, Any]], at: str, health: Health) -> None:
    if parts and parts[-1]["at"] == at:
        health = restored(parts.pop()) + health
    elif parts:
        parts.append(_with_figures(parts.pop()))
    parts.append({"at": at, **stored(health)})
    del parts[:-MOST]


def _with_figures(part: dict[str, Any]) -> dict[str, Any]:
    return {"at": part["at"], **as_json(restored(part))}


def shown(history: Mapping[str, Any], unit: str) -> list[dict[str, Any]]:
    """The figures of each hour or day."""
    parts = list(history.get(unit, ()))
    return [*parts[:-1], *map(_with_figures, parts[-1:])]


def floor(at: datetime, unit: str) -> datetime:
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if unit == "hour" else hour.replace(hour=0)
