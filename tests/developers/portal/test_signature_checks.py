"""The reviewers' signature checks, run by the developer. What they find is tested in tests/developers/review/test_checks.py."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from installations.models import Installation
from marketplace.models import App
from tests.developers.portal.test_apps import signed_in, text_of
from tests.developers.review.test_checks import Careful
from tests.receivers import Receiver
from webhooks.models import Delivery
from webhooks.services.app_defined import follow_app


@pytest.fixture(autouse=True)
def _development_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.fixture
def browser(dana: User) -> Client:
    return signed_in(dana)


def at(app: App) -> str:
    return f"/portal/apps/{app.slug}/signatures/run/"


def listening(app: App, installation: Installation, url: str) -> None:
    App.objects.update(webhook_url=url)
    follow_app(installations=list(Installation.objects.with_app().filter(pk=installation.pk)))


def test_careful_app_passes_and_nothing_is_recorded(
    browser: Client, app: App, installation: Installation
) -> None:
    with Careful(installation.webhook_secret) as careful:
        listening(app, installation, careful.url)
        assert "Run checks" in text_of(browser.get(at(app)))
        assert not careful.requests
        page = text_of(browser.post(at(app)))
        assert len(careful.requests) == 3
    assert "Nothing to correct" in page
    assert "Signed correctly ten minutes ago: answered 401" in page
    assert not Delivery.objects.exists()


def test_app_that_accepts_everything_is_shown_what_to_correct(
    browser: Client, app: App, installation: Installation
) -> None:
    with Receiver() as receiver:
        listening(app, installation, receiver.url)
        page = text_of(browser.post(at(app)))
    assert "Not every check passed" in page
    assert "Signed with another secret: answered 200" in page


def test_checks_are_limited(
    browser: Client, app: App, installation: Installation, stopped_clock: None
) -> None:
    with Receiver() as receiver:
        listening(app, installation, receiver.url)
        assert [browser.post(at(app)).status_code for _ in range(6)] == [200] * 5 + [429]
        assert len(receiver.requests) == 15


def test_app_without_an_install_or_a_url(browser: Client, app: App, sandbox: Business) -> None:
    App.objects.update(webhook_url="")
    assert "The app has no Webhook URL" in text_of(browser.get(at(app)))
    App.objects.update(webhook_url="https://api.example.com/in")
    assert "installed on your sandbox store" in text_of(browser.get(at(app)))
