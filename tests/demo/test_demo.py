"""The demo, from its start to its end, as somebody meets it who has just cloned the repository."""

import hashlib
import hmac
import re
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from cryptography.fernet import Fernet
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.chromium import launch
from tests.examples.driver import SampleApp
from tests.receivers import Answer, Receiver
from tests.waiting import wait_until

from .process import ROOT, Demo, Newcomer

pytestmark = [pytest.mark.slow, pytest.mark.timed]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """One that runs throughout, for those who only use it. It retries every second."""
    running = Demo(tmp_path_factory.mktemp("demo") / "var", WEBHOOK_RETRY_DELAYS="1,1,1,1,1").start()
    yield running
    running.end()


@pytest.fixture
def own_demo(tmp_path: Path) -> Iterator[Demo]:
    """One to start, stop and kill."""
    own = Demo(tmp_path / "var")
    yield own
    own.end()


def sign_in(demo: Demo, email: str) -> requests.Response:
    return requests.post(
        f"{demo.url}/auth/login", json={"email": email, "password": "extension-demo"}, timeout=10
    )


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def has_ipv6() -> bool:
    with socket.socket(socket.AF_INET6) as probe, suppress(OSError):
        probe.bind(("::1", 0))
        return True
    return False


@pytest.mark.spec(
    "Contract 8 Running it", "The demo runs web, worker, scheduler and the sample app; Ctrl-C stops it all"
)
@pytest.mark.spec("Contract 8 Running it", "PORT and VAR_DIR change where the demo runs")
def test_demo_starts_stops_and_starts_again(own_demo: Demo) -> None:
    own_demo.start()
    assert (own_demo.var_dir / "extension-platform.sqlite3").exists()
    assert own_demo.stop() == 0
    assert not listens(own_demo.port)
    assert not listens(own_demo.sample_app_port)
    own_demo.start()
    assert sign_in(own_demo, "developer@example.com").status_code == 200
    assert own_demo.stop(signal.SIGTERM) == 0


@pytest.mark.spec(
    "Contract 7 Pages", "The demo's stores are at http://localhost:PORT, and its front leads to the platform"
)
def test_demo_has_its_stores_on_another_host(demo: Demo) -> None:
    printed = (demo.var_dir.parent / "demo.log").read_text()
    assert demo.url in printed
    assert f"{demo.stores_url}/store/harbour-bakery/" in printed
    for address in ("127.0.0.1", "[::1]") if has_ipv6() else ("127.0.0.1",):  # "localhost" may mean either
        front = requests.get(
            f"http://{address}:{demo.port}/",
            headers={"Host": f"localhost:{demo.port}"},
            allow_redirects=False,
            timeout=5,
        )
        assert (front.status_code, front.headers["location"]) == (302, f"{demo.url}/")
    store = requests.get(f"{demo.url}/store/harbour-bakery/", timeout=5)
    assert store.url == f"{demo.stores_url}/store/harbour-bakery/"
    assert "Harbour Bakery" in store.text


@pytest.mark.spec("Contract 8 Running it", "The demo makes the sign-ins of developer, merchant and reviewer")
@pytest.mark.parametrize("who", ["developer", "merchant", "reviewer"])
def test_demo_sign_ins(demo: Demo, who: str) -> None:
    answer = sign_in(demo, f"{who}@example.com")
    assert answer.status_code == 200, answer.text
    assert answer.json()["user"]["role"] == who.upper()


@pytest.mark.spec("Contract 7 Pages", "The demo's marketplace lists an app that can be installed")
def test_marketplace_of_the_demo_lists_the_sample_app(own_demo: Demo) -> None:
    for _ in range(2):  # the second start lists nothing twice
        own_demo.start()
        page = requests.get(f"{own_demo.url}/marketplace/", timeout=5).text
        cards = re.findall(r'class="app-card".*?</h2>', page, re.DOTALL)
        assert len(cards) == 6
        assert "Order Bell" in cards[0]  # the only one with a server comes first
        shown = requests.get(f"{own_demo.url}/marketplace/order-bell/", timeout=5).text
        for path in re.findall(r'<img src="([^"]+)"', shown):
            assert requests.get(own_demo.url + path, timeout=5).headers["content-type"] == "image/png"
        assert f"localhost:{own_demo.sample_app_port}" in shown
        own_demo.stop()


@pytest.mark.spec("Events/Delivery format", "An order placed by the API arrives as a signed order.created")
def test_newcomer_sees_an_order_arrive(demo: Demo) -> None:
    newcomer = Newcomer(demo, "wire")
    app = SampleApp(demo.sample_app_url, demo.end)
    page = app.page()
    assert 'href="/install"' in page
    assert "Harbour Bakery" not in page
    app.press("/connect", access_token=newcomer.token)
    order = newcomer.place_order()

    def arrived() -> bool:
        return any(each["event"] == "order.created" and each["data"]["orderId"] == order["id"] and each["verified"]
                   for each in app.received())  # fmt: skip

    wait_until(arrived, 10)


@pytest.mark.spec(
    "Events/Retry policy", "A failing delivery gets six attempts under one id, each with a new signature"
)
def test_receiver_that_fails_gets_six_signed_attempts(demo: Demo) -> None:
    newcomer = Newcomer(demo, "retries")
    with Receiver() as receiver:
        receiver.respond_with(500)
        webhook = newcomer.post("/webhooks", newcomer.app, url=receiver.url, events=["order.created"])
        newcomer.place_order()
        receiver.wait_for(6, timeout=20)
        attempts = receiver.requests
    assert len({attempt.headers["x-service-event-id"] for attempt in attempts}) == 1
    assert len({attempt.headers["x-webhook-timestamp"] for attempt in attempts}) == 6
    assert len({attempt.body for attempt in attempts}) == 1
    for attempt in attempts:
        signed = attempt.headers["x-webhook-timestamp"].encode() + b"." + attempt.body
        expected = hmac.new(webhook["secret"].encode(), signed, hashlib.sha256).hexdigest()
        assert attempt.headers["x-webhook-signature"] == f"sha256={expected}"


@pytest.mark.spec("Contract 5 Webhooks", "A commit is never lost, whatever process dies when")
def test_order_is_delivered_after_the_demo_was_killed(own_demo: Demo) -> None:
    newcomer = Newcomer(own_demo.start(), "killed")
    with Receiver() as receiver:
        newcomer.post("/webhooks", newcomer.app, url=receiver.url, events=["order.created"])
        # The first attempt is in flight when everything dies, so its outcome was not recorded.
        receiver.respond_with(Answer(delay=5), 200)
        order = newcomer.place_order()
        receiver.wait_for(1, timeout=10)
        own_demo.stop(signal.SIGKILL)
        wait_until(lambda: not listens(own_demo.sample_app_port), 10)
        own_demo.start()
        receiver.wait_for(2, timeout=20)
    first, second = receiver.requests
    assert order["id"].encode() in first.body
    assert second.body == first.body
    assert second.headers["x-service-event-id"] == first.headers["x-service-event-id"]


def test_demo_refuses_a_port_that_is_taken(demo: Demo, tmp_path: Path) -> None:
    second = Demo(tmp_path / "second")
    second.port = demo.port
    refused = _run(second)
    assert refused.returncode == 1
    assert f"Port {demo.port} is in use" in refused.stderr
    assert "PORT=8100 VAR_DIR=/tmp/demo-8100 make demo" in refused.stderr


def test_demo_refuses_data_that_another_one_runs_on(demo: Demo) -> None:
    """Its sample app would take the other's addresses. After a kill, `own_demo` starts again on its data above."""
    second = Demo(demo.var_dir)
    refused = _run(second)
    assert refused.returncode == 1
    assert f"Another demo is running on the data in {demo.var_dir}" in refused.stderr
    assert "PORT=8100 VAR_DIR=/tmp/demo-8100 make demo" in refused.stderr
    assert not listens(second.port)
    assert sign_in(demo, "developer@example.com").status_code == 200


@pytest.mark.spec("Contract 9 Demo", "With DEBUG=0 the demo refuses a weak SECRET_KEY")
@pytest.mark.parametrize("secret", ["", "change-me", "a" * 64])
def test_demo_refuses_a_weak_secret_without_debug(tmp_path: Path, secret: str) -> None:
    refused = _run(Demo(tmp_path / "var", DEBUG="0", SECRET_KEY=secret))
    assert refused.returncode == 1
    assert "SECRET_KEY is missing or weak" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_demo_without_debug_runs_without_the_sample_app(tmp_path: Path) -> None:
    """Its address is not HTTPS, so it can't be installed."""
    keys = {"SECRET_KEY": secrets.token_urlsafe(48), "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode()}
    demo = Demo(
        tmp_path / "var",
        DEBUG="0",
        STORES_URL="http://{slug}.localhost",
        ALLOW_LOCAL_DESTINATIONS="0",
        DATABASE_URL=f"sqlite:///{tmp_path}/var/demo.sqlite3",
        REDIS_URL="memory://",
        EMAIL_URL="dummymail://",
        **keys,
    )
    try:
        demo.start()
        assert not listens(demo.sample_app_port)
        assert sign_in(demo, "merchant@example.com").status_code == 200
        assert demo.stop() == 0
    finally:
        demo.end()


def _run(demo: Demo) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", "demo"],
        cwd=ROOT,
        env=demo.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.browser
@pytest.mark.spec(
    "Contract 7 Pages", "From registration to a verified webhook by pages, with the curl of the page"
)
def test_newcomer_walks_from_registration_to_a_webhook(demo: Demo) -> None:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(base_url=demo.url)
        _register(page)
        token, curls = _create_app(page)
        assert '"data":[' in _run_curl(curls[0])
        _see_a_webhook(page)
        test_store = page.url
        page.goto(demo.sample_app_url)
        page.get_by_label("Access token").fill(token)
        page.get_by_role("button", name="Connect", exact=True).click()
        expect(page.get_by_label("Access token")).to_have_count(0)
        connected = page.url
        page.goto(test_store)
        page.get_by_role("button", name="Place a test order").click()
        page.wait_for_load_state("networkidle")
        page.goto(connected)
        entry = page.locator("li, article").filter(has_text=re.compile(r"Order \d+")).first
        expect(entry).to_contain_text("Signature verified")
        browser.close()


def _register(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Register as developer").click()
    page.get_by_label("Your name").fill("Nora Newcomer")
    page.get_by_label("E-mail").fill("nora@example.net")
    page.get_by_label("Password", exact=True).fill("sea otters hold hands")
    page.get_by_role("button", name="Register").click()


def _create_app(page: Page) -> tuple[str, list[str]]:
    """An app with nothing but a name. Returns its test token and the requests that the page offers."""
    page.get_by_role("link", name="Create app").first.click()
    page.get_by_label("Name", exact=True).fill("First app")
    expect(page.get_by_label("Slug")).to_have_value("first-app")
    page.get_by_role("button", name="Create app").click()
    token = page.get_by_label("Access token").input_value()
    assert token.startswith("fbat_test_")
    return token, [each for each in page.locator("pre").all_text_contents() if each.startswith("curl")]


def _see_a_webhook(page: Page) -> None:
    """In the inbox that came with the app, for an order that a button places."""
    page.get_by_role("button", name="I stored them").click()
    page.get_by_role("button", name="Place a test order").click()
    entry = page.locator(".entries > li").filter(has_text="order.created")
    expect(entry).to_contain_text("Signature verified", timeout=10_000)


def _run_curl(command: str) -> str:
    """Run a command exactly as the page shows it, in a shell."""
    done = subprocess.run(
        ["bash", "-c", f"{command} --fail --silent"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
