"""The search of the top bar finds what a person may open, and nothing of others."""

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.enums import StoreRole
from accounts.models import Business, User
from activity.models import ApiCall
from marketplace.enums import AppRole
from merchants.navigation import ENTRIES
from merchants.search import _begins_with
from stores.models import Order, SitePage
from tests import factories
from tests.webhooks.helpers import published, webhook

pytestmark = pytest.mark.django_db

KINDS = (
    "App",
    "Delivery",
    "Event",
    "API call",
    "Webhook",
    "Installation",
    "Order",
    "Product",
    "Page for shoppers",
    "Installed app",
)


class House:
    """One developer and one merchant, with something of every kind that has `word` in its name."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.developer = factories.developer(f"d-{word}@example.com")
        self.merchant = factories.merchant(f"m-{word}@example.com")
        self.shop: Business = self.merchant.businesses.get()
        self.app = factories.app(
            self.developer, name=f"{word} Stars", slug=f"{word}-stars", scopes=["read_orders"]
        )
        factories.approve(self.app)
        self.installation = factories.installation(self.app, self.shop)
        self.webhook = webhook(self.installation, "https://hooks.example.com/", ["order.created"])
        self.order = factories.order(self.shop, customer_name=f"{word} Smith")
        self.product = factories.product(self.shop, name=f"{word} bread")
        self.page = SitePage.objects.create(business=self.shop, title=f"About {word}", slug="about")
        self.delivery = published(self.shop, "order.created")
        self.call = ApiCall.objects.create(
            at=self.delivery.created_at, app=self.app, installation=self.installation, method="GET",
            path=f"/app-api/{word}", status=200, duration_ms=1, rate_limit=60, rate_left=59, rate_reset=1,
        )  # fmt: skip

    @property
    def words(self) -> list[Any]:
        ids = (self.app, self.installation, self.webhook, self.order, self.product, self.delivery, self.call)
        return [
            self.word,
            self.order.number,
            self.app.client_id,
            self.delivery.event_id,
            *(each.pk for each in ids),
        ]


@pytest.fixture
def houses() -> tuple[House, House]:
    return House("Okapi"), House("Zebra")


def found(person: User, *asked: object) -> str:
    """All that is listed for these searches but what everybody sees."""
    browser = Client()
    browser.force_login(person)
    pages = []
    for words in asked:
        answer = browser.get("/search/", {"q": str(words), "part": ""})
        assert answer.status_code == 200, answer.text
        rows = re.findall(r"<li>.*?</li>", answer.text, re.DOTALL)
        pages += [each for each in rows if 'class="kind">Marketplace' not in each]
    return html.unescape("".join(pages))


@pytest.mark.long
@pytest.mark.spec(
    "Design: everyday", "The search finds what one may open by name, number and id, and nothing of others"
)
def test_each_finds_their_own_of_every_kind_and_nothing_of_others(houses: tuple[House, House]) -> None:
    for mine, other in (houses, houses[::-1]):
        for person in (mine.developer, mine.merchant):
            assert other.word not in found(person, *other.words)
        kinds = set(
            re.findall(
                r'class="kind">([^<]*)',
                found(mine.developer, *mine.words) + found(mine.merchant, *mine.words),
            )
        )
        assert kinds >= set(KINDS)


@pytest.mark.long
def test_roles_bound_what_is_found(houses: tuple[House, House]) -> None:
    mine, other = houses
    factories.staff(other.shop, mine.merchant, StoreRole.ORDERS)
    listed = found(mine.merchant, *other.words)
    assert "Zebra Smith" in listed
    for hidden in ("Zebra bread", "About Zebra", "Zebra Stars"):
        assert hidden not in listed
    factories.member(other.app, mine.developer, AppRole.VIEWER)
    assert "Zebra Stars" in found(mine.developer, *other.words)
    pages = found(mine.developer, "de")
    assert f"/portal/apps/{other.app.slug}/deliveries/" in pages
    assert f"/portal/apps/{other.app.slug}/delete/" not in pages


@pytest.mark.long
def test_reviewers_find_apps_and_no_store(houses: tuple[House, House]) -> None:
    listed = found(
        factories.reviewer("rae@example.com", is_superuser=True), *houses[0].words, *houses[1].words
    )
    assert "Okapi Stars" in listed
    assert "Zebra Stars" in listed
    for private in ("Smith", "bread", "About"):
        assert f"Zebra {private}" not in listed


@pytest.mark.long
def test_pages_are_found_by_their_heading(houses: tuple[House, House]) -> None:
    mine = houses[0]
    assert "/portal/apps/Okapi-stars/deliveries/" in found(mine.developer, "deliv")
    assert "Zebra" not in found(mine.developer, "deliv")
    assert f"/merchant/orders/?store={mine.shop.slug}" in found(mine.merchant, "orders")


def _of_apps(browser: Client, urls: set[str]) -> set[str]:
    """Entries that a store without an app has in the search alone."""
    side = browser.get("/merchant/scripts/").text if "/merchant/scripts/" in urls else ""
    return {"/merchant/scripts/"} if 'href="/merchant/scripts/"' in side else set()


@pytest.mark.long
def test_pages_of_a_store_are_those_of_its_navigation(houses: tuple[House, House]) -> None:
    """Of each role, and of a sandbox, which has no staff."""
    shop = houses[0].shop
    clerk, manager = (
        factories.merchant_without_store(f"{name}@example.com") for name in ("clerk", "manager")
    )
    factories.staff(shop, clerk, StoreRole.ORDERS)
    factories.staff(shop, manager, StoreRole.MANAGER)
    for person, store in (
        (clerk, shop), (manager, shop), (houses[0].merchant, shop), (dev := houses[0].developer, Business.objects.sandbox_of(dev)),
    ):  # fmt: skip
        browser = Client()
        browser.force_login(person)
        listed = found(person, *(entry.title for entry in ENTRIES))
        urls = set(re.findall(rf'"(/merchant/[a-z/]*)\?store={store.slug}"', listed))
        page = browser.get("/merchant/orders/").text
        side = page[page.index('id="side-nav"') : page.index("<main")]
        shown = set(re.findall(r'href="(/merchant/[a-z/]*)"', side)) - {"/merchant/businesses/"}
        if "/merchant/products/" in shown:  # its page leads to the reviews
            shown |= set(re.findall(r'href="(/merchant/reviews/)"', browser.get("/merchant/products/").text))
        assert urls == shown | _of_apps(browser, urls)
        assert all(browser.get(url).status_code == 200 for url in urls)


def test_apps_are_found_by_the_name_that_stores_see(houses: tuple[House, House]) -> None:
    mine = houses[0]
    type(mine.app).objects.filter(pk=mine.app.pk).update(name="Secret Plans")
    assert "Okapi Stars" not in found(mine.merchant, "Secret")
    assert "Okapi Stars" in found(mine.merchant, "Okapi Sta")


@pytest.mark.long
def test_results_open(houses: tuple[House, House]) -> None:
    mine = houses[0]
    for person in (mine.developer, mine.merchant):
        browser = Client()
        browser.force_login(person)
        for url in set(re.findall(r'href="([^"]*)"', found(person, *mine.words))):
            assert browser.get(html.unescape(url)).status_code == 200, url


def test_odd_words_are_answered(houses: tuple[House, House]) -> None:
    for words in ("%", "_", "'; --", "x" * 5000, "#", "１０", "🙂", " "):
        found(houses[0].merchant, words)


def test_strangers_find_the_documentation_and_listed_apps(houses: tuple[House, House]) -> None:
    mine = houses[0]
    for words in mine.words:
        listed = Client().get("/search/", {"q": str(words), "part": ""}).text
        assert "/portal/" not in listed
        assert "/merchant/" not in listed
    kinds = [
        set(
            re.findall(
                'class="kind">([^<]*)', Client().get("/search/", {"q": "webhook", "part": "", **more}).text
            )
        )
        for more in ({}, {"docs": ""})
    ]
    assert kinds == [{"Documentation"}, {"Documentation"}]
    assert Client().get("/search/", {"q": "", "part": ""}).text.strip() == ""


def test_the_documentation_comes_first_on_its_own_pages(houses: tuple[House, House]) -> None:
    browser = Client()
    browser.force_login(houses[0].developer)
    kinds = [
        re.findall('class="kind">([^<]*)', browser.get("/search/", {"q": "deliv", "part": "", **more}).text)
        for more in ({}, {"docs": ""})
    ]
    assert kinds[0][-1] == kinds[1][0] == "Documentation"
    assert len(set(kinds[1])) > 1
    for page, is_named in (("/docs/", True), ("/docs/search/", True), ("/portal/", False)):
        html = browser.get(page).text
        assert html.count('type="search" name="q"') == 1, page
        assert ("/search/?docs" in html) == is_named, page


def actions_of(person: User, query: str = "", at: str = "") -> dict[str, str]:
    """Titles with addresses."""
    browser = Client()
    browser.force_login(person)
    page = browser.get("/search/", {"q": query, "part": "", "at": at}).text
    rows = [each for each in re.findall(r"<li>.*?</li>", page, re.DOTALL) if 'class="kind">Action' in each]
    found = {
        re.findall("<bdi>(.*?)</bdi>", row)[0]: html.unescape(re.findall('href="(.*?)"', row)[0])
        for row in rows
    }
    assert all(browser.get(url).status_code == 200 for url in found.values())
    return found


def test_empty_search_has_what_one_may_do_here(houses: tuple[House, House]) -> None:
    """With the app of the page, by the person's role there, and in the store by the role there."""
    mine, other = houses
    viewed = factories.app(factories.developer("owner@example.com"), name="Viewed", slug="viewed")
    factories.member(viewed, mine.developer, AppRole.VIEWER)
    factories.member(other.app, mine.developer, AppRole.DEVELOPER)
    for at, slug in (
        (f"/portal/apps/{other.app.slug}/logs/", other.app.slug),
        (f"/portal/apps/{mine.app.slug}/", mine.app.slug),
    ):
        found = actions_of(mine.developer, at=at)
        assert found["Place a test order"] == f"/portal/apps/{slug}/test/"
        assert found["Resend failed deliveries"] == f"/portal/apps/{slug}/deliveries/?status=EXHAUSTED"
    assert "Place a test order" not in actions_of(mine.developer, at="/portal/apps/viewed/")
    assert "Create an app" in actions_of(mine.developer, at="/portal/apps/viewed/")
    clerk = factories.merchant_without_store("clerk@example.com")
    factories.staff(mine.shop, clerk, StoreRole.ORDERS)
    assert list(actions_of(clerk)) == ["Confirm orders"]
    assert {"Add a product", "Invite staff"} < set(actions_of(mine.merchant))
    assert list(actions_of(mine.merchant, "invite")) == ["Invite staff"]
    assert "Review submissions" in actions_of(factories.reviewer("rae@example.com", is_superuser=True))


@pytest.mark.parametrize("words", ["106", "#106", "order 106", "Order #106"])
def test_orders_are_found_by_the_beginning_of_their_number(shop: Business, mira: User, words: str) -> None:
    for number in ("1065", "1069", "107", "2106"):
        factories.order(shop, number=number)
    listed = found(mira, words)
    assert re.findall("<bdi>Order ([0-9]+)</bdi>", listed) == ["1069", "1065"]
    assert re.findall("<bdi>Order ([0-9]+)</bdi>", found(mira, "order 2")) == ["2106"]
    assert re.findall("<bdi>Order ([0-9]+)</bdi>", found(mira, "1069")) == ["1069"]


@pytest.mark.postgres
def test_numbers_are_looked_for_in_their_index(shop: Business) -> None:
    for number in range(1000, 1200):
        factories.order(shop, number=str(number))
    sql, values = Order.objects.filter(_begins_with("106"), business=shop).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE stores_order")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql}", values)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert re.search(r"order_number_of_own_order.*Index Cond: [^\n]*number", plan, re.DOTALL), plan


def test_nothing_found_is_said_in_words(mira: User) -> None:
    browser = Client()
    browser.force_login(mira)
    assert "No results for “zeppelin &lt;b&gt;”." in browser.get("/search/", {"q": "zeppelin <b>"}).text
