"""The hours and days of a release in which there were calls: the newest of each, with their figures.

Stored with the sum of all calls (`CountedCalls.history`), by unit and oldest first. Calls are added only to the newest hour and the newest day, so
only these keep all times, from which a p95 is made: `{"at": …, "new": {"times": …, "failed": 1}, "old": …}`. The others have
their figures: `{"at": …, "new": {"calls": …, "failed": …, "failureRate": …, "p95Ms": …}, "old": …}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from extensions.releases.sequential import Calls

MOST: Final = 48  # hours, and days: a page draws no more
_UNITS: Final = ("hour", "day")


# Calls of both versions as they are stored (`CountedCalls`), and as people and programs read them.


@dataclass(frozen=True, slots=True)
class ReleaseHealth:
    new: Calls
    old: Calls

    def __add__(self, other: "ReleaseHealth") -> "ReleaseHealth":
        return ReleaseHealth(self.new + other.new, self.old + other.old)


def as_json(health: ReleaseHealth) -> dict[str, dict[str, Any]]:
    """The fields of the wire."""
    return {
        name: {
            "calls": calls.number,
            "failed": calls.failed,
            "failureRate": calls.failure_rate,
            "p95Ms": calls.p95,
        }
        for name, calls in (("new", health.new), ("old", health.old))
    }


def stored(health: ReleaseHealth) -> dict[str, Any]:
    return {
        name: {"times": dict(calls.times), "failed": calls.failed}
        for name, calls in (("new", health.new), ("old", health.old))
    }


def restored(found: dict[str, Any]) -> ReleaseHealth:
    """JSON has texts for keys."""
    new, old = (
        Calls({int(time): number for time, number in each["times"].items()}, each["failed"])
        for each in (found["new"], found["old"])
    )
    return ReleaseHealth(new, old)


def with_calls(history: Mapping[str, Any], of_hours: Mapping[datetime, ReleaseHealth]) -> dict[str, Any]:
    """The history with newer calls, by the hour in which they were made."""
    found = {unit: list(history.get(unit, ())) for unit in _UNITS}
    for hour in sorted(of_hours):
        for unit, parts in found.items():
            _add(parts, floor(hour, unit).isoformat(), of_hours[hour])
    return found


def _add(parts: list[dict[str, Any]], at: str, health: ReleaseHealth) -> None:
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
