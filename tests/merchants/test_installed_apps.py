"""The merchant's installed apps: the list, each one's permissions and activity."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from activity import log
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import uninstall
from marketplace.models import App
from marketplace.scopes import SCOPES
from merchants.installed.activity import ACTS, READS
from merchants.templatetags.installed_apps import HISTORY_DESCRIPTIONS
from tests import factories
from tests.clients import client_of
from tests.extensions.settings import give_settings
from tests.merchants.pages import ask_for_more, installed, listed_app, page_of
from tests.pages import signed_in, text_of
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

NOW = datetime(2026, 11, 20, 15, 31, 8, tzinfo=UTC)
LIST = "/merchant/apps/"


@pytest.fixture
def stars(dana: User) -> App:
    return listed_app(dana, ["read_products", "read_orders"], name="Loyalty Stars")


@pytest.fixture
def active(stars: App, shop: Business) -> Installation:
    return installed(stars, shop, now=NOW)


def test_shop_without_apps_says_so(browser: Client, shop: Business) -> None:
    assert "No apps yet" in text_of(browser.get(LIST))
    shop.created_at = timezone.now() - timedelta(days=31)  # past its first steps, which lead to apps
    shop.save()
    assert "No apps yet" in text_of(browser.get("/merchant/"))


@pytest.mark.long
def test_list_tells_name_state_activity_and_permissions(browser: Client, active: Installation) -> None:
    for path in (LIST, "/merchant/"):
        page = text_of(browser.get(path))
        assert "Loyalty Stars" in page
        assert "</svg>Working</span>" in page
        assert "Not active yet · 2 permissions" in page
    Installation.objects.update(last_used_at=NOW)
    assert 'Last active <time datetime="2026-11-20T15:31:08.000Z">' in text_of(browser.get(LIST))


@pytest.mark.long
def test_list_takes_as_many_statements_for_three_apps_as_for_one(
    browser: Client, dana: User, shop: Business, active: Installation, django_assert_num_queries: Any
) -> None:
    uninstall(installation=installed(listed_app(dana, ["read_orders"]), shop))

    def statements() -> int:
        with django_assert_num_queries(100, exact=False) as counted:
            browser.get(LIST)
        return len(counted)

    with_one = statements()
    for _ in range(2):
        installed(listed_app(dana, ["read_orders"]), shop)
        uninstall(installation=installed(listed_app(dana, ["read_orders"]), shop))
    assert statements() == with_one


@pytest.mark.long
def test_app_appears_as_it_was_approved_not_as_it_is_being_changed(
    browser: Client, active: Installation, stars: App
) -> None:
    App.objects.update(name="Loyalty Stars 2 (draft)", version="9.9.9")
    for path in (LIST, page_of(active), page_of(active, "receipt/"), page_of(active, "uninstall/")):
        page = text_of(browser.get(path))
        assert "Loyalty Stars" in page
        assert "draft" not in page
        assert "9.9.9" not in page


@pytest.mark.long
def test_developers_own_sandbox_shows_the_app_as_it_is_being_changed(
    dana: User, stars: App, sandbox: Business
) -> None:
    on_sandbox = installed(stars, sandbox)
    App.objects.update(name="Loyalty Stars 2 (draft)", version="9.9.9")
    page = text_of(signed_in(dana).get(page_of(on_sandbox)))
    assert "Loyalty Stars 2 (draft)" in page
    assert "9.9.9" in page


@pytest.mark.long
def test_list_leads_to_the_marketplace(browser: Client, stars: App, shop: Business) -> None:
    assert '<a class="button primary" href="/marketplace/">Browse apps</a>' in text_of(browser.get(LIST))
    assert '<a href="/marketplace/">Browse apps</a>' in text_of(browser.get("/merchant/")), "a first step"
    installed(stars, shop)
    assert '<a class="button" href="/marketplace/">Browse apps</a>' in text_of(browser.get(LIST))


# The pages of one app


@pytest.mark.long
def test_app_page_leads_to_its_listing_while_it_is_listed(
    browser: Client, active: Installation, stars: App
) -> None:
    assert f'href="/marketplace/{stars.slug}/"' in text_of(browser.get(page_of(active)))
    App.objects.update(suspended_at=NOW)
    assert f'href="/marketplace/{stars.slug}/"' not in text_of(browser.get(page_of(active)))


@pytest.mark.long
def test_app_page_tells_each_permission_with_when_and_by_whom(browser: Client, active: Installation) -> None:
    page = text_of(browser.get(page_of(active)))
    assert "See your products, their prices and stock" in page
    assert "See your orders with your customers&#x27; names and contact details" in page
    assert page.count("Allowed by Mira") == 1  # both permissions at once
    assert "20 Nov 2026, 15:31 UTC</time> by Mira" in page  # the install
    assert "Place orders" not in page


@pytest.mark.long
def test_permission_agreed_to_later_has_its_own_date(
    browser: Client, stars: App, active: Installation
) -> None:
    ask_for_more(active, ["read_products", "read_reviews"])
    later = NOW + timedelta(days=3)
    installed(App.objects.get(pk=stars.pk), active.business, now=later)
    page = text_of(browser.get(page_of(active)))
    assert page.count("Allowed by Mira") == 2
    assert page.index("See what customers say") < page.index("23 Nov 2026") < page.index("See your products")
    assert page.index("See your products") < page.index("20 Nov 2026")


@pytest.mark.long
def test_plot_shows_what_the_app_read_and_changed_by_day(browser: Client, active: Installation) -> None:
    client_of(active).get("/app-api/orders")
    client_of(active).get("/app-api/orders")
    log.flush()
    page = text_of(browser.get(page_of(active)))
    assert f"{timezone.now():%-d %b}: read 2, changed 0" in page
    assert "asked at checkout" not in page  # it has no hooks


@pytest.mark.long
def test_test_install_is_marked_so(dana: User, app: App, sandbox: Business) -> None:
    on_sandbox = installed(app, sandbox)
    browser = signed_in(dana)
    for path in (
        LIST,
        page_of(on_sandbox),
        page_of(on_sandbox, "activity/"),
        page_of(on_sandbox, "uninstall/"),
    ):
        page = text_of(browser.get(path))
        assert "Sandbox: test data" in page
        assert "</svg>Test</span>" in page


@pytest.mark.long
def test_suspended_app_is_told_of(browser: Client, active: Installation) -> None:
    App.objects.update(suspended_at=NOW, suspension_reason="For reviewers.")
    assert "</svg>Suspended</span>" in text_of(browser.get(LIST))
    page = text_of(browser.get(page_of(active)))
    assert "The platform suspended this app on" in page
    assert "For reviewers." not in page


@pytest.mark.long
@pytest.mark.parametrize(
    ("fields", "in_trouble"),
    [
        ({}, False),
        ({"failing_since": timedelta(hours=23)}, False),
        ({"failing_since": timedelta(hours=25)}, True),
        ({"failing_since": timedelta(hours=25), "is_active": False}, False),
        ({"disabled_at": timedelta(minutes=1), "is_active": False}, True),
        ({"failing_since": timedelta(hours=25), "deleted_at": timedelta(0)}, False),
    ],
)
def test_trouble_is_told_by_the_rule_by_which_the_developer_is_told(
    browser: Client, active: Installation, fields: dict[str, Any], in_trouble: bool
) -> None:
    now = timezone.now()
    past = {name: now - ago if isinstance(ago, timedelta) else ago for name, ago in fields.items()}
    helpers.webhook(active, "https://stars.example.com/", ["order.created"], **past)
    assert ("</svg>Having trouble</span>" in text_of(browser.get(LIST))) is in_trouble
    assert ("Updates haven’t reached this app since" in text_of(browser.get(page_of(active)))) is in_trouble


@pytest.mark.long
def test_trouble_of_another_shops_installation_is_not_told(
    browser: Client, stars: App, active: Installation
) -> None:
    other = factories.business(factories.merchant("tom@example.com"))
    helpers.webhook(
        installed(stars, other), "https://stars.example.com/", ["order.created"],
        failing_since=timezone.now() - timedelta(days=2),
    )  # fmt: skip
    assert "Having trouble" not in text_of(browser.get(LIST))


def lines(browser: Client, installation: Installation) -> dict[str, tuple[str, str]]:
    """What the app did, as its page says it: how often and when last, by what."""
    page = text_of(browser.get(page_of(installation)))
    rows = re.findall(r'<tr> <th scope="row">(.*?)</th> <td>(.*?)</td> <td>(.*?)</td> </tr>', page)
    return {re.sub(r"<svg.*?</svg>|<[^>]+>", "", what).strip(): (often, last) for what, often, last in rows}


@pytest.mark.long
def test_page_opens_on_what_the_app_received_and_missed(browser: Client, active: Installation) -> None:
    assert lines(browser, active) == {}
    assert "Nothing. It hasn’t read or changed anything" in text_of(browser.get(page_of(active)))

    webhook = helpers.webhook(active, "https://stars.example.com/", ["order.created"])
    now = timezone.now()
    for status, finished in (
        (DeliveryStatus.SUCCEEDED, now - timedelta(days=2)),
        (DeliveryStatus.SUCCEEDED, now - timedelta(days=1)),
        (DeliveryStatus.EXHAUSTED, now - timedelta(days=6)),
        (DeliveryStatus.EXHAUSTED, now - timedelta(days=8)),
    ):
        made = helpers.published(active.business)
        Delivery.objects.filter(pk=made.pk).update(status=status, finished_at=finished)
    assert Webhook.objects.get() == webhook
    ((often, last),) = lines(browser, active).values()
    assert often == ""
    assert f"{now - timedelta(days=1):%H:%M} UTC" in last
    missed = now - timedelta(days=6)
    assert f"Received updates from your store 1 missed, the last on {missed:%-d %b}" in lines(browser, active)
    assert f"</svg>Working since {missed:%-d %b}</span>" in text_of(browser.get(page_of(active)))
    Delivery.objects.filter(status=DeliveryStatus.SUCCEEDED).delete()
    assert "</svg>Working</span>" in text_of(browser.get(page_of(active)))  # nothing shows since when


@pytest.mark.long
def test_page_opens_on_what_the_app_called(browser: Client, dana: User, shop: Business) -> None:
    """Reads, changes, and what was refused; housekeeping of the app is left out."""
    active = installed(listed_app(dana, ["read_products", "read_orders", "write_orders"]), shop)
    api = client_of(active)
    order = factories.order(active.business)
    for path in ("products", "products", "orders", "installation", "business", "nothing"):
        api.get(f"/app-api/{path}")
    api.patch(f"/app-api/orders/{order.pk}/status", {"status": "CONFIRMED"}, content_type="application/json")
    log.flush()
    assert {what: often for what, (often, _) in lines(browser, active).items()} == {
        "Read your products": "2 times",
        "Read your orders and customers": "1 time",
        "Changed the status of orders": "1 time",
        "Tried something it has no permission for": "1 time",
    }


@pytest.mark.long
def test_required_setting_that_is_empty_is_one_thing_to_do(
    browser: Client, active: Installation, stars: App
) -> None:
    schema = {"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}}}
    give_settings(stars, schema)
    for path in (LIST, "/merchant/", page_of(active)):
        assert "</svg>Needs settings</span>" in text_of(browser.get(path))
    browser.post(page_of(active, "settings/"), {"key": "abc"})
    for path in (LIST, "/merchant/", page_of(active)):
        assert "</svg>Working</span>" in text_of(browser.get(path))


@pytest.mark.long
def test_activity_tells_the_history_the_newest_first(
    browser: Client, stars: App, active: Installation
) -> None:
    installed(stars, active.business, now=NOW + timedelta(hours=1))
    page = text_of(browser.get(page_of(active, "activity/")))
    assert page.index("Authorized again") < page.index('<p class="title">Installed</p>')
    assert page.count("By Mira") == 2


@pytest.mark.parametrize("kind", HistoryKind)
def test_merchant_reads_words_for_all_that_happens(kind: HistoryKind) -> None:
    assert HISTORY_DESCRIPTIONS[kind][2]


# Past ones


@pytest.mark.long
def test_past_apps_are_under_a_fold_with_their_receipts(browser: Client, active: Installation) -> None:
    assert "uninstalled app" not in text_of(browser.get(LIST))
    uninstall(installation=active, now=NOW)
    page = text_of(browser.get(LIST))
    assert "No apps yet" in page
    assert "1 uninstalled app" in page
    assert f'href="{page_of(active, "receipt/")}"' in page
    assert '<details class="section past">' in page


@pytest.mark.long
def test_past_apps_come_in_pages(browser: Client, stars: App, shop: Business) -> None:
    for day in range(3):
        uninstall(installation=installed(stars, shop), now=NOW + timedelta(days=day))
    first, second = text_of(browser.get(f"{LIST}?limit=2")), text_of(browser.get(f"{LIST}?limit=2&page=2"))
    assert 'Uninstalled <time datetime="2026-11-22' in first
    assert "2026-11-20" not in first
    assert 'Uninstalled <time datetime="2026-11-20' in second
    assert '<details class="section past" open>' in second


@pytest.mark.long
def test_ended_app_has_no_page_but_its_receipt(browser: Client, active: Installation) -> None:
    uninstall(installation=active)
    for ending in ("", "activity/", "permissions/", "uninstall/"):
        assert browser.get(page_of(active, ending))["Location"] == page_of(active, "receipt/")


# Strangers

ENDINGS = ("", "activity/", "permissions/", "uninstall/", "receipt/")


@pytest.mark.long
@pytest.mark.parametrize("ending", ENDINGS)
def test_no_installation_has_what_is_no_id(browser: Client, active: Installation, ending: str) -> None:
    for spelled in ("nothing", str(active.pk).upper(), factories.app(active.app.developer).pk):
        assert browser.get(f"/merchant/apps/{spelled}/{ending}").status_code == 404


@pytest.mark.long
def test_list_leaves_out_other_businesses_apps(
    browser: Client, stars: App, shop: Business, mira: User
) -> None:
    installed(stars, factories.business(factories.merchant("tom@example.com")))
    second = factories.business(mira, name="Corner Café")
    on_second = installed(stars, second)
    assert "Loyalty Stars" not in text_of(browser.get(LIST))
    # Its address shows that business, and chooses it for no other page.
    assert 'This page is about <span dir="auto">Corner Café</span>' in text_of(
        browser.get(page_of(on_second))
    )
    assert "Loyalty Stars" not in text_of(browser.get(LIST))
    assert "Loyalty Stars" in text_of(browser.get(f"{LIST}?store={second.slug}"))


def test_calls_by_each_permission_have_words() -> None:
    assert list(READS) == [scope.name for scope in SCOPES.values() if not scope.writes]
    written = {endpoint for scope in SCOPES.values() if scope.writes for endpoint in scope.endpoints}
    assert written <= {f"{method} {re.sub(r'{.*?}', ':id', route)}" for method, route in ACTS}


def test_list_of_what_an_app_did_is_the_legend_of_its_plot(browser: Client, active: Installation) -> None:
    """One plot, in the card of the list; what isn't counted in it has no sign of it."""
    client_of(active).get("/app-api/orders")
    client_of(active).post("/app-api/exports", {"kind": "orders"}, content_type="application/json")
    log.flush()
    page = text_of(browser.get(page_of(active)))
    signs = {
        re.sub(r"<svg.*?</svg>|<[^>]+>", "", row).strip(): re.findall(r'class="bar (\w+)"', row)
        for row in re.findall(r'<th scope="row">(<svg.*?)</th> <td>', page)
    }
    assert signs["Read your orders and customers"] == ["first"]
    assert page.count('id="chart-activity"') == 1
    assert 'class="chart-card bare-chart"' in page
