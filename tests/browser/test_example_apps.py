"""The example apps as processes, installed by OAuth on Dana's sandbox store: what shoppers and the merchant see in a browser."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
import requests
from django.conf import settings as django_settings
from playwright.sync_api import FrameLocator, Page, expect

from accounts.models import Business, User
from extensions.models import Definition
from extensions.services.extension_states import add_block
from extensions.services.manifests import save_manifest
from installations.models import Installation
from marketplace.models import App
from marketplace.services.apps import rotate_client_secret
from stores.models import Order, Product
from stores.services.orders import change_order_status, record_refund
from stores.services.pages import create_page
from stores.services.sandbox_changes import TEST
from tests import factories
from tests.merchants.erasing import erase
from tests.odd_contacts import EMAIL, EMAILS, PHONES
from tests.pages import signed_in
from tests.ports import free_port
from tests.sdk.node_tools import COMPILER, needs_module, node_version
from tests.storefront.shopping import Shopper
from tests.waiting import wait_until

from .conftest import SignIn

SPEC = "Contract 23 What an order tells"
ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds, on a busy machine

pytestmark = [pytest.mark.journey, pytest.mark.long, pytest.mark.timed]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def url(port: int) -> str:
    return f"http://localhost:{port}"


@pytest.fixture
def other_hosts(url: str, site: str, sandbox: Business) -> list[str]:
    return [url, f"http://{sandbox.slug}.stores.localhost:{urlsplit(site).port}"]


@pytest.fixture
def app(app: App, url: str, settings: Any, site: str) -> App:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    app.redirect_url, app.webhook_url = f"{url}/callback", f"{url}/webhooks"
    app.save()
    return app


@contextmanager
def running(
    example: str, command: list[str], folder: Path, app: App, url: str, **environment: str
) -> Iterator[Path]:
    """Its folder, in which everything is that it keeps."""
    settings = orjson.loads((ROOT / "examples" / example / "app.json").read_bytes())
    app.scopes, app.webhook_events = settings["scopes"], settings["webhookEvents"]
    app.save()
    manifest = (ROOT / "examples" / example / "manifest.json").read_text().replace("{server}", url)
    save_manifest(app=app, developer=app.developer, document=orjson.loads(manifest))
    log = folder / f"{example}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=folder / example,
            env={
                "PATH": os.environ["PATH"],
                "CLIENT_ID": app.client_id,
                "CLIENT_SECRET": rotate_client_secret(app=app, by=app.developer),
                "REDIRECT_URL": app.redirect_url,
            }
            | environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_until(lambda: _answers(url), PATIENCE, said=log.read_text)
        yield folder / example
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).ok
    except requests.RequestException:
        return False


def copied(example: str, folder: Path) -> Path:
    left_out = shutil.ignore_patterns(
        "node_modules", "dist", "__pycache__", "*.sqlite3", "installations.json"
    )
    return Path(shutil.copytree(ROOT / "examples" / example, folder / example, ignore=left_out))


def install(page: Page, url: str) -> Installation:
    """By OAuth, from the app's own page."""
    page.goto(url)
    page.get_by_role("link", name="Install on a store").click()
    page.get_by_role("button", name="Install", exact=True).click()
    page.wait_for_url(f"{url}/welcome**")
    return Installation.objects.get()


@pytest.fixture
def product(sandbox: Business) -> Product:
    return factories.product(sandbox, name="Bread", price=1200, stock=None)


def check_out(page: Page, shop: Business, product: Product, **fields: str) -> None:
    """Up to the button."""
    page.goto(f"/store/{shop.slug}/products/{product.slug}/")
    page.get_by_role("button", name="Buy now").click()
    page.get_by_label("Name").fill("Kim")
    for label, value in fields.items():
        page.get_by_label(label.replace("_", "-")).fill(value)
    page.get_by_label("Pickup").check()
    page.get_by_label("Cash").check()
    expect(page.locator("form.checkout[data-sums='known']")).to_be_visible()


def place(page: Page) -> None:
    page.get_by_role("button", name="Place order").click()
    page.wait_for_url("**/orders/*/")


def order(product: Product, **fields: str) -> None:
    """In a browser of its own, by HTTP."""
    shopper = Shopper(product.business)
    shopper.defaults["SERVER_NAME"] = urlsplit(django_settings.STORES_URL).hostname
    shopper.take(product)
    assert shopper.place(**fields).status_code == 302


# --- Stamp Card -----------------------------------------------------------------------------------------


class Cards:
    """What the app keeps, beside the `source` that it came with."""

    def __init__(self, folder: Path, source: set[Path]) -> None:
        self.folder, self.source = folder, source

    def counted(self) -> dict[str, int]:
        """How many orders count, by the shopper's key, once all are read."""
        rows = self._rows("SELECT shopper, due, counts FROM orders")
        if any(due for _, due, _ in rows):
            return {}
        return {key: sum(counts for each, _, counts in rows if each == key) for key, _, _ in rows}

    def hits(self, *texts: str) -> list[str]:
        """The files in which one of the texts is."""
        files = {file for file in self.folder.parent.rglob("*") if file.is_file()}
        kept = [file for file in files - self.source if "__pycache__" not in file.parts]
        assert "stamp-card.sqlite3" in {file.name for file in kept}
        return [file.name for file in kept if any(text.encode() in file.read_bytes() for text in texts)]

    def _rows(self, query: str) -> list[Any]:
        connection = sqlite3.connect(self.folder / "stamp-card.sqlite3", timeout=10)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()


@pytest.fixture
def cards(app: App, sandbox: Business, site: str, url: str, port: int, tmp_path: Path) -> Iterator[Cards]:
    source = set(copied("stamp_card", tmp_path).iterdir())
    command = [sys.executable, "-m", "flask", "run", "--port", str(port)]
    with running(
        "stamp_card", command, tmp_path, app, url, PLATFORM_URL=site, PYTHONPATH=str(ROOT / "sdk" / "python")
    ) as folder:
        yield Cards(folder, source)


@pytest.fixture
def block(
    sandbox: Business, cards: Cards, page: Page, url: str, sign_in: SignIn, dana: User
) -> Callable[[Page], FrameLocator]:
    """Opens the page with the block. The app is installed."""
    sign_in(page.context, dana)
    installation = install(page, url)
    about = create_page(business=sandbox, title="Stamps", slug="stamps", content="<p>Collect them.</p>")
    add_block(
        page=about, installation=installation, definition=Definition.objects.get(key="stamps"), settings={}
    )

    def open_page(shopper: Page) -> FrameLocator:
        shopper.goto(f"/store/{sandbox.slug}/pages/stamps/")
        return shopper.frame_locator("iframe.block")

    return open_page


@pytest.mark.spec(SPEC, "key is the same for one person: a shopper's tenth order is free in ten spellings")
@pytest.mark.spec(SPEC, "proven: false may earn, never show or spend")
def test_tenth_order_of_a_person_is_free(
    block: Any, cards: Cards, new_page: Any, dispatcher: Any, sandbox: Business, dana: User, product: Product
) -> None:
    """In ten spellings of one address. A stranger sees no stamp, and a refund takes one back."""
    kim, stranger = new_page(), new_page()
    check_out(kim, sandbox, product, E_mail=EMAILS[0])
    place(kim)
    expect(block(kim).get_by_role("status")).to_contain_text("open the e-mail about an order")
    for typed in EMAILS[1:9]:
        order(product, customer_email=typed)
    wait_until(lambda: list(cards.counted().values()) == [9], PATIENCE)

    kim.go_back()
    kim.get_by_role("button", name="Open as from the mail").click()
    kim.get_by_role("button", name="This is my order").click()
    expect(kim.get_by_text("knows you in this browser")).to_be_visible()
    expect(block(kim).get_by_role("status")).to_have_text("Your next order is free.")
    expect(block(kim).locator("li.stamped")).to_have_count(9)
    expect(block(stranger).get_by_role("status")).to_contain_text("open the e-mail about an order")
    expect(block(stranger).locator("li")).to_have_count(0)

    free = "Your stamp card is full. This order is free."
    for shopper in (stranger, kim):
        check_out(shopper, sandbox, product, E_mail=EMAILS[9])
    expect(stranger.locator("form.checkout")).not_to_contain_text(free)
    expect(kim.locator("form.checkout")).to_contain_text(free)
    place(kim)
    expect(kim.get_by_text(free)).to_be_visible()
    tenth = Order.objects.latest("id")
    assert (tenth.discount, tenth.amount) == (1200, 0)
    wait_until(lambda: list(cards.counted().values()) == [10], PATIENCE)
    expect(block(kim).get_by_role("status")).to_have_text("0 of 9 stamps")

    order(product, customer_email=EMAIL)
    wait_until(lambda: list(cards.counted().values()) == [11], PATIENCE)
    expect(block(kim).get_by_role("status")).to_have_text("1 of 9 stamps")
    bought = Order.objects.latest("id")
    change_order_status(order=bought, status="DELIVERED", by=TEST)
    record_refund(order=bought, amount=1200, reason="Stale.", known=0, by=TEST)
    wait_until(lambda: list(cards.counted().values()) == [10], PATIENCE)
    expect(block(kim).get_by_role("status")).to_have_text("0 of 9 stamps")

    [key] = cards.counted()
    assert cards.hits(key)
    Order.objects.update(status="DELIVERED")
    erase(signed_in(dana), EMAIL)
    wait_until(lambda: not cards.counted(), PATIENCE)
    ids = [str(each) for each in Order.objects.values_list("pk", flat=True)]
    assert cards.hits(key, "cher.example", "xn--bcher", *ids) == []


@pytest.mark.spec(SPEC, "A person is the address typed, else the phone number: two persons, two keys")
def test_ten_spellings_of_one_number_are_one_card(
    block: Any, cards: Cards, dispatcher: Any, sandbox: Business, product: Product
) -> None:
    for typed in PHONES[:10]:
        order(product, customer_email="", customer_phone=typed)
    order(product, customer_email=EMAIL, customer_phone=PHONES[0])
    wait_until(lambda: sorted(cards.counted().values()) == [1, 10], PATIENCE)
    assert not Order.objects.exclude(discount=0).exists()  # a number has no proof


# --- Delivery Slots -------------------------------------------------------------------------------------


@pytest.fixture
def slots(app: App, sandbox: Business, site: str, url: str, port: int, tmp_path: Path) -> Iterator[Path]:
    modules = copied("delivery_slots", tmp_path) / "node_modules"
    modules.mkdir()
    (modules / "extension-platform-node").symlink_to(ROOT / "sdk" / "node")
    (modules / "@types").symlink_to(COMPILER.parent.parent / "@types")
    subprocess.run([COMPILER], cwd=modules.parent, check=True)
    command = ["node", "dist/server.js"]
    with running("delivery_slots", command, tmp_path, app, url, PLATFORM_URL=site, PORT=str(port)) as folder:
        yield folder


@needs_module("typescript")
@pytest.mark.skipif(node_version() < 20, reason="needs Node 20.12 or newer")
@pytest.mark.spec(
    SPEC, "A widget's attributes are kept in the cart and shown on the merchant's order page and slip"
)
def test_slot_that_a_shopper_picks_is_on_the_slip(
    slots: Path, page: Page, new_page: Any, sign_in: SignIn, dispatcher: Any, url: str, sandbox: Business, dana: User,
    product: Product,
) -> None:  # fmt: skip
    """And the next shopper can't have it, by the settings that the merchant has just saved."""
    sign_in(page.context, dana)
    installation = install(page, url)
    page.goto(f"/merchant/apps/{installation.pk}/settings/")
    page.get_by_label("Deliveries in a slot").fill("1")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved").first).to_be_visible()
    wait_until(lambda: '"capacity": 1' in (slots / "installations.json").read_text(), PATIENCE)

    kim, ada = new_page(), new_page()
    picked = []
    for shopper, address in ((kim, "kim@example.com"), (ada, "ada@example.com")):
        check_out(shopper, sandbox, product, E_mail=address)
        shopper.get_by_label("Delivery", exact=True).check()
        shopper.get_by_label("Address").fill("1 Quay Street")
        shopper.get_by_label("Town").fill("Bergen")
        widget = shopper.frame_locator("iframe.widget")
        slot = widget.locator("option:not([disabled]):nth-child(2)")
        picked.append((slot.get_attribute("value"), slot.inner_text()))
        widget.get_by_label("Delivery slot").select_option(index=1)
        expect(widget.get_by_role("status")).to_have_text("Kept for your order.")
    assert picked[0] == picked[1]
    place(kim)
    wait_until(lambda: "public_delivery_slot" in str(Order.objects.get().attributes), PATIENCE)
    kim.reload()
    expect(kim.get_by_text(picked[0][1])).to_be_visible()
    ada.get_by_role("button", name="Place order").click()
    expect(ada.get_by_text("This delivery slot is full. Choose another one.").first).to_be_visible()
    order = Order.objects.get()
    for path in (f"/merchant/orders/{order.pk}/", f"/merchant/orders/{order.pk}/packing-slip/"):
        page.goto(path)
        for text in picked[0]:
            expect(page.get_by_text(str(text), exact=True).first).to_be_visible()
