"""The platform on a live server, and the sample app beside it, as it is or with a mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from flask import Flask

from accounts.models import User
from accounts.services.developer_tokens import create_developer_token
from examples.sample_app.app import create_server
from examples.sample_app.config import read_config
from examples.sample_app.manifest import manifest
from extensions.services.manifests import save_manifest
from marketplace.models import App
from tests import factories
from tests.installations.oauth_client import SECRET
from tests.servers import serving

SCOPES = ["read_business", "read_products", "read_orders", "write_orders"]

Change = Callable[[Flask], None]
SignIn = Callable[[], None]


@pytest.fixture
def platform(live_server: Any, settings: Any) -> str:
    settings.BASE_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.STORES_URL = live_server.url.replace("localhost", "stores.localhost")
    settings.ALLOWED_HOSTS = ["127.0.0.1", "stores.localhost", "testserver"]
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.AUTH_RATE_LIMITS = False  # each run exchanges four codes
    return str(settings.BASE_URL)


class OrderBell:
    """Starts the sample app as an app of Dana's."""

    def __init__(self, developer: User, platform: str, folder: Path) -> None:
        self._developer = developer
        self._platform = platform
        self._folder = folder
        self._addresses: dict[str, str] = {}
        self.running = ExitStack()

    def __call__(self, change: Change | None = None, *, registered: str = "") -> App:
        """`change` makes a mistake. `registered` is the address in the app's record, if it isn't the server's own."""
        app = factories.app(
            self._developer,
            scopes=SCOPES,
            client_secret=make_password(SECRET, hasher="pbkdf2_random_secret"),
        )
        flask, server = self._server(app)
        self._addresses[app.slug] = f"http://localhost:{server.effective_port}"
        url = registered or self.address(app)
        app.redirect_url, app.webhook_url = f"{url}/callback", f"{url}/webhooks"
        app.save()
        save_manifest(app=app, developer=self._developer, document=manifest(url))
        if change is not None:
            change(flask)
        self.running.enter_context(serving(server))
        return app

    def address(self, app: App) -> str:
        return self._addresses[app.slug]

    def _server(self, app: App) -> tuple[Flask, Any]:
        environment = {
            "PLATFORM_URL": self._platform,
            "STORES_ORIGIN": self._platform.replace("127.0.0.1", "stores.localhost"),
            "SAMPLE_APP_STATE": str(self._folder / app.slug / "app.sqlite3"),
            "SAMPLE_APP_PORT": "0",
            "CLIENT_ID": app.client_id,
            "CLIENT_SECRET": SECRET,
        }
        return create_server(read_config((), environment))


@pytest.fixture
def order_bell(dana: User, platform: str, tmp_path: Path) -> Iterator[OrderBell]:
    bell = OrderBell(dana, platform, tmp_path)
    with bell.running:
        yield bell


@pytest.fixture
def sign_in(dana: User, platform: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SignIn:
    """Signs Dana's command line in, as in a CI."""

    def sign() -> None:
        issued = create_developer_token(user=dana, name="CI", lifetime=timedelta(days=1))
        monkeypatch.setenv("EXTENSION_PLATFORM_URL", platform)
        monkeypatch.setenv("EXTENSION_PLATFORM_TOKEN", issued.text)
        monkeypatch.delenv("EXTENSION_PLATFORM_APP", raising=False)
        monkeypatch.chdir(tmp_path)

    return sign
