"""What people of connected stores see and may do: the store's pages by their role, and no account (contract, section 17, "People")."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.enums import StoreRole
from accounts.models import ConnectedStore, User
from accounts.services import shops
from accounts.services.sender import send_due
from accounts.sign_in import tokens
from extensions.enums import ExtensionType
from installations.enums import HistoryKind
from installations.models import Grant, HistoryEntry, Installation
from stores.connected.stores import end_store, open_store
from stores.services.pages import create_page
from tests import factories
from tests.clients import shop_client
from tests.extensions.cast import define
from tests.installations.oauth_client import SECRET, address, exchange, sent_to
from tests.merchants.pages import installed, listed_app
from tests.pages import HTML, text_of, unescaped, words_of
from tests.pages_table import BY_TICKET, CONNECTED, IN_STORES, ORDERS, ORDERS_TOO, PAGES, PERSON, Page, marked
from tests.storeapi.people import path_of, signed_in_by, ticket
from tests.wire.pages import PLATFORM, Route, name_at, routes

pytestmark = pytest.mark.django_db

ROLES = [each.value for each in StoreRole]
OPEN = marked(BY_TICKET)


@pytest.fixture
def bell(store: ConnectedStore, dana: User) -> Installation:
    app = listed_app(dana, ["read_products"], name="Bell", slug="bell")
    define(app, ExtensionType.ADMIN_PAGE, "home")
    define(app, ExtensionType.BLOCK, "ring", name="Ring")
    return installed(app, store.business)


def of_platform(*namespaces: str) -> Iterator[Route]:
    for route in routes():
        if route.host == PLATFORM and route.name.startswith(namespaces):
            yield route


def asked(browser: Client, route: Route, method: str, values: dict[str, Any]) -> Any:
    path = route.path(dict.fromkeys(route.parameters, "nothing") | values)
    return browser.generic(method, path, content_type="application/x-www-form-urlencoded")


def without_csrf(shop: Client, **body: Any) -> Client:
    browser = Client(headers=HTML)
    assert browser.get(path_of(ticket(shop, **body))).status_code == 303
    return browser


@pytest.mark.parametrize("role", ROLES)
def test_account_has_no_pages(shop: Client, store: ConnectedStore, role: str) -> None:
    browser = signed_in_by(shop, role=role)
    account = [each for each in of_platform("account", "mfa_", "openid_", "prove_") if each.name not in OPEN]
    assert len(account) > 30
    answered = {
        (each.name, method): asked(browser, each, method, {}).status_code
        for each in account
        for method in ("GET", "HEAD", "POST", "DELETE")
    }
    assert {key: status for key, status in answered.items() if status != 404} == {}


@pytest.mark.parametrize("role", ROLES)
def test_nothing_of_developers_and_operators_opens(
    shop: Client, store: ConnectedStore, app: Any, role: str
) -> None:
    browser = without_csrf(shop, role=role)
    person = User.objects.get(comes_by_ticket=True)
    values = {"slug": app.slug, "app_label": "accounts", "id": str(person.pk)}
    found = [*of_platform("portal:"), *of_platform("admin:")]
    assert len(found) > 150
    for each in found:
        for method in ("GET", "POST"):
            status = asked(browser, each, method, values).status_code
            if PAGES.get(each.name, Page("", "")).reads != PERSON and "invitation" not in each.name:
                assert status in (302, 403, 404, 405), (each.name, method, status)
    api = Client(headers={"authorization": f"Bearer {tokens.issue(person).access}"})
    assert api.get("/developer/apps").status_code == 403


@pytest.mark.parametrize("role", ROLES)
def test_each_role_has_the_stores_pages_of_its_own(
    shop: Client, store: ConnectedStore, bell: Installation, role: str
) -> None:
    """The page table has which are there, and the least role. App pages are for everybody here, unlike in other stores."""
    values = {
        "installation_id": bell.pk,
        "page_id": create_page(business=store.business, title="Delivery").pk,
    }
    browser, wrong = without_csrf(shop, role=role), {}
    for route in of_platform("merchants:"):
        row = PAGES[route.name]
        if not route.form.startswith("merchant/") or "invitation" in route.name:
            continue
        for method, least in (("GET", row.reads), ("POST", row.writes)):
            ends = route.name in ("merchants:uninstall", "merchants:pause") and method == "POST"
            if (least not in IN_STORES and CONNECTED in row.marks) or ends:
                continue
            of_route = values | ({"page_id": "home"} if route.name == "merchants:admin_page" else {})
            status = asked(browser, route, method, of_route).status_code
            if CONNECTED not in row.marks:
                right = status == 404
            elif role != "ORDERS" or row.reads == ORDERS or ORDERS_TOO in row.marks:
                right = status != 403
            else:
                right = status == 403
            if not right:
                wrong[route.name, method] = status
    assert wrong == {}


def test_orders_see_app_pages_and_notices_and_no_link_elsewhere(
    shop: Client, store: ConnectedStore, bell: Installation
) -> None:
    browser = signed_in_by(shop, role="ORDERS")
    page = f"/merchant/apps/{bell.pk}/pages/home/"
    for path in ("/merchant/notices/", page):
        shown = text_of(browser.get(path), 200)
        assert page in shown
        links = {each for each in re.findall(r'(?:href|action)="(/[^"#]*)"', shown) if "/merchant/" in each}
        assert links <= {"/merchant/", "/merchant/notices/", page}, path
    assert browser.get(f"/merchant/apps/{bell.pk}/").status_code == 403
    bell.paused_at = bell.installed_at
    bell.save()
    paused = unescaped(browser.get(page), 200)
    assert "This app is paused" in paused
    assert "<iframe" not in paused


def test_orders_of_other_stores_open_no_app_page(mira: User, dana: User) -> None:
    business = factories.business(mira)
    app = listed_app(dana, ["read_products"])
    define(app, ExtensionType.ADMIN_PAGE, "home")
    kim = factories.merchant_without_store("kim@example.com")
    factories.staff(business, kim, StoreRole.ORDERS)
    browser = Client(headers=HTML)
    browser.force_login(kim)
    here = f"/merchant/apps/{installed(app, business).pk}"
    assert [browser.get(f"{here}/{each}").status_code for each in ("pages/home/", "session-token/")] == [
        403
    ] * 2
    assert here not in text_of(browser.get("/merchant/notices/"))


@pytest.mark.parametrize("is_test", [False, True])
def test_app_is_told_role_and_person(is_test: bool, dana: User) -> None:
    connected = shops.connect(name="Contoso", is_test=is_test)
    shop = shop_client(connected)
    store = open_store(
        system=connected.system, external_id="main", values={"name": "Contoso", "currency": "USD"}
    )
    app = listed_app(dana, ["read_products"])
    define(app, ExtensionType.ADMIN_PAGE, "home")
    here = f"/merchant/apps/{installed(app, store.business).pk}/session-token/"
    subjects = set()
    for role in (*ROLES, "OWNER"):
        browser = signed_in_by(shop, role=role)
        claims = claims_of(browser.get(here).json()["sessionToken"])
        assert claims["staffRole"] == role
        subjects.add(claims["sub"])
        page = browser.get(here.replace("session-token", "pages/home"))
        assert page.context["init"]["role"] == "MERCHANT"
    assert subjects == {str(User.objects.get(comes_by_ticket=True).pk)}
    browser = signed_in_by(shop, person={"id": "tom", "name": "Tom Ox"})
    assert claims_of(browser.get(here).json()["sessionToken"])["sub"] not in (*subjects, "tom")


def claims_of(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=="))
    return found


# --- Installing --------------------------------------------------------------------------------------


def consented(browser: Client, path: str, answer: str = "install") -> Any:
    page = browser.get(path)
    assert page.status_code == 200, page.content
    main = (
        page.content.decode()
        .partition('<form method="post" action="/oauth/authorize')[2]
        .partition("</form>")[0]
    )
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', main))
    return browser.post(path, fields | {"answer": answer})


def test_app_is_installed_by_its_own_link(
    shop: Client, store: ConnectedStore, dana: User, settings: Any
) -> None:
    """No address has to be confirmed, and the history names the person."""
    settings.CONFIRM_ADDRESSES = True
    app = listed_app(dana, ["read_products"], name="Bell", client_secret=SECRET)
    path = address(app, business_id=str(store.pk))
    browser = Client(headers=HTML, enforce_csrf_checks=True)
    answer = browser.get(path_of(ticket(shop, role="MANAGER", next=path)))
    assert answer["Location"] == path
    page = words_of(browser.get(path), 200)
    assert "Signed in as Kim Lee" in page
    assert ".invalid" not in page
    to_app, query = sent_to(consented(browser, path))
    assert to_app == app.redirect_url
    grant = Grant.objects.get()
    assert grant.user.name == "Kim Lee"
    issued = exchange(app, query["code"])
    assert issued.status_code == 200, issued.content
    installation = Installation.objects.get()
    assert "by Kim Lee" in words_of(browser.get(f"/merchant/apps/{installation.pk}/"))
    assert browser.get(f"/merchant/apps/{installation.pk}/uninstall/").status_code == 200


def test_orders_install_nothing(shop: Client, store: ConnectedStore, dana: User) -> None:
    app = listed_app(dana, ["read_products"])
    page = signed_in_by(shop, role="ORDERS").get(address(app))
    assert page.status_code == 403
    assert "Your role is Orders" in unescaped(page)
    assert ".invalid" not in text_of(page)


def test_foreign_store_is_denied(shop: Client, store: ConnectedStore, mira: User, dana: User) -> None:
    other = factories.business(mira)
    answer = signed_in_by(shop).get(address(listed_app(dana, ["read_products"]), business_id=str(other.pk)))
    assert "error=access_denied" in answer["Location"]


def test_approval_and_uninstall_name_the_person(
    shop: Client, store: ConnectedStore, bell: Installation
) -> None:
    browser = without_csrf(shop, person={"id": "tom", "name": "Tom Ox"})
    assert browser.post(f"/merchant/apps/{bell.pk}/uninstall/", {"reason": ""}).status_code == 302
    entry = HistoryEntry.objects.get(installation=bell, kind=HistoryKind.UNINSTALLED)
    assert entry.actor is not None
    assert entry.actor.name == "Tom Ox"
    assert "by Tom Ox" in words_of(browser.get(f"/merchant/apps/{bell.pk}/receipt/"))
    shop.delete("/store-api/stores/main/people/tom")
    receipt = words_of(signed_in_by(shop).get(f"/merchant/apps/{bell.pk}/receipt/"))
    assert "by Deleted account" in receipt
    assert "Tom" not in receipt


@pytest.mark.parametrize("end", ["person", "store"])
def test_code_of_an_ended_person_installs_nothing(
    shop: Client, connected: shops.Connected, store: ConnectedStore, dana: User, end: str
) -> None:
    app = listed_app(dana, ["read_products"], client_secret=SECRET)
    code = sent_to(consented(signed_in_by(shop), address(app)))[1]["code"]
    if end == "person":
        shop.delete("/store-api/stores/main/people/kim")
    else:
        end_store(system=connected.system, external_id="main")
    refused = exchange(app, code)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert not Installation.objects.exists()


# --- No other way in ---------------------------------------------------------------------------------


def test_no_password_signs_such_a_person_in(shop: Client, store: ConnectedStore, mailoutbox: Any) -> None:
    ticket(shop, person={"id": "kim", "name": "Kim Lee", "email": "kim@shop.example"})
    person = User.objects.get(comes_by_ticket=True)
    assert person.email != "kim@shop.example"
    for email in (person.email, "kim@shop.example"):
        for password in ("", "kim", person.password):
            answer = Client().post("/auth/login", {"email": email, "password": password}, "application/json")
            assert answer.status_code in (400, 401)
        Client(headers=HTML).post("/accounts/password-reset/", {"email": email})
        send_due()
    assert mailoutbox == []
    assert not person.has_usable_password()


def test_address_of_a_person_is_free_for_an_account(shop: Client, store: ConnectedStore) -> None:
    """Nor does a ticket with an account's address open that account."""
    ticket(shop)
    body = {
        "email": "kim@shop.example", "password": "a long walk home", "name": "Kim Own", "role": "MERCHANT", "businessName": "Kim's",
    }  # fmt: skip
    made = Client().post("/auth/register", body, "application/json")
    assert made.status_code == 201
    browser = signed_in_by(shop)
    assert "Kim's" not in unescaped(browser.get("/merchant/notices/"))
    assert User.objects.with_email("kim@shop.example").name == "Kim Own"  # type: ignore[union-attr]


def test_administration_leaves_these_people_to_their_shop(shop: Client, store: ConnectedStore) -> None:
    ticket(shop)
    person = User.objects.get(comes_by_ticket=True)
    root = Client(headers=HTML)
    root.force_login(User.objects.create_superuser("root@example.com", name="Root"))
    assert "Kim Lee" not in text_of(root.get("/admin/accounts/user/"))
    for page in ("change", "password", "delete"):
        path = f"/admin/accounts/user/{person.pk}/{page}/"
        assert root.post(path, {"password1": "a long walk home", "password2": "a long walk home"}).status_code in (
            302, 404,
        ), page  # fmt: skip
    person.refresh_from_db()
    assert not person.has_usable_password()


def test_links_of_the_frame_lead_to_no_account(
    shop: Client, store: ConnectedStore, bell: Installation
) -> None:
    browser = signed_in_by(shop)
    for path in ("/merchant/apps/", "/merchant/notices/", f"/merchant/apps/{bell.pk}/", "/marketplace/", "/"):
        shown = text_of(browser.get(path), 200)
        led = {name_at(each) for each in re.findall(r'(?:href|action)="(/[^"#]*)"', shown)}
        assert {each for each in led if each.startswith(("account", "mfa"))} <= OPEN, path
        assert "account_logout" in led
        assert ".invalid" not in shown
