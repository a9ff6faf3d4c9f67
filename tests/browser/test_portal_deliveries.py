"""The portal's pages about webhooks and deliveries as a developer uses them."""

import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from marketplace.models import App
from tests import factories
from tests.deliveries import UNAUTHORIZED, delivery, one_of_each
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery

from .axe import violations
from .conftest import NewPage, SignIn

Made = dict[str, Any]


@pytest.fixture
def stars(dana: User) -> App:
    factories.app(dana, name="Another", slug="other")
    return factories.app(dana, name="Loyalty Stars", slug="stars")


@pytest.fixture
def made(stars: App, sandbox: Business) -> Made:
    return one_of_each(factories.installation(stars, sandbox))


@pytest.fixture
def portal(new_page: NewPage, sign_in: SignIn, dana: User) -> NewPage:
    """Makes a page of the portal that Dana sees."""

    def make(path: str, **options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, dana)
        page.goto(path)
        return page

    return make


def test_verdict_is_accessible(portal: NewPage, made: Made) -> None:
    page = portal("/portal/apps/stars/signatures/?delivery={failing.id}".format(**made))
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("Genuine")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("scripted", [True, False])
def test_failing_delivery_is_resent_in_two_presses(portal: NewPage, made: Made, scripted: bool) -> None:
    page = portal("/portal/apps/stars/deliveries/?status=EXHAUSTED", java_script_enabled=scripted)
    page.get_by_role("link", name="product.low_stock").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Failed: no response"))
    page.get_by_role("button", name="Resend now").click()
    expect(page.get_by_text("The delivery is being resent")).to_be_visible()
    made["failed"].refresh_from_db()
    assert made["failed"].status == DeliveryStatus.PENDING


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.parametrize("scripted", [True, False])
def test_cause_of_a_failing_webhook_is_found_and_resent_in_three_presses(
    portal: NewPage, made: Made, stars: App, scripted: bool
) -> None:
    page = portal("/portal/", java_script_enabled=scripted)
    page.get_by_role("link", name=stars.name).click()
    page.get_by_role("link", name="A webhook endpoint is failing").click()
    expect(page.get_by_text("Your endpoint returned 401 for")).to_be_visible()
    expect(page.get_by_text("Usually its signature check fails")).to_be_visible()
    group = page.locator(".look-first > li", has_text="No response within 10 seconds")
    group.get_by_role("button", name="Resend 1").click()
    expect(page.get_by_text("1 delivery is being resent.")).to_be_visible()
    made["failed"].refresh_from_db()
    assert made["failed"].status == DeliveryStatus.PENDING


@pytest.mark.parametrize("path", ["/portal/", "/portal/apps/stars/"])
def test_failing_endpoint_of_the_sandbox_is_seen_within_ten_seconds_on_an_open_page(
    portal: NewPage, stars: App, sandbox: Business, path: str
) -> None:
    webhook = helpers.webhook(
        factories.installation(stars, sandbox), "https://api.example.com/in", ["order.created"]
    )
    page = portal(path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    problem = page.locator(".problems li", has_text="A webhook endpoint is failing")
    expect(problem).to_have_count(0)
    failing = delivery(webhook, DeliveryStatus.RETRYING, UNAUTHORIZED, created_at=timezone.now())
    expect(problem).to_be_visible(timeout=10_000)
    expect(problem).to_contain_text("Sandbox")
    expect(
        page.locator("[role=status]", has_text=f"{stars.name}: A webhook endpoint is failing")
    ).to_have_count(1)
    assert violations(page) == []
    Delivery.objects.filter(pk=failing.pk).update(
        status=DeliveryStatus.SUCCEEDED, due_at=None, finished_at=timezone.now()
    )
    expect(problem).to_have_count(0, timeout=10_000)
    assert [url for url in asked if "part=" not in url and "/static/" not in url] == []


@pytest.mark.parametrize("scripted", [True, False])
def test_test_event_is_sent_in_two_presses(portal: NewPage, made: Made, scripted: bool) -> None:
    page = portal("/portal/apps/stars/webhooks/", java_script_enabled=scripted)
    page.get_by_role("button", name="Send test event").click()
    menu = page.locator("#test-events")
    menu.get_by_text("Payload of order.created").click()
    expect(menu.get_by_text("An example of the body").first).to_be_visible()
    if scripted:
        assert violations(page) == []
    menu.get_by_role("button", name="Send order.created").click()
    expect(page.get_by_text("order.created is being sent to")).to_be_visible()


def test_group_says_by_itself_what_became_of_a_resend(portal: NewPage, made: Made) -> None:
    page = portal("/portal/apps/stars/deliveries/")
    group = page.locator(".look-first > li", has_text="No response within 10 seconds")
    group.get_by_role("button", name="Resend 1").click()
    expect(page.get_by_text("1 delivery is being resent.")).to_be_visible()
    expect(group).to_have_count(0)
    Delivery.objects.filter(pk=made["failed"].pk).update(
        status=DeliveryStatus.SUCCEEDED, due_at=None, finished_at=timezone.now()
    )
    expect(page.get_by_text("1 delivered.")).to_be_visible(timeout=9_000)
    assert violations(page) == []


def test_page_of_a_waiting_delivery_shows_its_outcome_by_itself(portal: NewPage, made: Made) -> None:
    page = portal("/portal/apps/stars/deliveries/{failing.id}/".format(**made))
    expect(page.get_by_role("heading", level=1)).to_have_text("Failing: your endpoint returned 401")
    expect(page.get_by_role("link", name="Reload")).to_be_hidden()
    Delivery.objects.filter(pk=made["failing"].pk).update(
        status=DeliveryStatus.SUCCEEDED, due_at=None, finished_at=timezone.now()
    )
    expect(page.locator(".pill").first).to_have_text("Delivered", timeout=9_000)
    assert violations(page) == []


def test_from_a_401_to_its_signature_in_one_press(portal: NewPage, made: Made) -> None:
    page = portal("/portal/apps/stars/deliveries/{failing.id}/".format(**made))
    page.get_by_role("link", name="Check the signature").click()
    expect(page.get_by_label("Headers")).to_have_value(re.compile("X-Webhook-Signature: sha256="))


@pytest.mark.slow  # it waits as long as the page does
def test_new_deliveries_are_offered_and_the_list_stays(portal: NewPage, made: Made) -> None:
    page = portal("/portal/apps/stars/deliveries/")
    rows = page.locator("tbody tr")
    before = rows.count()
    delivery(made["good"], DeliveryStatus.RETRYING, UNAUTHORIZED, created_at=timezone.now())
    link = page.get_by_role("link", name="1 new")
    expect(link).to_be_visible(timeout=9_000)
    expect(rows).to_have_count(before)
    assert violations(page) == []
    link.click()
    expect(rows).to_have_count(before + 1)
    expect(page.locator("tbody tr.is-new")).to_have_count(1)
    page.reload()
    expect(page.locator("tbody tr.is-new")).to_have_count(0)


@pytest.mark.parametrize(("language", "read_back"), [("en-US", "28 Nov 2026, 22:49"), ("de-DE", None)])
def test_time_field_reads_back_what_a_browser_writes_in_another_way(
    portal: NewPage, made: Made, language: str, read_back: str | None
) -> None:
    page = portal("/portal/apps/stars/deliveries/?since=2026-11-28T22:49", locale=language)
    output = page.locator("output.read-back").first
    if read_back is None:
        expect(output).to_have_count(0)
        return
    expect(output).to_have_text(read_back)
    page.get_by_label("From").fill("2026-11-01T09:05")
    expect(output).to_have_text("1 Nov 2026, 09:05")


def test_zone_is_where_the_times_are(portal: NewPage, made: Made, stars: App) -> None:
    """In the head of a list's column. Below a page with other times, and nowhere without any."""
    page = portal("/portal/apps/stars/deliveries/")
    expect(page.locator("thead .zone")).to_be_visible()
    expect(page.get_by_text("Times are in")).to_be_hidden()
    page.goto("/portal/apps/stars/members/")
    expect(page.locator("#times")).to_be_visible()
    page.goto("/portal/apps/stars/signatures/")
    expect(page.locator("main time")).to_have_count(0)
    expect(page.locator("#times")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/portal/apps/stars/deliveries/")
    expect(page.locator("#times")).to_be_visible()  # the heads of columns aren't shown there


@pytest.mark.slow  # it waits as long as the page does
def test_hidden_page_asks_for_nothing(portal: NewPage, made: Made) -> None:
    page = portal("/portal/apps/stars/deliveries/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(
        "() => { Object.defineProperty(document, 'hidden', {get: () => true});"
        " document.dispatchEvent(new Event('visibilitychange')); }"
    )
    page.wait_for_timeout(6_000)
    assert not [url for url in asked if "/deliveries/new/" in url]


def test_one_checkbox_selects_all_rows(portal: NewPage, made: Made) -> None:
    page = portal("/portal/apps/stars/deliveries/?event=order.created")
    page.get_by_label("Select all on this page").check()
    count = page.locator("tbody input:checked").count()
    assert count == Delivery.objects.filter(event__type="order.created").count()
    expect(page.get_by_text(f"{count} selected")).to_be_visible()
    page.locator("tbody input").first.uncheck()
    expect(page.get_by_text(f"{count - 1} selected")).to_be_visible()
