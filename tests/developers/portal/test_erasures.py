"""The portal's page of data erasures."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from installations.services import test_uninstall as uninstall
from marketplace.models import App
from tests import factories
from tests.pages import text_of
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Delivery, Erasure


def at(app: App) -> str:
    return f"/portal/apps/{app.slug}/erasures/"


def test_page_without_uninstalls_is_empty(browser: Client, app: App) -> None:
    assert "No data erasures" in text_of(browser.get(at(app)))


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (ErasureState.DUE, "Due"),
        (ErasureState.SENT, "Sent"),
        (ErasureState.CONFIRMED, "Confirmed"),
        (ErasureState.OVERDUE, "Overdue"),
        (ErasureState.CANCELLED, "Reinstalled"),
        (ErasureState.UNADDRESSED, "No Webhook URL"),
    ],
)
def test_uninstall_shows_up_with_its_state(
    browser: Client, dana: User, app: App, installation: Installation, state: ErasureState, word: str
) -> None:
    uninstall(app=app, developer=dana)
    sent_at = timezone.now() - timedelta(minutes=7)
    Erasure.objects.update(state=state, sent_at=sent_at)
    page = text_of(browser.get(at(app)))
    assert f"</svg>{word}</span>" in page
    assert f"{sent_at:%H:%M:%S} UTC" in page
    assert "Dana&#x27;s sandbox" in page


def test_pages_show_the_configured_delay(
    browser: Client, app: App, installation: Installation, settings: Any
) -> None:
    settings.DATA_ERASURE_DELAY = 5400
    App.objects.update(webhook_url="https://app.example.com/hooks")
    for page in ("erasures/", "test/uninstall/", "review/"):
        text = text_of(browser.get(f"/portal/apps/{app.slug}/{page}"))
        assert "1 hour 30 minutes" in text, page
        assert "48 hours" not in text, page


def test_erasures_of_other_apps_are_left_out(browser: Client, app: App, sam: User) -> None:
    theirs = factories.app(sam)
    factories.installation(theirs, Business.objects.sandbox_of(sam))
    uninstall(app=theirs, developer=sam)
    assert "No data erasures" in text_of(browser.get(at(app)))


def test_delivery_of_an_erasure_shows_what_will_be_sent_and_when(
    browser: Client, dana: User, app: App, installation: Installation
) -> None:
    App.objects.update(webhook_url="https://app.example.com/hooks")
    uninstall(app=app, developer=dana)
    made = Delivery.objects.get()
    page = text_of(browser.get(f"/portal/apps/{app.slug}/deliveries/{made.pk}/"))
    assert "not sent yet</span>" in page
    assert "uninstalledAt" in page
    assert ">in 47 h 59 min</span>" in page or ">in 48 h</span>" in page
    Delivery.objects.update(status=DeliveryStatus.CANCELLED, due_at=None)
    page = text_of(browser.get(f"/portal/apps/{app.slug}/deliveries/{made.pk}/"))
    assert "Not sent: the app was reinstalled before it was due" in page


@pytest.mark.long
def test_erasure_is_offered_to_be_sent_only_when_due(
    browser: Client, dana: User, app: App, installation: Installation
) -> None:
    App.objects.update(webhook_url="https://app.example.com/hooks")
    uninstall(app=app, developer=dana)
    made = Delivery.objects.get()
    path = f"/portal/apps/{app.slug}/deliveries/{made.pk}/"
    waiting = text_of(browser.get(path))
    assert "Send now" not in waiting
    assert f"It is due on {made.due_at:%-d %b %Y, %H:%M} UTC" in waiting
    with time_machine.travel(made.due_at):
        assert "Send now" in text_of(browser.get(path))
        assert "The delivery is being resent." in text_of(browser.post(f"{path}resend/", follow=True))
