"""Everything of our own that can hold a web thread for long, asked for by three times as many requests as there are threads.

The servers are real processes: waitress as the demo runs it, and gunicorn as `manage.py serve` does, with 8 threads each.
`WORK` is the list of what such requests do, by what it takes a place for (`common.places.Work`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import Business, User
from accounts.services import registration, shops
from accounts.sign_in import tokens
from common import lengths
from common.ids import new_id
from common.places import Work
from installations.models import Installation
from marketplace.models import App
from stores.addresses import store_url
from stores.connected.stores import open_store
from stores.models import Product, SitePage
from stores.samples.bakery import CUSTOMERS
from stores.samples.store import fill_store
from stores.services.pages import create_page
from tests import factories
from tests.config.web_servers import COMMANDS, REQUESTS, Ask, Server, serving, session_of
from tests.pictures import picture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]

PEOPLE = 4
PRODUCTS, ORDERS = 2000, 500  # of each store, each product with the longest description
LONGEST_DESCRIPTION = 5000  # characters
SIGN_IN = "/accounts/login/"
WITHIN = 1.0  # seconds


@dataclass
class Site:
    """Merchants with many products and orders, and developers with an app each."""

    merchants: list[User]
    shops: list[Business]
    pages: list[SitePage]
    developers: list[User]
    apps: list[App]
    installations: list[Installation]
    rita: User
    shop_key: str
    picture: bytes

    def merchant(self, number: int, path: str, method: str = "GET", **parts: Any) -> Ask:
        return Ask(f"/merchant/{path}", method, who=self.merchants[number % PEOPLE], **parts)

    def order(self, number: int) -> UUID:
        """The id of an order of the merchant's store, which is that of a customer, too."""
        placed = self.shops[number % PEOPLE].orders.exclude(customer_email="")
        return placed.values_list("pk", flat=True)[0]

    def portal(self, number: int, path: str, method: str = "GET", **parts: Any) -> Ask:
        at = f"/portal/apps/{self.apps[number % PEOPLE].slug}/{path}"
        return Ask(at, method, who=self.developers[number % PEOPLE], **parts)

    def api(self, number: int, path: str = "", method: str = "POST", **parts: Any) -> Ask:
        token = tokens.issue(self.developers[number % PEOPLE]).access
        at = f"/developer/apps/{self.apps[number % PEOPLE].pk}{path}"
        return Ask(at, method, headers={"Authorization": f"Bearer {token}"}, **parts)

    def rows(self, number: int) -> Ask:
        """Products of a shop, which are new each time."""
        begin, row = new_id(), {"price": 1, "description": "Crisp rolls of rye. " * 50}
        rows = [
            {
                "resource": "products",
                "id": f"{begin}-{each}",
                "version": 1,
                "data": row | {"name": f"Roll {each}"},
            }
            for each in range(500)
        ]
        headers = {"Authorization": f"Bearer {self.shop_key}"}
        return Ask("/store-api/stores/main/rows", body={"rows": rows}, headers=headers)

    def upload(self, field: str) -> dict[str, Any]:
        return {field: ("photo.png", self.picture, "image/png")}

    def text_of_page(self, number: int) -> dict[str, str]:
        return {"title": "About", "slug": "", "content": f"{'![' * (lengths.PAGE // 2 - 20)}{number}"}

    def page(self, number: int, path: str, **more: Any) -> Ask:
        form = self.text_of_page(number) | more
        return self.merchant(number, f"pages/{self.pages[number % PEOPLE].pk}/{path}", "POST", form=form)

    def editor(self, number: int) -> Ask:
        return self.merchant(number, f"pages/{self.pages[number % PEOPLE].pk}/edit/")


MANIFEST = "{%s}" % ",".join(f'"{number:x}":0' for number in range(16_000))  # noqa: UP031  it's full of braces

WORK: dict[Work, dict[str, Callable[[Site, int], Ask]]] = {
    Work.PICTURE: {
        "picture of a page": lambda site, n: site.merchant(
            n, "pages/picture/", "POST", files=site.upload("picture")
        ),
        "picture of a product": lambda site, n: site.merchant(
            n,
            "products/add/",
            "POST",
            form={"name": f"Bread {n}", "price": "1", "form_token": f"{n:032}"},
            files=site.upload("pictures"),
        ),
        "picture of a store": lambda site, n: site.merchant(
            n, "store/", "POST", files=site.upload("hero_picture")
        ),
        "screenshot by the portal": lambda site, n: site.portal(
            n, "details/pictures/", "POST", files=site.upload("screenshots")
        ),
        "screenshot by the API": lambda site, n: site.api(n, "", "PATCH", files=site.upload("screenshots")),
    },
    Work.TEXT: {
        "preview of a text": lambda site, n: site.page(n, "text/"),
        "preview without scripts": lambda site, n: site.page(n, "edit/", preview=""),
        "saved text": lambda site, n: site.page(n, "edit/"),
    },
    Work.MANIFEST: {
        "manifest that is typed": lambda site, n: site.portal(
            n, "manifest/check/", "POST", form={"manifest": MANIFEST}
        ),
        "manifest that is saved": lambda site, n: site.portal(
            n, "manifest/", "POST", form={"manifest": MANIFEST, "save": ""}
        ),
        "manifest by the API": lambda site, n: site.api(n, "/manifest", "PUT", body=MANIFEST.encode()),
    },
    Work.PASSWORD: {
        "sign-in": lambda site, n: Ask(SIGN_IN, form={"email": f"{n}@example.com", "password": "x"}),
        "sign-in by the API": lambda site, n: Ask(
            "/auth/login", body={"email": f"{n}@example.com", "password": "x"}
        ),
        "registration by the API": lambda site, n: Ask(
            "/auth/register",
            body={
                "email": f"{new_id()}@example.com",
                "password": "a long sentence of mine",
                "name": "Kim",
                "role": "DEVELOPER",
            },
        ),
    },
    Work.TEST_STORE: {
        "test store": lambda site, n: site.api(n, "/test-stores", body={"scenario": "busy"}),
    },
    Work.SEARCH: {
        "search of a store": lambda site, n: Ask(f"{store_url(site.shops[n % PEOPLE].slug)}?q=bread{n}", "GET"),
        "search by an app": lambda site, n: Ask(
            f"/app-api/products?search=bread{n}",
            "GET",
            headers={"Authorization": f"Bearer {site.installations[n % PEOPLE].raw_token}"},  # type: ignore[attr-defined]
        ),
        "search of products": lambda site, n: site.merchant(n, f"products/?q=bread{n}"),
        "search of orders": lambda site, n: site.merchant(n, "orders/?q=example"),
        "search of reviews": lambda site, n: site.merchant(n, "reviews/?q=bread"),
        "search of a customer": lambda site, n: site.merchant(n, f"customers/?email={CUSTOMERS[n % PEOPLE][1]}"),
        "search of everything": lambda site, n: Ask("/search/?q=example", "GET", who=site.merchants[n % PEOPLE]),
        "search of apps": lambda site, n: Ask("/marketplace/?q=orders", "GET"),
        "search of requests": lambda site, n: site.portal(n, "requests/?q=orders"),
        "search of the documentation": lambda site, n: Ask(f"/docs/search/?q=webhook+{n}", "GET"),
        "search of the administration": lambda site, n: Ask("/admin/marketplace/app/?q=a", "GET", who=site.rita),
    },
    Work.EXPORT: {
        "orders as CSV": lambda site, n: site.merchant(n, "orders/export.csv"),
        "export of a customer": lambda site, n: site.merchant(n, f"customers/{site.order(n)}/export.json"),
    },
    Work.ROWS: {"rows of a shop": lambda site, n: site.rows(n)},
    Work.FIGURES: {
        "analytics": lambda site, n: site.portal(n, "analytics/?range=90d"),
        "analytics as CSV": lambda site, n: site.portal(n, "analytics/days.csv"),
        "analytics by the API": lambda site, n: site.api(n, "/analytics", "GET"),
    },
}  # fmt: skip


@pytest.fixture
def site() -> Iterator[Site]:
    merchants = [factories.merchant(f"merchant{n}@example.com") for n in range(PEOPLE)]
    shops = [Business.objects.get(owner=each) for each in merchants]
    developers = [factories.developer(f"developer{n}@example.com") for n in range(PEOPLE)]
    apps = [factories.app(each) for each in developers]
    rita = factories.reviewer()
    rita.groups.add(registration.reviewer_group())
    sandboxes = [Business.objects.sandbox_of(each) for each in developers]
    for shop in (*shops, *sandboxes):
        fill_store(business=shop, at_least=ORDERS)
        _stock(shop)
    yield Site(
        merchants,
        shops,
        [create_page(business=each, title="About", content="<p>Us</p>") for each in shops],
        developers,
        apps,
        [factories.installation(*each) for each in zip(apps, sandboxes, strict=True)],
        rita,
        _connected(),
        picture(size=(5000, 5000)),
    )
    session_of.cache_clear()


def _connected() -> str:
    """The key of a shop system with a store."""
    made = shops.connect(name="Shop")
    open_store(system=made.system, external_id="main", values={"name": "Connected", "currency": "USD"})
    return made.key


def _stock(shop: Business) -> None:
    """Products with the longest descriptions."""
    now, text = timezone.now(), "Crisp rolls of rye. " * (LONGEST_DESCRIPTION // 20)
    Product.objects.bulk_create(
        Product(
            business=shop,
            name=f"Roll {number}",
            slug=f"roll-of-many-{number}",
            description=text,
            price=100,
            created_at=now,
            updated_at=now,
        )
        for number in range(PRODUCTS)
    )


def measure(server: Server, site: Site, work: Work, name: str) -> str:
    """What is wrong with this work, or nothing.

    On a busy machine as many requests for an ordinary page take a while, too, so they are sent before.
    """
    asks = [WORK[work][name](site, number) for number in range(REQUESTS)]
    usual, _ = burst(server, [site.editor(number) for number in range(REQUESTS)])
    if asks[0].who and asks[0].method == "POST":  # the form's own page, which a refusal shows again
        pages = [replace(each, method="GET", form=None, files=None) for each in asks]
        usual = max(usual, burst(server, pages)[0])
    page, statuses = burst(server, asks)
    print(f"{name}: {SIGN_IN} {page:.2f} s, else {usual:.2f} s, {dict(statuses)}")
    if page >= WITHIN + usual:
        return f"{name}: {SIGN_IN} took {page:.2f} s, else {usual:.2f} s"
    unexpected = any(status >= 500 and status != 503 for status in statuses)
    return f"{name}: {dict(statuses)}" if unexpected or set(statuses) <= {403, 404, 503} else ""


def burst(server: Server, asks: Sequence[Ask]) -> tuple[float, Counter[int]]:
    """The longest that the page took meanwhile, in seconds, and the statuses of the requests."""
    for ask in asks:
        if ask.who:
            session_of(ask.who)
    pages = []
    with ThreadPoolExecutor(REQUESTS) as pool:
        answers = [pool.submit(server.send, ask) for ask in asks]
        while wait(answers, timeout=0.05).not_done or not pages:
            pages.append(server.seconds_until(SIGN_IN))
        return max(pages), Counter(each.result() for each in answers)


def test_list_has_every_kind_of_work() -> None:
    assert set(WORK) == set(Work)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.spec(
    "Contract 15 Doors", "While work of our own holds threads, another page answers within a second"
)
@pytest.mark.parametrize("work", Work)
@pytest.mark.parametrize("kind", COMMANDS)
def test_work_of_our_own_leaves_threads_to_others(site: Site, tmp_path: Path, kind: str, work: Work) -> None:
    with serving(kind, tmp_path) as server:
        # Another try for one that failed: on a busy machine everything takes seconds by itself.
        failed = [name for name in WORK[work] if measure(server, site, work, name)]
        assert [problem for name in failed if (problem := measure(server, site, work, name))] == []
