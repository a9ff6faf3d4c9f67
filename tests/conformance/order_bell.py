"""The sample app, as a check meets it."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from flask import Flask

from accounts.models import User
from examples.sample_app.app import create_app, create_server
from examples.sample_app.config import Config, read_config
from examples.sample_app.manifest import manifest
from extensions.services.manifests import save_manifest
from marketplace.models import App
from tests import factories
from tests.installations.oauth_client import SECRET
from tests.servers import serving

SCOPES = ["read_business", "read_products", "read_orders", "write_orders"]

Change = Callable[[Flask], None]

SignIn = Callable[[], None]


class OrderBell:
    """Starts the sample app as an app of Dana's."""

    def __init__(self, developer: User, platform: str, folder: Path) -> None:
        self._developer = developer
        self._platform = platform
        self._folder = folder
        self._addresses: dict[str, str] = {}
        self._servers: dict[str, Any] = {}
        self.running = ExitStack()

    def __call__(self, change: Change | None = None, *, registered: str = "") -> App:
        """`change` makes a mistake. `registered` is the address in the app's record, if it isn't the server's own."""
        app = factories.app(
            self._developer,
            scopes=SCOPES,
            client_secret=make_password(SECRET, hasher="pbkdf2_random_secret"),
        )
        flask, server = self._server(app)
        self._servers[app.slug] = server
        self._addresses[app.slug] = f"http://localhost:{server.effective_port}"
        url = registered or self.address(app)
        app.redirect_url, app.webhook_url = f"{url}/callback", f"{url}/webhooks"
        app.save()
        save_manifest(app=app, developer=self._developer, document=manifest(url))
        if change is not None:
            change(flask)
        self.running.enter_context(serving(server))
        return app

    def become(self, app: App, change: Change | None = None) -> None:
        """The same server with another mistake, or without any, as after a deployment."""
        flask = create_app(self._config(app), self.address(app))
        if change is not None:
            change(flask)
        self._servers[app.slug].application = flask

    def address(self, app: App) -> str:
        return self._addresses[app.slug]

    def _server(self, app: App) -> tuple[Flask, Any]:
        return create_server(self._config(app))

    def _config(self, app: App) -> Config:
        environment = {
            "PLATFORM_URL": self._platform,
            "STORES_ORIGIN": self._platform.replace("127.0.0.1", "stores.localhost"),
            "SAMPLE_APP_STATE": str(self._folder / app.slug / "app.sqlite3"),
            "SAMPLE_APP_PORT": "0",
            "CLIENT_ID": app.client_id,
            "CLIENT_SECRET": SECRET,
        }
        return read_config((), environment)
