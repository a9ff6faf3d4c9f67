import re
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse

from accounts.models import Business, User
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db

Body = dict[str, str]


@pytest.fixture
def person() -> Body:
    return {"role": "DEVELOPER", "name": "Nora", "email": "nora@example.com", "password": "a long walk home"}


@pytest.fixture
def shop_owner(person: Body) -> Body:
    return person | {
        "role": "MERCHANT",
        "business_name": "Harbour Bakery",
        "currency": "EUR",
        "timezone": "Europe/Berlin",
    }


def register(client: Client, body: Body, query: str = "") -> Any:
    return client.post(f"/accounts/register/{query}", body)


def sign_in(client: Client, email: str, password: str = PASSWORD, **fields: str) -> Any:
    return client.post("/accounts/login/", {"email": email, "password": password, **fields})


def signed_in_as(client: Client) -> str:
    return str(client.session.get("_auth_user_id", ""))


def errors(response: Any) -> dict[str, list[str]]:
    return {name: list(messages) for name, messages in response.context["form"].errors.items()}


@pytest.mark.spec("Contract 7 Pages", "Registering on the page signs in")
def test_developer_registered_and_signed_in(client: Client, person: Body) -> None:
    response = register(client, person)
    assert (response.status_code, response["Location"]) == (302, "/accounts/")
    user = User.objects.get()
    assert signed_in_as(client) == str(user.pk)
    assert Business.objects.get().is_sandbox


def test_merchant_registered_with_shop(client: Client, shop_owner: Body) -> None:
    register(client, shop_owner)
    business = Business.objects.get()
    assert (business.name, business.currency, business.timezone, business.is_sandbox) == (
        "Harbour Bakery", "EUR", "Europe/Berlin", False,
    )  # fmt: skip


def test_shop_without_currency_and_time_zone_is_in_dollars_and_utc(client: Client, shop_owner: Body) -> None:
    del shop_owner["currency"], shop_owner["timezone"]
    register(client, shop_owner)
    business = Business.objects.get()
    assert (business.currency, business.timezone) == ("USD", "UTC")


def test_merchant_without_shop_name_told(client: Client, shop_owner: Body) -> None:
    response = register(client, shop_owner | {"business_name": " "})
    assert errors(response) == {"business_name": ["Enter a store name."]}
    assert "<title>Error: " in response.content.decode()
    assert not User.objects.exists()


def test_taken_address_told_at_its_field(client: Client, dana: User, person: Body) -> None:
    response = register(client, person | {"email": "DANA@example.com"})
    assert errors(response) == {"email": ["An account with this e-mail address already exists."]}
    assert b'value="DANA@example.com"' in response.content
    assert b"a long walk home" not in response.content
    assert not signed_in_as(client)


@pytest.mark.parametrize(
    ("field", "value"),
    [("password", "12345"), ("email", "nora"), ("name", ""), ("role", "REVIEWER"), ("role", "")],
)
def test_bad_field_told(client: Client, person: Body, field: str, value: str) -> None:
    assert errors(register(client, person | {field: value})).keys() == {field}
    assert not User.objects.exists()


def test_all_that_is_wrong_told_at_once(client: Client) -> None:
    response = register(client, {"role": "MERCHANT", "password": "123", "email": "nora"})
    assert errors(response).keys() == {"name", "email", "password", "business_name"}
    assert "(optional)" not in response.content.decode()


def test_developer_needs_nothing_of_a_shop(client: Client, person: Body) -> None:
    register(client, person | {"business_name": "", "currency": ""})
    assert User.objects.get().is_developer


@pytest.mark.parametrize(
    ("query", "checked"),
    [("", "DEVELOPER"), ("?role=merchant", "MERCHANT"), ("?role=DEVELOPER", "DEVELOPER"), ("?role=x", "DEVELOPER")],
)  # fmt: skip
def test_role_preselected(client: Client, query: str, checked: str) -> None:
    page = client.get(f"/accounts/register/{query}").content.decode()
    assert re.findall(r'<input type="radio"[^>]*value="(\w+)"[^>]*checked', page) == [checked]


@pytest.mark.spec("Contract 7 Pages", "Signing in leads back to where one came from")
def test_next_kept_through_sign_in(client: Client, dana: User) -> None:
    target = "/oauth/authorize?client_id=x&state=a%20b"
    page = client.get(f"/accounts/login/?next={quote(target)}").content.decode()
    assert f'name="next" value="{target.replace("&", "&amp;")}"' in page
    assert f"/accounts/register/?next={quote(target)}" in page
    assert sign_in(client, "dana@example.com", next=target)["Location"] == target


def test_next_kept_through_registration(client: Client, person: Body) -> None:
    page = client.get("/accounts/register/?next=/marketplace/").content.decode()
    assert 'name="next" value="/marketplace/"' in page
    assert "/accounts/login/?next=/marketplace/" in page
    assert register(client, person | {"next": "/marketplace/"})["Location"] == "/marketplace/"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example", "https:///x"]
)  # fmt: skip
def test_next_to_elsewhere_ignored(client: Client, dana: User, person: Body, target: str) -> None:
    page = client.get("/accounts/login/", {"next": target}).content.decode()
    assert '<input type="hidden" name="next" value="">' in page
    assert '<a href="/accounts/register/">' in page
    assert sign_in(client, "dana@example.com", next=target)["Location"] == "/accounts/"
    client.logout()
    assert register(client, person | {"next": target})["Location"] == "/accounts/"


@pytest.mark.spec("Contract 1 Accounts", "The page does not tell a wrong password from an unknown account")
def test_same_error_for_unknown_wrong_and_closed(client: Client, dana: User, sam: User) -> None:
    User.objects.filter(pk=sam.pk).update(is_active=False)
    told = {
        str(errors(sign_in(client, email, password)))
        for email, password in (
            ("dana@example.com", "wrong"),
            ("nobody@example.com", PASSWORD),
            ("sam@example.com", PASSWORD),
        )
    }
    assert told == {"{'__all__': ['Wrong e-mail address or password.']}"}
    assert not signed_in_as(client)


def test_sign_in_by_another_case(client: Client, dana: User) -> None:
    assert sign_in(client, " DANA@example.com ").status_code == 302
    assert signed_in_as(client) == str(dana.pk)


def test_sign_in_by_an_address_that_was_copied(client: Client, dana: User) -> None:
    assert sign_in(client, "\ufeffdana@\u200bexample.com\u200b").status_code == 302
    assert signed_in_as(client) == str(dana.pk)


def test_sign_in_changes_the_session_key(client: Client, dana: User) -> None:
    client.get("/accounts/login/")
    session = client.session
    session["cart"] = "kept"
    session.save()
    client.cookies[django_settings.SESSION_COOKIE_NAME] = before = session.session_key
    sign_in(client, "dana@example.com")
    assert client.session.session_key != before
    assert client.session["cart"] == "kept"


def test_signed_in_person_sent_on(client: Client, dana: User) -> None:
    client.force_login(dana)
    assert client.get("/accounts/login/")["Location"] == "/accounts/"
    assert client.get("/accounts/register/?next=/marketplace/")["Location"] == "/marketplace/"


def test_signed_in_user_may_change_account_for_a_closed_page(client: Client, dana: User) -> None:
    client.force_login(dana)
    page = client.get("/accounts/login/?next=/admin/").content.decode()
    assert "You’re signed in as dana@example.com" in page


def test_sign_out_takes_a_post(client: Client, dana: User) -> None:
    client.force_login(dana)
    assert client.get("/accounts/logout/").status_code == 405
    assert signed_in_as(client)
    assert client.post("/accounts/logout/")["Location"] == "/"
    assert not signed_in_as(client)


def test_home_leads_by_role(client: Client, dana: User, mira: User, settings: Any) -> None:
    settings.HOME_OF_ROLE = {"DEVELOPER": "account_signup", "MERCHANT": "home", "REVIEWER": "admin:index"}
    rae = User.objects.create_superuser("rae@example.com", "a long walk home")
    for person, target in ((dana, "/accounts/register/"), (mira, "/"), (rae, "/admin/")):
        client.force_login(person)
        assert client.get("/accounts/")["Location"] == target


def test_home_of_stranger_is_sign_in(client: Client) -> None:
    assert client.get("/accounts/")["Location"] == "/accounts/login/?next=/accounts/"


@pytest.mark.parametrize("name", ["signup", "login", "logout", "reset_password"])
def test_form_of_another_site_refused(dana: User, name: str) -> None:
    client = Client(enforce_csrf_checks=True)
    url = reverse(f"account_{name}")
    response = client.post(url, {}, headers={"Accept": "text/html"})
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()
    answer = client.post(url, {}, headers={"Accept": "application/json"})
    assert answer.json()["error"] == "Forbidden"


def test_nul_in_a_field_told(client: Client, person: Body) -> None:
    assert errors(register(client, person | {"name": "No\0ra"})).keys() == {"name"}
    assert sign_in(client, "da\0na@example.com").status_code == 200
