"""The demo while two dozen merchants install an app, order in their stores, and submissions are checked."""

import json
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
import requests

from tests.by_hand import Browser, Platform, query_of
from tests.whole_life import PASSWORD, SCOPES, manifest

from .process import ROOT, Demo

pytestmark = [pytest.mark.slow, pytest.mark.timed]

MERCHANTS = 24
SUBMISSIONS = 6
ORDERS = 4  # of each merchant
ANSWERED_WITHIN = 8.0  # seconds, on a busy machine; without the bound some took over 30

ANSWERS: dict[str, dict[str, Any]] = {
    "/webhooks/validate": {"valid": True},
    "/webhooks/discounts": {"discount": 0},
    "/webhooks/rates": {"fee": 275},
    "/webhooks/methods": {"methods": [{"id": "bell", "name": "Bell Pay"}]},
    "/webhooks/payment": {"paymentUrl": "https://pay.example.com/7", "invoiceId": "B-7"},
}
APPROVE = """
from accounts.models import User
from marketplace.models import Submission
from marketplace.services import reviews
reviewer = User.objects.get(email="reviewer@example.com")
found = Submission.objects.get(app__slug="bell")
reviews.take(submission=found, reviewer=reviewer)
reviews.approve(submission=found, reviewer=reviewer)
"""


class AppServer:
    """The server of all apps here. To answer a hook it looks the store up in the app API, as apps do."""

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self.clients: dict[str, dict[str, Any]] = {}  # by the path of the callback
        self.tokens: dict[str, str] = {}  # by business
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path in outer.clients:
                    outer.exchange(parts.path, query_of(self.path))
                self.answer({})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = urlsplit(self.path).path
                if path in ANSWERS:
                    outer.look_up(self.headers.get("X-Webhook-Business-Id", ""))
                self.answer(ANSWERS.get(path, {}))

            def answer(self, body: dict[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def exchange(self, path: str, query: dict[str, str]) -> None:
        client = self.clients[path]
        answer = requests.post(
            f"{self.platform}/oauth/token",
            data={
                "grant_type": "authorization_code",
                "code": query.get("code", ""),
                "redirect_uri": self.url + path,
            },
            auth=(client["clientId"], client["clientSecret"]),
            timeout=60,
        )
        if answer.ok:
            found = answer.json()
            self.tokens[found["businessId"]] = found["access_token"]

    def look_up(self, business: str) -> None:
        token = self.tokens.get(business, "")
        requests.get(
            f"{self.platform}/app-api/business", headers={"Authorization": f"Bearer {token}"}, timeout=60
        )

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Probe:
    """Asks /healthz ten times a second, each time on a new connection."""

    def __init__(self, url: str) -> None:
        self.took: list[float] = []
        self._url, self._stop = url, threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Probe":
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()
        return self

    def _tick(self) -> None:
        while not self._stop.wait(0.1):
            each = threading.Thread(target=self._ask, daemon=True)
            each.start()
            self._threads.append(each)

    def _ask(self) -> None:
        began = time.monotonic()
        requests.get(f"{self._url}/healthz", timeout=120)
        self.took.append(time.monotonic() - began)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._ticker.join()
        for each in self._threads:
            each.join(120)


def call(url: str, path: str, token: str = "", method: str = "POST", **body: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = requests.request(method, url + path, json=body or None, headers=headers, timeout=120)
    assert answer.ok, f"{path}: {answer.status_code} {answer.text}"
    return answer.json() if answer.content else {}


class Load:
    def __init__(self, demo: Demo, server: AppServer) -> None:
        self.demo, self.server, self.url = demo, server, demo.url

    def app(self, name: str) -> tuple[str, dict[str, Any]]:
        """A developer with an app that has hooks, on the way to a review. Returns token and app."""
        account = call(
            self.url,
            "/auth/register",
            email=f"{name}@example.net",
            password=PASSWORD,
            name=name.title(),
            role="DEVELOPER",
        )
        token = account["accessToken"]
        path = f"/callback/{name}"
        app = call(
            self.url,
            "/developer/apps",
            token,
            name=f"App {name}",
            slug=name,
            description="Rings for orders.",
            category="other",
            scopes=SCOPES,
            redirectUrl=self.server.url + path,
            webhookUrl=f"{self.server.url}/webhooks",
        )
        self.server.clients[path] = app
        call(self.url, f"/developer/apps/{app['id']}/manifest", token, "PUT", **manifest(self.server.url))
        return token, app

    def submit(self, token: str, app: dict[str, Any]) -> None:
        call(self.url, f"/developer/apps/{app['id']}/submit", token)

    def merchant(self, number: int) -> tuple[str, Browser]:
        """A merchant with a product, signed in. Returns the business and the browser."""
        email = f"merchant{number}@example.net"
        account = call(
            self.url,
            "/auth/register",
            email=email,
            password=PASSWORD,
            name="Mary Quay",
            role="MERCHANT",
            businessName=f"Quay {number}",
        )
        browser = Browser(Platform(self.url, "http://{slug}.stores.example", [self.url]))
        browser.open("/accounts/login/")
        browser.press("Sign in", email=email, password=PASSWORD)
        browser.open("/merchant/products/add/")
        browser.press("Add product", name="Bread", price="4.50")
        return account["businessId"], browser

    def install(self, browser: Browser, app: dict[str, Any]) -> None:
        query = {"response_type": "code", "client_id": app["clientId"], "state": "x"}
        browser.open(f"/oauth/authorize?{urlencode(query)}")
        requests.get(browser.press("Install").url, timeout=120)

    def order(self, business: str) -> int:
        token = self.server.tokens[business]
        headers = {"Authorization": f"Bearer {token}"}
        products = requests.get(f"{self.url}/app-api/products", headers=headers, timeout=120).json()["data"]
        answer = requests.post(
            f"{self.url}/app-api/orders",
            headers=headers,
            timeout=120,
            json={
                "items": [{"productId": products[0]["id"], "quantity": 1}],
                "customer": {"name": "Kim", "email": "kim@example.com"},
                "deliveryMethod": "PICKUP",
                "paymentMethod": "CASH",
            },
        )
        return answer.status_code


def test_others_are_answered_while_apps_are_waited_for(tmp_path: Path) -> None:
    """The apps' server asks the platform before it answers a hook: where every thread waits for it, no request is answered."""
    demo = Demo(tmp_path / "var", AUTH_RATE_LIMITS="off").start()
    server = AppServer(demo.url)
    try:
        load = Load(demo, server)
        token, app = load.app("bell")
        load.submit(token, app)
        subprocess.run(
            [sys.executable, "manage.py", "shell", "-c", APPROVE],
            cwd=ROOT,
            env=demo.environment(),
            check=True,
        )
        others = [load.app(f"other{number}") for number in range(SUBMISSIONS)]
        with ThreadPoolExecutor(2) as few:  # what takes a while here is the hashing of passwords
            merchants = list(few.map(load.merchant, range(MERCHANTS)))
        with ThreadPoolExecutor(MERCHANTS + SUBMISSIONS) as pool, Probe(demo.url) as probe:
            submitted = [pool.submit(load.submit, *other) for other in others]
            list(pool.map(lambda each: load.install(each[1], app), merchants))
            statuses = list(pool.map(load.order, [business for business, _ in merchants] * ORDERS))
            for each in submitted:
                each.result()
    finally:
        demo.end()
        server.close()
    print(
        f"/healthz took at most {max(probe.took):.1f} s, at the median {statistics.median(probe.took):.2f} s"
    )
    assert set(statuses) == {201}
    assert max(probe.took) < ANSWERED_WITHIN
