"""Developer tokens: made and revoked on the account's page, used for the developer API, issued to command lines."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from django.test import Client
from django.utils.timezone import now

from accounts.models import DeveloperToken, User
from tests.accounts.api import assert_error, post
from tests.accounts.developer_tokens import GRANT_TYPE, apps, create, redeem, refusal, start

pytestmark = pytest.mark.django_db


@pytest.mark.spec(
    "Contract 1 Accounts", "Developer tokens work as Bearer on /developer, are shown once and revocable"
)
def test_token_works_until_it_is_revoked(page: Client) -> None:
    token = create(page)
    assert "Never used" in page.get("/accounts/tokens/").content.decode()
    assert apps(token).status_code == 200
    listed = page.get("/accounts/tokens/").content.decode()
    assert ("Last used" in listed, token in listed, f"fbdt_…{token[-4:]}" in listed) == (True, False, True)
    row = DeveloperToken.objects.get()
    assert token not in str(list(DeveloperToken.objects.values()))
    page.post(f"/accounts/tokens/{row.pk}/revoke/")
    assert_error(apps(token), 401, "Unauthorized")
    assert "fbdt_…" not in page.get("/accounts/tokens/").content.decode()


@pytest.mark.spec("Contract 1 Accounts", "Developer tokens expire within a year")
def test_token_expires(page: Client) -> None:
    token = create(page, days=365)
    with time_machine.travel(now() + timedelta(days=364, hours=23)):
        assert apps(token).status_code == 200
    with time_machine.travel(now() + timedelta(days=365, seconds=1)):
        assert_error(apps(token), 401, "Unauthorized")
    assert page.post("/accounts/tokens/", {"name": "Longer", "days": 366}).status_code == 422


def test_name_in_use_is_refused(page: Client) -> None:
    """So that a reload of the page that shows a token doesn't create another one."""
    create(page)
    answer = page.post("/accounts/tokens/", {"name": " CI ", "days": 30})
    assert (answer.status_code, b"with this name already" in answer.content) == (422, True)
    assert DeveloperToken.objects.count() == 1


def test_tokens_are_their_developers_alone(page: Client, sam: User, mira: User) -> None:
    token = create(page)
    for stranger, status in ((sam, 404), (mira, 403)):
        browser = Client()
        browser.force_login(stranger)
        assert (
            browser.post(f"/accounts/tokens/{DeveloperToken.objects.get().pk}/revoke/").status_code == status
        )
    assert browser.get("/accounts/tokens/").status_code == 403
    assert apps(token).status_code == 200
    User.objects.filter(email="dana@example.com").update(is_active=False)
    assert_error(apps(token), 401, "Unauthorized")


@pytest.mark.parametrize("path", ["/accounts/tokens/", "/portal/device/"])
def test_fresh_proof_is_asked_for(page: Client, settings: Any, path: str) -> None:
    """With a session that someone left open, no one gets a credential that lasts for months."""
    settings.STEP_UP = True
    codes = start()
    form = {"name": "CI", "days": 30, "user_code": codes["user_code"], "answer": "allow"}
    assert page.post(path, form)["Location"].startswith("/accounts/prove/")
    assert refusal(redeem(codes)) == "authorization_pending"
    assert not DeveloperToken.objects.exists()


# --- Command lines (RFC 8628) -----------------------------------------------------------------------


@pytest.mark.spec("Contract 1 Accounts", "A command line gets a developer token by RFC 8628")
def test_command_line_gets_a_token(page: Client) -> None:
    codes = start(client_name="Order tool")
    assert codes.keys() == {
        "device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval",
    }  # fmt: skip
    with time_machine.travel(now(), tick=False) as clock:
        assert refusal(redeem(codes)) == "authorization_pending"
        address = urlsplit(codes["verification_uri_complete"])
        asked = page.get(f"{address.path}?{address.query}").content.decode()
        assert ("Order tool" in asked, codes["user_code"] in asked) == (True, True)
        typed = codes["user_code"].replace("-", "").lower()
        answer = page.post("/portal/device/", {"user_code": typed, "answer": "allow"})
        assert answer["Location"] == "/accounts/tokens/"
        clock.shift(codes["interval"])
        issued = redeem(codes)
        assert (issued.status_code, issued["Cache-Control"]) == (200, "no-store")
        body = issued.json()
        assert (body["token_type"], body["expires_in"]) == ("Bearer", 90 * 24 * 3600)
        assert apps(body["access_token"]).status_code == 200
        assert refusal(redeem(codes)) == "invalid_grant"
    assert "Order tool" in page.get("/accounts/tokens/").content.decode()


def test_denied_command_line_gets_nothing(page: Client) -> None:
    codes = start()
    page.post("/portal/device/", {"user_code": codes["user_code"], "answer": "deny"})
    assert refusal(redeem(codes)) == "access_denied"
    again = page.post("/portal/device/", {"user_code": codes["user_code"], "answer": "allow"})
    assert again.status_code == 422
    assert refusal(redeem(codes)) == "access_denied"


def test_impatient_command_line_is_slowed_down(page: Client) -> None:
    codes = start()
    with time_machine.travel(now(), tick=False) as clock:
        assert refusal(redeem(codes)) == "authorization_pending"
        clock.shift(4)
        assert refusal(redeem(codes)) == "slow_down"
        clock.shift(6)
        assert refusal(redeem(codes)) == "slow_down"  # ten seconds by now
        clock.shift(15)
        assert refusal(redeem(codes)) == "authorization_pending"


def test_codes_expire(page: Client) -> None:
    codes = start()
    with time_machine.travel(now() + timedelta(seconds=codes["expires_in"] + 1)):
        assert refusal(redeem(codes)) == "expired_token"
        assert page.get("/portal/device/", {"user_code": codes["user_code"]}).status_code == 422


def test_user_codes_can_not_be_guessed_quickly(page: Client, stopped_clock: None) -> None:
    statuses = [page.get("/portal/device/", {"user_code": "BBBB-BBBB"}).status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"grant_type": "password", "device_code": "x"}, "unsupported_grant_type"),
        ({"grant_type": GRANT_TYPE, "device_code": "x"}, "invalid_grant"),
        ({"grant_type": GRANT_TYPE}, "invalid_request"),
    ],
)
def test_wrong_request_for_a_token(client: Client, body: dict[str, str], error: str) -> None:
    assert refusal(post(client, "/developer/device/token", body)) == error


def test_only_developers_let_command_lines_in(client: Client, mira: User) -> None:
    client.force_login(mira)
    codes = start()
    assert (
        client.post("/portal/device/", {"user_code": codes["user_code"], "answer": "allow"}).status_code
        == 403
    )
    assert refusal(redeem(codes)) == "authorization_pending"


@pytest.fixture
def page(client: Client, dana: User) -> Client:
    """Dana's browser."""
    client.force_login(dana)
    return client
