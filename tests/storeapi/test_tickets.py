"""Tickets: a shop signs one of its people in (contract, section 17, "People")."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import ConnectedStore, SecurityEvent, Session, ShopPerson, ShopTicket, Staff, User
from accounts.services import shops
from accounts.sign_in import tickets
from accounts.sign_in.step_up import proved_recently
from common.secrets import digest
from stores.connected.stores import disconnect, end_store, open_store
from stores.services.customer_erasure import remove_ended_stores
from tests import factories
from tests.clients import shop_client
from tests.pages import HTML, text_of, words_of
from tests.storeapi.people import path_of, signed_in_by, ticket
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PEOPLE = "/store-api/stores/main/people"
KIM = {"id": "kim", "name": "Kim Lee"}
TOM = {"id": "tom", "name": "Tom Ox"}


@pytest.fixture
def browser() -> Client:
    return Client(headers=HTML, enforce_csrf_checks=True)


def is_signed_in(browser: Client) -> bool:
    return browser.get("/merchant/notices/").status_code == 200


# --- The way in --------------------------------------------------------------------------------------


def test_ticket_signs_its_person_in_once(shop: Client, store: ConnectedStore, browser: Client) -> None:
    made = ticket(shop)
    assert set(made) == {"url", "expiresAt"}
    token = urlsplit(made["url"]).path.split("/")[-2]
    assert len(token) >= 27, "160 bits in base64"
    assert [each.digest for each in ShopTicket.objects.all()] == [digest(token)]
    answer = browser.get(path_of(made))
    assert (answer.status_code, answer["Location"]) == (303, "/merchant/apps/")
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer["Cache-Control"]
    page = words_of(browser.get("/merchant/apps/"), 200)
    assert "Kim Lee" in page
    assert "Northwind Main" in page
    assert ".invalid" not in page
    gone = browser.get(path_of(made))
    assert gone.status_code == 410
    assert "no-store" in gone["Cache-Control"]
    for name in ("Kim", "Northwind Main", "kim@"):
        assert name not in text_of(gone)
    assert Client(headers=HTML).get(path_of(made)).status_code == 410


def test_where_it_leads(shop: Client, store: ConnectedStore, browser: Client) -> None:
    for role, first in (
        ("OWNER", "/merchant/apps/"), ("MANAGER", "/merchant/apps/"), ("ORDERS", "/merchant/notices/"),
    ):  # fmt: skip
        for body in ({}, {"next": None}):
            assert browser.get(path_of(ticket(shop, role=role, **body)))["Location"] == first
            assert browser.get(first).status_code == 200
    chosen = ticket(shop, role="ORDERS", next="/marketplace/?q=a%20b&x=//y")
    assert browser.get(path_of(chosen))["Location"] == "/marketplace/?q=a%20b&x=//y"


GOOD = [
    "/merchant/", "/merchant/apps/?store=main", "/marketplace/bell/", "/oauth/authorize?client_id=1", "/merchant/continue/abc/",
    "/oauth/authorize?redirect_uri=https://app.example/cb&state=%2F%2e%2e%5c", "/merchant/a..b/.c/d./e...f/",
    "/merchant/?q=../..//.%2e", "/merchant/~x;y=!'()*,@$&+:[]", "/merchant/" + "a" * 7490,
]  # fmt: skip
WRONG = [
    "", "/", "merchant/", "/merchant", "/marketplace", "/Merchant/", "/merchants/", "/accounts/", "/portal/", "/oauth/authorize",
    "/oauth/authorize/?x=1", "/oauth/token?x=1", "//evil.example/merchant/", "https://evil.example/merchant/", "/merchant//evil.example",
    "/merchant/..//evil", "/merchant/../admin/", "/merchant/./apps/", "/merchant/apps/..", "/merchant/apps/.", "/merchant/%2e%2E/admin/",
    "/merchant/%2E/", "/merchant/a%2Fb", "/merchant/a%2fb", "/merchant/%5cevil", "/merchant/%5C", "/merchant/\\evil", "/merchant/?q=\\",
    "\\merchant/", "/merchant/#top", "/merchant/?q=#", "/merchant/ apps/", "/merchant/\tapps/", "/merchant/\napps/", "/merchant/\r\nX: y",
    "/merchant/ü", "/merchant/\u2025/", "/merchant/apps/\0", " /merchant/", "/merchant/ ", "/merchant/" + "a" * 7491,
    "javascript:alert(1)//merchant/",
]  # fmt: skip


@pytest.mark.parametrize("way", GOOD)
def test_ways_that_a_ticket_may_lead(shop: Client, store: ConnectedStore, browser: Client, way: str) -> None:
    answer = browser.get(path_of(ticket(shop, next=way)))
    assert answer.status_code == 303
    url = urlsplit(answer["Location"])
    assert (url.scheme, url.netloc) == ("", "")
    assert answer["Location"] == way


@pytest.mark.parametrize("way", WRONG)
def test_ways_elsewhere_are_refused(shop: Client, store: ConnectedStore, way: str) -> None:
    error = ticket(shop, next=way, status=400)
    assert [each["field"] for each in error["details"]] == ["next"]
    assert not ShopTicket.objects.exists()
    assert not ShopPerson.objects.exists()


def test_what_is_refused(shop: Client, store: ConnectedStore) -> None:
    for body, field in (
        ({"person": None}, "person"),
        ({"person": KIM | {"id": ""}}, "person.id"),
        ({"person": KIM | {"id": "k m"}}, "person.id"),
        ({"person": KIM | {"id": "k\u200bm"}}, "person.id"),
        ({"person": KIM | {"id": "k" * 256}}, "person.id"),
        ({"person": KIM | {"id": ".."}}, "person.id"),
        ({"person": KIM | {"id": "kim/"}}, "person.id"),
        ({"person": KIM | {"name": ""}}, "person.name"),
        ({"person": KIM | {"name": "K\x1bim"}}, "person.name"),
        ({"person": KIM | {"name": "K" * 121}}, "person.name"),
        ({"person": KIM | {"email": "kim at shop"}}, "person.email"),
        ({"role": "ADMIN"}, "role"),
        ({"role": None}, "role"),
        ({"next": 7}, "next"),
    ):
        error = ticket(shop, status=400, **body)
        assert [each["field"] for each in error["details"]] == [field], body
    assert not ShopPerson.objects.exists()
    names = KIM | {
        "name": "Extension Platform Support www.evil.example",
        "id": "ü/😀+%2F?#" + "i" * 246,
        "email": "",
    }
    ticket(shop, person=names)
    assert ShopPerson.objects.get().user.name == names["name"]


def test_head_uses_nothing_up(shop: Client, store: ConnectedStore, browser: Client) -> None:
    path = path_of(ticket(shop))
    for _ in range(2):
        answer = browser.head(path)
        assert (answer.status_code, answer["Location"], answer.cookies) == (303, "/merchant/apps/", {})
    assert not is_signed_in(browser)
    assert browser.get(path).status_code == 303
    assert browser.head(path).status_code == 410


def test_ticket_is_late_after_a_minute(shop: Client, store: ConnectedStore, browser: Client) -> None:
    start = timezone.now()
    made = ticket(shop)
    with time_machine.travel(start + timedelta(seconds=55)):
        assert browser.head(path_of(made)).status_code == 303
    with time_machine.travel(start + timedelta(seconds=61)):
        assert browser.get(path_of(made)).status_code == 410
        tickets.remove_late()
        assert not is_signed_in(browser)
    assert not ShopTicket.objects.exists()


def test_unknown_tickets_are_gone(store: ConnectedStore, browser: Client) -> None:
    for token in ("nothing", "x" * 5000, "ü"):
        assert browser.get(f"/accounts/tickets/{token}/").status_code == 410


@pytest.mark.fault
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_signed_in(shop: Client, store: ConnectedStore) -> None:
    path = path_of(ticket(shop))
    answers = at_once(*[lambda: Client(headers=HTML).get(path).status_code] * 4)
    assert sorted(answers) == [303, 410, 410, 410]
    assert Session.objects.exclude(user=None).count() == 1


@pytest.mark.fault
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_first_tickets_make_one_person(shop: Client, store: ConnectedStore) -> None:
    made = at_once(*[lambda: path_of(ticket(shop))] * 4)
    assert ShopPerson.objects.count() == Staff.objects.count() == 1
    assert {Client().get(each).status_code for each in made} == {303}


# --- Sessions ----------------------------------------------------------------------------------------


def test_session_is_a_fresh_one(shop: Client, store: ConnectedStore, browser: Client) -> None:
    browser.get("/accounts/login/")
    browser.cookies["sessionid"] = "chosen-by-an-attacker"
    keys = set()
    for _ in range(2):  # the second time the person is signed in already
        browser.get(path_of(ticket(shop)))
        keys.add(browser.cookies[settings.SESSION_COOKIE_NAME].value)
    assert len(keys) == 2
    assert "chosen-by-an-attacker" not in keys
    assert Session.objects.exclude(user=None).count() == 1, "the key before is of no use any more"


def test_session_ends_after_twelve_hours_of_use(shop: Client, store: ConnectedStore, browser: Client) -> None:
    start = timezone.now()
    browser.get(path_of(ticket(shop)))
    for hours in (4, 8, 11.9):
        with time_machine.travel(start + timedelta(hours=hours)):
            assert is_signed_in(browser)
            session = browser.session
            session["touched"] = hours  # a page that writes to the session makes it no longer
            session.save()
    with time_machine.travel(start + timedelta(hours=12, seconds=5)):
        assert not is_signed_in(browser)


def test_ticket_is_a_fresh_proof_for_fifteen_minutes(
    shop: Client, store: ConnectedStore, browser: Client, rf: Any
) -> None:
    start = timezone.now()
    browser.get(path_of(ticket(shop)))
    request = rf.get("/")
    request.session, request.user = browser.session, User.objects.get(comes_by_ticket=True)
    assert proved_recently(request)
    with time_machine.travel(start + timedelta(minutes=16)):
        assert not proved_recently(request)


def test_newer_ticket_of_another_store_replaces_the_session(
    shop: Client, connected: shops.Connected, store: ConnectedStore, browser: Client
) -> None:
    open_store(system=connected.system, external_id="second", values={"name": "Second", "currency": "EUR"})
    browser.get(path_of(ticket(shop)))
    answer = browser.get(path_of(ticket(shop, "second", role="MANAGER")))
    assert answer.status_code == 303, "the same person isn't asked"
    page = words_of(browser.get("/merchant/apps/"))
    assert "Second" in page
    assert "Northwind Main" not in page
    assert browser.get(f"/merchant/apps/?store={store.business.slug}").status_code == 404


def test_role_is_that_of_the_newest_ticket(shop: Client, store: ConnectedStore, browser: Client) -> None:
    browser.get(path_of(ticket(shop, role="OWNER")))
    assert browser.get("/merchant/apps/").status_code == 200
    unused = ticket(shop, role="ORDERS", person=KIM | {"name": "Kim Park"})
    assert browser.get("/merchant/apps/").status_code == 403
    assert "Kim Park" in words_of(browser.get("/merchant/notices/"))
    ticket(shop, role="MANAGER")
    assert browser.get("/merchant/apps/").status_code == 200
    assert browser.get(path_of(unused))["Location"] == "/merchant/notices/"
    assert browser.get("/merchant/apps/").status_code == 200, "using an older one changes nothing"
    assert Staff.objects.get().role == StoreRole.MANAGER


# --- Somebody else is signed in ----------------------------------------------------------------------


def pressed(browser: Client, path: str) -> Any:
    """The form of the page, sent as a browser does."""
    main = browser.get(path).content.decode().partition("<main")[2].partition("</main>")[0]
    return browser.post(path, dict(re.findall(r'name="([^"]+)" value="([^"]*)"', main)))


def test_who_is_signed_in_is_asked_first(shop: Client, store: ConnectedStore, browser: Client) -> None:
    mira = factories.merchant("mira@example.com", name="Mira Moss")
    factories.business(mira)
    browser.force_login(mira)
    path = path_of(ticket(shop))
    answer = browser.get(path)
    assert answer.status_code == 200
    assert answer["Referrer-Policy"] == "same-origin", "else the form would come without its origin"
    page = words_of(answer)
    for each in ("Mira Moss", "mira@example.com", "Kim Lee", "Northwind Main", "Continue"):
        assert each in page
    assert browser.post(path).status_code == 403, "a form of another site"
    assert browser.get("/merchant/orders/").status_code == 200, "still Mira's"
    assert pressed(browser, path).status_code == 303
    assert browser.get("/merchant/orders/").status_code == 404
    assert "Kim Lee" in words_of(browser.get("/merchant/apps/"))
    assert browser.get(path).status_code == 410


def test_another_person_of_the_shop_is_somebody_else(
    shop: Client, store: ConnectedStore, browser: Client
) -> None:
    browser.get(path_of(ticket(shop)))
    page = words_of(browser.get(path_of(ticket(shop, person=TOM))), 200)
    assert "Kim Lee" in page
    assert "Tom Ox" in page


def test_same_id_at_another_connection_is_somebody_else(
    shop: Client, store: ConnectedStore, browser: Client
) -> None:
    contoso = shops.connect(name="Contoso")
    open_store(system=contoso.system, external_id="main", values={"name": "Contoso", "currency": "EUR"})
    browser.get(path_of(ticket(shop)))
    path = path_of(ticket(shop_client(contoso), person=KIM | {"name": "Kim of Contoso"}))
    assert "Kim of Contoso" in words_of(browser.get(path), 200)
    assert "Northwind Main" in words_of(browser.get("/merchant/apps/"))


# --- The end of a person, and of a store -------------------------------------------------------------


def test_ended_person_is_out_at_once(shop: Client, store: ConnectedStore, browser: Client) -> None:
    browser.get(path_of(ticket(shop)))
    tom = signed_in_by(shop, person=TOM)
    unused = path_of(ticket(shop))
    person = User.objects.get(name="Kim Lee")
    for _ in range(2):  # known or not
        answer = shop.delete(f"{PEOPLE}/kim")
        assert (answer.status_code, answer.content) == (204, b"")
    assert browser.get("/merchant/apps/").status_code == 302
    gone = browser.get(unused)
    assert gone.status_code == 410
    assert "Kim" not in text_of(gone)
    assert is_signed_in(tom)
    person.refresh_from_db()
    assert (person.name, person.is_active, person.email) == (
        "Deleted account",
        False,
        f"{person.pk}@deleted.invalid",
    )
    assert Staff.objects.get().user.name == "Tom Ox"  # type: ignore[union-attr]
    assert is_signed_in(signed_in_by(shop)), "the shop may sign them in later"


def test_ids_in_paths_are_percent_encoded(shop: Client, store: ConnectedStore) -> None:
    odd = "a/b ü?#%"
    wrong = shop.delete(f"{PEOPLE}/a%20b")
    assert (wrong.status_code, wrong["X-Error-Code"]) == (400, "wrong_id")
    odd = odd.replace(" ", "")
    for each in (odd, "a"):
        ticket(shop, person=KIM | {"id": each})
    assert shop.delete(f"{PEOPLE}/a%2Fb%C3%BC%3F%23%25").status_code == 204
    assert [each.external_id for each in ShopPerson.objects.all()] == ["a"]
    assert shop.delete(f"{PEOPLE}/a/").status_code == 204
    assert not ShopPerson.objects.exists()


def test_person_of_another_store_stays(
    shop: Client, connected: shops.Connected, store: ConnectedStore
) -> None:
    open_store(system=connected.system, external_id="second", values={"name": "Second", "currency": "EUR"})
    here, there = signed_in_by(shop), signed_in_by(shop, "second")
    shop.delete(f"{PEOPLE}/kim")
    assert (is_signed_in(here), is_signed_in(there)) == (False, True)


@pytest.mark.parametrize("way", ["DELETE", "Disconnect"])
def test_people_end_with_their_store(
    shop: Client, connected: shops.Connected, store: ConnectedStore, browser: Client, way: str
) -> None:
    browser.get(path_of(ticket(shop)))
    unused = path_of(ticket(shop))
    if way == "DELETE":
        assert shop.delete("/store-api/stores/main").status_code == 202
    else:
        disconnect(system=connected.system)
    assert browser.get("/merchant/apps/").status_code == 302
    assert browser.get(unused).status_code == 410
    assert shop.post("/store-api/stores/main/tickets", {}, "application/json").status_code in (400, 401)
    remove_ended_stores()
    assert not ShopPerson.objects.exists()
    assert not Staff.objects.exists()
    people = User.objects.filter(comes_by_ticket=True)
    assert [(each.name, each.is_active) for each in people] == [("Deleted account", False)]


def test_no_ticket_for_a_store_that_ends(
    shop: Client, connected: shops.Connected, store: ConnectedStore
) -> None:
    end_store(system=connected.system, external_id="main")
    ticket(shop, status=404)
    assert shop.delete(f"{PEOPLE}/kim").status_code == 404


def test_store_has_a_most_of_people(
    shop: Client, store: ConnectedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.sign_in.tickets.MOST", 1)
    ticket(shop)
    error = shop.post("/store-api/stores/main/tickets", {"person": TOM, "role": "OWNER"}, "application/json")
    assert (error.status_code, error["X-Error-Code"]) == (409, "too_many_people")
    ticket(shop, person=KIM | {"name": "Kim again"})
    shop.delete(f"{PEOPLE}/kim")
    ticket(shop, person=TOM)


# --- Limits and records ------------------------------------------------------------------------------


@pytest.mark.usefixtures("stopped_clock")
def test_tickets_count_apart_from_rows(shop: Client, store: ConnectedStore, settings: Any) -> None:
    settings.STORE_API_RATE = 2
    for _ in range(2):
        assert shop.get("/store-api/stores").status_code == 200
    assert shop.get("/store-api/stores").status_code == 429
    for left in ("1", "0"):
        answer = shop.post(
            "/store-api/stores/main/tickets", {"person": KIM, "role": "OWNER"}, "application/json"
        )
        assert (answer.status_code, answer["X-RateLimit-Remaining"]) == (201, left)
    ticket(shop, status=429)


def test_key_of_a_call_is_not_looked_at(shop: Client, store: ConnectedStore) -> None:
    made = {
        shop.post(
            "/store-api/stores/main/tickets",
            {"person": KIM, "role": "OWNER"},
            "application/json",
            headers={"Idempotency-Key": "one"},
        ).json()["url"]
        for _ in range(2)
    }
    assert len(made) == 2


def test_sign_in_is_in_the_security_log(shop: Client, store: ConnectedStore) -> None:
    signed_in_by(shop)
    person = User.objects.get(comes_by_ticket=True)
    assert [each.kind for each in SecurityEvent.objects.filter(user_id=person.pk)] == ["SIGNED_IN"]
