"""A browser, and the two HTTP servers that the product runs on: the demo's own and the operators'."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme
from django.db import connections
from playwright.sync_api import Browser, sync_playwright
from waitress.server import create_server

from accounts.models import Business
from common.web.middleware.chunked_bodies import Application
from tests.browser.chromium import launch
from tests.faults.processes import Processes
from tests.ports import free_port
from tests.security.proxy import application
from tests.servers import serving


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for the folder. Django takes the event loop of its library for asynchronous code and refuses the
    database; the variable says otherwise."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = launch(playwright)
        yield browser
        browser.close()


class Site(NamedTuple):
    """The addresses of the platform and, with `{slug}`, of the stores."""

    platform: str
    stores: str

    def store(self, business: Business) -> str:
        return self.stores.replace("{slug}", business.slug) + "/"


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


@contextmanager
def waitress(app: Application = application) -> Iterator[int]:
    server = create_server(app, host="127.0.0.1", port=0, threads=8, clear_untrusted_proxy_headers=True)

    with serving(server):
        yield server.effective_port


@contextmanager
def gunicorn(directory: Path, host: str = "127.0.0.1") -> Iterator[Site]:
    """With TLS. `host` names this machine."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    issued = trustme.CA().issue_cert(host)
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    port = free_port()
    processes = Processes(directory)
    site = Site(f"https://{host}:{port}", f"https://{{slug}}.stores.localhost:{port}")
    processes.use(BASE_URL=site.platform, STORES_URL=site.stores)
    try:
        server = processes.start(
            "gunicorn", "tests.security.proxy", "--threads", "8", "--bind", f"127.0.0.1:{port}",
            "--certfile", str(certificate), "--keyfile", str(key),
        )  # fmt: skip
        server.wait_for_output("Booting worker")
        yield site
    finally:
        processes.end()
