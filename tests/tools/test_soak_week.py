"""The week of the soak: what its clock says, and how the rows become older."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from activity.models import ApiCall
from activity.services import retention
from common.db import partitions
from installations.models import Installation
from tools.soak.week import rows
from tools.soak.week.clock import Clock, Leap
from tools.soak.week.due import DAY, HOUR, Due

CLOCK = Clock([Leap(100, 101, 12 * HOUR), Leap(200, 201, 12 * HOUR)])


@pytest.mark.parametrize(
    ("row", "seen", "real"),
    [
        (250, 300, 250),  # written after both leaps
        (150 - 12 * HOUR, 300, 150),  # between them
        (50 - 24 * HOUR, 300, 50),  # before both
        (50, 99, 50),  # and seen before both
        (50 - 12 * HOUR, 150, 50),
        (200 - 6 * HOUR, 300, 201),  # due within the second
        (100 - 20 * HOUR, 300, 101),  # due within the first
    ],
)
def test_clock_knows_when_a_time_of_a_row_really_was(row: float, seen: float, real: float) -> None:
    assert CLOCK.real(row, seen) == real


def test_clock_knows_when_so_much_time_has_passed() -> None:
    assert [CLOCK.later(50, hours * HOUR) for hours in (0, 1, 12, 13, 24)] == [50, 101, 101, 201, 201]
    assert CLOCK.later(50, 25 * HOUR) == 50 + 25 * HOUR - 24 * HOUR
    assert CLOCK.later(300, 10) == 310 == Clock().later(300, 10)
    assert CLOCK.passed == DAY


@pytest.mark.parametrize(("takes", "is_early"), [(0, False), (12, False), (24, False), (25, True)])
def test_what_comes_before_its_time_is_early(
    takes: float, is_early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.soak.week.due.monotonic", lambda: 202.0)
    due = Due("an export has expired", lambda: True, takes * HOUR, since=50)
    due.look(CLOCK)
    assert (due.seen, due.is_early) == (202.0, is_early)


@pytest.mark.postgres
@pytest.mark.django_db
def test_rows_become_older_and_old_partitions_fall_due(installation: Installation, dana: User) -> None:
    session = connection.connection
    now = timezone.now()
    made = ApiCall.objects.create(
        app=installation.app, installation=installation, at=now, method="GET", route="/", path="/", status=200,
        duration_ms=1, rate_limit=60, rate_left=59, rate_reset=0,
    )  # fmt: skip
    past = rows.add_past(session)
    names = {each.name for each in past}
    calls = [each for each in past if each.table == ApiCall._meta.db_table]
    assert len(calls) == 7
    assert ApiCall.objects.exclude(pk=made.pk).count() == 7
    retention.remove_old()
    assert names <= {each.name for each in rows.parts(session)}  # none is due yet
    joined = dana.date_joined
    for _ in range(2):
        rows.make_older(session, 12 * HOUR, names)
    dana.refresh_from_db()
    made.refresh_from_db()  # under its id, so in its partition
    assert joined - dana.date_joined == now - made.at == timedelta(days=1)
    retention.remove_old()
    left = {each.name for each in rows.parts(session)}
    assert [each.name for each in calls if each.name not in left] == [
        min(calls, key=lambda each: each.start).name
    ]
    assert ApiCall.objects.exclude(pk=made.pk).count() == 6
    (taken,) = (name for name in rows.take_furthest(session) if name.startswith("activity_apicall"))
    assert datetime.now(UTC).strftime("activity_apicall_%Y%m%d") < taken
    assert taken in partitions.make_ahead(ApiCall)
