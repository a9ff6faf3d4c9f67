"""A browser, and the two HTTP servers that the product runs on: the demo's own and the operators'."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import launch
from tests.security.sites import Site, gunicorn, waitress


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for the folder. Django takes the event loop of its library for asynchronous code and refuses the
    database; the variable says otherwise."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(params=["waitress", pytest.param("gunicorn", marks=pytest.mark.slow)])
def site(
    request: pytest.FixtureRequest,
    transactional_db: None,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Site]:
    """waitress as the demo runs it, and gunicorn with TLS; each store has a host of its own, as in production.

    Browsers look for all names below `localhost` on this machine.
    """
    if request.param == "waitress":
        monkeypatch.setitem(connections.databases["default"], "CONN_MAX_AGE", 0)
        with waitress() as port:
            site = Site(f"http://127.0.0.1:{port}", f"http://{{slug}}.stores.localhost:{port}")
            settings.BASE_URL, settings.STORES_URL = site
            settings.ALLOWED_HOSTS = ["127.0.0.1", ".stores.localhost"]
            yield site
    else:
        with gunicorn(tmp_path) as site:
            yield site
