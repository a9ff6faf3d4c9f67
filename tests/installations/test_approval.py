"""What an approval does to the installations of its app."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business, User
from installations import services, tasks
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.queries import granted_by
from installations.services import lifecycle
from installations.services.approval import begin, follow, follow_all
from installations.services.consent import approve_scopes, decline_scopes
from installations.signals import approval_begun, approval_followed
from marketplace.models import App, AppVersion
from marketplace.services import reviews
from marketplace.services.apps import update_app
from marketplace.signals import app_approved
from tests import factories
from tests.merchants.pages import page_of
from tests.pages import signed_in, text_of
from tests.signals import connected, heard
from tests.waiting import wait_for_locks
from tests.webhooks.helpers import published
from webhooks.models import Webhook
from webhooks.services.app_defined import create_missing

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
FIRST = "https://app.example.com/first"
SECOND = "https://app.example.com/second"
UNASKED = ["write_orders", "read_reviews", "read_analytics", "read_business"]
fill_left_out_scopes = import_module("installations.migrations.0019_fill_left_out_scopes").fill
CONVERSION = "Approval converts every active test install of the app"
RECONSENT = "An approval that adds scopes sets needsReConsent on production installs"


@pytest.fixture
def app(dana: User) -> App:
    return factories.app(dana, scopes=["read_products"])


def hours(number: float) -> datetime:
    return NOW + timedelta(hours=number)


def approve(app: App, *scopes: str, at: datetime = NOW, **fields: Any) -> AppVersion:
    """The working copy with these scopes, approved."""
    app.refresh_from_db()
    App.objects.filter(pk=app.pk).update(scopes=list(scopes), **fields)
    app.refresh_from_db()
    version = factories.approve(app)
    AppVersion.objects.filter(pk=version.pk).update(approved_at=at)
    version.refresh_from_db()
    return version


def installed(app: App, business: Business, *granted: str, **fields: Any) -> Installation:
    """A production install, long ago."""
    long_ago = NOW - timedelta(days=9)
    defaults = {
        "is_test": False,
        "granted_scopes": list(granted),
        "installed_at": long_ago,
        "consented_at": long_ago,
    }
    return factories.installation(app, business, **(defaults | fields))


def seen(installation: Installation) -> Installation:
    return Installation.objects.with_app().get(pk=installation.pk)


def told(installation: Installation) -> list[tuple[str, str]]:
    entries = HistoryEntry.objects.filter(installation=installation).order_by("at", "id")
    return list(entries.values_list("kind", "note"))


def call(installation: Installation, path: str) -> int:
    client = Client(headers={"Authorization": f"Bearer {installation.raw_token}"})  # type: ignore[attr-defined]
    return client.get(path).status_code


# Conversion


@pytest.mark.spec("Contract 9 Precise points", CONVERSION)
@pytest.mark.spec("States/Installation", "Test installs convert to production installs at approval")
def test_test_install_is_converted_and_keeps_its_credentials(app: App, dana: User, sandbox: Business) -> None:
    issued = services.test_install(app=app, developer=dana, now=NOW - timedelta(days=1))
    update_app(app=app, changes={"scopes": ["read_products", "read_orders"]})
    before = seen(issued.installation)
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    after = seen(issued.installation)
    assert (after.pk, after.token_digest, after.webhook_secret) == (
        before.pk,
        before.token_digest,
        before.webhook_secret,
    )
    assert after.webhook_secret.startswith("whsec_test_")
    assert (after.is_test, after.needs_reconsent) == (False, False)
    assert after.granted_scopes == after.effective_scopes == ["read_products", "read_orders"]
    assert {kind for kind, _ in told(after)} == {
        HistoryKind.INSTALLED, HistoryKind.SCOPES_FOLLOWED, HistoryKind.CONVERTED,
    }  # fmt: skip
    assert HistoryEntry.objects.get(kind=HistoryKind.CONVERTED).scopes == after.granted_scopes


@pytest.mark.spec("Contract 9 Precise points", CONVERSION)
def test_test_install_of_another_developer_is_converted_too(app: App, sam: User) -> None:
    approve(app, "read_products", at=NOW - timedelta(days=2))
    sandbox = Business.objects.sandbox_of(sam)
    theirs = installed(app, sandbox, "read_products", is_test=True, consented_at=NOW)
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    after = seen(theirs)
    assert (after.is_test, after.effective_scopes) == (False, ["read_products", "read_orders"])
    assert call(theirs, "/app-api/orders") == 200


@pytest.mark.spec("Contract 6 Extensions", "An approval leaves installs of checks and reviewers as they are")
def test_install_of_a_check_is_not_converted(app: App, mira: User, shop: Business) -> None:
    store = factories.business(mira, is_sandbox=True, expires_at=NOW + timedelta(hours=1))
    checks = installed(app, store, "read_products", is_test=True, is_review=True)
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    after = seen(checks)
    assert (after.is_test, after.granted_scopes) == (True, ["read_products"])
    assert told(after) == []


def test_scope_that_narrowed_a_test_install_is_over_with_it(app: App, sandbox: Business) -> None:
    narrowed = installed(app, sandbox, "read_products", is_test=True, narrowed_scopes=["read_products"])
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    after = seen(narrowed)
    assert (after.narrowed_scopes, after.effective_scopes) == (None, ["read_products", "read_orders"])


@pytest.mark.spec("Contract 9 Precise points", "A converted install follows the approved versions")
def test_converted_install_no_longer_follows_the_working_copy(
    app: App, dana: User, sandbox: Business
) -> None:
    mine = installed(app, sandbox, "read_products", is_test=True)
    follow(version=approve(app, "read_products"), now=NOW)
    app.refresh_from_db()
    update_app(app=app, changes={"scopes": ["read_products", "read_orders"]})
    assert call(mine, "/app-api/orders") == 403
    follow(version=approve(app, "read_products", "read_orders", at=hours(1)), now=hours(1))
    assert (seen(mine).needs_reconsent, call(mine, "/app-api/orders")) == (True, 403)
    services.test_install(app=app, developer=dana)
    assert (seen(mine).is_test, seen(mine).needs_reconsent) == (True, False)


def test_install_for_test_after_the_approval_stays_one(app: App, dana: User) -> None:
    version = approve(app, "read_products")
    issued = services.test_install(app=app, developer=dana, now=NOW + timedelta(seconds=1))
    follow(version=version, now=NOW + timedelta(seconds=5))
    assert seen(issued.installation).is_test
    follow(version=approve(app, "read_products", at=hours(1)), now=hours(1))
    assert not seen(issued.installation).is_test


def test_install_that_was_renewed_after_the_approval_stays_one(app: App, dana: User) -> None:
    services.test_install(app=app, developer=dana, now=NOW - timedelta(days=1))
    version = approve(app, "read_products")
    issued = services.test_install(app=app, developer=dana, now=NOW + timedelta(seconds=1))
    follow(version=version, now=NOW + timedelta(seconds=5))
    assert seen(issued.installation).is_test


def test_ended_install_stays_as_it_was(app: App, sandbox: Business, shop: Business) -> None:
    ended = installed(app, sandbox, "read_products", is_test=True, uninstalled_at=NOW - timedelta(hours=1))
    gone = installed(app, shop, "read_products", uninstalled_at=NOW - timedelta(hours=1))
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    assert (seen(ended).is_test, seen(gone).needs_reconsent) == (True, False)
    assert not HistoryEntry.objects.exists()


# Asking for more


@pytest.mark.spec("Contract 3 OAuth", RECONSENT)
@pytest.mark.spec("States/Installation", "Before re-consent the token grants only the original scopes")
@pytest.mark.spec("Errors", "403 for new scopes before the merchant's re-consent")
def test_added_scope_is_asked_for_and_refused_until_then(app: App, shop: Business) -> None:
    approve(app, "read_products", at=NOW - timedelta(days=2))
    install = installed(app, shop, "read_products")
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    after = seen(install)
    assert (after.needs_reconsent, after.effective_scopes) == (True, ["read_products"])
    assert told(install) == [(HistoryKind.NEEDS_RECONSENT, "read_orders")]
    assert call(install, "/app-api/products") == 200
    assert call(install, "/app-api/orders") == 403


@pytest.mark.spec("Contract 9 Precise points", "An approval that removes scopes asks for no consent")
def test_removed_scope_is_lost_without_asking(app: App, shop: Business) -> None:
    approve(app, "read_products", "read_orders", at=NOW - timedelta(days=2))
    install = installed(app, shop, "read_products", "read_orders")
    assert call(install, "/app-api/orders") == 200
    follow(version=approve(app, "read_products"), now=NOW)
    assert not seen(install).needs_reconsent
    assert told(install) == [(HistoryKind.SCOPES_REMOVED, "read_orders")]
    assert install.history.get().scopes == ["read_products"]
    assert call(install, "/app-api/products") == 200
    assert call(install, "/app-api/orders") == 403
    AppVersion.objects.update(followed_at=None)
    follow_all()
    assert install.history.count() == 1


@pytest.mark.spec("Contract 3 OAuth", RECONSENT)
def test_scope_that_comes_back_is_asked_for_anew(app: App, shop: Business) -> None:
    """A scope that an earlier approval took away was agreed to once, and is not any more."""
    approve(app, "read_products", "read_orders", at=NOW - timedelta(days=2))
    install = installed(app, shop, "read_products", "read_orders")
    follow(version=approve(app, "read_products"), now=NOW)
    follow(version=approve(app, "read_products", "read_orders", at=hours(1)), now=hours(1))
    assert seen(install).needs_reconsent
    assert call(install, "/app-api/orders") == 403


def test_permission_that_was_taken_away_is_dated_by_the_next_yes(
    app: App, shop: Business, mira: User
) -> None:
    both = ["read_products", "read_orders"]
    approve(app, *both, at=NOW - timedelta(days=20))
    install = services.install(
        app=app,
        business=shop,
        installed_by=mira,
        terms=services.Terms(is_test=False, granted_scopes=both),
        now=NOW - timedelta(days=9),
    ).installation
    follow(version=approve(app, "read_products"), now=NOW)
    follow(version=approve(app, *both, at=hours(1)), now=hours(1))
    approve_scopes(installation=seen(install), user=mira, scopes=both, now=hours(2))
    dates = {scope: entry.at for scope, entry in granted_by(seen(install)).items()}
    assert dates == {"read_products": NOW - timedelta(days=9), "read_orders": hours(2)}
    browser = signed_in(mira)
    page = text_of(browser.get(page_of(install, "receipt/")))
    orders = page.index("See your orders")
    assert page.index("See your products") < page.index("2026-11-11T12:00") < orders
    assert orders < page.index("2026-11-20T14:00", orders)
    activity = text_of(browser.get(page_of(install, "activity/")))
    taken_away = activity.index("Permissions removed by a new version")
    assert taken_away < activity.index("See your orders", taken_away)


@pytest.mark.spec("Contract 3 OAuth", RECONSENT)
def test_chosen_scope_that_comes_back_is_asked_for_anew(app: App, shop: Business) -> None:
    """`scope` at the authorization named it: it was not left out, but taken away."""
    both = ["read_products", "read_orders"]
    approve(app, *both, "read_pages", at=NOW - timedelta(days=20))
    install = installed(app, shop, *both, narrowed_scopes=both, left_out_scopes=["read_pages"])
    follow(version=approve(app, "read_products"), now=NOW)
    assert not seen(install).needs_reconsent
    follow(version=approve(app, *both, "read_pages", at=hours(1)), now=hours(1))
    assert seen(install).needs_reconsent
    assert told(install)[-1] == (HistoryKind.NEEDS_RECONSENT, "read_orders"), "Pages were left out."


@pytest.mark.spec("Contract 3 OAuth", RECONSENT)
def test_approved_scope_that_comes_back_is_asked_for_anew(app: App, shop: Business, mira: User) -> None:
    """The merchant approved all that was asked on the page, which leaves nothing out."""
    install = installed(app, shop, "read_products")
    both = ["read_products", "read_orders"]
    follow(version=approve(app, *both), now=NOW)
    approve_scopes(installation=seen(install), user=mira, scopes=both, now=hours(1))
    assert seen(install).narrowed_scopes is None
    follow(version=approve(app, "read_products", at=hours(2)), now=hours(2))
    follow(version=approve(app, *both, at=hours(3)), now=hours(3))
    assert seen(install).needs_reconsent
    assert told(install)[-1] == (HistoryKind.NEEDS_RECONSENT, "read_orders")


def test_question_that_is_not_needed_any_more_is_withdrawn(app: App, shop: Business) -> None:
    install = installed(app, shop, "read_products")
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    Installation.objects.update(reconsent_declined_at=hours(1))
    follow(version=approve(app, "read_products", at=hours(2)), now=hours(2))
    assert (seen(install).needs_reconsent, seen(install).reconsent_declined_at) == (False, None)
    follow(version=approve(app, "read_products", "read_orders", at=hours(3)), now=hours(3))
    assert seen(install).needs_reconsent
    assert told(install) == [(HistoryKind.NEEDS_RECONSENT, "read_orders")] * 2


def test_no_to_the_former_question_is_not_one_to_the_next(app: App, shop: Business) -> None:
    install = installed(app, shop, "read_products")
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    Installation.objects.update(reconsent_declined_at=hours(1), reconsent_notified_at=hours(1))
    follow(version=approve(app, "read_products", "read_orders", at=hours(2)), now=hours(2))
    assert seen(install).reconsent_declined_at == hours(1), "Nothing new was asked."
    assert seen(install).reconsent_notified_at == hours(1)
    follow(version=approve(app, "read_products", "read_orders", "read_pages", at=hours(3)), now=hours(3))
    assert (seen(install).needs_reconsent, seen(install).reconsent_declined_at) == (True, None)
    assert seen(install).reconsent_notified_at is None, "The merchant is mailed again."
    assert told(install) == [
        (HistoryKind.NEEDS_RECONSENT, "read_orders"),
        (HistoryKind.NEEDS_RECONSENT, "read_pages"),
    ]


def test_what_was_asked_is_known_without_the_history(app: App, shop: Business) -> None:
    """An installation that asks since the exchange of its code has no entry about it."""
    approve(app, "read_products", "read_orders", at=NOW - timedelta(days=2))
    state = {"needs_reconsent": True, "reconsent_notified_at": NOW - timedelta(days=1)}
    install = installed(app, shop, "read_products", **state)
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    assert seen(install).reconsent_notified_at == state["reconsent_notified_at"], "No second mail."
    assert told(install) == []


def test_mail_that_is_due_will_name_what_a_newer_version_adds(app: App, shop: Business) -> None:
    install = installed(app, shop, "read_products")
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    follow(version=approve(app, "read_products", "read_orders", "read_pages", at=hours(1)), now=hours(1))
    assert (seen(install).needs_reconsent, seen(install).reconsent_notified_at) == (True, None)
    assert seen(install).asked_scopes == ["read_orders", "read_pages"]
    assert told(install) == [(HistoryKind.NEEDS_RECONSENT, "read_orders")]


def test_scope_that_was_left_out_by_choice_is_not_asked_for(app: App, shop: Business) -> None:
    """`scope` at the authorization left out `read_orders`, which was there to be chosen."""
    approve(app, "read_products", "read_orders", at=NOW - timedelta(days=20))
    left_out = {"narrowed_scopes": ["read_products"], "left_out_scopes": ["read_orders"]}
    install = installed(app, shop, "read_products", **left_out)
    follow(version=approve(app, "read_products", "read_orders", name="Renamed"), now=NOW)
    assert (seen(install).needs_reconsent, told(install)) == (False, [])
    version = approve(app, "read_products", "read_orders", "read_pages", at=hours(1))
    follow(version=version, now=hours(1))
    assert seen(install).needs_reconsent
    assert told(install) == [(HistoryKind.NEEDS_RECONSENT, "read_pages")]
    follow(version=approve(app, "read_products", "read_orders", at=hours(2)), now=hours(2))
    assert not seen(install).needs_reconsent


def test_what_was_left_out_before_it_was_kept(app: App, shop: Business) -> None:
    """The migration takes it from the time of the consent."""
    approve(app, "read_products", "read_orders", at=NOW - timedelta(days=20))
    install = installed(app, shop, "read_products", narrowed_scopes=["read_products"])
    approve(app, "read_products", "read_orders", "read_pages", at=NOW)
    fill_left_out_scopes(apps, connection.schema_editor())
    assert seen(install).left_out_scopes == ["read_orders"]


def test_who_agreed_before_the_worker_came_is_not_asked(app: App, shop: Business) -> None:
    """A consent between the approval and its following."""
    version = approve(app, "read_products", "read_orders", "read_pages")
    all_of_it = installed(app, shop, *version.scopes)
    left_out = {"narrowed_scopes": ["read_orders"], "left_out_scopes": ["read_products", "read_pages"]}
    some = installed(app, factories.business(shop.owner), "read_orders", **left_out)
    Installation.objects.filter(pk=some.pk).update(consented_at=NOW + timedelta(seconds=1))
    follow(version=version, now=NOW + timedelta(seconds=5))
    assert not Installation.objects.filter(needs_reconsent=True).exists()
    assert told(all_of_it) == []


def test_other_apps_are_left_alone(app: App, dana: User, sam: User, shop: Business) -> None:
    approve(app, "read_products", at=NOW - timedelta(days=2))
    other = factories.app(dana, scopes=["read_products"])
    theirs = installed(other, shop, "read_products")
    tested = installed(other, Business.objects.sandbox_of(sam), "read_products", is_test=True)
    before = list(Installation.objects.order_by("id").values())
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    assert list(Installation.objects.order_by("id").values()) == before
    assert (seen(theirs).needs_reconsent, seen(tested).is_test) == (False, True)


@pytest.mark.spec("Contract 3 OAuth", "The same token grants the full set after the merchant's yes")
@pytest.mark.spec(
    "States/Installation", "The merchant approves added scopes: the token grants the full scope set"
)
def test_same_token_may_do_all_after_the_merchants_yes(app: App, shop: Business, mira: User) -> None:
    """And the tokens of the other merchants go on as they were."""
    install = installed(app, shop, "read_products")
    another = installed(app, factories.business(factories.merchant("max@example.com")), "read_products")
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    assert call(install, "/app-api/orders") == 403
    approve_scopes(installation=seen(install), user=mira, now=hours(1))
    assert not seen(install).needs_reconsent
    assert call(install, "/app-api/orders") == call(install, "/app-api/products") == 200
    assert seen(another).needs_reconsent
    assert (call(another, "/app-api/products"), call(another, "/app-api/orders")) == (200, 403)
    AppVersion.objects.update(followed_at=None)
    follow_all(now=hours(2))
    assert (seen(install).needs_reconsent, call(install, "/app-api/orders")) == (False, 200)


def test_no_is_kept_by_an_approval_that_adds_nothing(app: App, shop: Business, mira: User) -> None:
    install = installed(app, shop, "read_products")
    follow(version=approve(app, "read_products", "read_orders"), now=NOW)
    decline_scopes(installation=seen(install), user=mira, now=hours(1))
    follow(version=approve(app, "read_products", "read_orders", at=hours(2)), now=hours(2))
    decline_scopes(installation=seen(install), user=mira, now=hours(3))
    assert (seen(install).needs_reconsent, seen(install).reconsent_declined_at) == (True, hours(1))
    assert call(install, "/app-api/products") == 200


# Webhooks


@pytest.mark.spec("Contract 5 Webhooks", "A production install follows the approved Webhook URL")
def test_app_defined_webhooks_follow_the_approved_url(
    app: App, dana: User, sandbox: Business, shop: Business, mira: User
) -> None:
    approve(app, "read_products", at=NOW - timedelta(days=20), webhook_url=FIRST)
    at_shop = services.install(
        app=app,
        business=shop,
        installed_by=mira,
        terms=services.Terms(is_test=False, granted_scopes=app.scopes),
    ).installation
    without = installed(app, factories.business(mira), "read_products")
    waiting = published(shop, "product.created")
    version = approve(app, "read_products", webhook_url=SECOND)
    follow(version=version, now=NOW)
    webhooks = {webhook.installation_id: webhook for webhook in Webhook.objects.all()}
    assert {each: webhook.url for each, webhook in webhooks.items()} == {
        at_shop.pk: SECOND,
        without.pk: SECOND,
    }
    assert webhooks[without.pk].secret == without.webhook_secret
    waiting.refresh_from_db()
    assert waiting.endpoint == webhooks[at_shop.pk].endpoint == webhooks[without.pk].endpoint
    follow(version=approve(app, "read_products", at=hours(1), webhook_url=""), now=hours(1))
    assert {webhook.is_active for webhook in Webhook.objects.all()} == {False}
    waiting.refresh_from_db()
    assert waiting.status == "CANCELLED"


def test_webhook_of_a_converted_install_leaves_the_working_copys_url(
    app: App, dana: User, sandbox: Business
) -> None:
    App.objects.update(webhook_url=FIRST)
    app.refresh_from_db()
    services.test_install(app=app, developer=dana, now=NOW - timedelta(hours=1))
    version = approve(app, "read_products", webhook_url=FIRST)
    app.refresh_from_db()
    update_app(app=app, changes={"webhook_url": SECOND})
    assert Webhook.objects.get().url == SECOND
    follow(version=version, now=NOW + timedelta(seconds=3))
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.is_active) == (FIRST, True)
    assert webhook.secret.startswith("whsec_test_")


@pytest.mark.spec("Contract 5 Webhooks", "A Webhook URL added later brings it into being")
def test_first_url_reaches_all_before_anything_else_follows(
    app: App, dana: User, sam: User, mira: User, sandbox: Business, shop: Business
) -> None:
    approve(app, "read_products", at=NOW - timedelta(days=2))
    running = [
        installed(app, shop, "read_products"),
        *many(app, mira, 3),
        installed(app, sandbox, "read_products"),
        installed(app, Business.objects.sandbox_of(sam), "read_products", is_test=True),
    ]
    paused = installed(app, factories.business(mira), "read_products", paused_at=NOW)
    ended = installed(app, factories.business(mira), "read_products", uninstalled_at=NOW)
    other = installed(factories.app(dana, scopes=["read_products"]), shop, "read_products")
    version = approve(app, "read_products", "read_orders", webhook_url=FIRST)
    create_missing(app=app, now=NOW, batch=2)
    assert not Installation.objects.filter(app=app, needs_reconsent=True).exists()
    webhooks = {webhook.installation_id: webhook for webhook in Webhook.objects.all()}
    assert set(webhooks) == {each.pk for each in (*running, paused)}
    for install in (*running, paused):
        webhook = webhooks[install.pk]
        assert webhook.secret == install.webhook_secret
        assert webhook.endpoint == webhook.find_endpoint()
        status = "HELD" if install == paused else "PENDING"
        assert published(install.business, "product.created").status == status
    for install in (ended, other):
        assert not Webhook.objects.filter(installation=install).exists()
    follow(version=version, now=NOW)
    assert {webhook.installation_id: webhook for webhook in Webhook.objects.all()} == webhooks


def test_webhook_of_a_first_url_is_like_that_of_an_install(app: App, shop: Business, mira: User) -> None:
    installed(app, shop, "read_products")
    begin(version=approve(app, "read_products", webhook_url=FIRST), now=NOW)
    app.refresh_from_db()
    services.install(
        app=app,
        business=factories.business(mira),
        installed_by=mira,
        terms=services.Terms(is_test=False, granted_scopes=app.scopes),
        now=NOW,
    )
    theirs = {"id", "installation_id", "secret"}
    one, another = Webhook.objects.values(
        *(f.attname for f in Webhook._meta.fields if f.attname not in theirs)
    )
    assert one == another
    assert (one["url"], one["created_at"], one["is_active"]) == (FIRST, NOW, True)
    assert {webhook.id.version for webhook in Webhook.objects.all()} == {7}


def test_url_that_comes_back_reaches_all_before_anything_else_follows(app: App, mira: User) -> None:
    installs = many(app, mira, 3)
    begin(version=approve(app, "read_products", webhook_url=FIRST))
    follow(version=approve(app, "read_products", at=hours(1), webhook_url=""), now=hours(1))
    assert not Webhook.objects.filter(is_active=True).exists()
    begin(version=AppVersion.objects.get(pk=App.objects.get().approved_version_id), now=hours(1))
    assert not Webhook.objects.filter(is_active=True).exists()
    begin(version=approve(app, "read_products", at=hours(2), webhook_url=SECOND), now=hours(2))
    assert set(Webhook.objects.values_list("url", "is_active", "lacks_url")) == {(SECOND, True, False)}
    for install in installs:
        assert published(install.business, "product.created").status == "PENDING"


def test_working_copys_url_stays_on_its_developers_sandbox(app: App, dana: User, sandbox: Business) -> None:
    """A test install without a URL sees the working copy, not the version that was approved."""
    services.test_install(app=app, developer=dana, now=NOW - timedelta(hours=1))
    version = approve(app, "read_products", webhook_url=FIRST)
    App.objects.update(webhook_url="")
    begin(version=version, now=NOW)
    assert not Webhook.objects.exists()
    App.objects.update(webhook_url=SECOND)
    begin(version=version, now=NOW)
    assert Webhook.objects.get().url == SECOND


def test_first_urls_of_all_apps_come_before_the_rest_of_any(app: App, dana: User, mira: User) -> None:
    other = factories.app(dana, scopes=["read_products"])
    installs = many(app, mira, 1) + many(other, mira, 1)
    approve(app, "read_products", webhook_url=FIRST)
    approve(other, "read_products", at=hours(1), webhook_url=SECOND)
    seen_at_first: list[set[Any]] = []

    def look(**_: Any) -> None:
        seen_at_first.append(set(Webhook.objects.values_list("installation", flat=True)))

    with connected(approval_followed, look):
        follow_all(now=hours(1))
    assert seen_at_first[0] == {install.pk for install in installs}


@pytest.mark.long
def test_number_of_statements_for_a_first_url_does_not_grow_with_installations(app: App, mira: User) -> None:
    """Of webhooks that are made, and then switched on again."""
    taken = set()
    for number in (1, 5):
        Installation.objects.update(uninstalled_at=NOW)
        many(app, mira, number)
        for url in (FIRST, "", SECOND):
            version = approve(app, "read_products", at=hours(number), webhook_url=url)
            with CaptureQueriesContext(connection) as captured:
                begin(version=version, now=hours(number))
            taken.add((url, len(captured)))
            follow(version=version, now=hours(number))
        assert Webhook.objects.filter(url=SECOND, is_active=True, lacks_url=False).count() >= number
    assert len(taken) == 3, taken


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("urls_before", [(), (FIRST, "")], ids=["first", "that comes back"])
def test_url_waits_for_an_uninstall_that_has_begun(urls_before: Sequence[str], app: App, mira: User) -> None:
    """Else the uninstall could miss a webhook that is created, or switched on, once it has switched off those it found."""
    ending, staying = many(app, mira, 2)
    for url in urls_before:
        follow(version=approve(app, "read_products", webhook_url=url), now=NOW)
    version = approve(app, "read_products", webhook_url=SECOND)

    def work() -> None:
        try:
            begin(version=version, now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lifecycle.locked(ending)
            begun = pool.submit(work)
            wait_for_locks(1, or_until=begun.done)
            assert not begun.done()
            services.uninstall(installation=ending)
        begun.result(timeout=30)
    webhooks = Webhook.objects.values_list("installation", "is_active")
    assert set(webhooks) == {(ending.pk, False), (staying.pk, True)}  # the first for the data erasure


# Going on, and doing nothing twice


def many(app: App, owner: User, number: int, **fields: Any) -> list[Installation]:
    return [installed(app, factories.business(owner), "read_products", **fields) for _ in range(number)]


def test_batches_take_all_and_say_when_that_was(app: App, mira: User) -> None:
    many(app, mira, 4, is_test=True)
    many(app, mira, 3)
    version = approve(app, "read_products", "read_orders")
    with heard(approval_followed) as batches:
        follow(version=version, now=NOW, batch=2)
    assert [len(each["installations"]) for each in batches] == [2, 2, 2, 1], "none twice"
    version.refresh_from_db()
    assert version.followed_at == NOW
    assert Counter(Installation.objects.values_list("is_test", "needs_reconsent")) == {
        (False, False): 4,
        (False, True): 3,
    }
    assert Counter(HistoryEntry.objects.values_list("kind", flat=True)) == {
        HistoryKind.CONVERTED: 4,
        HistoryKind.NEEDS_RECONSENT: 3,
    }


def test_begun_anew_it_does_nothing_twice(app: App, mira: User) -> None:
    """A worker that died leaves `followed_at` empty, whatever it had done."""
    many(app, mira, 3, is_test=True)
    many(app, mira, 3)
    version = approve(app, "read_products", "read_orders")
    for seconds in range(3):
        AppVersion.objects.update(followed_at=None)
        follow(version=version, now=NOW + timedelta(seconds=seconds), batch=2)
    assert HistoryEntry.objects.count() == 6


def test_what_was_followed_is_left_alone(app: App, dana: User, mira: User) -> None:
    """Also by a worker that is between two batches when another one has come to the end."""
    many(app, mira, 3)
    version = approve(app, "read_products", "read_orders")
    waiting = approve(factories.app(dana), "read_products")

    def end(**_: Any) -> None:
        AppVersion.objects.filter(pk=version.pk).update(followed_at=NOW)

    with heard(approval_followed) as batches, connected(approval_followed, end):
        follow(version=version, now=hours(1), batch=2)
        follow(version=version, now=hours(1))
    assert len(batches) == 1
    assert set(AppVersion.objects.values_list("pk", "followed_at")) == {
        (version.pk, NOW),
        (waiting.pk, None),
    }


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_second_worker_does_not_wait_for_the_first(app: App, mira: User) -> None:
    many(app, mira, 1)
    version = approve(app, "read_products", "read_orders")

    def work() -> None:
        try:
            follow(version=version, now=NOW)
        finally:
            connection.close()

    def come_too(**_: Any) -> None:
        other = pool.submit(work)
        wait_for_locks(1, or_until=other.done)
        assert other.done()

    with (
        ThreadPoolExecutor(1) as pool,
        heard(approval_followed) as batches,
        connected(approval_followed, come_too),
    ):
        follow(version=version, now=NOW)
    assert len(batches) == 1


def test_worker_whose_clock_is_behind_does_nothing_twice(app: App, mira: User) -> None:
    many(app, mira, 2)
    version = approve(app, "read_products", "read_orders")
    for _ in range(2):
        AppVersion.objects.update(followed_at=None)
        follow(version=version, now=NOW - timedelta(minutes=5))
    assert set(HistoryEntry.objects.values_list("kind", "at")) == {(HistoryKind.NEEDS_RECONSENT, NOW)}
    assert HistoryEntry.objects.count() == 2


def test_newer_approval_is_followed_in_place_of_the_older(app: App, mira: User) -> None:
    (install,) = many(app, mira, 1)
    first = approve(app, "read_products", "read_orders")
    second = approve(app, "read_products", "read_pages", at=hours(1))
    follow(version=first, now=hours(1))
    assert not HistoryEntry.objects.exists()
    follow_all(now=hours(2))
    assert told(install) == [(HistoryKind.NEEDS_RECONSENT, "read_pages")]
    assert set(AppVersion.objects.values_list("pk", "followed_at")) == {
        (first.pk, hours(1)),
        (second.pk, hours(2)),
    }
    with heard(approval_begun) as begun:
        follow_all(now=hours(3))
    assert not begun


def test_approval_overtaken_half_way_is_made_good(app: App, mira: User) -> None:
    """The second approval comes while the worker is between two batches of the first."""
    many(app, mira, 4, is_test=True)
    first = approve(app, "read_products", "read_orders")

    def overtake(**_: Any) -> None:
        if AppVersion.objects.count() == 1:
            approve(app, "read_products", "read_pages", at=hours(1))

    with connected(approval_followed, overtake):
        follow(version=first, now=NOW, batch=2)
    assert Installation.objects.filter(is_test=True).count() == 2
    follow_all(now=hours(1))
    states = Installation.objects.order_by("id").values_list("is_test", "granted_scopes", "needs_reconsent")
    assert (
        list(states)
        == [(False, ["read_products"], True)] * 2 + [(False, ["read_products", "read_pages"], False)] * 2
    )


def test_one_that_fails_keeps_none_of_the_others_waiting(
    app: App, dana: User, shop: Business, caplog: pytest.LogCaptureFixture
) -> None:
    broken = approve(app, "read_products", "read_orders")
    other = factories.app(dana, scopes=["read_products"])
    install = installed(other, shop, "read_products")
    approve(other, "read_products", "read_orders", at=hours(1))

    def fail(*, app: App, **_: Any) -> None:
        if app == broken.app:
            raise RuntimeError("broken")

    with connected(approval_followed, fail):
        follow_all(now=hours(1))
    assert seen(install).needs_reconsent
    assert AppVersion.objects.filter(followed_at=None).get() == broken
    assert "follow_approvals failed" in caplog.text


@pytest.mark.parametrize("is_test", [True, False])
def test_number_of_statements_does_not_grow_with_installations(is_test: bool, app: App, mira: User) -> None:
    """Changed alike, with webhooks that are made, and then moved."""
    taken = set()
    approve(app, "read_products")
    for number in (1, 5):
        Installation.objects.update(uninstalled_at=NOW)
        installs = many(app, mira, number, is_test=is_test)
        for left_out, each in enumerate(installs if not is_test else []):  # it doesn't change
            Installation.objects.filter(pk=each.pk).update(left_out_scopes=UNASKED[:left_out])
        made = approve(app, "read_products", "read_orders", at=hours(number), webhook_url=FIRST)
        moved = approve(app, "read_products", "read_pages", at=hours(number + 1), webhook_url=SECOND)
        for version in (made, moved):
            App.objects.update(approved_version=version)
            with CaptureQueriesContext(connection) as captured:
                follow(version=version, now=version.approved_at)
            taken.add((version.webhook_url, len(captured)))
        assert Webhook.objects.filter(installation__in=installs, url=SECOND).count() == number
    assert len(taken) == 2, taken


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(
    "Contract 9 Precise points", "Conversion and needsReConsent are safe against two workers at once"
)
def test_two_workers_among_installs_and_uninstalls(
    app: App, dana: User, mira: User, sandbox: Business
) -> None:
    """There is no deadlock, and nothing is written twice."""
    installs = many(app, mira, 30) + many(app, mira, 30, is_test=True)
    fresh = [factories.business(mira) for _ in range(10)]
    version = approve(app, "read_products", "read_orders", webhook_url=FIRST)

    def work() -> None:
        while not AppVersion.objects.filter(pk=version.pk, followed_at__isnull=False).exists():
            begin(version=version, now=NOW)
            follow(version=version, now=NOW, batch=4)

    def install_and_uninstall(number: int) -> None:
        if number < 10:
            services.install(
                app=app,
                business=fresh[number],
                installed_by=mira,
                terms=services.Terms(is_test=False, granted_scopes=["read_products"]),
            )
        elif number < 20:
            services.uninstall(installation=installs[-3 * (number - 9)])
        elif number < 30:
            services.test_install(app=app, developer=dana)
        else:
            business = installs[2 * (number - 30)].business
            services.install(
                app=app,
                business=business,
                installed_by=mira,
                terms=services.Terms(is_test=False, granted_scopes=version.scopes),
            )

    def closing(do: Callable[..., None], *arguments: Any) -> None:
        try:
            do(*arguments)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        acts = [pool.submit(closing, work) for _ in range(2)]
        acts += [pool.submit(closing, install_and_uninstall, number) for number in range(40)]
        for act in acts:
            act.result(timeout=60)
    entries = HistoryEntry.objects.filter(kind__in=(HistoryKind.CONVERTED, HistoryKind.NEEDS_RECONSENT))
    told_of = list(entries.values_list("installation", flat=True))
    assert len(told_of) == len(set(told_of))
    assert Installation.objects.active().filter(is_test=True).count() == 1
    assert Installation.objects.active().filter(is_test=True).get().business == sandbox
    active = Webhook.objects.filter(is_active=True, url=FIRST)
    of_approved = Installation.objects.active().exclude(business=sandbox)
    assert set(active.values_list("installation", flat=True)) >= set(of_approved.values_list("pk", flat=True))
    assert not Webhook.objects.filter(is_active=True, installation__uninstalled_at__isnull=False).exists()


# How a worker learns of it


@pytest.mark.spec("Contract 9 Precise points", "Conversion and needsReConsent follow by worker")
def test_worker_is_asked_once_the_approval_is_committed(
    app: App, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    asked: list[float] = []
    monkeypatch.setattr(tasks.follow_approvals, "apply_async", lambda _, expires: asked.append(expires))
    version = approve(app, "read_products")
    with django_capture_on_commit_callbacks(execute=True):
        app_approved.send(App, app=app, version=version, now=NOW)
        assert asked == []
    assert asked == [5.0]


@pytest.mark.spec("States/Installation", "Test installs convert to production installs at approval")
def test_reviewers_approval_reaches_the_installations(app: App, dana: User, shop: Business) -> None:
    """From the submission on, by the services that people reach."""
    at_shop = installed(app, shop, "read_products")
    tested = services.test_install(app=app, developer=dana).installation
    update_app(app=app, changes={"scopes": ["read_products", "read_orders"]})
    submission = reviews.submit(app=App.objects.get(pk=app.pk), developer=dana, scope_reason="For the stars.")
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    assert seen(tested).is_test
    tasks.follow_approvals()
    assert (seen(tested).is_test, seen(at_shop).needs_reconsent) == (False, True)
    assert AppVersion.objects.get(app=app).followed_at is not None


def test_task_finds_what_is_to_be_followed(app: App, shop: Business) -> None:
    install = installed(app, shop, "read_products")
    approve(app, "read_products", "read_orders")
    tasks.follow_approvals()
    assert seen(install).needs_reconsent
