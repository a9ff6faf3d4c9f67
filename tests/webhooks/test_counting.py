"""The daily counts of an app's deliveries."""

from datetime import UTC, date, datetime, timedelta

import pytest

from accounts.models import Business, User
from common.ids import id_at
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.insight.analytics import HOUR, DeliveryDay, Span, analytics, deliveries_before, delivery_days
from webhooks.models import Attempt, DailyDeliveryCount, Delivery, Event, Webhook
from webhooks.services.counting import count_recent
from webhooks.services.retention import remove_old

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
TODAY = NOW.date()


@pytest.fixture
def at_shop(app: App, shop: Business) -> Webhook:
    """Of the app's production install at Mira's shop."""
    installed = factories.installation(app, shop, is_test=False)
    return helpers.webhook(installed, "https://app.example.com/", ["order.created"])


def delivery(webhook: Webhook, at: datetime = NOW) -> Delivery:
    event = Event.objects.create(
        business=webhook.installation.business, type="order.created", data="{}", occurred_at=at
    )
    return Delivery.objects.create(
        id=id_at(at), event=event, webhook=webhook, status="SUCCEEDED", finished_at=at
    )


def attempt(of: Delivery, at: datetime, status: int | None = 200, duration_ms: int = 10) -> Delivery:
    of.attempt_count += 1
    of.finished_at = at
    of.save()
    Attempt.objects.create(
        delivery=of, number=of.attempt_count, attempted_at=at, http_status=status, duration_ms=duration_ms
    )
    return of


def days_ago(days: int) -> datetime:
    return NOW - timedelta(days=days)


def figures(app: App, now: datetime = NOW) -> dict[date, tuple[int, int]]:
    """Successful and failed, of the days that have any."""
    return {
        day.date: (day.successful, day.failed)
        for day in delivery_days(app, now=now)
        if day.successful or day.failed
    }


@pytest.mark.spec("Contract 9 Precise points", "Analytics: thirty UTC days, oldest first, with zeros")
def test_days_without_deliveries_are_zeros(app: App) -> None:
    days = delivery_days(app, now=NOW)
    assert [day.date for day in days] == [TODAY - timedelta(days=ago) for ago in range(29, -1, -1)]
    assert set(days) == {DeliveryDay(day.date) for day in days}


def test_failed_delivery_that_is_sent_again_is_counted_as_such(app: App, at_shop: Webhook) -> None:
    """By the retry schedule or a resend. One that was delivered is not, while it is being resent."""
    statuses = {
        DeliveryStatus.RETRYING: 500,
        DeliveryStatus.PENDING: 500,
        DeliveryStatus.EXHAUSTED: 500,
        "": 200,
    }
    for status, answer in statuses.items():
        made = attempt(delivery(at_shop), NOW, answer)
        Delivery.objects.filter(pk=made.pk).update(status=status or DeliveryStatus.PENDING)
    count_recent(now=NOW)
    today = DailyDeliveryCount.objects.get(date=TODAY)
    assert (today.successful, today.failed, today.retrying) == (1, 3, 2)
    assert delivery_days(app, now=NOW)[-1].given_up == 1


@pytest.mark.spec("Contract 9 Precise points", "Analytics: deliveries count by their newest attempt")
def test_delivery_counts_once_on_the_day_of_its_newest_attempt(app: App, at_shop: Webhook) -> None:
    retried = delivery(at_shop)
    attempt(retried, days_ago(3), 500)
    attempt(retried, days_ago(2), 204)
    attempt(delivery(at_shop), days_ago(2), None)
    attempt(delivery(at_shop), days_ago(2), 302)
    attempt(delivery(at_shop), NOW, 200)
    count_recent(now=NOW)
    assert figures(app) == {days_ago(2).date(): (1, 2), TODAY: (1, 0)}


@pytest.mark.spec(
    "Contract 9 Precise points", "Analytics: today and yesterday are exact up to 10,000 deliveries"
)
@pytest.mark.parametrize(("counted", "shown"), [(6_000, (2, 0)), (6_001, (6_001, 0))])
def test_busy_days_are_as_they_were_counted(
    app: App, at_shop: Webhook, counted: int, shown: tuple[int, int]
) -> None:
    for day, successful in ((TODAY, counted), (days_ago(1).date(), 4_000), (days_ago(2).date(), 9_000)):
        DailyDeliveryCount.objects.create(
            app=app, date=day, successful=successful, failed=0, answered=successful, duration_ms=1
        )
    for _ in range(2):
        attempt(delivery(at_shop), NOW)
    assert figures(app)[TODAY] == shown
    assert figures(app)[days_ago(2).date()] == (9_000, 0)
    assert (days_ago(1).date() in figures(app)) == (counted == 6_001)  # nothing was made on it


@pytest.mark.spec(
    "Contract 9 Precise points", "Analytics: beyond 10,000 deliveries, hours are counted but for the last two"
)
@pytest.mark.parametrize(
    ("more", "earlier", "before"), [(9_998, (1, 0), (0, 1)), (10_000, (0, 0), (0, 0))], ids=["few", "busy"]
)
def test_busy_hours_are_as_they_were_counted(
    app: App, at_shop: Webhook, more: int, earlier: tuple[int, int], before: tuple[int, int]
) -> None:
    hour = NOW - 3 * HOUR
    attempt(delivery(at_shop), hour - 24 * HOUR, 500)
    attempt(delivery(at_shop), hour)
    count_recent(now=NOW)
    today = DailyDeliveryCount.objects.get(date=TODAY)
    assert today.hours == {"9": [1, 0, 1, 10, 0, {"10": 1}]}
    yesterday = DailyDeliveryCount.objects.get(date=TODAY - timedelta(days=1))
    assert yesterday.hours == {"9": [0, 1, 1, 10, 0, {"10": 1}]}
    # The counted hours are seen by taking the others away.
    DailyDeliveryCount.objects.update(hours={"0": [0, 0, 0, 0]})
    DailyDeliveryCount.objects.filter(pk=today.pk).update(successful=more)
    attempt(delivery(at_shop), NOW - HOUR, 302)
    attempt(delivery(at_shop), NOW)
    found = analytics(app, Span(24, HOUR), now=NOW)
    by_hour = {each.date: (each.successful, each.failed) for each in found.deliveries}
    assert (by_hour[hour], by_hour[NOW - HOUR], by_hour[NOW]) == (earlier, (0, 1), (1, 0))
    assert (found.before.successful, found.before.failed) == before


def test_hours_of_days_that_were_counted_without_them_are_read(app: App, at_shop: Webhook) -> None:
    """As an earlier release counted."""
    attempt(delivery(at_shop), NOW - 3 * HOUR)
    DailyDeliveryCount.objects.create(
        app=app, date=TODAY, successful=20_000, failed=0, answered=0, duration_ms=0
    )
    assert analytics(app, Span(24, HOUR), now=NOW).delivered.successful == 1


@pytest.mark.spec("Contract 9 Precise points", "Latency is of attempts with an HTTP answer")
def test_durations_are_of_all_answered_attempts_on_their_own_day(app: App, at_shop: Webhook) -> None:
    retried = delivery(at_shop)
    attempt(retried, days_ago(3), 500, 30)
    attempt(retried, days_ago(3), None, 10_000)
    attempt(retried, NOW, 200, 50)
    count_recent(now=NOW)
    by_date = {day.date: (day.answered, day.duration_ms) for day in delivery_days(app, now=NOW)}
    assert by_date[days_ago(3).date()] == (1, 30)
    assert by_date[TODAY] == (1, 50)


def test_latencies_are_counted_in_steps(app: App, at_shop: Webhook) -> None:
    """Of every answered attempt, by at most a twentieth off; of hours, days, and both together."""
    exact = [3, 19, 21, 49, 98, 144, 203, 777, 1049, 1951, 4870, 9999]
    retried = delivery(at_shop)
    for number, duration in enumerate(exact):
        attempt(retried, days_ago(3) + number % 2 * HOUR, 500, duration)
    attempt(retried, days_ago(3), None, 10_000)
    count_recent(now=NOW)
    counted = DailyDeliveryCount.objects.get(date=days_ago(3).date())
    steps = sorted(int(each) for each in counted.latencies)
    assert steps == [3, 19, 22, 50, 100, 140, 200, 800, 1000, 2000, 4800, 10000]
    assert all(abs(step - each) <= each / 20 for step, each in zip(steps, exact, strict=True))
    assert sum(len(hour[-1]) for hour in counted.hours.values()) == len(exact)
    day = next(each for each in delivery_days(app, now=NOW) if each.date == days_ago(3).date())
    assert (day.latency(0.5), day.latency(0.95), day.latency(1)) == (140, 10_000, 10_000)
    assert DeliveryDay(TODAY).latency(0.5) is None


@pytest.mark.long
def test_days_that_an_earlier_release_counted_get_their_latencies(app: App, at_shop: Webhook) -> None:
    attempt(delivery(at_shop), days_ago(20), duration_ms=44)
    attempt(delivery(at_shop), NOW)
    count_recent(now=NOW)
    DailyDeliveryCount.objects.update(latencies={}, hours={"9": [1, 0, 1, 44, 0]})
    kept = DailyDeliveryCount.objects.get(date=days_ago(20).date())
    gone = DailyDeliveryCount.objects.create(
        app=app, date=days_ago(40).date(), successful=1, failed=0, answered=1, duration_ms=5
    )
    count_recent(now=NOW)
    kept.refresh_from_db()
    gone.refresh_from_db()
    assert (kept.latencies, gone.latencies) == ({"44": 1}, {})


@pytest.mark.spec("Contract 9 Precise points", "Installs on sandboxes and test installs don't count")
def test_sandboxes_do_not_count(app: App, webhook: Webhook, installation: Installation) -> None:
    attempt(delivery(webhook), days_ago(1))
    Installation.objects.filter(pk=installation.pk).update(is_test=False)
    attempt(delivery(webhook), NOW)
    count_recent(now=NOW)
    assert figures(app) == {}
    assert not DailyDeliveryCount.objects.exists()


def test_other_developers_deliveries_are_not_in_it(at_shop: Webhook, sam: object) -> None:
    attempt(delivery(at_shop), days_ago(1))
    attempt(delivery(at_shop), NOW)
    count_recent(now=NOW)
    assert figures(factories.app(sam)) == {}  # type: ignore[arg-type]


def test_counting_twice_changes_nothing(app: App, at_shop: Webhook) -> None:
    attempt(delivery(at_shop), days_ago(1))
    for _ in range(2):
        count_recent(now=NOW)
    assert figures(app) == {days_ago(1).date(): (1, 0)}
    assert DailyDeliveryCount.objects.count() == 1


@pytest.mark.long
def test_delivery_sent_again_moves_to_the_day_of_that(app: App, at_shop: Webhook) -> None:
    failed = attempt(delivery(at_shop), days_ago(10), 500)
    count_recent(now=days_ago(9))
    assert figures(app) == {days_ago(10).date(): (0, 1)}
    attempt(failed, NOW, 200)
    count_recent(now=NOW)
    assert figures(app) == {TODAY: (1, 0)}
    assert sum(row.failed for row in DailyDeliveryCount.objects.all()) == 0


@pytest.mark.long
def test_days_missed_by_the_scheduler_are_made_up_for(app: App, at_shop: Webhook) -> None:
    count_recent(now=days_ago(20))
    attempt(delivery(at_shop), days_ago(19))
    attempt(delivery(at_shop), days_ago(12))
    attempt(delivery(at_shop), days_ago(1))
    count_recent(now=NOW)
    assert len(figures(app)) == 3


@pytest.mark.spec("Contract 9 Precise points", "Analytics: deliveries count by their newest attempt")
def test_yesterday_is_right_before_it_is_counted_for_the_last_time(app: App, at_shop: Webhook) -> None:
    """A delivery that failed before midnight, after the last count, and succeeded after it."""
    midnight = datetime(2026, 11, 20, tzinfo=UTC)
    retried = delivery(at_shop, midnight)
    attempt(retried, midnight - timedelta(minutes=70), 500)
    count_recent(now=midnight - timedelta(minutes=53))
    attempt(retried, midnight - timedelta(minutes=38), 500)
    attempt(delivery(at_shop, midnight), midnight - timedelta(minutes=30), 500)
    attempt(retried, midnight + timedelta(minutes=1), 200)
    assert figures(app, midnight + timedelta(minutes=2)) == {
        TODAY - timedelta(days=1): (0, 1),
        TODAY: (1, 0),
    }


def test_deliveries_before_end_where_the_shown_ones_begin(app: App, at_shop: Webhook, sam: User) -> None:
    counts = {date(2026, 9, 21): 1, date(2026, 9, 22): 2, date(2026, 10, 21): 4, date(2026, 10, 22): 8}
    for day, successful in counts.items():
        for each in (app, factories.app(sam)):
            DailyDeliveryCount.objects.create(
                app=each, date=day, successful=successful, failed=1, answered=successful, duration_ms=10
            )
    before = DeliveryDay(date(2026, 9, 22), successful=6, failed=2, answered=6, duration_ms=20)
    assert deliveries_before(app, now=NOW) == before
    assert deliveries_before(factories.app(sam), now=NOW) == DeliveryDay(date(2026, 9, 22))


def test_days_are_utc_days(app: App, at_shop: Webhook) -> None:
    midnight = datetime(2026, 11, 20, tzinfo=UTC)
    attempt(delivery(at_shop), midnight - timedelta(microseconds=1))
    attempt(delivery(at_shop), midnight)
    count_recent(now=NOW)
    assert figures(app) == {TODAY - timedelta(days=1): (1, 0), TODAY: (1, 0)}


def test_rows_that_retention_removes_are_in_no_day_that_is_shown(app: App, at_shop: Webhook) -> None:
    """The first of the thirty days is never counted from less than all its rows."""
    night = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)
    first = datetime(2026, 10, 22, tzinfo=UTC)
    attempt(delivery(at_shop, first), first)
    remove_old(now=night)
    count_recent(now=night)
    assert figures(app, night) == {first.date(): (1, 0)}
