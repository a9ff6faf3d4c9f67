"""The sample app, as a check meets it."""

import threading
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.hashers import make_password

from accounts.models import User
from examples.sample_app.config import read_config
from examples.sample_app.manifest import manifest
from examples.sample_app.server import Server
from extensions.services.manifests import save_manifest
from marketplace.models import App
from tests import factories
from tests.installations.oauth_client import SECRET

SCOPES = ["read_business", "read_products", "read_orders", "write_orders"]

Change = Callable[[Server], None]

SignIn = Callable[[], None]


class OrderBell:
    """Starts the sample app as an app of Dana's."""

    def __init__(self, developer: User, platform: str, folder: Path) -> None:
        self._developer = developer
        self._platform = platform
        self._folder = folder
        self._running: dict[str, Server] = {}

    def __call__(self, change: Change | None = None, *, registered: str = "") -> App:
        """`change` makes a mistake. `registered` is the address in the app's record, if it isn't the server's own."""
        app = factories.app(
            self._developer,
            scopes=SCOPES,
            client_secret=make_password(SECRET, hasher="pbkdf2_random_secret"),
        )
        server = self._server(app)
        self._running[app.slug] = server
        url = registered or self.address(app)
        app.redirect_url, app.webhook_url = f"{url}/callback", f"{url}/webhooks"
        app.save()
        save_manifest(app=app, developer=self._developer, document=manifest(url))
        if change is not None:
            change(server)
        serve = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        serve.start()
        return app

    def address(self, app: App) -> str:
        return f"http://localhost:{self._running[app.slug].server_port}"

    def stop(self) -> None:
        for server in self._running.values():
            server.shutdown()
            server.server_close()

    def _server(self, app: App) -> Server:
        environment = {
            "PLATFORM_URL": self._platform,
            "STORES_ORIGIN": self._platform.replace("127.0.0.1", "stores.localhost"),
            "SAMPLE_APP_STATE": str(self._folder / app.slug / "app.json"),
            "SAMPLE_APP_PORT": "0",
            "CLIENT_ID": app.client_id,
            "CLIENT_SECRET": SECRET,
        }
        return Server(read_config((), environment))
