import json
import re
from io import StringIO
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client, TestCase
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import SecurityEvent, User
from accounts.services.second_factor import has_second_factor, remove
from common.db.fields import decrypt
from marketplace.models import App
from tests import factories
from tests.accounts.api import assert_error, post, sign_in
from tests.accounts.second_factor import code, recovery_codes, set_up_app
from tests.factories import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once", "stopped_clock")]


def enter_password(client: Client, email: str, next_url: str = "") -> Any:
    body = {"email": email, "password": PASSWORD, "next": next_url}
    return client.post("/accounts/login/", body)


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def later(seconds: float) -> Any:
    return time_machine.travel(timezone.now() + timezone.timedelta(seconds=seconds), tick=False)


@pytest.mark.spec("Trust 3 People", "An authenticator app is set up on the security page")
def test_app_set_up_and_removed(client: Client, dana: User) -> None:
    enter_password(client, dana.email)
    page = client.get("/accounts/security/app/").content.decode()
    (secret,) = re.findall(r'id="key" value="(\w+)"', page)
    wrong = client.post("/accounts/security/app/", {"code": "000000"})
    assert b"This code is wrong" in wrong.content
    assert not has_second_factor(dana)
    with TestCase.captureOnCommitCallbacks(execute=True):
        response = client.post("/accounts/security/app/", {"code": code(secret)})
    assert response["Location"] == "/accounts/security/recovery-codes/"
    shown = client.get(response["Location"]).content.decode()
    assert all(each in shown for each in recovery_codes(dana))
    assert recovery_codes(dana)[0] not in client.get(response["Location"]).content.decode()  # shown only once
    assert "An authenticator app was set up." in mail.outbox[0].body
    assert mail.outbox[0].to == ["dana@example.com"]
    client.post("/accounts/security/app/remove/")
    assert not Authenticator.objects.exists()  # the recovery codes went with it


@pytest.mark.spec("Trust 3 People", "Signing in asks for the second factor")
def test_page_asks_for_the_code(client: Client, dana: User) -> None:
    secret = set_up_app(dana)
    response = enter_password(client, dana.email, "/portal/")
    assert response["Location"] == "/accounts/login/second-step/"
    assert not is_signed_in(client)
    assert b"This code is wrong" in client.post(response["Location"], {"code": "000000"}).content
    assert client.post(response["Location"], {"code": code(secret)})["Location"] == "/portal/"
    assert is_signed_in(client)


def test_code_works_once(client: Client, dana: User) -> None:
    used = code(set_up_app(dana))
    for browser, lets_in in ((client, True), (Client(), False)):
        enter_password(browser, dana.email)
        browser.post("/accounts/login/second-step/", {"code": used})
        assert is_signed_in(browser) is lets_in


@pytest.mark.long
def test_guesses_of_the_code_are_limited(client: Client, dana: User, stopped_clock: None) -> None:
    secret = set_up_app(dana)
    enter_password(client, dana.email)
    statuses = [client.post("/accounts/login/second-step/", {"code": "1"}).status_code for _ in range(12)]
    assert statuses[-1] == 429
    assert client.post("/accounts/login/second-step/", {"code": code(secret)}).status_code == 429
    assert not is_signed_in(client)


def guess(dana: User, number: int, otp: str = "000000") -> Any:
    """From a network of its own: half of them on the page, half by the API."""
    visitor = Client(REMOTE_ADDR=f"203.0.{number}.7")
    if number % 2:
        return post(visitor, "/auth/login", {"email": dana.email, "password": PASSWORD, "otp": otp})
    enter_password(visitor, dana.email)
    return visitor.post("/accounts/login/second-step/", {"code": otp})


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "20 wrong codes in 24 hours over all networks, then 429 for codes")
def test_wrong_codes_count_for_the_account(client: Client, dana: User) -> None:
    secret = set_up_app(dana)
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert [guess(dana, number).status_code for number in range(20)] == [200, 401] * 10
    for number, status in ((31, 429), (32, 429)):
        refused = guess(dana, number, code(secret))  # the right one
        assert (refused.status_code, refused["Retry-After"]) == (status, str(24 * 3600 + 1))
        assert "Use a passkey or a recovery code" in refused.content.decode()
    first, second = recovery_codes(dana)[:2]
    assert guess(dana, 33, first).status_code == 200
    assert guess(dana, 34, second).status_code == 302
    assert guess(dana, 35, "12345678").status_code == 429
    with later(24 * 3600 + 1):
        assert guess(dana, 37, code(secret)).status_code == 200


def test_wrong_codes_are_mailed_once(dana: User) -> None:
    set_up_app(dana)
    with TestCase.captureOnCommitCallbacks(execute=True):
        guess(dana, 0)
        guess(dana, 1)
        post(Client(), "/auth/login", {"email": dana.email, "password": "wrong", "otp": "000000"})
    assert mail.outbox == []  # codes after a wrong password say nothing
    with TestCase.captureOnCommitCallbacks(execute=True):
        for number in range(2, 6):
            guess(dana, number)
    (message,) = mail.outbox
    assert message.to == ["dana@example.com"]
    assert [
        words in message.body for words in ("3 wrong codes", "203.0.2.0/24", "/accounts/password-reset/")
    ] == [True] * 3


@pytest.mark.long
def test_codes_of_a_proof_count_too(client: Client, dana: User, app: App, settings: Any) -> None:
    """A thief of a session would guess there."""
    settings.STEP_UP = True
    secret = set_up_app(dana)
    client.force_login(dana)
    for number in range(20):
        guess(dana, number)
    asked = client.post(f"/portal/apps/{app.slug}/credentials/regenerate/", {})
    page = client.post(asked["Location"], {"code": code(secret)})
    assert (page.status_code, b"Use a passkey or a recovery code" in page.content) == (429, True)


@pytest.mark.long
def test_new_app_after_a_lost_one_is_not_refused(dana: User) -> None:
    set_up_app(dana)
    for number in range(20):
        guess(dana, number)
    remove(user=dana)
    assert guess(dana, 51, code(set_up_app(dana))).status_code == 200


@pytest.mark.long
def test_refused_page_does_not_look_at_the_code(client: Client, dana: User, stopped_clock: None) -> None:
    """Refused for its network, it would use a recovery code up."""
    set_up_app(dana)
    enter_password(client, dana.email)
    path, spare = "/accounts/login/second-step/", recovery_codes(dana)[0]
    while client.post(path, {"code": "000000"}).status_code == 200:
        pass
    assert client.post(path, {"code": spare}).status_code == 429
    assert spare in recovery_codes(dana)


@pytest.mark.spec("Contract 1 Accounts", "With a second factor, /auth/login asks for otp")
def test_api_takes_a_code_or_a_recovery_code(client: Client, dana: User) -> None:
    secret = set_up_app(dana)
    body = {"email": dana.email, "password": PASSWORD}
    for otp in ({}, {"otp": ""}, {"otp": "000000"}):
        answer = assert_error(post(client, "/auth/login", body | otp), 401, "Unauthorized")
        assert answer["details"] == [{"field": "otp", "message": "mfa_required"}]
    assert post(client, "/auth/login", body | {"otp": code(secret)}).status_code == 200
    recovery = recovery_codes(dana)[0]
    assert post(client, "/auth/login", body | {"otp": recovery}).status_code == 200
    assert post(client, "/auth/login", body | {"otp": recovery}).status_code == 401
    assert "details" not in sign_in(client, dana.email, "wrong").json()


def test_secrets_are_encrypted(dana: User) -> None:
    secret = set_up_app(dana)
    with connection.cursor() as cursor:
        cursor.execute("SELECT data FROM mfa_authenticator")
        rows = str(cursor.fetchall())
    assert secret not in rows
    kept = Authenticator.objects.get(user=dana, type="totp").data["secret"]
    assert decrypt(kept) == secret


@pytest.fixture
def rita(db: None) -> User:
    return factories.reviewer(is_superuser=True)


@pytest.mark.spec("Trust 3 People", "Staff can't use the administration without a second factor")
def test_staff_led_to_set_one_up(client: Client, rita: User, app: App, settings: Any) -> None:
    settings.SECOND_FACTOR_FOR_STAFF = True
    submission = factories.submit(app)
    client.force_login(rita)
    for path in ("/admin/", f"/admin/marketplace/submission/{submission.pk}/approve/"):
        assert client.get(path)["Location"] == "/accounts/security/"
        assert client.post(path)["Location"] == "/accounts/security/"
    assert b"Set up a second factor" in client.get("/accounts/security/").content
    set_up_app(rita)
    assert client.get("/admin/").status_code == 200


@pytest.mark.spec("Trust 3 People", "A new client secret asks again who one is")
def test_step_up_keeps_what_was_sent(client: Client, dana: User, app: App, settings: Any) -> None:
    settings.STEP_UP = True
    path = f"/portal/apps/{app.slug}/credentials/regenerate/"
    enter_password(client, dana.email)
    page = client.get(path).content.decode()
    form = {"slug": app.slug} | dict(re.findall(r'name="(form_token)" value="([^"]*)"', page))
    with later(901):
        asked = client.post(path, form)
        assert asked["Location"].startswith("/accounts/prove/password/?next=")
        assert b"Wrong password." in client.post(asked["Location"], {"password": "wrong"}).content
        done = client.post(asked["Location"], {"password": PASSWORD})
        assert b'value="fbcs_' in done.content
        page = client.get(path).content.decode()
        form = {"slug": app.slug} | dict(re.findall(r'name="(form_token)" value="([^"]*)"', page))
        assert b'value="fbcs_' in client.post(path, form).content  # not asked again within 15 minutes


@pytest.mark.spec("Trust 3 People", "Approvals, suspensions and changed rights ask again who one is")
@pytest.mark.parametrize(
    "act",
    [
        "marketplace/submission/{submission}/approve/",
        "marketplace/app/{app}/suspend/",
        "accounts/user/{user}/change/",
    ],
)
def test_step_up_of_staff(client: Client, rita: User, dana: User, app: App, settings: Any, act: str) -> None:
    settings.STEP_UP = True
    submission = factories.submit(app)
    client.force_login(rita)
    path = "/admin/" + act.format(submission=submission.pk, app=app.pk, user=dana.pk)
    assert client.post(path, {"reason": "It copies orders."})["Location"].startswith(
        "/accounts/prove/password/"
    )
    app.refresh_from_db()
    assert app.suspended_at is None


def test_step_up_takes_the_second_factor(client: Client, rita: User, app: App, settings: Any) -> None:
    """The password is not enough for people who have one."""
    settings.STEP_UP = True
    secret = set_up_app(rita)
    client.force_login(rita)
    path = f"/admin/marketplace/app/{app.pk}/suspend/"
    asked = client.post(path, {"reason": "It copies orders."})
    assert asked["Location"].startswith("/accounts/prove/code/?next=")
    assert (
        client.post("/accounts/prove/password/", {"password": PASSWORD})["Location"]
        == "/accounts/prove/code/"
    )
    assert client.post(asked["Location"], {"code": code(secret)}).status_code == 302
    app.refresh_from_db()
    assert app.suspended_at is not None


def test_second_factor_needs_a_confirmed_address(client: Client, dana: User, settings: Any) -> None:
    settings.MFA_ALLOW_UNVERIFIED_EMAIL = False
    dana.emailaddress_set.create(email=dana.email)
    enter_password(client, dana.email)
    assert client.get("/accounts/security/app/")["Location"] == "/accounts/security/"


def test_page_says_that_passkeys_need_a_domain(client: Client, dana: User, settings: Any) -> None:
    settings.BASE_URL = "http://127.0.0.1:8000"
    enter_password(client, dana.email)
    assert b"Passkeys need a domain name" in client.get("/accounts/security/").content
    assert client.get("/accounts/security/passkeys/add/")["Location"] == "/accounts/security/"


ODD_CREDENTIALS = [
    "-1", "1e999", "null", "[]", '"x"', "{", "{}", "[" * 60_000, json.dumps({"id": "x" * 70_000}),
    '{"id": "a"}', '{"id": "YQ", "rawId": 5, "response": {}}', '{"id": "YQ", "rawId": "YQ", "type": "public-key", "response": null}',
    json.dumps({
        "id": "YQ", "rawId": "YQ", "type": "public-key",
        "response": {"clientDataJSON": "e30", "authenticatorData": "AA", "signature": "", "attestationObject": "AA", "userHandle": {}},
    }),
]  # fmt: skip


@pytest.mark.parametrize(
    "path", ["/accounts/login/passkey/", "/accounts/login/second-step/", "/accounts/security/passkeys/add/"]
)
def test_odd_passkey_is_refused(client: Client, dana: User, settings: Any, path: str) -> None:
    settings.BASE_URL = "http://localhost:8000"
    if "add" not in path:
        set_up_app(dana)
    enter_password(client, dana.email)
    assert client.get(path, headers={"accept": "application/json"}).status_code == 200
    for number, credential in enumerate(ODD_CREDENTIALS):
        with later(number * 7_200):  # past the limit of tries
            answer = client.post(path, {"credential": credential})
        assert answer.status_code in (200, 302), (credential[:60], answer.status_code)
    assert is_signed_in(client) is ("add" in path)
    assert Authenticator.objects.filter(type="webauthn").count() == 0


@pytest.mark.spec("Trust 3 People", "An administrator removes a lost second factor")
def test_lost_factor_removed(client: Client, rita: User, dana: User) -> None:
    set_up_app(dana)
    client.force_login(rita)
    act = {"action": "remove_second_factor", "_selected_action": str(dana.pk)}
    with TestCase.captureOnCommitCallbacks(execute=True):
        page = client.post("/admin/accounts/user/", act, follow=True)
    assert b"Second factor removed: dana@example.com." in page.content
    assert "An administrator removed your second factor" in mail.outbox[0].body
    assert not Authenticator.objects.exists()
    event = SecurityEvent.objects.get(kind=SecurityEventKind.SECOND_FACTOR_REMOVED)
    assert (event.user_id, event.actor) == (dana.pk, rita)


def test_administrator_locked_out_is_let_in_by_a_command(rita: User) -> None:
    set_up_app(rita)
    call_command("remove_second_factor", "RITA@example.com", stdout=StringIO())
    assert not has_second_factor(rita)
    with pytest.raises(CommandError, match="no second factor"):
        call_command("remove_second_factor", "rita@example.com")
    with pytest.raises(CommandError, match="No account"):
        call_command("remove_second_factor", "nobody@example.com")


@pytest.mark.parametrize("model", ["mfa/authenticator", "account/emailaddress"])
def test_rows_of_the_library_have_no_pages(client: Client, rita: User, model: str) -> None:
    client.force_login(rita)
    assert client.get(f"/admin/{model}/").status_code == 404
