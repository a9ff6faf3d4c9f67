"""The portal's page of data erasures."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from installations.services import test_uninstall as uninstall
from marketplace.models import App
from tests import factories
from tests.developers.test_portal_apps import signed_in, text_of
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Delivery, Erasure


@pytest.fixture
def browser(dana: User) -> Client:
    return signed_in(dana)


def at(app: App) -> str:
    return f"/portal/apps/{app.slug}/erasures/"


def test_page_without_uninstalls_says_so(browser: Client, app: App) -> None:
    assert "Nothing to erase" in text_of(browser.get(at(app)))


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (ErasureState.DUE, "Due"),
        (ErasureState.SENT, "Sent"),
        (ErasureState.CONFIRMED, "Confirmed"),
        (ErasureState.OVERDUE, "Overdue"),
        (ErasureState.CANCELLED, "Installed again"),
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


def test_strangers_do_not_see_it(sam: User, app: App) -> None:
    assert signed_in(sam).get(at(app)).status_code == 404


def test_erasures_of_other_apps_are_left_out(browser: Client, app: App, sam: User) -> None:
    theirs = factories.app(sam)
    factories.installation(theirs, Business.objects.sandbox_of(sam))
    uninstall(app=theirs, developer=sam)
    assert "Nothing to erase" in text_of(browser.get(at(app)))


def test_delivery_of_an_erasure_shows_what_will_be_sent_and_when(
    browser: Client, dana: User, app: App, installation: Installation
) -> None:
    App.objects.update(webhook_url="https://app.example.com/hooks")
    uninstall(app=app, developer=dana)
    made = Delivery.objects.get()
    page = text_of(browser.get(f"/portal/apps/{app.slug}/deliveries/{made.pk}/"))
    assert "What we will send" in page
    assert "uninstalledAt" in page
    assert "next attempt in 1 d 23 h" in page or "next attempt in 2 d" in page
    Delivery.objects.update(status=DeliveryStatus.CANCELLED, due_at=None)
    page = text_of(browser.get(f"/portal/apps/{app.slug}/deliveries/{made.pk}/"))
    assert "Not sent: the app was installed again before it was due" in page
