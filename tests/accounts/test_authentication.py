"""The developer API's door, tried on a view of its own: the API's paths belong to another app."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import path
from django.utils.timezone import now
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.sign_in.tokens import DeveloperAuthentication, IsDeveloper
from tests.accounts.api import assert_error, sign_in


class WhoAmI(APIView):
    authentication_classes = [DeveloperAuthentication]
    permission_classes = [IsDeveloper]

    def get(self, request: Request) -> Response:
        return Response({"email": request.user.email})

    def post(self, request: Request) -> Response:
        return Response({"sent": request.data})


urlpatterns = [path("developer/me", WhoAmI.as_view())]

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def door(settings: Any, client: Client) -> Client:
    settings.ROOT_URLCONF = __name__
    return client


def token_of(client: Client, email: str, settings: Any) -> str:
    settings.ROOT_URLCONF = "config.urls"
    token: str = sign_in(client, email).json()["accessToken"]
    settings.ROOT_URLCONF = __name__
    return token


def ask(client: Client, authorization: str | None) -> Any:
    headers = {} if authorization is None else {"Authorization": authorization}
    return client.get("/developer/me", headers=headers)


@pytest.mark.spec("Contract 2 Developer API", "The access token of a developer opens it")
def test_developer_let_in(door: Client, dana: User, settings: Any) -> None:
    token = token_of(door, "dana@example.com", settings)
    assert ask(door, f"Bearer {token}").json() == {"email": "dana@example.com"}
    assert ask(door, f"bearer  {token}").status_code == 200


@pytest.mark.spec("Contract 2 Developer API", "Other roles get 403")
def test_merchant_refused(door: Client, mira: User, settings: Any) -> None:
    token = token_of(door, "mira@example.com", settings)
    assert_error(ask(door, f"Bearer {token}"), 403, "Forbidden")
    # 403 comes before whatever is wrong with the body.
    response = door.post(
        "/developer/me", b"{", content_type="application/json", headers={"Authorization": f"Bearer {token}"}
    )
    assert_error(response, 403, "Forbidden")


@pytest.mark.spec("Errors", "A missing or bad credential is 401 with WWW-Authenticate: Bearer")
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer nonsense", "Bearer a.b.c", "Basic ZGFuYTp4", "Bearer fbat_abc", "Token x"],
)  # fmt: skip
def test_bad_credential_refused(door: Client, authorization: str | None) -> None:
    response = ask(door, authorization)
    assert_error(response, 401, "Unauthorized")
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.spec("Contract 1 Accounts", "The access token lives an hour")
def test_expired_token_refused(door: Client, dana: User, settings: Any) -> None:
    token = token_of(door, "dana@example.com", settings)
    with time_machine.travel(now() + timedelta(minutes=59)):
        assert ask(door, f"Bearer {token}").status_code == 200
    with time_machine.travel(now() + timedelta(hours=1, seconds=1)):
        response = ask(door, f"Bearer {token}")
    assert "expired" in assert_error(response, 401, "Unauthorized")["message"]
    assert response["WWW-Authenticate"] == "Bearer"


def test_refresh_token_is_no_access_token(door: Client, dana: User, settings: Any) -> None:
    settings.ROOT_URLCONF = "config.urls"
    token = sign_in(door, "dana@example.com").json()["refreshToken"]
    settings.ROOT_URLCONF = __name__
    assert_error(ask(door, f"Bearer {token}"), 401, "Unauthorized")


def test_session_does_not_open_the_api(door: Client, dana: User) -> None:
    door.force_login(dana)
    assert_error(ask(door, None), 401, "Unauthorized")


def test_token_of_closed_account_refused(door: Client, dana: User, settings: Any) -> None:
    token = token_of(door, "dana@example.com", settings)
    User.objects.filter(pk=dana.pk).update(is_active=False)
    assert_error(ask(door, f"Bearer {token}"), 401, "Unauthorized")


def test_token_of_former_password_refused(door: Client, dana: User, settings: Any) -> None:
    token = token_of(door, "dana@example.com", settings)
    dana.set_password("quite another one")
    dana.save()
    assert_error(ask(door, f"Bearer {token}"), 401, "Unauthorized")
