"""The portal's page of an app's webhooks, in a browser without JavaScript."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.deliveries import OK, REFUSED, delivery, one_of_each
from tests.developers.portal.paths import at
from tests.pages import text_of
from tests.receivers import Answer, Receiver
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.insight.last_day import last_days
from webhooks.models import Delivery, Webhook


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, "https://api.example.com/in", ["order.created"])


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def test_page_without_webhooks_shows_the_next_step(browser: Client, app: App, sandbox: Business) -> None:
    assert "Install on sandbox" in text_of(browser.get(at(app)))
    factories.installation(app, sandbox)
    page = text_of(browser.get(at(app)))
    assert "Set the Webhook URL" in page
    assert page.count("button primary") == 1


def test_page_explains_registration_and_the_rule(browser: Client, app: App) -> None:
    page = text_of(browser.get(at(app))).replace("&#x27;", "'").replace("&quot;", '"')
    for text in (
        "curl http://testserver/webhooks", "Authorization: Bearer YOUR_ACCESS_TOKEN", '"url":', "410 Gone to attempts at least 10 minutes apart",
        "72 hours", "after 24 hours and 48 hours", "0 s, 30 s, 2 min, 8 min, 32 min, 2 h",
    ):  # fmt: skip
        assert text in page


def test_page_shows_the_status_of_each_webhook(browser: Client, app: App, installation: Installation) -> None:
    one_of_each(installation)
    page = text_of(browser.get(at(app)))
    for text in (
        "https://api.example.com/webhooks", "Stars for orders", "Active", "Failing", "No success for 30 hours",
        "Paused", "Disabled", "No delivery has succeeded for 72 hours", "1 event, kept until you resend them",
        "An endpoint keeps failing", "4 endpoints",
    ):  # fmt: skip
        assert text in page


@pytest.mark.long
def test_warning_begins_after_a_day(browser: Client, app: App, webhook: Webhook) -> None:
    for hours, warned in ((23, False), (25, True), (49, True)):
        Webhook.objects.update(failing_since=timezone.now() - timedelta(hours=hours))
        assert ("keeps failing" in text_of(browser.get(at(app)))) is warned


@pytest.mark.long
def test_last_success_and_next_attempt_are_shown(browser: Client, app: App, webhook: Webhook) -> None:
    assert "None scheduled" in text_of(browser.get(at(app)))
    done = delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    due = delivery(webhook, DeliveryStatus.RETRYING, REFUSED)
    page = text_of(browser.get(at(app)))
    assert due.due_at
    assert done.finished_at
    for moment in (done.finished_at, due.due_at):
        assert f"{moment:%H:%M:%S} UTC" in page


def test_scope_that_is_missing_is_named(browser: Client, app: App, webhook: Webhook) -> None:
    App.objects.update(scopes=["read_products"])
    assert "Not sent because the app lacks the scope: order.created" in text_of(browser.get(at(app)))


def test_app_defined_webhook_is_marked_and_lists_the_events_of_the_app(
    browser: Client, app: App, installation: Installation
) -> None:
    App.objects.update(webhook_events=["review.created"])
    helpers.webhook(installation, "https://app.example.com/", [], is_app_defined=True)
    page = unescape(text_of(browser.get(at(app))))
    assert f"App's Webhook URL, {installation.business.name}" in page
    assert "The app's list: " in page
    assert "review.created</span>" in page


def test_ended_installations_and_deleted_webhooks_are_left_out(
    browser: Client, app: App, webhook: Webhook, shop: Business
) -> None:
    helpers.webhook(webhook.installation, "https://deleted.example.com/", [], deleted_at=timezone.now())
    ended = factories.installation(app, shop, uninstalled_at=timezone.now())
    helpers.webhook(ended, "https://ended.example.com/", [])
    page = text_of(browser.get(at(app)))
    assert "1 endpoint, newest first." in page
    assert "deleted.example.com" not in page
    assert "ended.example.com" not in page


@pytest.mark.long
def test_webhook_of_another_app_does_not_exist_here(browser: Client, app: App, sam: User) -> None:
    installed = factories.installation(factories.app(sam), Business.objects.sandbox_of(sam))
    other = helpers.webhook(installed, "https://sam.example.com/", ["order.created"])
    for wanted in (other.pk, "no-id"):
        for act in ("test", "pause", "resume"):
            assert browser.post(at(app, f"{wanted}/{act}/")).status_code == 404
    made = delivery(other, DeliveryStatus.SUCCEEDED, OK, event_type="webhook.test")
    assert "tested" not in browser.get(at(app, f"?tested={made.pk}")).context


@pytest.mark.long
def test_pause_asks_first_and_cancels_waiting_deliveries(
    browser: Client, app: App, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = delivery(webhook, DeliveryStatus.RETRYING, REFUSED)
    page = text_of(browser.get(at(app, f"{webhook.pk}/pause/")))
    assert "1 waiting delivery won't be sent" in page
    monkeypatch.setattr("developers.portal.deliveries.log.MAX_COUNTED", 1)
    assert "<li>1 waiting delivery won't be sent" in text_of(browser.get(at(app, f"{webhook.pk}/pause/")))
    delivery(webhook, DeliveryStatus.RETRYING, REFUSED)
    assert "More than 1 waiting delivery" in text_of(browser.get(at(app, f"{webhook.pk}/pause/")))
    Delivery.objects.exclude(pk=waiting.pk).delete()
    webhook.refresh_from_db()
    assert webhook.is_active
    assert "is paused" in text_of(browser.post(at(app, f"{webhook.pk}/pause/"), follow=True))
    webhook.refresh_from_db()
    waiting.refresh_from_db()
    assert not webhook.is_active
    assert waiting.status == DeliveryStatus.CANCELLED
    assert "receives new events again" in text_of(browser.post(at(app, f"{webhook.pk}/resume/"), follow=True))
    webhook.refresh_from_db()
    assert webhook.is_active


@pytest.mark.parametrize(
    ("answer", "headline"),
    [
        (Answer(200, body=b"<b>thanks</b>"), "It works: your endpoint returned 200"),
        (Answer(401, body=b"no"), "Failed: your endpoint returned 401"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_test_shows_the_response_beside_its_webhook_once(
    browser: Client, app: App, installation: Installation, receiver: Receiver, answer: Answer, headline: str
) -> None:
    receiver.respond_with(answer)
    webhook = helpers.webhook(installation, receiver.url, ["order.created"])
    response: Any = browser.post(at(app, f"{webhook.pk}/test/"))
    page = text_of(browser.get(response["Location"]))
    browser.get(response["Location"])
    assert len(receiver.requests) == 1
    assert headline in page
    assert "<b>thanks" not in page
    assert response["Location"].endswith(f"#webhook-{webhook.pk}")


@pytest.mark.long
def test_links_to_other_pages_go_on_where_the_page_ends(
    browser: Client, app: App, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a late page costs what the first one does, and a webhook that is added meanwhile shows none twice."""
    monkeypatch.setattr("developers.portal.webhooks.views.PER_PAGE", 2)
    made = [
        str(helpers.webhook(installation, "https://api.example.com/in", ["order.created"]).pk)
        for _ in range(5)
    ]
    made.reverse()

    def shown(query: str) -> tuple[list[str], dict[str, str]]:
        page = text_of(browser.get(at(app, query)))
        links = re.findall(r'<a class="button small" href="([^"]+)" rel="(prev|next)"', page)
        return re.findall(r'id="webhook-([^"]+)"', page), {rel: unescape(link) for link, rel in links}

    first, of_first = shown("?url=https://api.example.com/in")
    assert first == made[:2]
    assert set(of_first) == {"next"}
    helpers.webhook(installation, "https://api.example.com/in", ["order.created"])
    second, of_second = shown(of_first["next"])
    assert second == made[2:4]
    third, of_third = shown(of_second["next"])
    assert third[0] == made[4]
    assert shown(of_third["prev"])[0] == made[2:4]
    assert shown(of_second["prev"])[0][1] == made[0]  # the first page, with the new one


@pytest.mark.long
def test_page_of_a_very_long_list_begins_by_its_number_where_it_did_a_moment_ago(
    browser: Client, app: App, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that not all rows before it are read each time. Webhooks that are gone meanwhile aren't shown."""
    monkeypatch.setattr("developers.portal.webhooks.views.PER_PAGE", 2)
    made = [helpers.webhook(installation, "https://api.example.com/in", ["order.created"]) for _ in range(7)]
    _, fourth, third, second, _, _, _ = made

    def begins_with(webhook: Webhook) -> bool:
        page = text_of(browser.get(at(app, "?url=https://api.example.com/in&page=3")))
        return re.findall(r'id="webhook-([^"]+)"', page)[0] == str(webhook.pk)

    assert begins_with(third)
    helpers.webhook(installation, "https://api.example.com/in", ["order.created"])
    assert begins_with(second)  # a short list is read as it is
    for module in ("common.db.long_lists", "developers.portal.webhooks.views"):
        monkeypatch.setattr(f"{module}.COUNTED_EXACTLY", 5)
    assert begins_with(second)
    helpers.webhook(installation, "https://api.example.com/in", ["order.created"])
    assert begins_with(second)
    Webhook.objects.filter(pk=second.pk).update(deleted_at=timezone.now())
    assert begins_with(third)
    Webhook.objects.filter(pk=third.pk).update(deleted_at=timezone.now())
    assert begins_with(fourth)


def test_number_of_very_many_endpoints_is_that_of_a_moment_ago(
    browser: Client, app: App, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("common.db.long_lists", "developers.portal.webhooks.statuses"):
        monkeypatch.setattr(f"{module}.COUNTED_EXACTLY", 5)

    def listed(more: int) -> str:
        for _ in range(more):
            helpers.webhook(installation, "https://api.example.com/in", ["order.created"])
        return text_of(browser.get(at(app)))

    assert "4 endpoints, newest first" in listed(4)
    assert "5 endpoints, newest first" in listed(1)
    assert "8 endpoints, newest first" in listed(3)
    assert "8 endpoints, newest first" in listed(1)


def test_page_reads_any_number_of_webhooks_in_as_many_statements(
    browser: Client, app: App, webhook: Webhook, django_assert_max_num_queries: Any
) -> None:
    browser.get(at(app))
    with django_assert_max_num_queries(13) as one:
        browser.get(at(app))
    for number in range(9):
        helpers.webhook(webhook.installation, f"https://{number}.example.com/", ["order.created"])
    with django_assert_max_num_queries(13) as ten:
        browser.get(at(app))
    assert len(ten) == len(one)


@pytest.mark.long
def test_stores_with_one_url_are_one_row(
    browser: Client, app: App, webhook: Webhook, mira: User, monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Any,
) -> None:  # fmt: skip
    """It opens to those that need attention first. An endpoint that is the only one at its URL is a row of its own, below."""
    factories.approve(app)
    made = []

    def install(number: int) -> None:
        for _ in range(number):
            there = factories.installation(app, factories.business(mira))
            made.append(helpers.webhook(there, "https://app.example.com/in", [], is_app_defined=True))

    install(2)
    delivery(made[0], DeliveryStatus.SUCCEEDED, OK)
    browser.get(at(app))
    with django_assert_max_num_queries(14) as few:
        browser.get(at(app))
    install(6)
    for status, number in ((DeliveryStatus.SUCCEEDED, 38), (DeliveryStatus.EXHAUSTED, 1)):
        for _ in range(number):
            delivery(made[0], status, OK)
    Webhook.objects.filter(pk=made[3].pk).update(failing_since=timezone.now() - timedelta(hours=1))
    with django_assert_max_num_queries(14) as many:
        page = text_of(browser.get(at(app)))
    assert len(many) == len(few)
    assert "9 endpoints" in page
    first, second = re.split(r"<h2", page.partition('class="rows endpoints"')[2])[1:3]
    assert "App's Webhook URL" in first
    assert "8 stores" in first
    assert "97.5% delivered" in first
    assert "1 failing" in first
    assert "https://api.example.com/in" in second
    shown = re.findall(r'id="webhook-([^"]+)"', first)
    newest = [str(each.pk) for each in (made[3], *made[:3:-1])]
    assert shown == newest[:5]
    (link,) = re.findall(r'href="(\?url=[^"]+)">All 8 stores', first)
    of_url = text_of(browser.get(at(app, unescape(link))))
    assert len(re.findall(r'id="webhook-', of_url)) == 8
    assert "https://api.example.com/in" not in of_url

    monkeypatch.setattr("webhooks.insight.last_day.MOST", 20)
    monkeypatch.setattr("developers.portal.webhooks.last_day_strip.MOST", 20)
    assert "% delivered" not in text_of(browser.get(at(app)))  # more than is counted in an hour


@pytest.mark.long
def test_strip_shows_the_last_24_hours(
    browser: Client, app: App, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = helpers.webhook(webhook.installation, "https://api.example.com/quiet", ["order.created"])
    now = timezone.now().replace(minute=30)
    outcomes = {
        DeliveryStatus.SUCCEEDED: (0, 2, 2, 2, 23, 24, 30),  # hours ago
        DeliveryStatus.EXHAUSTED: (2, 5),
        DeliveryStatus.RETRYING: (0,),
        DeliveryStatus.CANCELLED: (1,),
    }
    for status, ages in outcomes.items():
        for hours in ages:
            delivery(webhook, status, OK, created_at=now - timedelta(hours=hours))
    with time_machine.travel(now, tick=False):
        page = text_of(browser.get(at(app)))
        edit = text_of(browser.get(at(app, f"{webhook.pk}/edit/")))
        monkeypatch.setattr("webhooks.insight.last_day.MOST", 2)
        bounded = last_days([webhook.pk])[webhook.pk]
    summary = "5 delivered, 2 failed, 1 being retried"
    earlier, later = (f"1 from {now - timedelta(hours=hours):%H}:00" for hours in (5, 2))
    for shown in (page, edit):
        assert summary in shown
        assert f"Failed: {earlier}, {later} UTC." in shown
        assert shown.count('<rect class="bad"') == 2
    assert page.count("No deliveries") == 1
    assert str(quiet.pk) in page
    assert [hour.succeeded for hour in bounded.hours][-3:] == [2, 0, 1]
