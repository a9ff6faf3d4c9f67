from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any, ClassVar

import jwt
import pytest
import time_machine
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client
from django.utils.timezone import now

from accounts.enums import Role
from accounts.models import Business, Session, SignIn, User
from accounts.sign_in.tokens import read_access_token
from accounts.tasks import remove_ended_sign_ins
from tests import factories
from tests.accounts.api import assert_error, post, refresh, sign_in

pytestmark = pytest.mark.django_db


@pytest.mark.spec("Contract 1 Accounts", "Signing in answers 200 with the fields of registering")
def test_developer_signed_in(client: Client, dana: User, sandbox: Business) -> None:
    response = sign_in(client, "dana@example.com")
    assert response.status_code == 200
    body = response.json()
    assert body["user"] == {
        "id": str(dana.pk),
        "email": "dana@example.com",
        "name": "Dana",
        "role": "DEVELOPER",
    }
    assert body["businessId"] == str(sandbox.pk)
    assert body.keys() == {
        "user", "accessToken", "refreshToken", "tokenType", "expiresIn", "businessId",
    }  # fmt: skip
    assert response["Cache-Control"] == "no-store"


def test_merchants_business_is_the_oldest(client: Client, mira: User, shop: Business) -> None:
    factories.business(mira)
    assert sign_in(client, "mira@example.com").json()["businessId"] == str(shop.pk)


def test_reviewer_has_no_business(client: Client) -> None:
    User.objects.create_user("rae@example.com", "a long walk home", name="Rae", role=Role.REVIEWER)
    assert sign_in(client, "rae@example.com", "a long walk home").json()["businessId"] is None


def test_sign_in_is_noted(client: Client, dana: User) -> None:
    sign_in(client, "dana@example.com")
    dana.refresh_from_db()
    assert dana.last_login is not None


class CountingHasher(PBKDF2PasswordHasher):
    """Slow hashing would do; this one tells how often it was asked."""

    algorithm = "counting"
    iterations = 1
    calls: ClassVar[list[str]] = []

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        self.calls.append(password)
        return super().encode(password, salt, iterations)


@pytest.mark.spec("Contract 1 Accounts", "An unknown account and a wrong password get the same 401")
def test_unknown_wrong_and_closed_are_alike(client: Client, settings: Any) -> None:
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    for email, active in (("here@example.com", True), ("closed@example.com", False)):
        User.objects.create_user(email, "right words", name="X", role=Role.MERCHANT, is_active=active)
    answers = []
    for email, password in (
        ("nobody@example.com", "right words"),
        ("here@example.com", "wrong words"),
        ("closed@example.com", "right words"),
    ):
        CountingHasher.calls.clear()
        response = sign_in(client, email, password)
        assert_error(response, 401, "Unauthorized")
        assert response["WWW-Authenticate"] == "Bearer"
        answers.append((response.content, len(CountingHasher.calls)))
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][1] == 1


def apps_status(client: Client, access_token: str) -> int:
    return client.get("/developer/apps", headers={"Authorization": f"Bearer {access_token}"}).status_code


@pytest.mark.spec("Contract 1 Accounts", "Refreshing gives a new pair")
def test_refresh_rotates(client: Client, dana: User) -> None:
    first = sign_in(client, "dana@example.com").json()
    response = refresh(client, first["refreshToken"])
    assert response.status_code == 200
    second = response.json()
    assert second.keys() == {"accessToken", "refreshToken", "tokenType", "expiresIn"}
    assert (second["tokenType"], second["expiresIn"]) == ("Bearer", 3600)
    assert second["refreshToken"] != first["refreshToken"]
    assert refresh(client, second["refreshToken"]).status_code == 200
    assert apps_status(client, first["accessToken"]) == 200


@pytest.mark.spec("Contract 1 Accounts", "Replaying a used refresh token ends its whole family")
@pytest.mark.parametrize("path", ["refresh", "logout"])
def test_replayed_refresh_token_ends_its_family(client: Client, dana: User, path: str) -> None:
    elsewhere = sign_in(client, "dana@example.com").json()
    first = sign_in(client, "dana@example.com").json()
    second = refresh(client, first["refreshToken"]).json()
    again = post(client, f"/auth/{path}", {"refreshToken": first["refreshToken"]})
    assert_error(again, 401, "Unauthorized")
    assert again["WWW-Authenticate"] == "Bearer"
    assert refresh(client, second["refreshToken"]).status_code == 401
    assert [apps_status(client, pair["accessToken"]) for pair in (first, second)] == [401, 401]
    assert apps_status(client, elsewhere["accessToken"]) == 200
    assert refresh(client, elsewhere["refreshToken"]).status_code == 200


@pytest.mark.spec("Contract 1 Accounts", "Signing out answers 204 and ends the tokens of that sign-in")
def test_sign_out_ends_the_sign_ins_tokens(client: Client, dana: User) -> None:
    elsewhere = sign_in(client, "dana@example.com").json()
    pair = sign_in(client, "dana@example.com").json()
    response = post(client, "/auth/logout", {"refreshToken": pair["refreshToken"]})
    assert (response.status_code, response.content) == (204, b"")
    assert_error(refresh(client, pair["refreshToken"]), 401, "Unauthorized")
    assert_error(post(client, "/auth/logout", {"refreshToken": pair["refreshToken"]}), 401, "Unauthorized")
    assert apps_status(client, pair["accessToken"]) == 401
    assert apps_status(client, elsewhere["accessToken"]) == 200


def test_access_token_costs_one_query(
    client: Client, dana: User, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    raw = sign_in(client, "dana@example.com").json()["accessToken"]
    with django_assert_num_queries(1):
        assert read_access_token(raw) == dana


def test_tokens_say_nothing_about_the_password(client: Client, dana: User) -> None:
    pair = sign_in(client, "dana@example.com").json()
    claims = {
        key: jwt.decode(pair[key], options={"verify_signature": False})
        for key in ("accessToken", "refreshToken")
    }
    for token in claims.values():
        assert token.keys() == {"token_type", "exp", "iat", "jti", "user_id", "sid"}


def test_refresh_token_lives_thirty_days(client: Client, dana: User) -> None:
    token = sign_in(client, "dana@example.com").json()["refreshToken"]
    with time_machine.travel(now() + timedelta(days=30, seconds=5)):
        assert_error(refresh(client, token), 401, "Unauthorized")
    with time_machine.travel(now() + timedelta(days=29, hours=23)):
        assert refresh(client, token).status_code == 200


@pytest.mark.parametrize("token", ["nonsense", "a.b.c", "é", "fbat_x"])
def test_nonsense_as_refresh_token_refused(client: Client, token: str) -> None:
    assert_error(refresh(client, token), 401, "Unauthorized")


def test_access_token_does_not_refresh(client: Client, dana: User) -> None:
    token = sign_in(client, "dana@example.com").json()["accessToken"]
    assert_error(refresh(client, token), 401, "Unauthorized")


def test_closed_account_can_not_refresh(client: Client, dana: User) -> None:
    token = sign_in(client, "dana@example.com").json()["refreshToken"]
    User.objects.filter(pk=dana.pk).update(is_active=False)
    assert_error(refresh(client, token), 401, "Unauthorized")
    User.objects.filter(pk=dana.pk).update(is_active=True)
    assert refresh(client, token).status_code == 200


def test_new_password_ends_tokens(client: Client, dana: User) -> None:
    token = sign_in(client, "dana@example.com").json()["refreshToken"]
    dana.refresh_from_db()
    dana.set_password("quite another one")
    dana.save()
    assert_error(refresh(client, token), 401, "Unauthorized")


@pytest.mark.parametrize("path", ["refresh", "logout"])
@pytest.mark.parametrize("body", [{}, {"refreshToken": ""}, {"refreshToken": 5}, {"refreshToken": None}])
def test_refresh_token_must_be_given(client: Client, path: str, body: dict[str, Any]) -> None:
    answer = assert_error(post(client, f"/auth/{path}", body), 400, "Bad Request")
    assert [detail["field"] for detail in answer["details"]] == ["refreshToken"]


def test_ended_tokens_and_sessions_removed(client: Client, dana: User) -> None:
    kept = sign_in(client, "dana@example.com").json()["refreshToken"]
    with time_machine.travel(now() - timedelta(days=31)):
        sign_in(client, "dana@example.com")
        client.force_login(dana)
    remove_ended_sign_ins()
    assert (SignIn.objects.count(), Session.objects.count()) == (1, 0)
    assert refresh(client, kept).status_code == 200
