"""HTTP: limits, headers, and the app's own pages. What stores and shoppers ask for is in ``routes``."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from urllib.parse import parse_qs, parse_qsl, urlsplit

from extension_platform_sdk import OAuthError, PlatformError, Response, StateMismatch

from .answers import Answer, Request
from .app import App, Notice, store_name
from .config import Config
from .document import PAGE_HEADERS
from .installing import BEGUN_FOR, Installing
from .pages import render_page, render_store
from .routes import Route, allowed_methods, find_route
from .wording import explain

MAX_WEBHOOK = 1024 * 1024
MAX_FORM = 8 * 1024
MAX_DISCARDED = 8 * MAX_WEBHOOK

HERE = Path(__file__).parent
SDK_FOR_BROWSERS = HERE.parents[1] / "sdk" / "js" / "extension-platform.js"
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

STATIC = {f"/static/{file.name}": file for file in [SDK_FOR_BROWSERS, *(HERE / "static").iterdir()]}
STATIC["/embed/announcement.js"] = HERE / "static" / "announcement.js"  # on every page of the stores

FROM_THE_PLATFORM = {"/webhooks", "/webhooks/hooks", "/healthz"}

FORMS: dict[str, Callable[[App, dict[str, str]], Notice]] = {
    "/connect": App.connect,
    "/sample-order": App.place_sample_order,
    "/test-event": App.send_test,
    "/disconnect": App.disconnect,
}

STATE_COOKIE = "order_bell_state"

logger = logging.getLogger(__name__)


class Server(ThreadingHTTPServer):
    """Listens on 127.0.0.1 only. Raises ``OSError`` when the port is taken."""

    daemon_threads = True
    request_queue_size = 64  # the platform may deliver several webhooks at once

    def __init__(self, config: Config) -> None:
        super().__init__(("127.0.0.1", config.port), Handler)
        self.app = App(config, self.server_port)

    def server_bind(self) -> None:
        """Without the name look-up of ``HTTPServer``, which takes seconds where there is no name server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]


class Handler(BaseHTTPRequestHandler):
    """One request; the standard library makes one of these per connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "OrderBell"
    sys_version = ""
    timeout = 15
    wbufsize = -1  # head and body leave together: apart, the second would wait 40 ms for the first's receipt

    def do_GET(self) -> None:
        self._guarded(self._get)

    do_HEAD = do_GET  # noqa: N815 - the standard library's name

    def do_POST(self) -> None:
        self._guarded(self._post)

    def _guarded(self, answer: Callable[[str], None]) -> None:
        """Answer; whatever goes wrong, the caller gets a status and nothing of the inside."""
        path = urlsplit(self.path).path
        try:
            if path in FROM_THE_PLATFORM or self.server.app.guard.knows_host(self.headers):
                answer(path)
            else:
                self._refuse(421, "This app is not known by that host name.")
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception:
            logger.exception("%s %s failed", self.command, path)
            self._refuse(500, "Something went wrong in the app. Its log says what.")

    def _get(self, path: str) -> None:
        app = self.server.app
        if path == "/":
            self._get_page()
        elif path.startswith("/stores/"):
            self._get_store(path.removeprefix("/stores/"))
        elif path in {"/install", "/callback"} and app.installing:
            self._install(app.installing) if path == "/install" else self._finish(app.installing)
        elif path == "/received.json":
            received = {"received": [call.as_json() for call in app.inbox.newest_first()]}
            self._send(200, "application/json", json.dumps(received).encode(), PAGE_HEADERS)
        elif path == "/healthz":
            self._send(200, "application/json", b'{"status": "ok"}')
        elif path in STATIC:
            self._send_file(STATIC[path])
        elif route := find_route("GET", path):
            self._answer(route(app, self._request(path)))
        elif path == "/webhooks" or path in FORMS or allowed_methods(path):
            self._refuse(405, "Only POST is answered here.", {"Allow": "POST"})
        else:
            self._refuse(404, "There is no such page.")

    def _get_page(self) -> None:
        """The page; 304 for the page's own script when nothing has changed since its last look."""
        app = self.server.app
        version = f'"{app.version}"'
        if "?" not in self.path and self.headers.get("If-None-Match") == version:
            self._send(304, "", b"", PAGE_HEADERS)
            return
        self._send_page(200, render_page(app, self._notice()), {"ETag": version})

    def _get_store(self, installation_id: str) -> None:
        app = self.server.app
        connection = app.connections.of_installation(installation_id)
        if connection is None:
            notice = Notice(False, "That store is not connected", "It was disconnected or erased.")
            self._send_page(404, render_page(app, notice))
        else:
            self._send_page(200, render_store(app, connection, self._notice()))

    def _install(self, installing: Installing) -> None:
        """Send the browser to the consent, and let it keep the state that the answer must bring back."""
        try:
            begun = installing.begin()
        except PlatformError as error:
            text = explain(error, self.server.app.platform.url)
            self._redirect("/", Notice(False, "The installation could not begin", text))
            return
        self._redirect(begun.url, cookie=f"{begun.state}; Max-Age={BEGUN_FOR}")

    def _finish(self, installing: Installing) -> None:
        """The Redirect URL: the browser comes back with a code or an error."""
        app = self.server.app
        query = dict(parse_qsl(urlsplit(self.path).query))
        failed = "The store was not connected"
        try:
            connection = installing.finish(query, state=self._state())
        except StateMismatch:
            text = "This answer is not to an installation that was begun in this browser within the last 10 minutes."
            self._send_page(400, render_page(app, Notice(False, failed, f"{text} Begin again.")))
        except OAuthError as error:
            good = None if error.error == "access_denied" else False
            title = "Nothing was installed" if good is None else failed
            self._redirect("/", Notice(good, title, explain(error, app.platform.url)), cookie="; Max-Age=0")
        except PlatformError as error:
            self._redirect("/", Notice(False, failed, explain(error, app.platform.url)), cookie="; Max-Age=0")
        else:
            notice = Notice(True, "Order Bell is installed", f"Orders of {store_name(connection)} ring here.")
            self._redirect(f"/stores/{connection.installation_id}", notice, cookie="; Max-Age=0")

    def _state(self) -> str:
        """What `/install` left with this browser; empty where there is nothing."""
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(STATE_COOKIE)
        except CookieError:
            return ""
        return cookie.value if cookie else ""

    def _notice(self) -> Notice | None:
        query = parse_qs(urlsplit(self.path).query)
        return self.server.app.take_notice(query["notice"][0]) if "notice" in query else None

    def _redirect(self, location: str, notice: Notice | None = None, cookie: str | None = None) -> None:
        """With a notice for the page it leads to, and with a new cookie for the state."""
        if notice:
            location += f"?notice={self.server.app.keep_notice(notice)}"
        headers = {"Location": location, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
        if cookie is not None:
            headers["Set-Cookie"] = f"{STATE_COOKIE}={cookie}; Path=/callback; HttpOnly; SameSite=Lax"
        self._send(303, "", b"", headers)

    def _send_page(self, status: int, page: str, headers: dict[str, str] | None = None) -> None:
        body = page.encode(errors="replace")
        self._send(status, "text/html; charset=utf-8", body, PAGE_HEADERS | (headers or {}))

    def _post(self, path: str) -> None:
        if path == "/webhooks":
            response = self._receive()
            self._send(response.status, "application/json", response.body)
        elif path in FORMS:
            self._post_form(FORMS[path])
        elif route := find_route("POST", path):
            self._post_to(route, path)
        else:
            known = path in {"/", "/received.json", "/healthz"} or allowed_methods(path)
            self._refuse(405 if known else 404, "Nothing is posted here.")

    def _post_to(self, route: Route, path: str) -> None:
        length = self._content_length()
        if length is None or length > MAX_WEBHOOK:
            self._refuse(413 if length else 411, "The body is too large, or of unknown length.")
            return
        self._answer(route(self.server.app, self._request(path, self._read(length))))

    def _receive(self) -> Response:
        length = self._content_length()
        receiver = self.server.app.receiver
        if length is None:
            self.close_connection = True
            return receiver.refuse(self.headers, 411, "Content-Length is missing")
        if length > MAX_WEBHOOK:
            self._discard(length)
            return receiver.refuse(self.headers, 413, "the body is larger than 1 MiB")
        return receiver.receive(self.headers, self._read(length))

    def _post_form(self, press: Callable[[App, dict[str, str]], Notice]) -> None:
        """Press a button, then send the browser back to the page: a reload must not press it again."""
        length = self._content_length()
        if length is None or length > MAX_FORM:
            self._refuse(413, "The form is too large.")
            return
        form = dict(parse_qsl(self._read(length).decode(errors="replace")))
        app = self.server.app
        if not app.guard.allows_post(self.headers, form.get("csrf", "")):
            self._refuse(
                403, "This form did not come from the app's current page. Reload the page and try again."
            )
            return
        notice = press(app, form)
        connection = app.connections.of_installation(form.get("installation", ""))
        on_its_page = form.get("back") == "store" and connection
        self._redirect(f"/stores/{connection.installation_id}" if on_its_page else "/", notice)

    def _request(self, path: str, body: bytes = b"") -> Request:
        return Request(path, dict(parse_qsl(urlsplit(self.path).query)), self.headers, body)

    def _answer(self, answer: Answer) -> None:
        self._send(answer.status, answer.content_type, answer.body, dict(answer.headers))

    def _send_file(self, file: Path) -> None:
        self._send(200, TYPES[file.suffix], file.read_bytes(), {"Cache-Control": "no-cache"})

    def _content_length(self) -> int | None:
        text = self.headers.get("Content-Length", "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None

    def _read(self, length: int) -> bytes:
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the caller hung up in the middle")
        return body

    def _discard(self, length: int) -> None:
        """Read past a body that is not wanted: callers that are still sending would miss the answer."""
        self.close_connection = True
        left = min(length, MAX_DISCARDED)
        while left > 0 and (chunk := self.rfile.read(min(left, 64 * 1024))):
            left -= len(chunk)

    def _refuse(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        self.close_connection = True  # the body, if there is one, was not read
        self._send(status, "text/plain; charset=utf-8", f"{text}\n".encode(), headers)

    def _send(
        self, status: int, content_type: str, body: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        if content_type:
            self.send_header("Content-Type", content_type)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the page asks every second, and what matters is logged where it happens."""
