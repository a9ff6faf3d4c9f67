"""Which permissions an app uses, where merchants and reviewers decide: what stores have seen, never a promise."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from activity import log
from activity.models import StoreScopeUse
from activity.services.retention import remove_old
from activity.use import recorded_since
from developers.review.risks import risks_of
from installations.models import Installation
from marketplace.models import App
from marketplace.services.apps import update_app
from tests import factories
from tests.clients import client_of
from tests.developers.review import reviewing
from tests.developers.review.reviewing import submitted
from tests.installations.oauth_client import address
from tests.merchants.pages import ask_for_more, installed, listed_app, page_of
from tests.pages import HTML, signed_in, words_of
from webhooks.models import Webhook

pytestmark = pytest.mark.django_db(transaction=True)

SCOPES = ["read_business", "read_products", "read_orders", "write_orders"]
WORDS = "Order Bell uses 3 of the 4 permissions it"


@pytest.fixture
def bell(dana: User) -> App:
    return listed_app(dana, SCOPES, name="Order Bell", slug="bell", version="1")


@pytest.fixture
def nora(db: None) -> User:
    return factories.merchant("nora@example.com", name="Nora")


@pytest.fixture(autouse=True)
def recorded(db: None) -> Iterator[Callable[[timedelta], None]]:
    """The use in stores is recorded since a year ago, or as long ago as a test says."""
    upgrade = MigrationRecorder.Migration.objects.filter(app="activity", name="0004_use_in_stores")
    before = upgrade.get().applied

    def since(at: datetime) -> None:
        upgrade.update(applied=at)
        recorded_since.cache_clear()

    since(timezone.now() - timedelta(days=365))
    yield lambda ago: since(timezone.now() - ago)
    since(before)


def calls(installation: Installation, *paths: str) -> None:
    client = client_of(installation)
    for path in paths:
        assert client.get(path).status_code == 200, path
    log.flush()


def used_in(shop: Business, app: App, **options: Any) -> Installation:
    """Three of its four scopes."""
    installation = installed(app, shop, **options)
    calls(installation, "/app-api/business", "/app-api/products", "/app-api/orders", "/app-api/orders")
    return installation


def consent(browser: Client, app: App) -> str:
    return words_of(browser.get(address(app), **HTML))


@pytest.mark.spec("Design 3", "The consent page has how many of its permissions an app uses")
def test_consent_page_says_how_many_permissions_are_used(
    browser: Client, bell: App, shop: Business, nora: User, sam: User
) -> None:
    """Not of a working copy: the versions that stores run may ask for others."""
    assert "permissions it asks for" not in consent(browser, bell)
    other = listed_app(sam, SCOPES, name="Loud")
    elsewhere = factories.business(nora)
    used_in(elsewhere, bell)
    assert f"{WORDS} asks for. That is what stores have seen in the last 30 days" in consent(browser, bell)
    assert "permissions it asks for" not in consent(browser, other)
    assert "permissions it asks for" not in consent(signed_in(bell.developer), bell)


def test_use_on_sandboxes_and_long_ago_is_not_said(
    browser: Client, bell: App, sandbox: Business, nora: User
) -> None:
    used_in(sandbox, bell)
    assert StoreScopeUse.objects.count() == 3
    assert "permissions it asks for" not in consent(browser, bell)
    old = timezone.now() - timedelta(days=40)
    used_in(factories.business(nora), bell, now=old)
    assert WORDS in consent(browser, bell)
    StoreScopeUse.objects.update(last_day=old.date())
    assert "Order Bell uses 0 of the 4 permissions it asks for" in consent(browser, bell)


def test_one_permission_is_said_as_one(browser: Client, nora: User, sam: User) -> None:
    app = listed_app(sam, ["read_orders"], name="Order Bell", slug="order-bell-one")
    calls(installed(app, factories.business(nora)), "/app-api/orders")
    said = consent(browser, app)
    assert "Order Bell uses the one permission it asks for." in said
    assert "others" not in said.partition("the one permission it asks for.")[2][:90]


def test_events_that_a_webhook_listens_to_are_use(browser: Client, bell: App, nora: User) -> None:
    installation = installed(bell, factories.business(nora), now=timezone.now() - timedelta(days=40))
    Webhook.objects.create(
        installation=installation, url="https://bell.example.com/", secret="whsec_x", events=["order.created"]
    )  # fmt: skip
    assert "Order Bell uses 1 of the 4 permissions it asks for" in consent(browser, bell)


@pytest.mark.long
def test_nothing_is_said_where_calls_are_not_logged(
    browser: Client, bell: App, shop: Business, settings: Any
) -> None:
    installation = used_in(shop, bell)
    settings.LOG_API_CALLS = False
    page = words_of(browser.get(page_of(installation), **HTML))
    assert "Used last on" in page  # from before
    assert "No call has used it" not in page
    ask_for_more(installation, [*SCOPES, "read_reviews"])
    assert WORDS not in words_of(browser.get(page_of(installation, "permissions/"), **HTML))


@pytest.mark.long
@pytest.mark.spec("Design 3", "The question for more says what is used, and since when more is asked for")
def test_question_for_more_says_what_it_uses_and_since_when_it_asks(
    browser: Client, bell: App, shop: Business
) -> None:
    installation = used_in(shop, bell)
    for version, scopes in (
        ("2", [*SCOPES, "read_reviews"]),
        ("3", [*SCOPES, "read_reviews", "read_pages"]),
    ):
        App.objects.filter(pk=bell.pk).update(version=version)
        ask_for_more(installation, scopes)
    for ending, says_use in (("permissions/", True), ("", False)):
        page = words_of(browser.get(page_of(installation, ending), **HTML))
        assert (f"{WORDS} has" in page) is says_use
        assert page.count("Asked for since version 2") == 1
        assert page.count("Asked for since version 3") == 1
    page = consent(browser, bell)
    assert f"{WORDS} has" in page
    assert page.count("asked for since version") == 2


@pytest.mark.long
@pytest.mark.spec("Design 3", "The merchant's app page has when each permission was used last")
def test_apps_page_says_when_each_permission_was_used_in_this_store(
    browser: Client, bell: App, shop: Business, nora: User
) -> None:
    installation = installed(bell, shop)
    used_in(factories.business(nora), bell)
    today = datetime.now(UTC)
    unused = f"No call has used it since {today:%-d} {today:%b} {today:%Y}."
    assert words_of(browser.get(page_of(installation), **HTML)).count(unused) == 4
    calls(installation, "/app-api/products")
    page = words_of(browser.get(page_of(installation), **HTML))
    assert page.count(f"Used last on {today:%-d} {today:%b} {today:%Y}.") == 1
    assert page.count(unused) == 3

    yesterday = today.date() - timedelta(days=1)
    StoreScopeUse.objects.update(last_day=yesterday)
    remove_old(now=today + timedelta(days=398))
    assert StoreScopeUse.objects.count() == 4
    remove_old(now=today + timedelta(days=401))
    assert not StoreScopeUse.objects.exists()


@pytest.mark.long
def test_nothing_is_said_of_calls_from_before_they_were_recorded(
    browser: Client, bell: App, shop: Business, nora: User, recorded: Callable[[timedelta], None]
) -> None:
    """A week after the upgrade that began it."""
    recorded(timedelta(days=7))
    began = timezone.now() - timedelta(days=7)
    installation = installed(bell, shop, now=timezone.now() - timedelta(days=60))
    page = words_of(browser.get(page_of(installation), **HTML))
    assert page.count(f"No call has used it since {began:%-d} {began:%b} {began:%Y}.") == 4
    used_in(factories.business(nora), bell)
    assert "permissions it" not in consent(browser, bell)
    ask_for_more(installation, [*SCOPES, "read_reviews"])
    assert WORDS not in words_of(browser.get(page_of(installation, "permissions/"), **HTML))
    update_app(app=bell, changes={"version": "2.0.0"})
    assert not [each for each in risks_of(submitted(bell)) if "unused" in each.text]
    recorded(timedelta(days=31))
    assert f"{WORDS} has" in words_of(browser.get(page_of(installation, "permissions/"), **HTML))
    Installation.objects.filter(pk=installation.pk).update(installed_at=began + timedelta(hours=1))
    recorded(timedelta(days=7))
    assert f"{WORDS} has" in words_of(browser.get(page_of(installation, "permissions/"), **HTML))


@pytest.mark.long
def test_unused_scope_is_a_risk_of_a_submission(bell: App, shop: Business, sam: User) -> None:
    other = listed_app(sam, SCOPES, name="Loud")
    used_in(shop, bell)
    for each in (bell, other):
        update_app(app=each, changes={"version": "2.0.0"})
    risks = {each.text for each in risks_of(submitted(bell))}
    assert "1 unused scope" in risks
    assert not [each for each in risks_of(submitted(other)) if "unused" in each.text]
    rae = reviewing.client_of(factories.reviewer("rae@example.com", is_superuser=True))
    page = words_of(rae.get(reviewing.page_of(bell.submissions.order_by("-id")[0]), **HTML))
    assert page.count("Unused for 30 days") == 1
    assert re.search("write_orders (Sensitive )?Unused for 30 days", page)
