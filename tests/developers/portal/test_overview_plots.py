"""The five plots of an app's overview, and its alerts about the sandbox store."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from activity.models import ApiCall, ScopeUse
from developers.portal.apps import plots
from extensions.enums import CallOutcome
from extensions.models import HookCall
from installations.models import Installation
from marketplace.models import App, AppVersion
from tests import factories
from tests.deliveries import OK, UNAVAILABLE, delivery
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import DailyDeliveryCount, Webhook

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_home(app: App, sandbox: Business) -> Installation:
    return factories.installation(app, sandbox, last_used_at=timezone.now())


@pytest.fixture
def at_shop(app: App, shop: Business) -> Installation:
    factories.approve(app)
    return factories.installation(app, shop, is_test=False)


def of(page: str, tag: str) -> list[str]:
    """The parts of a page between these tags."""
    return re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", page, re.DOTALL)


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def page_of(browser: Client, app: App, query: str = "") -> str:
    return browser.get(f"/portal/apps/{app.slug}/{query}").content.decode()


def figures(browser: Client, app: App, query: str = "") -> dict[str, str]:
    return {words(of(each, "h3")[0]): each for each in of(page_of(browser, app, query), "figure")}


def rows(html: str) -> list[str]:
    return of(of(html, "tbody")[0], "tr")


def newest(figure: str) -> list[str]:
    """The figures of the hour or day that is running, from the plot's table."""
    return [words(cell) for cell in of(rows(figure)[0], "td")]


def sent(webhook: Webhook, *outcomes: Any, status: DeliveryStatus = DeliveryStatus.SUCCEEDED) -> None:
    delivery(webhook, status, *outcomes, created_at=timezone.now())


def called(installation: Installation, status: int, at: datetime | None = None) -> None:
    ApiCall.objects.create(
        at=at or timezone.now(), app=installation.app, installation=installation, method="GET", route="/app-api/products",
        path="/app-api/products", status=status, duration_ms=9, rate_limit=60, rate_left=59, rate_reset=0,
    )  # fmt: skip


def asked(installation: Installation, *durations: int) -> None:
    hook = factories.hook(installation.app, "order.validate")
    HookCall.objects.bulk_create(
        HookCall(
            installation=installation, definition=hook, hook_point=hook.key, called_at=timezone.now(),
            duration_ms=each, outcome=CallOutcome.ANSWERED if each else CallOutcome.BREAKER_OPEN,
        )
        for each in durations
    )  # fmt: skip


@pytest.mark.long
def test_sandbox_comes_first_until_the_first_approval(
    browser: Client, app: App, at_home: Installation
) -> None:
    def current(query: str = "") -> str:
        return words(
            re.findall(
                r'<a href="\?in=\w+" aria-current="page">(.*?)</a>', page_of(browser, app, query), re.DOTALL
            )[0]
        )

    assert current() == "Sandbox"
    assert current("?in=stores") == "Stores"
    assert current("?in=nowhere") == "Sandbox"
    factories.approve(app)
    assert current() == "Stores"
    assert current("?in=sandbox") == "Sandbox"


@pytest.mark.long
def test_plots_of_the_sandbox_show_its_own_hour(
    browser: Client, app: App, at_home: Installation, at_shop: Installation
) -> None:
    own = helpers.webhook(at_home, "https://own.example.com/", ["order.created"])
    other = helpers.webhook(at_shop, "https://shop.example.com/", ["order.created"])
    sent(own, (200, "", 40, ""))
    sent(own, (200, "", 90, ""))
    sent(own, UNAVAILABLE, status=DeliveryStatus.EXHAUSTED)
    sent(own, UNAVAILABLE, status=DeliveryStatus.RETRYING)
    sent(other, (200, "", 7000, ""))
    for installation, status in ((at_home, 200), (at_home, 422), (at_home, 503), (at_shop, 200)):
        called(installation, status)
    asked(at_home, 10, 20, 400, 0)
    found = figures(browser, app, "?in=sandbox")
    assert newest(found["Webhook deliveries"]) == ["2", "1", "1"]
    assert newest(found["Webhook latency"]) == ["90 ms", "812 ms"]
    assert newest(found["API calls"]) == ["1", "1", "1"]
    assert newest(found["Hook time"]) == ["20 ms", "400 ms"]
    assert newest(found["Installs"]) == ["1", "0"]


def test_latency_of_the_sandbox_is_that_of_its_newest_deliveries_to_all_webhooks(
    browser: Client, app: App, at_home: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "TIMED", 2)
    first, second = (
        helpers.webhook(at_home, f"https://{name}.example.com/", ["order.created"]) for name in ("one", "two")
    )
    half_past = timezone.now().replace(minute=30)  # so that all are in one hour
    with time_machine.travel(half_past, tick=False):
        for webhook, duration, seconds in ((first, 9000, 3), (second, 40, 2), (first, 90, 1)):
            at = half_past - timedelta(seconds=seconds)
            delivery(webhook, DeliveryStatus.SUCCEEDED, (200, "", duration, ""), created_at=at)
        latency = figures(browser, app, "?in=sandbox")["Webhook latency"]
    assert newest(latency) == ["40 ms", "90 ms"]


@pytest.mark.parametrize(("read_first", "statements"), [(200, 19), (1, 21)])
def test_plots_of_stores_leave_the_sandbox_out(
    browser: Client,
    app: App,
    at_home: Installation,
    at_shop: Installation,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
    read_first: int,
    statements: int,
) -> None:
    """Each day is looked at by itself only where the newest rows aren't all."""
    for name in ("health.NEWEST", "plots.NEWEST", "plots.FEW"):
        monkeypatch.setattr(f"developers.portal.apps.{name}", read_first)
    own = helpers.webhook(at_home, "https://own.example.com/", ["order.created"])
    other = helpers.webhook(at_shop, "https://shop.example.com/", ["order.created"])
    sent(own, (200, "", 7000, ""))
    sent(other, (200, "", 50, ""))
    sent(other, (503, "http_5xx", 50, ""), status=DeliveryStatus.RETRYING)
    sent(other, (503, "http_5xx", 50, ""), status=DeliveryStatus.EXHAUSTED)
    DailyDeliveryCount.objects.create(
        app=app, date=timezone.now().date() - timedelta(days=3), successful=31, failed=4, answered=35, retrying=3,
        duration_ms=1,
    )  # fmt: skip
    for installation, status in ((at_home, 503), (at_shop, 200), (at_shop, 404)):
        called(installation, status)
    asked(at_shop, 30)
    with django_assert_max_num_queries(statements):
        found = figures(browser, app)
    assert newest(found["Webhook deliveries"]) == ["1", "1", "1"]
    assert re.findall(r">([\d,]+)</td>", rows(found["Webhook deliveries"])[3]) == ["31", "3", "1"]
    page = " ".join(words(browser.get(f"/portal/apps/{app.slug}/").content.decode()).split())
    assert "32 succeeded, 4 retrying and 2 failed in the last 7 days" in page
    assert newest(found["Webhook latency"]) == ["50 ms", "50 ms"]
    assert newest(found["API calls"]) == ["1", "1", "0"]
    assert newest(found["Hook time"]) == ["30 ms", "30 ms"]
    assert newest(found["Installs"]) == ["1", "0"]


@pytest.mark.long
def test_each_point_leads_to_its_rows_and_a_release_is_a_mark(
    browser: Client, app: App, at_home: Installation, at_shop: Installation
) -> None:
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    AppVersion.objects.filter(app=app).update(approved_at=today - timedelta(days=2), version="2.0.0")
    called(at_shop, 200, today - timedelta(days=1) + timedelta(hours=3))
    called(at_shop, 404)
    calls = figures(browser, app)["API calls"]
    assert "Version 2.0.0 approved" in calls
    link = re.findall(r'href="([^"]+)"', rows(calls)[1])[0]
    found = rows(browser.get(unescape(link)).content.decode())
    day, row = found
    assert words(day) == "Yesterday"
    assert "200" in words(row)


@pytest.mark.long
def test_failing_sandbox_is_an_alert_at_once(browser: Client, app: App, at_home: Installation) -> None:
    """On the list and the overview, marked as the sandbox's, and gone once the delivery succeeds."""
    webhook = helpers.webhook(at_home, "https://own.example.com/", ["order.created"])

    def alerts() -> list[str]:
        pages = (browser.get(path).content.decode() for path in ("/portal/", f"/portal/apps/{app.slug}/"))
        return [
            words(item)
            for page in pages
            for part in re.findall(r'class="problems">(.*?)</ul>', page, re.DOTALL)
            for item in of(part, "li")
        ]

    delivery(webhook, DeliveryStatus.RETRYING, UNAVAILABLE, event_type="webhook.test")
    assert alerts() == []
    failing = delivery(webhook, DeliveryStatus.RETRYING, UNAVAILABLE)
    assert alerts() == ["A webhook endpoint is failing Sandbox"] * 2
    type(failing).objects.filter(pk=failing.pk).update(status=DeliveryStatus.SUCCEEDED, due_at=None)
    assert alerts() == []


def test_failing_delivery_to_a_store_is_no_alert_of_the_sandbox(
    browser: Client, app: App, at_home: Installation, at_shop: Installation
) -> None:
    webhook = helpers.webhook(at_shop, "https://shop.example.com/", ["order.created"])
    delivery(webhook, DeliveryStatus.RETRYING, UNAVAILABLE)
    sent(webhook, OK)
    assert "Needs attention" not in browser.get(f"/portal/apps/{app.slug}/").content.decode()


def cards(page: str) -> dict[str, str]:
    """The words of each figure's card by its name."""
    return {
        words(of(card, "dt")[0]): card
        for card in re.findall(r'class="figure-card">(.*?)</div>', page, re.DOTALL)
    }


def test_figures_are_named_values_beside_the_week_before(
    browser: Client, app: App, at_shop: Installation
) -> None:
    """Only what is worse is colored, and a number of hooks is no figure."""
    today = timezone.now().astimezone(UTC).date()
    for ago, successful, failed, latency in ((3, 8, 2, "90"), (9, 10, 0, "60")):
        DailyDeliveryCount.objects.create(
            app=app, date=today - timedelta(days=ago), successful=successful, failed=failed, answered=10,
            duration_ms=1, latencies={latency: 10},
        )  # fmt: skip
    for ago, count in ((0, 3), (2, 9), (8, 8)):
        ScopeUse.objects.create(app=app, scope="read_orders", day=today - timedelta(days=ago), count=count)
    found = cards(page_of(browser, app))
    assert list(found) == ["Installs", "API calls", "Webhook deliveries", "Webhook latency"]
    said = {name: words(card) for name, card in found.items()}
    assert said["Installs"].endswith("1 more in a week Stores that have the app now")
    assert said["API calls"] == "API calls 12 50% more in a week Last 7 days, your sandbox store included"
    assert "80.0% 20.0 points lower in a week" in said["Webhook deliveries"]
    assert "90 ms 30 ms slower in a week" in said["Webhook latency"]
    assert [name for name, card in found.items() if "worse" in card] == [
        "Webhook deliveries",
        "Webhook latency",
    ]
    assert [name for name, card in found.items() if 'class="sparkline"' in card] == ["Installs", "API calls"]


def test_refused_calls_are_amber_and_failed_ones_red(
    browser: Client, app: App, at_shop: Installation
) -> None:
    for status in (429, 503):
        called(at_shop, status)
    page = page_of(browser, app)
    problems = page[page.index("Latest problems") :]
    kinds = {
        status: re.search(rf'<li class="kind-(\w+)[^>]*>(?:(?!<li).)*{status} for', problems, re.DOTALL)
        for status in (429, 503)
    }
    assert {status: found and found[1] for status, found in kinds.items()} == {429: "warn", 503: "bad"}
