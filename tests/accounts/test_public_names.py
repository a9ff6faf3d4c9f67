"""Names of people and stores, which strangers read on pages and in mails from the platform."""

from time import process_time
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from accounts.public_names import check_public_name
from accounts.services.businesses import create_business
from stores.models import StoreSettings
from tests import factories
from tests.accounts.api import post
from tests.forms import form_at, send
from tests.pages import signed_in, text_of

DOORS = "Contract 15 Doors"
OPERATOR = "Contract 16 In your name, with your people"
RESERVED = [
    "Extension Platform", "extension-platform", "Extention Platform", "Extension Plattform", "My ExtensionPlatform",
    "Ехtеnsion-PIatform Support", "Platform", "The Platform", "Platform Support", "Extension Platform Security", "Admin",
    "Store Admin", "Administrater", "System Administrator", "Support", "SUPPORT", "Suport", "Support Team", "Official Support",
    "Oficial Support", "App Review", "App Review Team", "Account Verification Team", "Trust and Safety", "Trust & Safety Team",
    "Security Team", "Help Desk", "Customer Service Team", "Moderator", "no-reply", "Postmaster",
]  # fmt: skip
ADDRESSES = [
    "https://evil.example", "your account is blocked, unlock it at https://evil.example/unlock", "visit www.evil.example",
    "evil.example/unlock", "Pay at evil.example:8080/x", "ｈｔｔｐｓ：//evil.example", "javascript://x",
]  # fmt: skip
PLAIN = [
    "Support Local Coffee", "The Office", "The Review", "Stuff", "Moderato", "Roots", "Safety First Shoes", "Security Store",
    "Official Merch", "Trust Bakery", "Team Sports", "Reviews Weekly", "Platform 9 Café", "Extension Cords", "Admin Supplies",
    "Admiral", "Helpful Hands", "Harbour Bakery", "Booking.com", "Amazon.de", "Dr. Oetker", "AC/DC Fans", "Kaffee/Tee", "Wwwow",
    "Söhne & Müller", "Колокол", "東京", "👩‍💻 Ωmega", "Sam O'Neill", "Mira Lind", "Store", "Test",
]  # fmt: skip


@pytest.mark.spec(DOORS, "A name can't pass for the platform's or its staff's")
@pytest.mark.parametrize("name", RESERVED)
def test_names_of_the_platform_and_its_staff_are_reserved(name: str) -> None:
    with pytest.raises(ValueError, match=r"reserved for the platform|in one alphabet"):
        check_public_name(name)


@pytest.mark.spec(DOORS, "A name holds no address of a page")
@pytest.mark.parametrize("name", ADDRESSES)
def test_names_with_an_address_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="without the address of a page: leave out"):
        check_public_name(name)


@pytest.mark.parametrize("name", ["Quilts No.1/2", "Pizza 1.5/2", "24.12./25.12. Gifts"])
def test_numbers_with_a_slash_are_no_address(name: str) -> None:
    check_public_name(name)


@pytest.mark.spec(DOORS, "A name of any length costs little time to refuse")
def test_name_of_any_length_is_refused_at_once(client: Client) -> None:
    body = {"email": "eve@example.com", "password": factories.PASSWORD, "role": "MERCHANT"}
    before = process_time()
    refused = post(client, "/auth/register", body | {"name": "a " * 10_000, "businessName": "b." * 10_000})
    assert process_time() - before < 1
    assert [each["field"] for each in refused.json()["details"]] == ["name", "businessName"]
    with pytest.raises(ValueError, match="at most 120 characters"):
        check_public_name("a" * 121)


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_names_are_accepted(name: str) -> None:
    check_public_name(name)


SHORT = [
    "Acme", "ACME", "A.c.m.e", "Acme Support", "The Acme Team", "Official Acme", "Acme Customer Service", "Acme Customer Care", "Аcmе",
    "Acme Help Desk", "Acme App Review Team", "Acme Trust & Safety", "Acme Staff", "Admin Acme", "Acme Store Support", "Ácme",
]  # fmt: skip


@pytest.mark.spec(
    OPERATOR, "Refused as a whole name, with words of staff around it, and in look-alike letters"
)
@pytest.mark.parametrize("name", SHORT)
def test_short_name_of_the_operator_is_refused_as_a_whole(settings: Any, name: str) -> None:
    settings.PLATFORM_NAME = "Acme"
    with pytest.raises(ValueError, match=r"reserved for the platform|in one alphabet"):
        check_public_name(name)


@pytest.mark.spec(OPERATOR, "Near spellings, and within a longer name, only from 8 letters on")
def test_names_near_the_operators(settings: Any) -> None:
    free = (
        "Acme Bakery",
        "Acme Store",
        "Acme Payments",
        "Store Acme",
        "Support Acme Bakery",
        "Akme",
        "Acmes",
        "Pacmen",
        "Extension Platform Fans",
        "My Extension Platform",
    )
    settings.PLATFORM_NAME = "Acme"
    for name in free:
        check_public_name(name)
    settings.PLATFORM_NAME = "Acme Apps"  # 8 letters
    for name in ("Acme Apps", "Akme Aps", "My Acme Apps Bakery", "acmeapps"):
        with pytest.raises(ValueError, match="reserved for the platform"):
            check_public_name(name)
    for name in free:
        check_public_name(name)
    settings.PLATFORM_NAME = "東京"
    with pytest.raises(ValueError, match="reserved for the platform"):
        check_public_name("東京 Support")
    check_public_name("東京 Bakery")


@pytest.mark.spec(OPERATOR, "A name that exists is judged when it changes")
def test_store_with_the_operators_name_keeps_it_until_it_changes(
    mira: User, shop: Business, settings: Any
) -> None:
    Business.objects.filter(pk=shop.pk).update(name="Acme")
    settings.PLATFORM_NAME = "Acme"
    browser = signed_in(mira)
    form = {"name": "Acme", "accent": "teal", "delivery_fee": "1", "currency": "USD", "timezone": "UTC"}
    assert browser.post("/merchant/store/", form).status_code == 302
    assert StoreSettings.objects.get(business=shop).accent == "teal"
    assert_refused(browser.post("/merchant/store/", form | {"name": "Acme Support"}))
    shop.refresh_from_db()
    assert shop.name == "Acme"


@pytest.mark.long
@pytest.mark.spec(DOORS, "Names of stores and people pass the check wherever they are chosen")
@pytest.mark.parametrize("name", ["Official Support", "see evil.example/unlock"])
def test_every_door_refuses_a_misleading_name(client: Client, mira: User, dana: User, name: str) -> None:
    factories.business(mira)
    before = list(Business.objects.values_list("pk", "name"))
    account = {
        "email": "eve@example.com",
        "password": factories.PASSWORD,
        "name": "Eve",
        "businessName": "Bakery",
    }
    for role, field in (("DEVELOPER", "name"), ("MERCHANT", "name"), ("MERCHANT", "businessName")):
        refused = post(client, "/auth/register", account | {"role": role, field: name})
        assert (refused.status_code, [each["field"] for each in refused.json()["details"]]) == (400, [field])
    page = account | {"role": "MERCHANT", "business_name": name, "currency": "USD", "timezone": "UTC"}
    assert_refused(client.post("/accounts/register/", page), 200)

    merchant = signed_in(mira)
    assert_refused(merchant.post("/accounts/profile/name/", {"name": name}))
    assert_refused(
        merchant.post("/merchant/businesses/add/", {"name": name, "currency": "USD", "timezone": "UTC"})
    )
    settings = {"name": name, "accent": "teal", "delivery_fee": "1", "currency": "USD", "timezone": "UTC"}
    assert_refused(send(merchant, form_at(merchant, "/merchant/store/"), **settings))
    assert_refused(signed_in(dana).post("/merchant/store/", settings))
    assert User.objects.filter(email="eve@example.com").count() == 0
    assert set(Business.objects.values_list("pk", "name")) == set(before)


def assert_refused(response: Any, status: int = 422) -> None:
    assert response.status_code == status
    page = text_of(response)
    assert "reserved for the platform itself" in page or "without the address of a page" in page


@pytest.mark.spec(DOORS, "Names of before there was this rule stay")
def test_earlier_names_stay(mira: User, shop: Business) -> None:
    User.objects.filter(pk=mira.pk).update(name="Support")
    Business.objects.filter(pk=shop.pk).update(name="Platform Support")
    browser = signed_in(mira)
    settings = {
        "name": "Platform Support",
        "accent": "teal",
        "delivery_fee": "1",
        "currency": "USD",
        "timezone": "UTC",
    }
    assert browser.post("/merchant/store/", settings | {"tagline": "Ours"}).status_code == 302
    assert StoreSettings.objects.get(business=shop).tagline == "Ours"
    assert browser.post("/accounts/profile/name/", {"name": "Support"}).status_code == 302


@pytest.mark.spec(DOORS, "A reserved slug isn't given to a store")
@pytest.mark.parametrize("name", ["www", "Mail", "MTA-STS", "API", "Status", "autoconfig", "Docs"])
def test_store_with_a_reserved_slug_gets_another(mira: User, name: str) -> None:
    first, second = (create_business(owner=mira, name=name) for _ in range(2))
    assert (first.slug, second.slug) == (f"{name.lower()}-2", f"{name.lower()}-3")
