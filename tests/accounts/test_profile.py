"""The profile page: name, e-mail address and notices."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client, TestCase
from django.utils import timezone

from accounts.models import SecurityEvent, User
from accounts.services import confirmation
from accounts.services.sender import send_due
from installations.models import Installation
from marketplace.models import App
from marketplace.services.reviews import reject
from tests import factories
from tests.pages import signed_in, text_of
from tests.webhooks import helpers
from webhooks.models import Webhook
from webhooks.services.notifications import notify_developers

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once")]

NEW = "dana@new.example.com"
PROFILE = "/accounts/profile/"


@pytest.fixture
def browser(dana: User) -> Client:
    return signed_in(dana)


def send(client: Client, path: str, **fields: Any) -> Any:
    with TestCase.captureOnCommitCallbacks(execute=True):
        return client.post(PROFILE + path, fields, follow=True)


def link() -> str:
    found = re.search(r"http://testserver(/accounts/profile/email/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


def test_profile_needs_a_sign_in(client: Client) -> None:
    for path in ("", "email/a-token/"):
        assert client.get(PROFILE + path).status_code == 302
    for path in ("name/", "email/", "email/forget/", "notices/"):
        assert client.post(PROFILE + path).status_code == 302


def test_name_is_changed_unless_it_passes_for_the_platform(browser: Client, dana: User) -> None:
    assert "Your name is saved." in text_of(send(browser, "name/", name="Dana  Okafor"))
    for name, message in (("", "Enter your name."), ("Platform Support", "reserved for the platform")):
        assert message in text_of(send(browser, "name/", name=name), 422)
    dana.refresh_from_db()
    assert dana.name == "Dana Okafor"


def test_new_address_counts_once_it_is_confirmed_and_the_old_one_is_notified(
    browser: Client, dana: User
) -> None:
    confirmation.confirm(user=dana)
    page = text_of(send(browser, "email/", email=NEW.upper()))
    assert "Waiting for your confirmation" in page
    assert mail.outbox[-1].to == [NEW]
    confirming = link()
    dana.refresh_from_db()
    assert dana.email == "dana@example.com"

    assert NEW in text_of(browser.get(confirming))
    dana.refresh_from_db()
    assert dana.email == "dana@example.com"
    with TestCase.captureOnCommitCallbacks(execute=True):
        page = text_of(browser.post(confirming, follow=True))
    assert f"Your e-mail address is now {NEW}." in page
    assert "Waiting for your confirmation" not in page
    dana.refresh_from_db()
    assert (dana.email, dana.pending_email) == (NEW, "")
    assert list(EmailAddress.objects.values_list("email", "verified")) == [(NEW, True)]
    assert mail.outbox[-1].to == ["dana@example.com"]
    assert f"The e-mail address was changed to {NEW}." in mail.outbox[-1].body
    assert SecurityEvent.objects.filter(user_id=dana.pk, kind="EMAIL_CHANGED").count() == 1
    assert browser.get(confirming).status_code == 410


def test_link_stops_working(browser: Client, dana: User, sam: User) -> None:
    send(browser, "email/", email=NEW)
    confirming = link()
    assert signed_in(sam).post(confirming).status_code == 410
    with time_machine.travel(timezone.now() + timedelta(days=3, minutes=1)):
        assert signed_in(dana).post(confirming).status_code == 410
    assert browser.post(confirming[:-2] + "x/").status_code == 410
    assert "Your address stays as it is." in text_of(send(browser, "email/forget/"))
    assert browser.post(confirming).status_code == 410
    dana.refresh_from_db()
    assert dana.email == "dana@example.com"


def test_page_does_not_tell_whether_an_address_has_an_account(browser: Client, sam: User) -> None:
    free = text_of(send(browser, "email/", email=NEW)).replace(NEW, "ADDRESS")
    taken = text_of(send(browser, "email/", email=sam.email)).replace(sam.email, "ADDRESS")
    strip = re.compile(r'value="[\w-]{40,}"')
    assert strip.sub("", free) == strip.sub("", taken)
    assert mail.outbox[-1].subject == "You already have an account at Extension Platform"
    assert mail.outbox[-1].to == [sam.email]


def test_address_that_was_taken_in_the_meantime_is_refused(browser: Client, dana: User) -> None:
    send(browser, "email/", email=NEW)
    factories.developer(NEW)
    assert "This address can" in text_of(browser.post(link()), 410)
    dana.refresh_from_db()
    assert dana.email == "dana@example.com"


def test_nonsense_is_refused(browser: Client) -> None:
    for email, message in (
        ("", "Enter the new address."),
        ("nobody", "such as"),
        ("dana@example.com", "current"),
    ):
        assert message in text_of(send(browser, "email/", email=email), 422)
    assert not mail.outbox


def test_new_address_asks_for_a_fresh_proof(browser: Client, dana: User, settings: Any) -> None:
    settings.STEP_UP = True
    assert "/accounts/prove/" in send(browser, "email/", email=NEW).redirect_chain[-1][0]
    dana.refresh_from_db()
    assert dana.pending_email == ""


def test_muted_notices_are_not_mailed(
    browser: Client, dana: User, app: App, installation: Installation
) -> None:
    webhook = helpers.webhook(installation, "https://api.example.com/in", ["order.created"])

    def happen() -> list[str]:
        mail.outbox.clear()
        day_ago = timezone.now() - timedelta(hours=25)
        Webhook.objects.filter(pk=webhook.pk).update(
            failing_since=day_ago, notified_stage=0, notified_at=None
        )
        submission = factories.submit(app)
        reject(
            submission=submission,
            reviewer=factories.reviewer(f"{submission.pk}@example.com"),
            notes="No.",
        )
        with TestCase.captureOnCommitCallbacks(execute=True):
            notify_developers()
        send_due()
        return sorted(each.subject for each in mail.outbox)

    assert len(happen()) == 2
    assert "Your notices are saved." in text_of(send(browser, "notices/", mails=["review_decisions"]))
    assert happen() == [f"{app.name} {app.version} needs changes"]
    send(browser, "notices/")
    assert happen() == []
    assert 'value="review_decisions" checked' not in text_of(browser.get(PROFILE))


def test_merchants_choose_their_own_notices(mira: User) -> None:
    page = text_of(signed_in(mira).get(PROFILE))
    assert "An app asks for more permissions" in page
    assert "A review of an app" not in page
    assert "Developer tokens" not in page
    assert signed_in(mira).post(PROFILE + "notices/", {"mails": ["review_decisions"]}).status_code == 422
