import re
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from django.test import Client

from accounts.models import Business, User
from accounts.signals import business_created
from config import settings as product_settings
from tests.accounts.api import assert_error, post, sign_in

pytestmark = pytest.mark.django_db

Body = dict[str, Any]


@pytest.mark.spec(
    "Contract 1 Accounts", "Registering answers 201 with the user, a pair of tokens and the business"
)
def test_developer_registered_with_sandbox(client: Client, newcomer: Body) -> None:
    response = post(client, "/auth/register", newcomer)
    assert response.status_code == 201
    body = response.json()
    user = User.objects.get()
    sandbox = Business.objects.get()
    assert body["user"] == {
        "id": str(user.pk),
        "email": "nora@example.com",
        "name": "Nora",
        "role": "DEVELOPER",
    }
    assert (body["tokenType"], body["expiresIn"]) == ("Bearer", 3600)
    assert body["businessId"] == str(sandbox.pk)
    assert body.keys() == {
        "user", "accessToken", "refreshToken", "tokenType", "expiresIn", "businessId",
    }  # fmt: skip
    assert (sandbox.owner, sandbox.is_sandbox, sandbox.name) == (user, True, "Nora's sandbox")
    assert response["Cache-Control"] == "no-store"


@pytest.mark.long
def test_password_is_hashed_with_all_of_djangos_rounds(client: Client, newcomer: Body, settings: Any) -> None:
    settings.PASSWORD_HASHERS = product_settings.PASSWORD_HASHERS  # tests have a quick one
    post(client, "/auth/register", newcomer)
    algorithm, rounds, _ = User.objects.get().password.split("$", 2)
    assert (algorithm, int(rounds)) == ("pbkdf2_sha256", PBKDF2PasswordHasher.iterations)
    assert sign_in(client, "nora@example.com", newcomer["password"]).status_code == 200


@pytest.mark.spec("Contract 1 Accounts", "A merchant registers with a business")
def test_merchant_registered_with_business(client: Client, shopkeeper: Body) -> None:
    shopkeeper |= {"businessType": "Bakery", "address": "1 Harbour Street", "currency": "EUR"}
    body = post(client, "/auth/register", shopkeeper).json()
    business = Business.objects.get()
    assert body["businessId"] == str(business.pk)
    assert (business.name, business.slug, business.type) == ("Harbour Bakery", "harbour-bakery", "Bakery")
    assert (business.address, business.currency) == ("1 Harbour Street", "EUR")
    assert (business.locale, business.timezone, business.is_sandbox) == ("en", "UTC", False)


def test_merchants_currency_is_dollar_where_none_is_named(client: Client, shopkeeper: Body) -> None:
    post(client, "/auth/register", shopkeeper)
    assert Business.objects.get().currency == "USD"


def test_registered_can_sign_in_by_another_case(client: Client, newcomer: Body) -> None:
    newcomer["email"] = " Nora@Example.COM "
    assert post(client, "/auth/register", newcomer).json()["user"]["email"] == "nora@example.com"
    assert sign_in(client, "NORA@example.com", newcomer["password"]).status_code == 200


def test_password_keeps_its_spaces(client: Client, newcomer: Body) -> None:
    newcomer["password"] = "  spaced out words  "
    post(client, "/auth/register", newcomer)
    assert sign_in(client, newcomer["email"], "  spaced out words  ").status_code == 200
    assert sign_in(client, newcomer["email"], "spaced out words").status_code == 401


@pytest.mark.spec("Contract 1 Accounts", "An address that is taken gives 409")
@pytest.mark.parametrize("email", ["dana@example.com", "DANA@Example.com"])
def test_taken_address_refused(client: Client, dana: User, newcomer: Body, email: str) -> None:
    response = post(client, "/auth/register", newcomer | {"email": email})
    assert_error(response, 409, "Conflict")
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"role": "REVIEWER"}, "role"),
        ({"role": "developer"}, "role"),
        ({"role": "ADMIN"}, "role"),
        ({"role": ["DEVELOPER"]}, "role"),
        ({"email": "nora"}, "email"),
        ({"email": 5}, "email"),
        ({"email": "a" * 250 + "@example.com"}, "email"),
        ({"name": "   "}, "name"),
        ({"name": "N" * 121}, "name"),
        ({"name": "No\0ra"}, "name"),
        ({"password": "short"}, "password"),
        ({"password": "12345678901"}, "password"),
        ({"password": "nora@example.com"}, "password"),
        ({"password": None}, "password"),
    ],
)
def test_bad_field_named(client: Client, newcomer: Body, changed: Body, field: str) -> None:
    body = assert_error(post(client, "/auth/register", newcomer | changed), 400, "Bad Request")
    assert {detail["field"] for detail in body["details"]} == {field}
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"businessName": ""}, "businessName"),
        ({"businessName": "B" * 121}, "businessName"),
        ({"businessType": "B" * 61}, "businessType"),
        ({"address": "A" * 1001}, "address"),
        ({"currency": "EURO"}, "currency"),
        ({"currency": "eur"}, "currency"),
        ({"currency": "XXX"}, "currency"),
        ({"currency": 978}, "currency"),
    ],
)
def test_bad_field_of_business_named(client: Client, shopkeeper: Body, changed: Body, field: str) -> None:
    body = assert_error(post(client, "/auth/register", shopkeeper | changed), 400, "Bad Request")
    assert {detail["field"] for detail in body["details"]} == {field}
    assert not User.objects.exists()


def test_every_problem_told_at_once(client: Client) -> None:
    response = post(
        client, "/auth/register", {"email": "x", "password": "1", "name": "S", "role": "MERCHANT"}
    )
    body = assert_error(response, 400, "Bad Request")
    assert {d["field"] for d in body["details"]} == {"email", "password", "businessName"}


@pytest.mark.parametrize("field", ["email", "password", "name", "role"])
def test_missing_field_named(client: Client, newcomer: Body, field: str) -> None:
    del newcomer[field]
    body = assert_error(post(client, "/auth/register", newcomer), 400, "Bad Request")
    assert body["details"] == [{"field": field, "message": "This field is required."}]


@pytest.mark.spec("Errors", "A malformed body has the error shape")
@pytest.mark.parametrize("raw", [b'{"email": ', b"[1, 2]", b"\xff\xfe", b'"text"'])
@pytest.mark.parametrize("path", ["register", "login", "refresh", "logout"])
def test_malformed_body(client: Client, path: str, raw: bytes) -> None:
    response = client.post(f"/auth/{path}", raw, content_type="application/json")
    assert_error(response, 400, "Bad Request")


@pytest.mark.parametrize("path", ["register", "login", "refresh", "logout"])
def test_other_content_type_refused(client: Client, path: str) -> None:
    response = client.post(f"/auth/{path}", {"email": "nora@example.com"})
    assert_error(response, 415, "Unsupported Media Type")


@pytest.mark.parametrize("path", ["register", "login", "refresh", "logout"])
def test_other_method_refused(client: Client, path: str) -> None:
    assert_error(client.get(f"/auth/{path}"), 405, "Method Not Allowed")
    answer = client.options(f"/auth/{path}")
    assert (answer.status_code, answer.content, answer["Allow"]) == (204, b"", "POST, OPTIONS")


def test_large_body_refused(client: Client, newcomer: Body) -> None:
    response = post(client, "/auth/register", newcomer | {"name": "N" * 1024 * 1024})
    assert_error(response, 413, "Content Too Large")


def test_path_with_slash_answers_alike(client: Client, newcomer: Body) -> None:
    assert post(client, "/auth/register/", newcomer).status_code == 201
    assert User.objects.get().email == newcomer["email"]


def test_slugs_of_one_name_differ(client: Client, shopkeeper: Body) -> None:
    for number in range(12):
        post(client, "/auth/register", shopkeeper | {"email": f"shay{number}@example.com"})
    slugs = list(Business.objects.order_by("created_at", "id").values_list("slug", flat=True))
    assert slugs[:3] == ["harbour-bakery", "harbour-bakery-2", "harbour-bakery-3"]
    assert len(set(slugs)) == 12


@pytest.mark.parametrize("name", ["harbour_bakery", "_a_", "x" * 120, "x" * 55 + " bakery", "--a--b--"])
def test_slug_can_be_part_of_a_host_name(client: Client, shopkeeper: Body, name: str) -> None:
    """Stores have hosts of their own."""
    for number in range(11):
        body = shopkeeper | {"email": f"mary{number}@example.com", "businessName": name}
        assert post(client, "/auth/register", body).status_code == 201
    for slug in Business.objects.values_list("slug", flat=True):
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", slug)


def test_name_without_latin_letters_has_a_slug(client: Client, shopkeeper: Body) -> None:
    post(client, "/auth/register", shopkeeper | {"businessName": "パン屋"})
    business = Business.objects.get()
    assert (business.name, business.slug) == ("パン屋", "store")


def test_failing_receiver_undoes_registration(client: Client, newcomer: Body) -> None:
    def refuse(**kwargs: Any) -> None:
        raise RuntimeError("the sandbox could not be filled")

    business_created.connect(refuse)
    try:
        assert_error(post(client, "/auth/register", newcomer), 500, "Internal Server Error")
    finally:
        business_created.disconnect(refuse)
    assert not User.objects.exists()
    assert not Business.objects.exists()


def test_receiver_is_told_of_the_business(client: Client, newcomer: Body) -> None:
    told: list[Any] = []

    def receive(sender: type, business: Business, now: Any, **kwargs: Any) -> None:
        told.append((sender, business, now, connection.in_atomic_block))

    business_created.connect(receive)
    try:
        post(client, "/auth/register", newcomer)
    finally:
        business_created.disconnect(receive)
    sandbox = Business.objects.get()
    assert told == [(Business, sandbox, sandbox.created_at, True)]
