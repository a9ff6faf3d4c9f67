"""The people who receive a mail about a crash, its contents, and how often it comes."""

import io
import logging
from collections.abc import Iterator
from importlib import import_module
from time import monotonic
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.db import OperationalError
from django.test import Client

from accounts.models import User
from common.observability.crashes import SAME_AFTER, TRACED_AGAIN, CrashFilter, CrashMail, OutageFilter
from installations.models import Installation
from tests import factories
from tests.clients import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _at_the_start_of_a_process(settings: Any) -> Any:
    """Nothing is mailed yet."""
    settings.ADMINS = [("Olga", "olga@example.com")]
    (mounted,) = [each for each in logging.getLogger().handlers if isinstance(each, CrashMail)]
    before, mounted.filters = mounted.filters, [CrashFilter()]
    yield
    mounted.filters = before


def crash(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def raise_it(*arguments: Any, **options: Any) -> None:
        password = "hunter2-in-a-variable"  # noqa: F841  a frame's variables must not be mailed
        raise error

    import_module("config.urls")  # a view imported later would keep what raises
    monkeypatch.setattr("appapi.views.store.settings_of", raise_it)
    monkeypatch.setattr("merchants.marketplace.views.listing.find", raise_it)


def test_admins_are_mailed_of_a_crash_in_the_api(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage]
) -> None:
    crash(monkeypatch, ZeroDivisionError("division by zero"))
    answer = client_of(installation).get("/app-api/installation?code=abc123")
    assert answer.status_code == 500
    (mail,) = mailoutbox
    assert mail.to == ["olga@example.com"]
    assert "ZeroDivisionError in raise_it, " in mail.subject
    assert "in raise_it\n    raise error\nZeroDivisionError\n" in mail.body
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


def test_mail_of_a_task_holds_no_message_of_the_error_or_its_cause(mailoutbox: list[EmailMessage]) -> None:
    """Celery's message has the error's in it."""
    hidden = "a-secret"
    try:
        try:
            raise KeyError(hidden)
        except KeyError as cause:
            raise RuntimeError(hidden) from cause
    except RuntimeError as error:
        logging.getLogger("celery.app.trace").error("Task %s raised %r", "name", error, exc_info=error)
    (mail,) = mailoutbox
    assert "KeyError" in mail.body
    assert "RuntimeError" in mail.body
    assert hidden not in mail.subject + mail.body


def test_link_that_opens_an_account_is_not_mailed(
    monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage]
) -> None:
    monkeypatch.setattr("accounts.views.sign_in.PasswordResetFromKeyView.dispatch", 1 / 1)
    page = Client(raise_request_exception=False)
    assert page.get("/accounts/password-reset/1-abc-def/").status_code == 500
    (mail,) = mailoutbox
    assert "TypeError" in mail.subject
    assert "abc-def" not in mail.subject + mail.body


def test_storm_of_crashes_makes_few_mails(
    monkeypatch: pytest.MonkeyPatch, mailoutbox: list[EmailMessage]
) -> None:
    now = [0.0]
    monkeypatch.setattr("common.observability.crashes.monotonic", lambda: now[0])

    def fail(error: Exception) -> None:
        try:
            raise error
        except Exception as raised:
            logging.getLogger("common.middleware").error("It failed", exc_info=raised)

    for _ in range(50):
        fail(ValueError("same"))
    assert len(mailoutbox) == 1
    fail(TypeError("another"))
    assert len(mailoutbox) == 2
    now[0] += SAME_AFTER
    fail(ValueError("same"))
    assert len(mailoutbox) == 3


@pytest.mark.parametrize(
    "error", [OperationalError("the connection is closed"), None], ids=["outage", "no exception"]
)
def test_what_is_no_crash_is_not_mailed(error: Exception | None, mailoutbox: list[EmailMessage]) -> None:
    logging.getLogger("common.web.errors").error("It failed", exc_info=error)
    assert mailoutbox == []


def test_errors_of_others_are_not_mailed(client: Client, mailoutbox: list[EmailMessage]) -> None:
    client.get("/nothing")
    client.get("/", headers={"Host": "evil.example.com"})
    client.post("/auth/login", "{", "application/json")
    assert mailoutbox == []


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a server's log gets of all loggers."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(OutageFilter())
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def test_outage_writes_its_stack_once_a_minute(
    written: io.StringIO, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request that fails of it has a line, and Django's own line for the same response isn't written."""
    crash(monkeypatch, OperationalError("the server is away"))
    client = client_of(installation)
    start = monotonic()
    for seconds in (0, 1, TRACED_AGAIN - 1, TRACED_AGAIN + 1):
        monkeypatch.setattr("common.observability.crashes.monotonic", lambda now=start + seconds: now)
        assert client.get("/app-api/installation").status_code == 503
    lines = written.getvalue().splitlines()
    assert sum("while answering GET /app-api/installation" in line for line in lines) == 4
    assert lines.count("Traceback (most recent call last):") == 2
    assert "Service Unavailable" not in written.getvalue()


def test_other_errors_keep_their_stack(
    written: io.StringIO, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(monkeypatch, ZeroDivisionError("division by zero"))
    for _ in range(2):
        assert client_of(installation).get("/app-api/installation").status_code == 500
    assert written.getvalue().count("Traceback (most recent call last):") == 2
