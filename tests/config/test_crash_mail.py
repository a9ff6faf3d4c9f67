"""Who is told of a crash, what of it, and how often."""

import logging
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.db import OperationalError
from django.test import Client

from accounts.models import User
from common.crashes import MOST_AN_HOUR, SAME_AFTER, CrashFilter, CrashMail, without_secrets
from installations.models import Installation
from tests import factories
from tests.appapi.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def handler(settings: Any) -> Any:
    """As at the start of a process: nothing mailed yet."""
    settings.ADMINS = [("Olga", "olga@example.com")]
    (mounted,) = [each for each in logging.getLogger().handlers if isinstance(each, CrashMail)]
    before, mounted.filters = mounted.filters, [CrashFilter()]
    yield mounted
    mounted.filters = before


def crash(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def raise_it(*arguments: Any, **options: Any) -> None:
        password = "hunter2-in-a-variable"  # noqa: F841  a frame's variables must not be mailed
        raise error

    monkeypatch.setattr("appapi.views.installation.settings_of", raise_it)
    monkeypatch.setattr("config.views.listing.find", raise_it)


def test_admins_are_mailed_of_a_crash_in_the_api(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage]
) -> None:
    crash(monkeypatch, ZeroDivisionError("division by zero"))
    answer = client_of(installation).get("/app-api/installation?code=abc123")
    assert answer.status_code == 500
    (mail,) = mailoutbox
    assert mail.to == ["olga@example.com"]
    assert "ZeroDivisionError while answering GET /app-api/installation" in mail.subject
    assert "in raise_it" in mail.body
    assert not getattr(mail, "alternatives", None)


def test_crash_mail_holds_no_secrets(
    installation: Installation,
    dana: User,
    monkeypatch: pytest.MonkeyPatch,
    mailoutbox: list[EmailMessage],
    settings: Any,
) -> None:
    settings.REDIS_URL = "redis://user:redis-password@127.0.0.1:1/0"
    token = installation.raw_token  # type: ignore[attr-defined]
    secret = installation.webhook_secret
    crash(monkeypatch, RuntimeError(f"no answer to {token} {secret} password='swordfish' Bearer abc.def"))
    page = Client(raise_request_exception=False)
    page.force_login(dana)
    page.cookies["other"] = "cookie-of-a-stranger"
    page.get("/", headers={"Accept": "text/html", "Authorization": "Basic c2VjcmV0"})
    client_of(installation).get("/app-api/installation", headers={"Idempotency-Key": "key-of-a-stranger"})
    text = "".join(mail.subject + mail.body for mail in mailoutbox)
    assert "RuntimeError" in text
    session = page.cookies[settings.SESSION_COOKIE_NAME].value
    hidden = [token, secret, "swordfish", "abc.def", session, "cookie-of-a-stranger", "c2VjcmV0", "hunter2"]
    hidden += [settings.SECRET_KEY, *settings.FIELD_ENCRYPTION_KEYS, "redis-password", "key-of-a-stranger"]
    assert [each for each in hidden if each in text] == []


def test_crash_of_signing_in_does_not_mail_the_password(
    monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage], dana: User
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("accounts.api.views.authenticate", fail)
    body = {"email": "dana@example.com", "password": factories.PASSWORD}
    answer = Client(raise_request_exception=False).post("/auth/login", body, "application/json")
    assert answer.status_code == 500
    (mail,) = mailoutbox
    assert factories.PASSWORD not in mail.body
    assert "dana@example.com" not in mail.body


@pytest.mark.parametrize(
    "text",
    [
        "/accounts/password-reset/MQ/abc-def/",
        "postgres://user:geheim@host/name",
        "client_secret=geheim&x=1",
        '{"password": "geheim"}',
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.geheim",
        "Cookie: geheim",
    ],
)
def test_what_looks_like_a_credential_is_taken_out(text: str) -> None:
    assert "geheim" not in without_secrets(text)
    assert "abc-def" not in without_secrets(text)


def test_storm_of_crashes_makes_few_mails(handler: CrashMail, mailoutbox: list[EmailMessage]) -> None:
    now = [0.0]
    handler.filters = [CrashFilter(clock=lambda: now[0])]

    def fail(error: Exception) -> None:
        try:
            raise error
        except Exception as raised:
            logging.getLogger("common.middleware").error("It failed", exc_info=raised)

    for _ in range(50):
        fail(ValueError("same"))
    assert len(mailoutbox) == 1
    now[0] += SAME_AFTER
    fail(ValueError("same"))
    assert len(mailoutbox) == 2
    assert "49 more crashes were not mailed" in mailoutbox[1].body
    for number in range(40):
        fail(type(f"Error{number}", (Exception,), {})())
    assert len(mailoutbox) == MOST_AN_HOUR + 1, "The repeated one counts once."


@pytest.mark.parametrize(
    "error", [OperationalError("the connection is closed"), None], ids=["outage", "no exception"]
)
def test_what_is_no_crash_is_not_mailed(error: Exception | None, mailoutbox: list[EmailMessage]) -> None:
    logging.getLogger("common.middleware").error("It failed", exc_info=error)
    assert mailoutbox == []


def test_errors_of_others_are_not_mailed(client: Client, mailoutbox: list[EmailMessage]) -> None:
    client.get("/nothing")
    client.get("/", headers={"Host": "evil.example.com"})
    client.post("/auth/login", "{", "application/json")
    assert mailoutbox == []
