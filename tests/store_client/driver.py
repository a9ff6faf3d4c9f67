"""A driver in front of the small shop: its web server in this process, its sender in one of its own."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import requests
from extension_platform_store import Hooks
from extension_platform_store.check.driver import About, Bill, Person

from tests.faults.processes import ROOT
from tests.store_client.checked_shop import CheckedShop, Configuration, opened, written

PATHS = [[("packed", "PREPARING"), ("sent", "DELIVERED")], [("void", "CANCELLED")]]
START_WITHIN = 10.0
SIGNED_IN = {"Cookie": "signed-in=yes"}


STARTED: list["SmallDriver"] = []
"""Those that tests have to stop."""


class SmallDriver:
    """Made for one shop. `options` are those of its configuration."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self._folder, self._options = folder, options
        STARTED.append(self)
        self._given: Configuration | None = None
        self._sender: subprocess.Popen[bytes] | None = None
        self._web: ShopWeb | None = None

    def connect(self, platform: str, key: str, secret: str) -> About:
        if self._given and self._given.fault == "key-of-before":
            key = self._given.key
        self._given = Configuration(
            str(self._folder / "shop.sqlite3"), platform, key, secret, **self._options
        )
        self._stop_web()
        self._web = ShopWeb(self._given)
        self.restart_sender(compare=False)
        self._wait_for_the_first_fill()
        return {"commands": f"{self._web.url}/commands", "page": f"{self._web.url}/about", "paths": PATHS}

    def save_product(self, product: str | None, *, name: str, price: Decimal, stock: int) -> str:
        with self._shop() as shop:
            return shop.save(product, name, price, stock)

    def delete_product(self, product: str) -> None:
        with self._shop() as shop:
            shop.delete(product)

    def checkout(self, items: Sequence[tuple[str, int]], person: Person, *, confirm: bool) -> Bill:
        about = {"name": person.name, "email": person.email, "phone": person.phone}
        began = time.monotonic()
        answer = self._request(
            "POST", "/checkout", json={"lines": items, "person": about, "confirm": confirm}
        )
        seconds = time.monotonic() - began
        seen = answer.json()
        return {
            "total": Decimal(seen["total"]),
            "order": seen["order"],
            "message": seen["message"],
            "seconds": seconds,
        }

    def move_order(self, order: str, state: str) -> None:
        with self._shop() as shop:
            shop.move(order, state)

    def erase(self, person: Person) -> None:
        with self._shop() as shop:
            shop.erase(person.email)

    def dump(self) -> str:
        with self._shop() as shop:
            return shop.dump()

    def open_apps(self, next_page: str | None, *, signed_in: bool) -> str | None:
        headers = SIGNED_IN if signed_in else {}
        query = {"next": next_page} if next_page else None
        answer = self._request("GET", "/apps", params=query, headers=headers)
        return answer.headers.get("Location")

    def restart_sender(self, *, compare: bool) -> None:
        assert self._given is not None
        self._kill()
        command = [sys.executable, "-m", "tests.store_client.checked_shop", written(self._given)]
        paths = os.pathsep.join(map(str, (ROOT, ROOT / "sdk" / "store-python")))
        with (self._folder / "sender.log").open("ab") as log:
            self._sender = subprocess.Popen(
                [*command, *(["--compare"] if compare else [])], cwd=ROOT, stdout=log, stderr=log,
                env={"PATH": os.environ["PATH"], "PYTHONPATH": paths},
            )  # fmt: skip

    def stop(self) -> None:
        self._kill()
        self._stop_web()

    def _wait_for_the_first_fill(self) -> None:
        """It would repair what a fault has lost."""
        until = time.monotonic() + START_WITHIN
        with self._shop() as shop:
            while not (shop.outbox.state("compared_at") and shop.outbox.waiting().marks == 0):
                if time.monotonic() > until:
                    return  # the check says what the shop did
                time.sleep(0.02)

    def _kill(self) -> None:
        if self._sender is not None:
            self._sender.kill()
            self._sender.wait()

    def _stop_web(self) -> None:
        if self._web is not None:
            self._web.close()

    @contextmanager
    def _shop(self) -> Iterator[CheckedShop]:
        assert self._given is not None
        with opened(self._given) as shop:
            yield shop

    def _request(self, method: str, path: str, **options: Any) -> requests.Response:
        assert self._web is not None
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(
                method, self._web.url + path, timeout=60, allow_redirects=False, **options
            )
        answer.raise_for_status()
        return answer


def stop_all() -> None:
    while STARTED:
        STARTED.pop().stop()


class ShopWeb:
    """The web server of a shop."""

    def __init__(self, given: Configuration) -> None:
        with opened(given) as shop:
            hooks = shop.hooks()
        handler = type("ShopHandler", (_ShopHandler,), {"given": given, "hooks": hooks})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _ShopHandler(BaseHTTPRequestHandler):
    given: Configuration
    hooks: Hooks

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        with opened(self.given) as shop:
            if path == "/apps":
                next_page = unquote_plus(query.partition("next=")[2]) or None
                signed_in = self.headers.get("Cookie") == SIGNED_IN["Cookie"]
                self._answer(302, b"", {"Location": shop.open_apps(next_page, signed_in=signed_in) or "/"})
            else:
                html, headers = shop.page()
                self._answer(200, html.encode(), headers | {"Content-Type": "text/html; charset=utf-8"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with opened(self.given) as shop:
            if self.path == "/commands":
                status, answer = shop.commands().answer(dict(self.headers), body)
            else:
                asked = json.loads(body)
                status = 200
                answer = shop.checkout(self.hooks, asked["lines"], asked["person"], confirm=asked["confirm"])
        self._answer(status, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - a name of the base class
        """Tests look at answers."""
