"""An app's analytics: the developer API, the portal's page and its CSV."""

import csv
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business, User
from common.ids import id_at
from common.templatetags.ui import percent
from installations.services import Terms, install, uninstall
from marketplace.models import App, AppVersion
from marketplace.services.apps import count_installs
from tests import factories
from tests.clients import Api
from tests.pages import text_of
from tests.webhooks import helpers
from webhooks.models import Attempt, DailyDeliveryCount, Delivery, Event, Webhook
from webhooks.services.counting import count_recent

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
TODAY = NOW.date()
DEFINITIONS = "Contract 9 Precise points"


@pytest.fixture(autouse=True)
def _noon() -> Any:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def at_shop(app: App, shop: Business) -> Webhook:
    """A webhook of the app's production install on Mira's store, thirty days and an hour ago."""
    installed = factories.installation(app, shop, is_test=False, installed_at=ago(days=30, hours=1))
    count_installs(app=app, by=1)
    return helpers.webhook(installed, "https://app.example.com/", ["order.created"])


def ago(**time: float) -> datetime:
    return NOW - timedelta(**time)


def sent(webhook: Webhook, *attempts: tuple[datetime, int | None, int]) -> Delivery:
    """A delivery with these attempts, as tuples of time, HTTP status and milliseconds."""
    first, last = attempts[0][0], attempts[-1][0]
    event = Event.objects.create(
        business=webhook.installation.business, type="order.created", data="{}", occurred_at=first
    )
    made = Delivery.objects.create(
        id=id_at(first), event=event, webhook=webhook, status="SUCCEEDED", finished_at=last,
        attempt_count=len(attempts), created_at=first,
    )  # fmt: skip
    for number, (at, status, duration) in enumerate(attempts, 1):
        Attempt.objects.create(
            delivery=made, number=number, attempted_at=at, http_status=status, duration_ms=duration
        )
    return made


def analytics(api: Api, app: App) -> Any:
    response = api("get", f"/developer/apps/{app.id}/analytics")
    assert response.status_code == 200
    return response.json()


def page(browser: Client, app: App) -> str:
    return text_of(browser.get(f"/portal/apps/{app.slug}/analytics/"))


def days(listed: list[dict[str, Any]]) -> dict[str, tuple[int, ...]]:
    """Days with a value above zero."""
    figures = {
        each["date"]: tuple(value for name, value in each.items() if name != "date") for each in listed
    }
    return {day: values for day, values in figures.items() if any(values)}


# The call


@pytest.mark.spec(
    "Contract 2 Developer API", "Analytics: every field, with nulls and zeros where there is nothing"
)
@pytest.mark.spec(DEFINITIONS, "Analytics: thirty UTC days, oldest first, with zeros")
def test_app_without_anything_has_zeros_and_nulls(api: Api, app: App) -> None:
    dates = [(TODAY - timedelta(days=before)).isoformat() for before in range(29, -1, -1)]
    assert analytics(api, app) == {
        "totalInstalls": 0,
        "activeInstalls": 0,
        "webhookSuccessRate": None,
        "averageWebhookLatencyMs": None,
        "installTrend": [{"date": day, "installs": 0, "uninstalls": 0} for day in dates],
        "webhookDeliveries": {
            "successful": 0,
            "failed": 0,
            "daily": [{"date": day, "successful": 0, "failed": 0} for day in dates],
        },
    }


@pytest.mark.spec(
    DEFINITIONS, "Analytics: totalInstalls counts all ever made, activeInstalls those not uninstalled"
)
def test_installs_that_ended_count_in_the_total(api: Api, app: App, shop: Business, mira: User) -> None:
    factories.approve(app)
    for at in (ago(days=40), ago(days=3)):
        made = install(
            app=app,
            business=shop,
            installed_by=mira,
            terms=Terms(is_test=False, granted_scopes=app.scopes),
            now=at,
        ).installation
        uninstall(installation=made, now=at + timedelta(days=1))
    install(
        app=app,
        business=shop,
        installed_by=mira,
        terms=Terms(is_test=False, granted_scopes=app.scopes),
        now=NOW,
    )
    figures = analytics(api, app)
    assert (figures["totalInstalls"], figures["activeInstalls"]) == (3, 1)
    assert days(figures["installTrend"]) == {
        "2026-11-17": (1, 0),
        "2026-11-18": (0, 1),
        "2026-11-20": (1, 0),
    }


@pytest.mark.long
@pytest.mark.spec(DEFINITIONS, "Installs on sandboxes and test installs don't count")
def test_test_installs_and_sandboxes_are_left_out(
    api: Api, app: App, sandbox: Business, sam: User, browser: Client
) -> None:
    test = factories.installation(app, sandbox, installed_at=ago(days=1))
    converted = factories.installation(
        app, Business.objects.sandbox_of(sam), is_test=False, installed_at=ago(days=1), uninstalled_at=NOW
    )
    for each in (test, converted):
        webhook = helpers.webhook(each, "https://app.example.com/", ["order.created"])
        sent(webhook, (ago(days=1), 200, 10))
        sent(webhook, (ago(days=5), 500, 10))
        sent(webhook, (NOW, 200, 10))
    count_recent()
    figures = analytics(api, app)
    assert figures["totalInstalls"] == figures["activeInstalls"] == 0
    assert days(figures["installTrend"]) == days(figures["webhookDeliveries"]["daily"]) == {}
    assert figures["webhookSuccessRate"] is figures["averageWebhookLatencyMs"] is None
    assert "Test installs and sandbox stores aren't counted." in page(browser, app)


@pytest.mark.long
@pytest.mark.spec(DEFINITIONS, "Analytics: deliveries count by their newest attempt")
@pytest.mark.spec(DEFINITIONS, "Latency is of attempts with an HTTP answer")
def test_deliveries_by_their_newest_attempt(api: Api, app: App, at_shop: Webhook) -> None:
    sent(at_shop, (ago(days=4), 500, 40), (ago(days=3), None, 10_000), (ago(days=2), 204, 20))
    sent(at_shop, (ago(days=2), 302, 30))
    sent(at_shop, (NOW, 200, 10))
    sent(at_shop, (NOW, None, 10_000))
    waiting = sent(at_shop, (NOW, 200, 10))
    Attempt.objects.filter(delivery=waiting).delete()
    Delivery.objects.filter(pk=waiting.pk).update(status="PENDING", attempt_count=0)
    count_recent()
    figures = analytics(api, app)
    assert figures["webhookDeliveries"]["successful"] == 2
    assert figures["webhookDeliveries"]["failed"] == 2
    assert days(figures["webhookDeliveries"]["daily"]) == {"2026-11-18": (1, 1), "2026-11-20": (1, 1)}
    assert figures["webhookSuccessRate"] == 0.5
    assert figures["averageWebhookLatencyMs"] == (40 + 20 + 30 + 10) / 4


@pytest.mark.long
@pytest.mark.spec(DEFINITIONS, "Analytics: thirty UTC days, oldest first, with zeros")
def test_days_begin_at_midnight_utc(api: Api, app: App, mira: User, at_shop: Webhook) -> None:
    first, midnight = datetime(2026, 10, 22, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)
    instant = timedelta(microseconds=1)
    for at in (first - instant, first, midnight - instant, midnight):
        sent(at_shop, (at, 200, 10))
        factories.installation(
            app, factories.business(mira, timezone="Asia/Tokyo"), installed_at=at, uninstalled_at=at
        )
    count_recent()
    figures = analytics(api, app)
    expected = {"2026-10-22": 1, "2026-11-19": 1, "2026-11-20": 1}
    assert days(figures["installTrend"]) == {day: (number, number) for day, number in expected.items()}
    assert days(figures["webhookDeliveries"]["daily"]) == {
        day: (number, 0) for day, number in expected.items()
    }
    assert figures["webhookDeliveries"]["successful"] == 3
    assert figures["totalInstalls"] == 5


def test_other_apps_are_left_out(api: Api, app: App, dana: User, at_shop: Webhook) -> None:
    sent(at_shop, (NOW, 200, 10))
    other = analytics(api, factories.app(dana))
    assert (other["totalInstalls"], other["webhookDeliveries"]["successful"]) == (0, 0)


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 4])
def test_number_of_statements_does_not_grow(number: int, api: Api, app: App, mira: User) -> None:
    for _ in range(number):
        installed = factories.installation(app, factories.business(mira), installed_at=ago(days=number))
        webhook = helpers.webhook(installed, "https://app.example.com/", ["order.created"])
        sent(webhook, (ago(days=number), 200, 10))
        sent(webhook, (NOW, 500, 10))
        factories.approve(app)
    count_recent()
    analytics(api, app)
    with CaptureQueriesContext(connection) as captured:
        analytics(api, app)
    assert len(captured) == 7  # user and app, then those of `analytics`


# The page


@pytest.mark.spec("Contract 9 Precise points", "Analytics: the portal shows the figures of the call")
def test_page_shows_the_figures_and_every_day(browser: Client, app: App, at_shop: Webhook) -> None:
    sent(at_shop, (ago(days=2), 500, 30))
    for _ in range(3):
        sent(at_shop, (NOW, 200, 90))
    count_recent()
    DailyDeliveryCount.objects.create(
        app=app, date=date(2026, 10, 1), successful=1, failed=1, answered=2, duration_ms=200
    )
    shown = page(browser, app)
    assert "75.0%" in shown
    assert "25.0 points higher than in the previous 30 days" in shown
    assert "75 ms" in shown
    assert "25 ms faster than in the previous 30 days" in shown
    assert "Same as 30 days ago" in shown
    assert shown.count('<tr><th scope="row">') == 90
    assert "No installs or uninstalls in the last 30 days." in shown  # and neither plot nor table of them
    assert (
        '20 Nov 2026</a></th><td class="number">3</td><td class="number">0</td><td class="number">0</td>'
        in shown
    )
    assert "<title>18 Nov: successful 0, retrying 0, failed 1</title>" in shown
    assert "No installs yet" not in shown


@pytest.mark.long
def test_ranges_from_hours_to_a_quarter(browser: Client, app: App, at_shop: Webhook) -> None:
    """Each with its own comparison, success rate and latencies; a point leads to its deliveries while these are kept."""
    sent(at_shop, (ago(hours=3), 500, 40))
    for duration in (10, 20, 30):
        sent(at_shop, (ago(hours=2), 200, duration))
    sent(at_shop, (ago(hours=30), 200, 70))
    DailyDeliveryCount.objects.create(
        app=app, date=date(2026, 9, 1), successful=6, failed=4, answered=10, duration_ms=100
    )

    def of(name: str) -> tuple[str, str]:
        response = browser.get(f"/portal/apps/{app.slug}/analytics/", {"range": name})
        return text_of(response), response.content.decode().replace("&amp;", "&")

    shown, html = of("24h")
    assert shown.count('<tr><th scope="row">') == 3 * 24
    assert "20 Nov 2026, 10:00" in shown
    assert "25.0 points lower than in the previous 24 hours" in shown
    assert "<title>20 Nov, 10:00: p50 20 ms, p95 30 ms</title>" in shown
    assert "<title>20 Nov, 09:00: answered 2xx 0%</title>" in shown
    link = f"/portal/apps/{app.slug}/deliveries/?since=2026-11-20T10%3A00Z&until=2026-11-20T11%3A00Z"
    assert link in html
    assert browser.get(link).content.decode().count('name="delivery"') == 3

    shown, html = of("90d")
    assert shown.count('<tr><th scope="row">') == 4 * 90
    assert "<title>1 Sep: answered 2xx 60%</title>" in shown
    assert "since=2026-09-01" not in html
    assert "66.7%" in shown  # ten and five deliveries, of which ten succeeded
    assert of("7d")[0].count('<tr><th scope="row">') == 3 * 7
    csv_rows = browser.get(f"/portal/apps/{app.slug}/analytics/days.csv", {"range": "24h"}).content.decode()
    assert '"2026-11-20T10:00:00+00:00","0","0","3","0","20.0"' in csv_rows
    assert of("nonsense")[0].count('<tr><th scope="row">') == 3 * 30


def test_page_without_data_is_empty(browser: Client, app: App) -> None:
    shown = page(browser, app)
    assert "No installs yet" in shown
    assert "once it's approved" in shown
    assert "No installs or uninstalls in the last 30 days." in shown
    assert "No deliveries in the last 30 days." in shown
    assert '<svg class="plot"' not in shown


def test_approvals_are_marked_on_their_day(browser: Client, app: App, at_shop: Webhook) -> None:
    for version, at in (("1.4.0", ago(days=2)), ("1.3.0", ago(days=40))):
        made = factories.approve(app, version=version)
        AppVersion.objects.filter(pk=made.pk).update(approved_at=at)
    sent(at_shop, (ago(days=2), 200, 30))
    sent(at_shop, (NOW, 200, 30))
    count_recent()
    shown = page(browser, app)
    assert "18 Nov: successful 1, retrying 0, failed 0. Version 1.4.0 approved" in shown
    assert shown.count("</svg>18 Nov: Version 1.4.0 approved") == 1  # once for all plots
    assert "Version 1.3.0" not in shown


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "points", "rate", "before", "installs"),
    [
        ("24h", 24, "50.0%", "50.0 points lower than in the previous 24 hours", "0 in the last 24 hours"),
        ("7d", 7, "66.7%", "33.3 points lower than in the previous 7 days", "0 in the last 7 days"),
        ("90d", 90, "75.0%", "75.0 points higher than in the previous 90 days", "1 in the last 90 days"),
        ("lost", 30, "75.0%", "No data for the previous 30 days", "0 in the last 30 days"),
    ],
)
def test_page_covers_the_chosen_span(
    browser: Client, app: App, at_shop: Webhook, name: str, points: int, rate: str, before: str, installs: str
) -> None:
    """Hours from the attempts, days from their counts, and each compared with as long a span before."""
    for at, status in ((NOW, 200), (ago(hours=3), 500), (ago(hours=26), 200), (ago(days=9), 200)):
        sent(at_shop, (at, status, 10))
    count_recent()
    DailyDeliveryCount.objects.create(
        app=app, date=(NOW - timedelta(days=100)).date(), successful=0, failed=1, answered=1, duration_ms=9
    )
    url = f"/portal/apps/{app.slug}/analytics/"
    with CaptureQueriesContext(connection) as captured:
        response = browser.get(url, {"range": name})
    assert len(captured) <= 20
    shown = text_of(response)
    plots = shown.count('<svg class="plot"')  # without the installs, unless there were some
    assert shown.count('<tr><th scope="row">') == plots * points
    assert plots == (3 if installs.startswith("0") else 4)
    assert all(part in shown for part in (rate, before, installs))
    lines = browser.get(f"{url}days.csv", {"range": name}).content.decode().splitlines()
    assert len(lines) == points + 1


def test_hour_of_a_failure_leads_to_its_deliveries(browser: Client, app: App, at_shop: Webhook) -> None:
    sent(at_shop, (ago(hours=3), 500, 10))
    response = browser.get(f"/portal/apps/{app.slug}/analytics/", {"range": "24h"})
    assert "20 Nov, 09:00: successful 0, retrying 0, failed 1" in text_of(response)
    link = f"/portal/apps/{app.slug}/deliveries/?since=2026-11-20T09%3A00Z&amp;until=2026-11-20T10%3A00Z"
    assert link in response.text
    older = browser.get(f"/portal/apps/{app.slug}/analytics/", {"range": "90d"}).text
    assert "since=2026-10-22" in older
    assert "since=2026-10-20" not in older, "Its deliveries are no longer kept."


def test_csv_has_a_line_for_each_day(browser: Client, app: App, at_shop: Webhook) -> None:
    sent(at_shop, (NOW, 200, 10))
    sent(at_shop, (NOW, 404, 15))
    response = browser.get(f"/portal/apps/{app.slug}/analytics/days.csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="{app.slug}-2026-11-20.csv"'
    rows = list(csv.DictReader(StringIO(response.content.decode())))
    assert [row["date"] for row in rows] == [
        (TODAY - timedelta(days=before)).isoformat() for before in range(29, -1, -1)
    ]
    assert list(rows[-1].values()) == ["2026-11-20", "0", "0", "1", "1", "12.5"]
    assert list(rows[0].values()) == ["2026-10-22", "0", "0", "0", "0", ""]


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0.0, "0%"), (1.0, "100%"), (0.9996, "99.9%"), (0.0001, "0.1%"), (0.992, "99.2%")],
)
def test_only_exact_rates_round_to_0_and_100(rate: float, text: str) -> None:
    assert percent(rate) == text
