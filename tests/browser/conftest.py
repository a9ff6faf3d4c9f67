"""A browser for the tests of this folder, on a live server; every page is watched while it is used."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from accounts.models import User
from webhooks.engine.dispatcher import Dispatcher
from webhooks.tasks import SharedFlag

from .chromium import PATIENCE, Watch, launch

NewPage = Callable[..., Page]
SignIn = Callable[[BrowserContext, User], None]

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(__file__.rpartition("/")[0]):
            item.add_marker(pytest.mark.browser)
            if not item.get_closest_marker("journey"):
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for the folder, closed at its end: the library keeps an event loop running in this thread.

    Django takes that loop for asynchronous code and refuses the database; the variable says otherwise.
    """
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def site(live_server: Any, settings: Any) -> str:
    """The platform's address on the live server, which has the stores on another site, and apps (`AppSite`) on a third."""
    settings.BASE_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.STORES_URL = live_server.url.replace("localhost", "stores.localhost")
    settings.ALLOWED_HOSTS = ["127.0.0.1", "stores.localhost"]
    return str(settings.BASE_URL)


@pytest.fixture
def stores(site: str, settings: Any) -> str:
    """The address of the stores there. Paths of stores lead there from the platform's, too."""
    return str(settings.STORES_URL)


@pytest.fixture
def other_hosts() -> list[str]:
    """Origins besides ours that pages of this test may ask; none, unless a test module says otherwise."""
    return []


@pytest.fixture
def new_page(chromium: Browser, site: str, stores: str, other_hosts: list[str]) -> Iterator[NewPage]:
    """Makes a page in a profile of its own; takes the options of Playwright's `new_context`.

    At the end every page must have been free of errors and of requests to other hosts.
    """
    contexts: list[BrowserContext] = []
    watches: list[Watch] = []

    def make(**options: Any) -> Page:
        context = chromium.new_context(**{"viewport": DESKTOP, "base_url": site, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        watches.append(Watch(page, site, stores, *other_hosts))
        return page

    yield make
    for context in contexts:
        context.close()
    assert [problem for watch in watches for problem in watch.problems] == []


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


@pytest.fixture
def sign_in(site: str) -> SignIn:
    """Signs a user in by a session's cookie, without the sign-in page."""

    def sign_in(context: BrowserContext, user: User) -> None:
        client = Client()
        client.force_login(user)
        session = client.cookies[django_settings.SESSION_COOKIE_NAME].value
        context.add_cookies([{"name": django_settings.SESSION_COOKIE_NAME, "value": session, "url": site}])

    return sign_in


@pytest.fixture
def dispatcher(site: str) -> Iterator[Callable[[], None]]:
    """Sends webhooks as a worker does, while the test looks at pages, until this is called."""
    flag = SharedFlag()
    thread = threading.Thread(target=lambda: _send_until(flag), daemon=True)
    thread.start()

    def stop() -> None:
        flag.set()
        thread.join(15)  # an attempt takes ten seconds

    yield stop
    stop()


def _send_until(stop: SharedFlag) -> None:
    try:
        Dispatcher(stop=stop).run()
    finally:
        connections.close_all()
