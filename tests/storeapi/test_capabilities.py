"""What a connected store has on pages, and what its rows set off (contract, section 17, "People" and "Events")."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client

from accounts.enums import StoreRole
from accounts.models import Business, ConnectedStore
from accounts.models.capabilities import NAMES
from extensions.enums import ExtensionType
from extensions.models import Placement
from installations.models import Installation
from merchants.navigation import ENTRIES
from stores.models import SitePage
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app
from tests.pages import HTML, signed_in, text_of
from tests.pages_table import CONNECTED, marked
from tests.storeapi.people import person_in
from tests.wire.pages import PLATFORM, STORES, name_at, routes

pytestmark = pytest.mark.django_db

# Every other page below `/merchant/` is a 404.
SHOWN = marked(CONNECTED)
HOST = urlsplit(settings.STORES_URL).netloc
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def rows(store: ConnectedStore) -> dict[str, object]:
    product = factories.product(store.business, name="Bread")
    return {
        "order_id": factories.order(store.business).pk,
        "product_id": product.pk,
        "review_id": create_review(product=product, rating=4, author_name="Ann").pk,
        "page_id": create_page(business=store.business, title="Delivery").pk,
    }


def installed_in(business: Business) -> Installation:
    app = listed_app(factories.developer("devi@example.com"), ["read_products", "read_orders"], name="Bell")
    define(app, ExtensionType.ADMIN_PAGE, "home")
    define(app, ExtensionType.BLOCK, "ring", name="Ring")
    return installed(app, business)


def hidden_paths(rows: dict[str, object]) -> dict[str, str]:
    values = {"token": "nothing", "installation_id": "nothing", "placement_id": "nothing", **rows}
    found = (each for each in routes() if each.host == PLATFORM and each.form.startswith("merchant/"))
    return {
        each.name: each.path(dict.fromkeys(each.parameters, "nothing") | values)
        for each in found
        if each.name not in SHOWN
    }


@pytest.mark.parametrize("role", StoreRole)
def test_every_other_page_of_the_dashboard_is_a_404(
    store: ConnectedStore, rows: dict[str, object], role: StoreRole
) -> None:
    paths, browser = hidden_paths(rows), Client(headers=HTML, enforce_csrf_checks=True)
    browser.force_login(person_in(store.business, role))
    assert len(paths) > 35
    answered = {
        (path, method): browser.generic(method, path).status_code
        for path in paths.values()
        for method in METHODS
    }
    assert {key: status for key, status in answered.items() if status != 404} == {}
    assert factories.order(store.business).business.products.count() == 1


@pytest.mark.parametrize("role", StoreRole)
def test_same_pages_are_there_in_an_own_store(role: StoreRole) -> None:
    """So that no 404 above is for a wrong path."""
    business = factories.business(factories.merchant("mira@example.com"))
    person = business.owner
    if role != StoreRole.OWNER:
        person = factories.merchant_without_store("kim@example.com")
        factories.staff(business, person, role)
    browser = signed_in(person)
    assert browser.get("/merchant/orders/").status_code == 200
    assert browser.put("/merchant/orders/").status_code == 405


def test_dashboard_begins_at_apps_or_notices(store: ConnectedStore) -> None:
    for role, leads_to in (
        (StoreRole.OWNER, "/merchant/apps/"),
        (StoreRole.MANAGER, "/merchant/apps/"),
        (StoreRole.ORDERS, "/merchant/notices/"),
    ):
        answer = signed_in(person_in(store.business, role)).get("/merchant/")
        assert (answer.status_code, answer["Location"]) == (302, leads_to)


def test_shown_pages_lead_to_none_of_the_hidden(store: ConnectedStore, rows: dict[str, object]) -> None:
    installation = installed_in(store.business)
    browser = signed_in(person_in(store.business, StoreRole.OWNER))
    of_app = f"/merchant/apps/{installation.pk}/"
    pages = [
        "/", "/marketplace/", f"/marketplace/{installation.app.slug}/", "/merchant/apps/", "/merchant/notices/", "/merchant/pages/",
        f"/merchant/pages/{rows['page_id']}/edit/", of_app, f"{of_app}activity/", f"{of_app}uninstall/", f"{of_app}pages/home/",
        "/search/?q=o", "/search/?q=Bread", "/search/?q=Delivery",
    ]  # fmt: skip
    hidden = set(hidden_paths(rows))
    for path in pages:
        page = text_of(browser.get(path))
        assert "<h1" in page, path
        links = set(re.findall(r'(?:href|action)="([^"#]+)"', page))
        assert links
        wrong = {each for each in links if leads_to(each) in hidden or each.startswith(settings.STORES_URL)}
        assert not wrong, path


def leads_to(link: str) -> str:
    url = urlsplit(link)
    own = not url.netloc or f"{url.scheme}://{url.netloc}" == settings.BASE_URL
    return name_at(url.path) if own else ""


def test_blocks_of_a_page_are_edited_and_its_text_is_not(
    store: ConnectedStore, rows: dict[str, object]
) -> None:
    installed_in(store.business)
    page = SitePage.objects.get(pk=rows["page_id"])
    SitePage.objects.filter(pk=page.pk).update(content="<img src=x onerror=alert(1)>")
    browser = signed_in(person_in(store.business, StoreRole.OWNER))
    editor = f"/merchant/pages/{page.pk}/edit/"
    shown = text_of(browser.get(editor), 200)
    assert "Ring" in shown
    assert "onerror" not in shown
    assert "Title and text" not in shown
    for body in ({"title": "Mine"}, {"title": "Mine", "preview": "1"}, {"publish": "1"}):
        assert browser.post(editor, body).status_code == 404
    choice = re.search(r'name="choice" value="([^"]+)"', shown)
    assert choice
    added = browser.post(f"/merchant/pages/{page.pk}/blocks/", {"choice": choice[1]})
    assert added.status_code == 302, added.content
    block = added["Location"]
    assert "Ring" in text_of(browser.get(block), 200)
    page.refresh_from_db()
    assert (page.title, Placement.objects.filter(page=page).count()) == ("Delivery", 1)


def test_app_adds_no_page(store: ConnectedStore) -> None:
    installation = installed_in(store.business)
    browser = signed_in(person_in(store.business, StoreRole.OWNER))
    page = create_page(business=store.business, title="Delivery")
    shown = text_of(browser.get(f"/merchant/pages/{page.pk}/edit/"), 200)
    choice = re.search(r'name="choice" value="([^"]+)"', shown)
    assert choice
    body = {"choice": choice[1], "page": "new"}
    assert browser.post(f"/merchant/apps/{installation.pk}/blocks/", body).status_code == 404
    assert SitePage.objects.count() == 1


def test_stores_host_has_no_page_of_it(
    store: ConnectedStore, rows: dict[str, object], client: Client
) -> None:
    own = factories.business(factories.merchant("mira@example.com"))
    shop = {"key": "nothing", "product_slug": "bread", "page_slug": "delivery"}
    paths = [
        each.path(shop) for each in routes() if each.host == STORES and each.name.startswith("storefront:")
    ]
    assert len(paths) > 10
    answered = {
        (path, method): client.generic(method, f"/store/{store.business.slug}{path}", headers={"host": HOST}).status_code
        for path in paths
        for method in METHODS
    }  # fmt: skip
    assert set(answered.values()) == {404}
    assert client.get(f"/store/{own.slug}/", headers={"host": HOST}).status_code == 200


def test_every_capability_is_asked_somewhere() -> None:
    """One that nothing asks protects nothing."""
    sources = " ".join(
        each.read_text()
        for app in ("merchants", "stores", "storefront", "templates")
        for each in Path(settings.BASE_DIR, app).rglob("*.*")
        if each.suffix in (".py", ".html")
    )
    asked = set(re.findall(r'capabilities\.(\w+)|only_with\(\s*"(\w+)"', sources))
    assert {name for names in asked for name in names} >= NAMES
    assert {each.needs for each in ENTRIES if each.needs} <= NAMES
