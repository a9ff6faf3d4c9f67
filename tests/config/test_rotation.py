"""Secrets that operators change, seen from one process. `tests/faults/test_rotation.py` changes them in several."""

from copy import copy
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from cryptography.fernet import Fernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db.models import TextField
from django.db.models.functions import Cast
from django.test import Client

from accounts.models import User
from accounts.services.profile import open_sessions
from config import reencryption
from config.env.keys import secret_key_fallbacks
from installations.models import Installation
from marketplace.models import App, AppVersion
from tests.factories import PASSWORD
from tests.webhooks.helpers import webhook
from webhooks.models import Webhook
from webhooks.services.app_defined import follow_app

pytestmark = pytest.mark.django_db
OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture
def old_key(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = (OLD,)


@pytest.fixture
def secrets_of_before(
    old_key: None, installation: Installation, dana: User
) -> tuple[Webhook, str, list[str]]:
    listening = webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    installation.webhook_secret = "whsec_of_the_installation"
    installation.save()
    totp = TOTP.activate(dana, generate_totp_secret())
    codes = RecoveryCodes.activate(dana).get_unused_codes()
    return listening, totp.instance.data["secret"], codes


def test_new_encryption_key_reads_what_the_old_one_wrote_and_then_needs_it_no_more(
    secrets_of_before: tuple[Webhook, str, list[str]], installation: Installation, dana: User, settings: Any
) -> None:
    listening, _, codes = secrets_of_before
    settings.FIELD_ENCRYPTION_KEYS = (NEW, OLD)
    assert Webhook.objects.get(pk=listening.pk).secret == listening.secret

    call_command("reencrypt")
    settings.FIELD_ENCRYPTION_KEYS = (NEW,)
    assert Webhook.objects.get(pk=listening.pk).secret == listening.secret
    installation.refresh_from_db()
    assert installation.webhook_secret == "whsec_of_the_installation"
    of_dana = Authenticator.objects.filter(user=dana)
    assert RecoveryCodes(of_dana.get(type="recovery_codes")).get_unused_codes() == codes
    assert not any(reencryption.is_stale(row.data.get("secret")) for row in of_dana)
    assert all(count == 0 for _, count in reencryption.reencrypt())


def test_secret_that_is_copied_meanwhile_needs_the_old_key_no_more(
    secrets_of_before: tuple[Webhook, str, list[str]],
    installation: Installation,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An approval brings the app's first Webhook URL, and the installation its webhook."""
    App.objects.update(webhook_url="https://app.example/hooks")
    AppVersion.objects.update(webhook_url="https://app.example/hooks")
    settings.FIELD_ENCRYPTION_KEYS = (NEW, OLD)
    original, of_installation = reencryption.rotated, stored_secret(installation)

    def rotate_slowly(stored: str) -> str:
        if stored == of_installation:
            follow_app(installations=[Installation.objects.with_app().get(pk=installation.pk)])
        return original(stored)

    monkeypatch.setattr(reencryption, "rotated", rotate_slowly)
    call_command("reencrypt")
    assert Webhook.objects.filter(installation=installation, is_app_defined=True).exists()
    assert all(count == 0 for _, count in reencryption.reencrypt())


def stored_secret(installation: Installation) -> str:
    stored = Installation.objects.annotate(stored=Cast("webhook_secret", TextField()))
    return str(stored.values_list("stored", flat=True).get(pk=installation.pk))


def test_secret_that_changes_meanwhile_is_kept(
    secrets_of_before: tuple[Webhook, str, list[str]], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening, *_ = secrets_of_before
    settings.FIELD_ENCRYPTION_KEYS = (NEW, OLD)
    original = reencryption.rotated

    def rotate_slowly(stored: str) -> str:
        Webhook.objects.filter(pk=listening.pk).update(secret="whsec_newer")
        return original(stored)

    monkeypatch.setattr(reencryption, "rotated", rotate_slowly)
    call_command("reencrypt")
    assert Webhook.objects.get(pk=listening.pk).secret == "whsec_newer"


@pytest.mark.usefixtures("secrets_of_before")
def test_missing_key_is_named_and_changes_nothing(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = (NEW,)
    with pytest.raises(CommandError, match="FIELD_ENCRYPTION_KEYS"):
        call_command("reencrypt")
    settings.FIELD_ENCRYPTION_KEYS = (OLD,)
    assert Webhook.objects.get().secret.startswith("whsec_")


def signed_in(dana: User) -> tuple[Client, dict[str, str]]:
    browser = Client()
    browser.post("/accounts/login/", {"email": dana.email, "password": PASSWORD})
    body = {"email": dana.email, "password": PASSWORD}
    pair = Client().post("/auth/login", body, content_type="application/json").json()
    return browser, pair


def is_signed_in(browser: Client) -> bool:
    return bool(browser.get("/portal/", follow=False).status_code == 200)


def api_status(access: str) -> int:
    return Client().get("/developer/apps", headers={"Authorization": f"Bearer {access}"}).status_code


def refreshed(pair: dict[str, str]) -> Any:
    return Client().post(
        "/auth/refresh", {"refreshToken": pair["refreshToken"]}, content_type="application/json"
    )


def test_earlier_secret_key_still_counts_until_it_is_left_out(
    dana: User, settings: Any, new_signing_key: Any
) -> None:
    before, after = settings.SECRET_KEY, "a new key of at least thirty-two characters"
    browser, pair = signed_in(dana)
    new_signing_key(after, before)
    assert is_signed_in(browser)
    assert api_status(pair["accessToken"]) == 200
    newer = refreshed(pair).json()
    assert api_status(newer["accessToken"]) == 200

    new_signing_key(after)
    assert is_signed_in(browser)  # its session was renewed
    assert api_status(newer["accessToken"]) == 200
    assert api_status(pair["accessToken"]) == 401
    assert refreshed(newer).status_code == 200


def test_requests_of_a_browser_that_come_together_stay_signed_in(dana: User, new_signing_key: Any) -> None:
    """The second one was sent before the answer to the first, with the same cookie."""
    browser, _ = signed_in(dana)
    second = Client()
    second.cookies = copy(browser.cookies)
    new_signing_key("a new key of at least thirty-two characters", settings.SECRET_KEY)
    assert is_signed_in(browser)
    assert is_signed_in(second)


def test_sessions_that_began_with_an_earlier_key_are_listed(dana: User, new_signing_key: Any) -> None:
    browser, _ = signed_in(dana)
    signed_in(dana)
    new_signing_key("a new key of at least thirty-two characters", settings.SECRET_KEY)
    key = browser.session.session_key
    listed = [each.kind for each in open_sessions(dana, current_key=key)]
    assert listed.count("session") == listed.count("sign-in") == 2


def test_leaked_secret_key_that_is_left_out_at_once_signs_everyone_out(
    dana: User, new_signing_key: Any
) -> None:
    browser, pair = signed_in(dana)
    new_signing_key("a new key of at least thirty-two characters")
    assert not is_signed_in(browser)
    assert api_status(pair["accessToken"]) == 401
    assert refreshed(pair).status_code == 401


@pytest.fixture
def new_signing_key(settings: Any) -> Any:
    """As a restart with `SECRET_KEY` and `SECRET_KEY_FALLBACKS`."""

    def change(new: str, *earlier: str) -> None:
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = new, list(earlier)

    return change


def test_weak_earlier_key_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", "short")
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY_FALLBACKS"):
        secret_key_fallbacks()
