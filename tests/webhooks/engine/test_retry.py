"""The retry schedule, row by row."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from webhooks.engine.retry import delays, next_attempt_at, parse_retry_after, requested_wait

FAILED = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)
TABLE = [(1, 30), (2, 120), (3, 480), (4, 1920), (5, 7200)]
EACH_STEP = pytest.mark.parametrize(("attempts_made", "step"), TABLE)


def wait(attempts_made: int, *, retry_after: float | None = None, jitter: float = 0.0) -> float | None:
    """Seconds from the failure to the next attempt."""
    due = next_attempt_at(
        attempts_made=attempts_made,
        failed_at=FAILED,
        retry_after=None if retry_after is None else timedelta(seconds=retry_after),
        jitter=lambda: jitter,
    )
    return None if due is None else (due - FAILED).total_seconds()


@pytest.mark.spec(
    "Events/Retry policy", "Retries after 30 seconds, 2 minutes, 8 minutes, 32 minutes and 2 hours"
)
@EACH_STEP
def test_the_table(attempts_made: int, step: int) -> None:
    assert wait(attempts_made) == step
    assert delays()[attempts_made - 1] == timedelta(seconds=step)


@pytest.mark.spec("Events/Retry policy", "The fifth retry is the final one")
@pytest.mark.parametrize("attempts_made", [6, 7, 100])
def test_the_sixth_attempt_is_the_last(attempts_made: int) -> None:
    assert wait(attempts_made) is None
    assert wait(attempts_made, retry_after=60) is None


@pytest.mark.spec("Contract 5 Webhooks", "Retries are never early, and up to 5 % late on purpose")
@EACH_STEP
def test_the_spread(attempts_made: int, step: int) -> None:
    assert wait(attempts_made, jitter=0.5) == pytest.approx(step * 1.025)
    assert wait(attempts_made, jitter=1.0) == pytest.approx(step * 1.05)
    for _ in range(200):
        due = next_attempt_at(attempts_made=attempts_made, failed_at=FAILED)
        assert due is not None
        assert timedelta(seconds=step) <= due - FAILED <= timedelta(seconds=step * 1.05)


@pytest.mark.spec(
    "Events/Retry policy", "Retry-After lengthens a wait, to at most twice the step, and never shortens it"
)
@EACH_STEP
def test_retry_after(attempts_made: int, step: int) -> None:
    assert wait(attempts_made, retry_after=0) == step
    assert wait(attempts_made, retry_after=step - 1) == step
    assert wait(attempts_made, retry_after=step * 1.5) == step * 1.5
    assert wait(attempts_made, retry_after=step * 1.5, jitter=1.0) == pytest.approx(step * 1.55)
    assert wait(attempts_made, retry_after=step * 2) == step * 2
    assert wait(attempts_made, retry_after=step * 2, jitter=1.0) == step * 2
    assert wait(attempts_made, retry_after=10**9, jitter=1.0) == step * 2


def test_the_schedule_is_a_setting(settings: Any) -> None:
    settings.WEBHOOK_RETRY_DELAYS = (1, 3)
    assert [wait(1), wait(2), wait(3)] == [1, 3, None]
    settings.WEBHOOK_RETRY_DELAYS = ()
    assert wait(1) is None


def test_it_begins_after_an_attempt() -> None:
    with pytest.raises(ValueError, match="first attempt"):
        wait(0)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 120 ", 120),
        ("9" * 5000, 365 * 86400),
        ("Fri, 20 Nov 2026 12:01:00 GMT", 59.876544),
        ("Friday, 20-Nov-26 12:01:00 GMT", 59.876544),
        ("Fri Nov 20 12:01:00 2026", 59.876544),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 365 * 86400),
        (None, None),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("١٢", None),
        ("Fri, 99 Nov 2026 12:01:00 GMT", None),
        ("Fri, 20 Nov 99999999999 12:01:00 GMT", None),
    ],
)
def test_reading_retry_after(value: str | None, seconds: float | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)
    assert parse_retry_after(value, FAILED) == expected


@pytest.mark.spec("Contract 5 Webhooks", "Retry-After counts with 429 and 503")
def test_only_two_statuses_may_ask_for_time() -> None:
    asked = {
        status: requested_wait(status, "60", FAILED) for status in (None, 200, 301, 404, 429, 500, 502, 503)
    }
    assert {status for status, waits in asked.items() if waits} == {429, 503}
