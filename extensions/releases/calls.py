"""Calls of both versions as they are stored (`CountedCalls`), and as people and programs read them."""

from dataclasses import dataclass
from typing import Any

from extensions.releases.sequential import Calls


@dataclass(frozen=True, slots=True)
class Health:
    new: Calls
    old: Calls

    def __add__(self, other: "Health") -> "Health":
        return Health(self.new + other.new, self.old + other.old)


def as_json(health: Health) -> dict[str, dict[str, Any]]:
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


def stored(health: Health) -> dict[str, Any]:
    return {
        name: {"times": dict(calls.times), "failed": calls.failed}
        for name, calls in (("new", health.new), ("old", health.old))
    }


def restored(found: dict[str, Any]) -> Health:
    """JSON has texts for keys."""
    new, old = (
        Calls({int(time): number for time, number in each["times"].items()}, each["failed"])
        for each in (found["new"], found["old"])
    )
    return Health(new, old)
