"""The stores' hosts: which store answers where, what they serve besides, and that they share nothing with the platform."""

from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client

from accounts.models import Business, User
from marketplace.models import App
from marketplace.services.apps import update_app
from marketplace.services.pictures import decode
from stores.models import Cart, Product
from stores.services.pages import create_page
from tests import factories
from tests.pictures import upload
from tests.storefront.shopping import STORES_HOST, Shopper, text

HTML = {"accept": "text/html"}
PLATFORM_PATHS = (
    "/portal/", "/merchant/", "/admin/", "/accounts/login/", "/oauth/authorize", "/marketplace/", "/docs/", "/metrics",
)  # fmt: skip
API_PATHS = ("/app-api/products", "/webhooks", "/developer/apps", "/auth/login", "/oauth/token")


@pytest.fixture
def bread(shop: Business) -> Product:
    return factories.product(shop, name="Bread", slug="bread", price=500)


@pytest.fixture
def on_own_hosts(settings: Any) -> None:
    settings.STORES_URL = "http://{slug}.stores.test"
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, ".stores.test"]


def at(host: str) -> Client:
    """A browser at this host."""
    return Client(headers=HTML, SERVER_NAME=host)


# --- Where a store is -------------------------------------------------------------------------------


@pytest.mark.spec("Contract 7 Pages", "The platform's /store/… redirects to the stores' host")
@pytest.mark.parametrize("method", ["get", "post", "put"])
def test_platform_leads_to_the_stores_host_with_path_query_and_method(
    client: Client, shop: Business, method: str
) -> None:
    path = f"/store/{shop.slug}/products/br%C3%B6d/?q=a%20b&page=2"
    response = getattr(client, method)(path)
    assert (response.status_code, response["Location"]) == (307, f"http://{STORES_HOST}{path}")
    assert client.get("/store/nowhere")["Location"] == f"http://{STORES_HOST}/store/nowhere/"


def test_platform_leads_to_the_stores_own_host(client: Client, shop: Business, on_own_hosts: None) -> None:
    response = client.get(f"/store/{shop.slug}/cart/?x=1")
    assert response["Location"] == f"http://{shop.slug}.stores.test/cart/?x=1"


@pytest.mark.parametrize("slug", ["..", "a.b", "evil.example%2F", "a@evil.example", "", "%E3%80%82evil"])
def test_platform_leads_to_no_other_host(client: Client, db: None, slug: str, on_own_hosts: None) -> None:
    assert client.get(f"/store/{slug}/", headers=HTML).status_code == 404


@pytest.mark.spec("Contract 7 Pages", "A store's / is its home, on an origin of its own")
def test_own_host_begins_at_its_root(shop: Business, bread: Product, on_own_hosts: None) -> None:
    home = at(f"{shop.slug}.stores.test").get("/")
    assert home.status_code == 200
    assert 'href="/products/bread/"' in text(home)
    assert "/store/" not in text(home)


@pytest.mark.spec("Contract 7 Pages", "A store answers at /store/<slug>/ of its host in both forms")
def test_own_host_knows_the_path_of_the_shared_one_too(
    shop: Business, bread: Product, on_own_hosts: None
) -> None:
    browser = at(f"{shop.slug}.stores.test")
    page = text(browser.get(f"/store/{shop.slug}/"))
    assert f'href="/store/{shop.slug}/products/bread/"' in page
    added = browser.post(f"/store/{shop.slug}/products/bread/add/", {"quantity": 2})
    assert added["Location"] == f"/store/{shop.slug}/products/bread/"
    assert "2 × Bread added." in text(browser.get("/products/bread/"))


def test_own_host_knows_no_other_store(shop: Business, sandbox: Business, on_own_hosts: None) -> None:
    browser = at(f"{shop.slug}.stores.test")
    assert browser.get(f"/store/{sandbox.slug}/").status_code == 404
    for host in ("nowhere.stores.test", f"a.{shop.slug}.stores.test"):
        assert "There is no store at this address." in text(at(host).get("/cart/"))


@pytest.mark.parametrize("host", [STORES_HOST, "stores.test"])
def test_front_of_the_shared_host_leads_to_the_platform(db: None, host: str, on_own_hosts: None) -> None:
    assert at(host).get("/")["Location"] == "http://testserver/"


def test_root_of_a_store_lasts_one_request_only(shop: Business, client: Client) -> None:
    """It is kept by thread, as SCRIPT_NAME is."""
    Shopper(shop).see("")
    assert f"/store/{shop.slug}" not in text(client.get("/", headers=HTML))


# --- What else the host serves ----------------------------------------------------------------------


@pytest.mark.spec("Contract 7 Pages", "The stores' host knows no path of the platform")
@pytest.mark.parametrize("path", PLATFORM_PATHS)
@pytest.mark.parametrize("method", ["get", "post"])
def test_path_of_the_platform_is_a_404_that_leads_there(mira: User, path: str, method: str) -> None:
    browser = at(STORES_HOST)
    browser.force_login(mira)
    response = getattr(browser, method)(path)
    assert response.status_code == 404
    assert 'href="http://testserver"' in text(response)
    assert "The platform is at http://testserver." in text(response)


@pytest.mark.parametrize("path", API_PATHS)
def test_path_of_an_api_is_a_404_in_the_error_shape(db: None, path: str) -> None:
    response = at(STORES_HOST).get(path)
    assert response.json()["statusCode"] == 404


def test_static_files_pictures_and_health_are_served_on_both_hosts(app: App) -> None:
    app = update_app(app=app, changes={"icon": decode(upload())})
    for host in ("testserver", STORES_HOST):
        for path in ("/static/images/product.svg", f"/media/pictures/{app.icon_id}"):
            response = at(host).get(path)
            assert response.status_code == 200
            assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
        assert at(host).get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["cart/change/", "cart/remove/"])
def test_head_and_options_name_what_there_is(shop: Business, path: str) -> None:
    shopper = Shopper(shop)
    assert shopper.head(shopper.at("")).status_code == 200
    response = shopper.options(shopper.at(path))
    assert (response.status_code, response["Allow"]) == (204, "POST, OPTIONS")


def test_sandbox_says_that_it_is_a_test_store_and_is_not_indexed(shop: Business, sandbox: Business) -> None:
    create_page(business=sandbox, title="About us", slug="about")
    for path in ("", "pages/about/", "cart/"):
        page = Shopper(sandbox).see(path)
        assert "This is a test store." in page
        assert '<meta name="robots" content="noindex">' in page
    assert "test store" not in Shopper(shop).see("")
    assert "noindex" not in Shopper(shop).see("")


# --- Nothing of the platform's ----------------------------------------------------------------------


def test_store_runs_without_the_platforms_session(mira: User, shop: Business, bread: Product) -> None:
    shopper = Shopper(shop)
    shopper.force_login(mira)
    response = shopper.take(bread)
    assert not hasattr(response.wsgi_request, "session")
    assert not hasattr(response.wsgi_request, "user")
    assert set(response.cookies) == {django_settings.CART_COOKIE_NAME}


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),  # a program
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),  # typed, or from a bookmark
        ({"sec-fetch-site": "same-site"}, False),  # of another store below the same domain
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": f"http://{STORES_HOST}"}, False),
        ({"origin": f"http://{STORES_HOST}"}, True),
        ({"origin": "https://evil.example"}, False),
        ({"origin": f"http://{STORES_HOST}.evil.example"}, False),
        ({"origin": f"http://{STORES_HOST}:8443"}, False),
        ({"origin": "null"}, False),
    ],
)
def test_form_counts_only_where_it_was_sent_from_the_store(
    shop: Business, bread: Product, headers: dict[str, str], allowed: bool
) -> None:
    shopper = Shopper(shop)
    path = shopper.at("products/bread/add/")
    response = shopper.post(path, {"quantity": 1}, headers=HTML | headers)
    assert response.status_code == (302 if allowed else 403)
    assert Cart.objects.exists() is allowed
    assert shopper.get(shopper.at(""), headers=HTML | headers).status_code == 200
