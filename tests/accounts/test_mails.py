"""Mails about an account go to addresses that may be a stranger's, so they hold no words of the person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as platform
from django.core import mail
from django.test import TestCase

from accounts.models import User
from accounts.services import confirmation, connections, deletion, outbox, profile
from accounts.services.confirmation import is_confirmed
from accounts.sign_in.origins import Origin
from tests.accounts.providers import settings_of

HOSTILE = "the parcel is blocked, release it at evil.example"
pytestmark = pytest.mark.usefixtures("tasks_run_at_once")

VICTIM, OTHER = "victim@example.com", "unlock-it-at.evil.example@evil.example"
FOLDER = Path(platform.BASE_DIR) / "templates/accounts/mail"


def change_email(user: User) -> None:
    """From an address that was never confirmed."""
    with TestCase.captureOnCommitCallbacks(execute=True):
        profile.ask_for_new_email(user=user, email=OTHER)
    token = next(word for word in str(mail.outbox.pop().body).split() if "/email/" in word).rstrip("/")
    profile.change_email(user=user, token=token.rpartition("/")[2], origin=Origin())


# These name a store. The invited have to know which; the other is for confirmed addresses only (tests/merchants/test_staff.py).
OF_STORES = {"staff_change", "invitation"}
MAILS: dict[str, Callable[[User], Any]] = {
    "account_deleted": lambda user: deletion.delete_account(user=user),
    "account_exists": lambda user: confirmation.mail_account_exists(email=user.email),
    "confirm": lambda user: confirmation.mail_confirmation(email=user.email),
    "connection": lambda user: connections.mail_connection(email=user.email, key="of a browser"),
    "new_email": lambda user: profile.ask_for_new_email(user=user, email="second.victim@example.com"),
    "password_reset": lambda user: profile.mail_reset(email=user.email),
    "security_change": change_email,
    "wrong_codes": lambda user: outbox.mail_wrong_codes(user=user, count=3, origin=Origin(device=HOSTILE)),
}


@pytest.fixture
def eve(mira: User) -> User:
    mira.name, mira.email = HOSTILE, VICTIM
    mira.save()
    assert not is_confirmed(mira)
    return mira


@pytest.mark.spec(
    "Contract 15 Doors", "No mail about an account carries free text of a person to an unconfirmed address"
)
@pytest.mark.parametrize("name", sorted({path.stem for path in FOLDER.glob("*.txt")} - OF_STORES))
def test_mail_has_no_words_of_the_person(name: str, eve: User, settings: Any) -> None:
    settings.IDENTITY_PROVIDER = settings_of("https://login.example")
    with TestCase.captureOnCommitCallbacks(execute=True):
        MAILS[name](eve)
    assert mail.outbox
    for sent in mail.outbox:
        assert sent.to[0] in (VICTIM, f"second.{VICTIM}")
        text = f"{sent.subject}\n{sent.body}"
        assert "evil.example" not in text
        assert "parcel" not in text
        assert text.count("Hello,\n") == 1
