"""A third-party app's pages, on an origin of their own: what blocks, widgets, scripts and admin pages come from."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

SDK = (Path(__file__).resolve().parents[2] / "sdk/js/extension-platform.js").read_bytes()

# Does what a block of an app does, and keeps its messages where a test can read it.
BLOCK = b"""<!doctype html><html lang="en"><title>Block</title><h1 id="title">Waiting</h1>
<script type="module">
import { connectBlock, wear } from "/sdk.js";
window.heard = [];
window.tokens = [];
window.kept = [];
window.block = connectBlock({ platformOrigin: "PLATFORM", storesOrigin: "STORES", onSettings(settings, blockId, theme) {
  window.theme = theme;
  wear(theme);
  window.heard.push({ settings, blockId });
  document.getElementById("title").textContent = settings.title ?? "No title";
}, onSession: (token) => window.tokens.push(token), onAttributes: (kept) => window.kept.push(kept) });
</script></html>"""

ADMIN = b"""<!doctype html><html lang="en"><title>Admin</title><h1 id="name">Waiting</h1>
<script type="module">
import { connectAdminPage } from "/sdk.js";
window.heard = [];
connectAdminPage({ platformOrigin: "PLATFORM", onInit(context) {
  window.heard.push(context);
  document.getElementById("name").textContent = context.businessName;
} });
</script></html>"""

SCRIPT = b"""(() => {
  const { app, businessId, settings } = document.currentScript?.dataset ?? {};
  document.documentElement.dataset.appScript = JSON.stringify({ app, businessId, settings: JSON.parse(settings ?? "null") });
})();"""


class AppSite:
    """A context manager; `url` is its origin. `pages` may be added to.

    In its pages PLATFORM and STORES stand for the origins that an app knows.
    """

    def __init__(self, platform: str, stores: str) -> None:
        self.pages: dict[str, tuple[str, bytes]] = {
            "/sdk.js": ("text/javascript", SDK),
            "/block": ("text/html", BLOCK),
            "/widget": ("text/html", BLOCK),
            "/admin": ("text/html", ADMIN),
            "/script.js": ("text/javascript", SCRIPT),
            "/favicon.ico": ("image/png", b""),
        }
        self.stores = stores
        self.asked: list[str] = []
        self.headers: dict[str, str] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append(self.path)
                kind, body = site.pages.get(urlsplit(self.path).path, ("", b""))
                body = body.replace(b"PLATFORM", platform.encode()).replace(b"STORES", site.stores.encode())
                self.send_response(200 if kind else 404)
                self.send_header("Content-Type", f"{kind or 'text/plain'}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                for name, value in site.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
