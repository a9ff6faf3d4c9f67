"""What an app asks a store for, since when and why; and what it asked for at some moment."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import Business
from installations.models import Installation
from installations.queries import AskedScopes, Offers, asked_since
from marketplace.enums import ReleaseMode, ReleaseState
from marketplace.models import App, AppVersion, Release
from tests import factories

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PRODUCTS, ORDERS, PAGES = ["read_products"], ["read_orders"], ["read_pages"]


def hours(number: int) -> datetime:
    return NOW + timedelta(hours=number)


@pytest.fixture
def two(app: App) -> tuple[AppVersion, AppVersion]:
    """Two approvals, at 10 and at 12 o'clock; another app of the developer has three at 11."""
    other = factories.app(app.developer)
    for _ in range(3):
        factories.approve(other, scopes=PAGES, approved_at=hours(-1))
    return (
        factories.approve(app, scopes=PRODUCTS, approved_at=hours(-2)),
        factories.approve(app, scopes=ORDERS, approved_at=NOW),
    )


def release(version: AppVersion, state: ReleaseState, ended: datetime | None) -> None:
    at = version.approved_at
    Release.objects.create(
        version=version, mode=ReleaseMode.STEPS, state=state, started_at=at, step_at=at, watched_from=at, ended_at=ended
    )  # fmt: skip


@pytest.mark.parametrize(
    ("moment", "scopes"),
    [(hours(-3), set()), (hours(-2), {*PRODUCTS}), (hours(-1), {*PRODUCTS}), (NOW, {*ORDERS})],
)
def test_store_was_asked_about_the_newest_version_of_that_moment(
    app: App, shop: Business, two: tuple[AppVersion, AppVersion], moment: datetime, scopes: set[str]
) -> None:
    assert Offers(app).to(factories.installation(app, shop), moment) == scopes


@pytest.mark.parametrize(
    ("moment", "scopes"), [(hours(1), ORDERS), (hours(2), PRODUCTS), (hours(3), PRODUCTS)]
)
def test_version_counts_until_it_is_taken_back(
    app: App, shop: Business, two: tuple[AppVersion, AppVersion], moment: datetime, scopes: list[str]
) -> None:
    release(two[1], ReleaseState.TAKEN_BACK, hours(2))
    assert Offers(app).to(factories.installation(app, shop), moment) == {*scopes}


@pytest.mark.parametrize(
    ("came", "ended", "moment", "scopes"),
    [
        (hours(1), None, NOW, PRODUCTS),
        (hours(1), None, hours(1), ORDERS),
        (hours(1), hours(1), NOW, PRODUCTS),
        (hours(2), hours(1), NOW, ORDERS),  # with a later one
        (NOW, None, NOW, ORDERS),
        (None, None, NOW, ORDERS),
        (None, hours(1), hours(2), ORDERS),
    ],
)
def test_store_was_asked_about_a_version_in_steps_when_it_came_to_it(
    app: App,
    shop: Business,
    two: tuple[AppVersion, AppVersion],
    came: datetime | None,
    ended: datetime | None,
    moment: datetime,
    scopes: list[str],
) -> None:
    release(two[1], ReleaseState.COMPLETE if ended else ReleaseState.ROLLING, ended)
    store = factories.installation(app, shop, runs=two[1], followed_at=came)
    assert Offers(app).to(store, moment) == {*scopes}


def test_store_that_follows_another_version_was_asked_from_the_approval(
    app: App, shop: Business, two: tuple[AppVersion, AppVersion]
) -> None:
    release(two[1], ReleaseState.COMPLETE, hours(3))
    store = factories.installation(app, shop, runs=two[0], followed_at=hours(2))
    assert Offers(app).to(store, NOW) == {*ORDERS}


def test_reason_is_the_newest_that_was_given_up_to_the_version_of_the_store(app: App, shop: Business) -> None:
    versions = [
        factories.approve(app, scopes=PRODUCTS, version="1.0.0", scope_reason="To show them."),
        factories.approve(app, scopes=PRODUCTS + ORDERS, version="1.1.0", scope_reason="To list them."),
        factories.approve(app, scopes=PRODUCTS + ORDERS, version="1.2.0", scope_reason="To count them."),
        factories.approve(app, scopes=PRODUCTS + ORDERS, version="1.3.0", scope_reason=""),
        factories.approve(app, scopes=PRODUCTS + ORDERS, version="2.0.0", scope_reason="To sort them."),
    ]
    app.rolling_version, app.earlier_version = versions[4], versions[3]
    app.save()
    store = factories.installation(app, shop, granted_scopes=PRODUCTS, runs=versions[3])
    assert asked_since(store) == AskedScopes({"read_orders": "1.1.0"}, "To count them.")
    assert asked_since(store, PRODUCTS).since == {"read_products": "1.0.0"}
    App.objects.update(rolling_version=None, earlier_version=None)
    Installation.objects.update(runs=versions[4])
    assert asked_since(Installation.objects.with_app().get()).reason == "To sort them."


def test_reason_of_an_earlier_version_is_no_reason_for_a_later_scope(app: App, shop: Business) -> None:
    factories.approve(app, scopes=PRODUCTS, version="1.0.0", scope_reason="To show them.")
    factories.approve(app, scopes=PRODUCTS + ORDERS, version="1.1.0", scope_reason="")
    store = factories.installation(app, shop, granted_scopes=PRODUCTS)
    assert asked_since(store) == AskedScopes({"read_orders": "1.1.0"}, "")


def test_nothing_is_read_where_nothing_is_asked_for(
    app: App, shop: Business, sandbox: Business, django_assert_num_queries: Any
) -> None:
    draft = factories.installation(app, sandbox)
    listed = factories.app(app.developer)
    factories.approve(listed)
    agreed = factories.installation(listed, shop)
    with django_assert_num_queries(0):
        assert asked_since(draft, PRODUCTS) == AskedScopes({}, "")
        assert asked_since(agreed) == AskedScopes({}, "")
