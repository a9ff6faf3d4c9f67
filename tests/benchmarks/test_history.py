"""`month` misses its goal if the drop is slow, and fails if the drop ends what runs beside it."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from benchmarks import history
from benchmarks.processes import Failed
from benchmarks.results import Row
from common.db.partitions import Partition

BEGIN = timezone.now() - timedelta(days=38)
OLD, NEW = (
    Partition(BEGIN + timedelta(days=start), BEGIN + timedelta(days=start + 7), "") for start in (0, 7)
)


@pytest.fixture
def drop(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A drop that takes the seconds that are given, while claims and events run that do nothing."""
    weeks, clock = [OLD, NEW], SimpleNamespace(now=0.0)

    def remove_old() -> None:
        weeks.remove(OLD)
        clock.now += dropping.seconds

    def dropping(seconds: float) -> list[Row]:
        dropping.seconds = seconds  # type: ignore[attr-defined]
        webhook: Any = SimpleNamespace(installation=SimpleNamespace(business_id=None))
        return list(history.dropped([webhook], 300_000, BEGIN))

    monkeypatch.setattr(history.partitions, "existing", lambda _: list(weeks))
    monkeypatch.setattr(history.retention, "remove_old", remove_old)
    monkeypatch.setattr(history, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(history, "planning", SimpleNamespace(by_index=lambda: None, as_usual=lambda: None))
    monkeypatch.setattr(history.claims, "claim", lambda *_, **__: None)
    monkeypatch.setattr(history, "publish", lambda **_: None)
    return dropping


@pytest.mark.parametrize(("seconds", "verdict"), [(3.4, "better"), (6.9, "at least"), (7.1, "MISSED")])
def test_drop_has_a_goal_for_each_day(drop: Any, seconds: float, verdict: str) -> None:
    row = drop(seconds)[0]
    assert row.what.startswith("Dropping a day of 300,000 deliveries")
    assert row.what.endswith("all 7.0 days")
    assert row.figure == pytest.approx(seconds * 1000 / 7)
    assert row.verdict() == verdict


@pytest.mark.parametrize("name", ["claim", "event"])
def test_claim_or_event_that_fails_during_a_drop_fails_the_benchmark(
    drop: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(*((history.claims, "claim") if name == "claim" else (history, "publish")), fail)
    with pytest.raises(Failed, match=rf"A {name} failed.*lock timeout"):
        drop(0.1)
