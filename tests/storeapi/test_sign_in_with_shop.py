"""Pages without a session: the sign-in page leads to the shop, and the shop back (contract, section 17, "People")."""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore, User
from accounts.services import shops
from accounts.sign_in.shops import LONGEST
from stores.connected.stores import disconnect, end_store, open_store
from tests import factories
from tests.clients import shop_client
from tests.installations.oauth_client import address
from tests.merchants.pages import listed_app
from tests.pages import HTML, text_of, words_of
from tests.storeapi.people import path_of, ticket

pytestmark = pytest.mark.django_db

SIGN_IN = "https://shop.example/platform?lang=de"


@pytest.fixture
def connected() -> shops.Connected:
    """In the place of the folder's, with a page to sign in on."""
    return shops.connect(name="Northwind", sign_in_url=SIGN_IN)


@pytest.fixture
def browser() -> Client:
    return Client(headers=HTML, enforce_csrf_checks=True)


def sign_in_page(browser: Client, path: str) -> str:
    """What somebody without a session gets for a page."""
    answer = browser.get(path)
    assert answer.status_code == 302, answer.content
    return text_of(browser.get(answer["Location"]), 200)


def button(page: str, name: str) -> str:
    found = re.search(rf'href="([^"]+)"[^>]*><span>Sign in with <bdi>{name}</bdi>', page)
    return unescape(found[1]) if found else ""


def named_way(page: str, name: str = "Northwind") -> str:
    """Where the shop shall send the person."""
    url = urlsplit(button(page, name))
    assert url._replace(query="").geturl() == "https://shop.example/platform"
    query = parse_qs(url.query)
    assert query["lang"] == ["de"]
    (way,) = query["next"]
    return way


def test_link_of_an_app_works_to_its_end(
    shop: Client, store: ConnectedStore, dana: User, browser: Client
) -> None:
    path = address(listed_app(dana, ["read_products"]), business_id=str(store.pk))
    way = named_way(sign_in_page(browser, path))
    assert way == path
    assert browser.get(path_of(ticket(shop, next=way)))["Location"] == path
    assert "wants to connect to Northwind Main" in words_of(browser.get(path), 200)


def test_link_of_a_mail_works_to_its_end(shop: Client, store: ConnectedStore, browser: Client) -> None:
    way = named_way(sign_in_page(browser, "/merchant/notices/?a=1&b=%2F"))
    assert way == "/merchant/notices/?a=1&b=%2F"
    browser.get(path_of(ticket(shop, next=way)))
    assert browser.get(way).status_code == 200


@pytest.mark.parametrize("length", [1000, 1001, LONGEST, LONGEST + 1, 7000])
def test_long_ways_are_kept_for_an_hour(
    shop: Client, store: ConnectedStore, dana: User, browser: Client, length: int
) -> None:
    app, start = listed_app(dana, ["read_products"]), timezone.now()
    path = address(app, state="x" * (length - len(address(app, state=""))))
    way = named_way(sign_in_page(browser, path))
    if length <= LONGEST:
        assert way == path
        return
    assert re.fullmatch(r"/merchant/continue/\w+/", way)
    assert browser.get(path_of(ticket(shop, next=way)))["Location"] == way
    assert browser.get(way)["Location"] == path
    assert Client(headers=HTML).get(way).status_code == 410
    with time_machine.travel(start + timedelta(minutes=59)):
        assert browser.get(way).status_code == 302
    with time_machine.travel(start + timedelta(minutes=61)):
        assert browser.get(way).status_code == 410


def test_long_way_to_a_page_is_kept(shop: Client, store: ConnectedStore, browser: Client) -> None:
    path = "/merchant/notices/?" + "a" * LONGEST
    way = named_way(sign_in_page(browser, path))
    browser.get(path_of(ticket(shop, next=way)))
    assert browser.get(way)["Location"] == path


def test_long_way_survives_continue(
    shop: Client, store: ConnectedStore, dana: User, mira: User, browser: Client
) -> None:
    """The session of the person before is emptied, but for the way."""
    app = listed_app(dana, ["read_products"])
    path = address(app, state="x" * 4000)
    way = named_way(sign_in_page(browser, path))
    browser.force_login(mira)
    opened = path_of(ticket(shop, next=way))
    main = browser.get(opened).content.decode().partition("<main")[2].partition("</main>")[0]
    assert browser.post(opened, dict(re.findall(r'name="([^"]+)" value="([^"]*)"', main))).status_code == 303
    assert browser.get(way)["Location"] == path


def test_only_the_stores_own_connection_is_offered(
    store: ConnectedStore, dana: User, mira: User, browser: Client
) -> None:
    contoso = shops.connect(name="Contoso", sign_in_url="https://contoso.example/in")
    silent = shops.connect(name="Fabrikam")
    values = {"name": "A shop", "currency": "USD"}
    open_store(system=contoso.system, external_id="main", values=values)
    of_silent = open_store(system=silent.system, external_id="main", values=values)
    app, own = listed_app(dana, ["read_products"]), factories.business(mira)

    def offered(business_id: str | None) -> list[str]:
        page = sign_in_page(browser, address(app, business_id=business_id))
        return [each for each in ("Northwind", "Contoso", "Fabrikam") if each in page]

    assert offered(None) == ["Northwind", "Contoso", "Fabrikam"]
    assert offered(str(store.pk)) == ["Northwind"]
    assert offered(str(of_silent.pk)) == ["Fabrikam"]
    for other in (str(own.pk), "nothing", str(dana.pk)):
        assert offered(other) == []
    come = words_of(browser.get(browser.get(address(app, business_id=str(of_silent.pk)))["Location"]))
    assert "Does your store run on Fabrikam ? Then open this page from there." in come
    end_store(system=contoso.system, external_id="main")
    shops_page = sign_in_page(browser, address(app))
    assert button(shops_page, "Contoso").startswith("https://contoso.example/in?next=")
    assert 'name="password"' in shops_page


def test_ended_connection_is_not_offered(
    connected: shops.Connected, store: ConnectedStore, browser: Client
) -> None:
    disconnect(system=connected.system)
    for path in ("/accounts/login/", "/accounts/login/?next=/merchant/apps/"):
        assert "Northwind" not in text_of(browser.get(path))


def test_pages_that_shops_people_do_not_have_offer_none(store: ConnectedStore, browser: Client) -> None:
    for path in ("/portal/", "/accounts/profile/", "/search/?q=a"):
        page = text_of(browser.get("/accounts/login/", {"next": path}))
        assert "Northwind" not in page, path
    plain = text_of(browser.get("/accounts/login/"))
    assert button(plain, "Northwind") == SIGN_IN
    elsewhere = text_of(browser.get("/accounts/login/", {"next": "https://evil.example/merchant/"}))
    assert button(elsewhere, "Northwind") == SIGN_IN


def test_name_of_a_connection_is_no_markup(browser: Client) -> None:
    shops.connect(name="<img src=x onerror=alert(1)>", sign_in_url='https://x.example/"onclick="')
    page = text_of(browser.get("/accounts/login/"), 200)
    assert "<img src=x" not in page
    assert '"onclick="' not in page


def test_form_that_was_sent_too_late_is_shown_again(
    shop: Client, store: ConnectedStore, browser: Client
) -> None:
    """As for everybody (section 15), through the shop's sign-in."""
    browser.get(path_of(ticket(shop)))
    page = browser.get("/merchant/notices/").content.decode().partition("<main")[2].partition("</main>")[0]
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', page)) | {"mails": "erasures"}
    browser.cookies.clear()
    browser.get("/accounts/login/")
    fields["csrfmiddlewaretoken"] = browser.cookies["csrftoken"].value
    late = browser.post("/merchant/notices/", fields)
    assert late.status_code == 302
    way = named_way(text_of(browser.get(late["Location"])))
    browser.get(path_of(ticket(shop, next=way)))
    again = text_of(browser.get(way), 200)
    assert re.search(r'value="erasures"[^>]*checked', again)
    assert not re.search(r'value="failing_apps"[^>]*checked', again)


def test_shop_of_a_test_connection_signs_in_too(dana: User, browser: Client) -> None:
    connected = shops.connect(name="Trial", sign_in_url=SIGN_IN, is_test=True)
    store = open_store(
        system=connected.system, external_id="main", values={"name": "Trial store", "currency": "USD"}
    )
    path: Any = address(listed_app(dana, ["read_products"]), business_id=str(store.pk))
    way = named_way(sign_in_page(browser, path), "Trial")
    browser.get(path_of(ticket(shop_client(connected), next=way)))
    assert "wants to connect to Trial store" in words_of(browser.get(way), 200)
