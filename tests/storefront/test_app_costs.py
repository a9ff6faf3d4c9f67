"""What apps add to a store's pages: what browsers may send, and what strangers try."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import StorefrontCost
from extensions.services import costs
from extensions.services.costs import Measured, cost_in, record_visit
from extensions.services.extension_states import add_block
from installations.models import Installation
from installations.services import pause, uninstall
from stores.services.pages import create_page
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in, text_of
from tests.storefront.shopping import Shopper

NOW = datetime(2026, 11, 20, 15, 31, 8, tzinfo=UTC)


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    app = listed_app(dana, ["read_orders"], name="Loyalty Stars", slug="stars")
    define(app, ExtensionType.EMBED, "chat")
    return installed(app, shop)


def send(shop: Business, *apps: Any, body: str | None = None, **extra: Any) -> int:
    shopper = Shopper(shop)
    sent = json.dumps({"apps": apps}) if body is None else body
    answer = shopper.post(shopper.at("app-costs/"), sent, content_type="application/json", **extra)
    assert not answer.cookies
    return int(answer.status_code)


def test_block_costs_visitors_something_once_it_is_on_a_page(dana: User, shop: Business, mira: User) -> None:
    app = listed_app(dana, ["read_orders"], name="Loyalty Stars", slug="stars")
    block = define(app, ExtensionType.BLOCK, "card")
    stars, browser = installed(app, shop), signed_in(mira)
    assert "Speed of your store" not in text_of(browser.get(page_of(stars)))
    page = create_page(business=shop, title="About", content="")
    add_block(page=page, installation=stars, definition=block)
    assert "Speed of your store" in text_of(browser.get(page_of(stars)))


@pytest.mark.long
def test_visits_are_summed_by_app_and_day_and_shown_to_the_merchant(
    shop: Business, stars: Installation, mira: User
) -> None:
    assert 'data-app-costs="/store/' in Shopper(shop).see("")
    assert send(shop, ["stars", 100, 30_000]) == 204
    assert send(shop, ["stars", 140.4, 40_000]) == 204
    row = StorefrontCost.objects.get()
    assert (row.installation_id, row.visits, row.milliseconds, row.bytes) == (stars.pk, 2, 240, 70_000)
    page = signed_in(mira)
    assert "Not enough visits to measure speed yet (2 in the last 7 days)." in text_of(
        page.get(page_of(stars))
    )
    for _ in range(costs.ENOUGH):
        record_visit(business=shop, measured=[Measured("stars", 120, 35_000)])
    shown = text_of(page.get(page_of(stars)))
    assert "Adds about 120 ms and 35 kB to a page, from 22 visits in 7 days." in shown
    uninstall(installation=stars)
    assert not StorefrontCost.objects.exists()


def test_size_that_apps_do_not_share_is_said_to_be_unknown(
    shop: Business, stars: Installation, mira: User
) -> None:
    for _ in range(costs.ENOUGH):
        record_visit(business=shop, measured=[Measured("stars", 50, None)])
    shown = text_of(signed_in(mira).get(page_of(stars)))
    assert "Adds about 50 ms to a page, from 20 visits in 7 days." in shown
    assert "Size not shared by the app." in shown


def test_only_the_last_seven_days_count_and_old_ones_are_deleted(shop: Business, stars: Installation) -> None:
    for days in (0, 6, 7, 31):
        record_visit(business=shop, measured=[Measured("stars", 9, 9)], now=NOW - timedelta(days=days))
    assert cost_in(stars, now=NOW).visits == 2
    assert costs.remove_old(now=NOW) == 1


@pytest.mark.parametrize(
    "body",
    [
        "", "[]", "{}", '{"apps": {}}', '{"apps": [["stars"]]}', '{"apps": [["stars", -1, 1]]}', '{"apps": [["stars", 1e30, 1]]}',
        '{"apps": [["stars", NaN, 1]]}', '{"apps": [["stars", true, 1]]}', '{"apps": [["stars", "1", 1]]}', '{"apps": [[7, 1, 1]]}',
        '{"apps": [["stars", 1, 1]], "more": "' + "x" * 5000 + '"}', "[" * 4000, '{"apps": [' + '["a",1,1],' * 20 + '["a",1,1]]}',
    ],
)  # fmt: skip
def test_body_that_is_no_measurement_counts_nothing(shop: Business, stars: Installation, body: str) -> None:
    assert send(shop, body=body) == 400
    assert not StorefrontCost.objects.exists()


def test_apps_that_the_store_does_not_run_are_left_out(
    shop: Business, stars: Installation, dana: User, mira: User
) -> None:
    """Neither another store's app nor an id of an installation, nor one that is paused."""
    other = factories.business(factories.merchant("tom@example.com"))
    installed(listed_app(dana, ["read_orders"], slug="elsewhere"), other)
    assert send(shop, ["elsewhere", 1, 1], [str(stars.pk), 1, 1], ["unknown", 1, 1]) == 204
    pause(installation=stars, user=mira)
    assert send(shop, ["stars", 1, 1]) == 204
    assert not StorefrontCost.objects.exists()


def test_numbers_are_cut_and_a_day_is_full_some_time(
    shop: Business, stars: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "MOST_VISITS", 2)
    for _ in range(3):
        assert send(shop, ["stars", 10**9, 10**9], ["stars", 10**9, 10**9]) == 204
    row = StorefrontCost.objects.get()
    assert (row.visits, row.milliseconds, row.bytes) == (2, 2 * costs.MOST_MS, 2 * costs.MOST_BYTES)


def test_flood_from_one_network_is_refused(shop: Business, stars: Installation, stopped_clock: None) -> None:
    answers = [send(shop, ["stars", 1, 1]) for _ in range(12)]
    assert answers == [204] * 10 + [429] * 2
    assert StorefrontCost.objects.get().visits == 10


def test_frame_of_an_app_sends_nothing(shop: Business, stars: Installation) -> None:
    assert send(shop, ["stars", 1, 1], headers={"sec-fetch-site": "cross-site"}) == 403
    assert not StorefrontCost.objects.exists()


def test_page_without_apps_measures_nothing(shop: Business) -> None:
    assert "app_cost" not in Shopper(shop).see("")
