"""The frame of a store's pages is right about its apps after each act, and kept for ten seconds otherwise."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business, User
from extensions.enums import ExtensionType
from installations.models import Installation
from installations.services import uninstall
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import ask_for_more, installed, listed_app, page_of
from tests.pages import signed_in, text_of

PAGE = "/merchant/products/add/"  # reads no apps for itself
ASKS = "asks for more permissions"
ATTENTION = "your attention</span>"


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    return installed(listed_app(dana, ["read_products"], name="Loyalty Stars"), shop)


def approve(browser: Client, installation: Installation) -> None:
    answer = browser.post(page_of(installation, "permissions/"), {"answer": "approve", "version": "2"})
    assert answer.status_code == 302


def test_frame_is_kept_and_reads_no_app_again(browser: Client, stars: Installation) -> None:
    browser.get(PAGE)
    with CaptureQueriesContext(connection) as queries:
        browser.get(PAGE)
    assert not [query["sql"] for query in queries if "installations_installation" in query["sql"]]


def test_what_a_merchant_approves_is_gone_on_the_next_page(browser: Client, stars: Installation) -> None:
    ask_for_more(stars, ["read_products", "read_orders"])
    assert ASKS in text_of(browser.get(PAGE))
    assert ATTENTION in text_of(browser.get(PAGE))
    approve(browser, stars)
    page = text_of(browser.get(PAGE))
    assert ASKS not in page
    assert ATTENTION not in page


def test_page_that_was_begun_before_a_form_was_sent_is_not_kept(
    browser: Client, stars: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has read the apps, and keeps what it found only after the form."""
    from merchants import frame

    ask_for_more(stars, ["read_products", "read_orders"])
    read = frame.apps_in

    def read_and_wait(business: Business) -> Any:
        found = read(business)
        monkeypatch.setattr(frame, "apps_in", read)
        approve(browser, stars)
        return found

    monkeypatch.setattr(frame, "apps_in", read_and_wait)
    assert ASKS in text_of(browser.get(PAGE))
    assert ASKS not in text_of(browser.get(PAGE))


def test_install_elsewhere_shows_at_once(
    browser: Client, dana: User, shop: Business, django_capture_on_commit_callbacks: Any
) -> None:
    app = listed_app(dana, ["read_products"], name="Loyalty Stars")
    define(app, ExtensionType.ADMIN_PAGE, "points", title="Points")
    assert "Points" not in text_of(browser.get(PAGE))
    with django_capture_on_commit_callbacks(execute=True):
        installed(app, shop)
    assert "Points" in text_of(browser.get(PAGE))


def test_end_of_an_install_elsewhere_shows_at_once(
    browser: Client, stars: Installation, django_capture_on_commit_callbacks: Any
) -> None:
    define(stars.app, ExtensionType.ADMIN_PAGE, "points", title="Points")
    assert "Points" in text_of(browser.get(PAGE))
    with django_capture_on_commit_callbacks(execute=True):
        uninstall(installation=stars)
    assert "Points" not in text_of(browser.get(PAGE))


def test_page_that_reads_the_apps_shows_a_frame_of_that_moment(browser: Client, stars: Installation) -> None:
    assert ATTENTION not in text_of(browser.get(PAGE))
    ask_for_more(stars, ["read_products", "read_orders"])
    assert ATTENTION not in text_of(browser.get(PAGE)), "It is kept for ten seconds."
    assert ATTENTION in text_of(browser.get("/merchant/apps/"))


def test_nothing_of_a_sandbox_store_is_kept(dana: User) -> None:
    """Its developer changes the app elsewhere, and comes back."""
    sandbox = Business.objects.sandboxes_of(dana).get()
    app = factories.app(dana, name="Loyalty Stars")
    installed(app, sandbox)
    browser = signed_in(dana)
    assert "Points" not in text_of(browser.get(PAGE))
    define(app, ExtensionType.ADMIN_PAGE, "points", title="Points")
    assert "Points" in text_of(browser.get(PAGE))
