"""What people and programs get while all places for work of our own are taken: 503, and forms as they were filled in."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from accounts.sign_in import tokens
from common import places
from marketplace.models import App
from stores.models import Product, SitePage, StorePicture
from stores.services.pages import SHORT, create_page
from tests import factories
from tests.pages import signed_in
from tests.pictures import upload
from tests.storefront.shopping import STORES_HOST
from tests.strangers import own_places_taken
from teststores.models import TestStore

BUSY = "The service is busy at the moment. Try again in a few seconds."
SECRET = "a long sentence of mine"
MANIFEST = '{"blocks": [%s]}' % ",".join(['{"key": "block"}'] * 3000)  # noqa: UP031  it's full of braces

pytestmark = pytest.mark.spec(
    "Contract 15 Doors", "A form that finds no place is shown again, filled, with 503"
)


@pytest.fixture(autouse=True)
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All places, for longer than anybody waits."""
    monkeypatch.setattr(places, "WAIT", 0.01)
    places.own_work.cache_clear()
    with own_places_taken():
        yield
    places.own_work.cache_clear()


@pytest.fixture(autouse=True)
def slow_passwords(settings: Any) -> None:
    """Hashed as in production; tests have a quick hasher."""
    settings.PASSWORD_HASHERS = settings.PASSWORD_HASHERS[1:]


def is_shown_again(answer: Any, *typed: str) -> bool:
    page = answer.content.decode()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), page
    assert BUSY in page
    return all(each in page for each in typed)


def test_product_with_a_picture(mira: User) -> None:
    form = {"name": "Rye of the house", "price": "4.50", "pictures": upload()}
    assert is_shown_again(signed_in(mira).post("/merchant/products/add/", form), "Rye of the house", "4.50")
    assert not Product.objects.exists()


def test_picture_of_an_app(dana: User, app: App) -> None:
    answer = signed_in(dana).post(f"/portal/apps/{app.slug}/details/pictures/", {"icon": upload()})
    assert is_shown_again(answer)
    app.refresh_from_db()
    assert app.icon_id is None


def test_picture_in_the_text_of_a_page(mira: User) -> None:
    answer = signed_in(mira).post("/merchant/pages/picture/", {"picture": upload()})
    assert (answer.status_code, answer.json(), answer.headers["Retry-After"]) == (503, {"message": BUSY}, "5")
    assert not StorePicture.objects.exists()


@pytest.mark.parametrize("button", ["", "preview"])
def test_long_text_of_a_page(mira: User, shop: Business, button: str) -> None:
    page = create_page(business=shop, title="About", content="<p>Us</p>")
    typed = "long " * (SHORT // 5) + "and more of it"
    form = {"title": "About", "slug": "about", "content": typed, button: ""}
    assert is_shown_again(signed_in(mira).post(f"/merchant/pages/{page.pk}/edit/", form), typed)
    assert SitePage.objects.get().content == "<p>Us</p>"


def test_short_text_needs_no_place(mira: User, shop: Business) -> None:
    page = create_page(business=shop, title="About", content="<p>Us</p>")
    answer = signed_in(mira).post(f"/merchant/pages/{page.pk}/text/", {"content": "*Us*"})
    assert answer.content.strip() == b'<p data-lines="0 1"><em>Us</em></p>'


def test_long_manifest(dana: User, app: App) -> None:
    page = signed_in(dana).post(f"/portal/apps/{app.slug}/manifest/", {"manifest": MANIFEST, "save": ""})
    assert is_shown_again(page, MANIFEST[:20].replace('"', "&quot;"))


@pytest.mark.django_db
def test_sign_in() -> None:
    answer = Client().post("/accounts/login/", {"email": "kim@example.com", "password": SECRET})
    assert is_shown_again(answer, "kim@example.com")
    assert SECRET not in answer.content.decode()


@pytest.mark.django_db
def test_registration() -> None:
    form = {"role": "DEVELOPER", "name": "Kim Lee", "email": "kim@example.com", "password": SECRET}
    assert is_shown_again(Client().post("/accounts/register/", form), "Kim Lee", "kim@example.com")
    assert not User.objects.exists()


@pytest.mark.django_db
def test_sign_in_by_the_api() -> None:
    body = {"email": "kim@example.com", "password": SECRET}
    answer = Client().post("/auth/login", body, content_type="application/json")
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "service_busy")
    assert answer.headers["Retry-After"] == "5"


def test_test_store(dana: User, app: App) -> None:
    caller = Client(headers={"Authorization": f"Bearer {tokens.issue(dana).access}"})
    answer = caller.post(f"/developer/apps/{app.pk}/test-stores", {}, content_type="application/json")
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "service_busy")
    assert not TestStore.objects.exists()


def test_searches_and_exports(mira: User, shop: Business, dana: User, app: App) -> None:
    order = factories.order(shop)
    merchant, developer = signed_in(mira), signed_in(dana)
    store = Client(SERVER_NAME=STORES_HOST)
    for browser, path in (
        (store, f"/store/{shop.slug}/?q=bread"),
        (merchant, "/merchant/products/?q=bread"),
        (merchant, "/merchant/orders/?q=example"),
        (merchant, "/merchant/reviews/?q=bread"),
        (merchant, "/merchant/orders/export.csv"),
        (merchant, "/merchant/customers/?email=kim@example.com"),
        (merchant, f"/merchant/customers/{order.pk}/export.json"),
        (merchant, "/search/?q=bread"),
        (Client(), "/marketplace/?q=bread"),
        (Client(), "/docs/search/?q=bread"),
        (developer, f"/portal/apps/{app.slug}/requests/?q=bread"),
        (developer, f"/portal/apps/{app.slug}/analytics/"),
    ):
        answer = browser.get(path, headers={"accept": "text/html"})
        assert (answer.status_code, answer.get("Retry-After")) == (503, "5"), path
        assert BUSY in answer.content.decode(), path
    for browser, path in (
        (store, f"/store/{shop.slug}/"),
        (merchant, "/merchant/products/"),
        (Client(), "/marketplace/"),
    ):
        assert browser.get(path).status_code == 200, path
