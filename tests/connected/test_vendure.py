"""The life of a shop in another language with an app: products, discounts that are charged, commands, kills, erasure.

The steps follow each other, on the same processes.
"""

import hashlib
import hmac
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from importlib import util
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, expect

from tests.browser.chromium import PATIENCE
from tests.connected.vendure import MODULES, SHOP, ConnectedVendure
from tests.waiting import wait_until

pytestmark = pytest.mark.timeout(900)
SPEC = "Contract 17 Connected stores"
CHANGES, KILLS = 1_000, 20
UPDATED = "SELECT data FROM webhooks_event WHERE type = 'product.updated'"
PAN = "Cast iron pan"


@dataclass(frozen=True)
class Shopper:
    name: str
    email: str
    phone: str


KIM = Shopper("Kim Lee", "kim@example.net", "+12025550123")
PAT = Shopper("Pat Doe", "pat@example.net", "+12025550124")


@pytest.fixture(scope="module")
def vendure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectedVendure]:
    if not MODULES.exists():
        pytest.fail("Vendure is not here. `make test-connected ARGS=vendure` installs it.")
    spec = util.spec_from_file_location("vendure_driver", SHOP / "driver.py")
    assert spec
    assert spec.loader
    driver = util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    both = ConnectedVendure(tmp_path_factory.mktemp("vendure"), driver)
    try:
        both.start()
        yield both
    finally:
        both.stop()


def pan(vendure: ConnectedVendure) -> str:
    [(product,)] = vendure.in_shop('SELECT "baseId" FROM product_variant_translation WHERE name = %s', PAN)
    return str(product)


@pytest.mark.spec(SPEC, "A shop in another language: its people come by ticket, and its products are there")
def test_1_owner_installs_an_app_by_ticket(vendure: ConnectedVendure, chromium: Browser) -> None:
    assert vendure.driver.open_apps(None, signed_in=False) is None
    wait_until(lambda: vendure.in_shop("SELECT 1 FROM platform_note WHERE name = 'compared'"), 60)
    wait_until(lambda: vendure.in_shop("SELECT count(*) FROM platform_mark") == [(0,)], 60)
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(vendure.driver.open_apps("/marketplace/", signed_in=True))
    page.get_by_role("link", name="Order Bell").first.click()
    page.get_by_role("link", name="Install", exact=True).click()
    page.get_by_role("button", name="Install", exact=True).click()
    expect(page).to_have_url(re.compile(re.escape(vendure.demo.sample_app_url)))
    context.close()
    wait_until(lambda: vendure.at_app("SELECT 1 FROM stores WHERE business_name = 'Harbor Goods'"))
    [product] = vendure.app("GET", f"/products?externalId={pan(vendure)}").json()["data"]
    assert (product["name"], product["price"], product["stock"]) == (PAN, 38, 200)
    wait_until(
        lambda: (
            "order.calculate_discounts"
            in str(vendure.in_shop("SELECT value FROM platform_note WHERE name = 'wanted'"))
        ),
        30,
    )


@pytest.mark.spec(
    SPEC, "The order has the quote's discount and fee: what was shown is charged, and the app learns of it"
)
def test_2_discount_of_the_app_is_shown_charged_and_told(vendure: ConnectedVendure) -> None:
    shown = vendure.driver.checkout([(pan(vendure), 3)], KIM, confirm=False)
    assert shown["total"] == Decimal("102.60")  # and delivery is free from 30
    bill = vendure.driver.checkout([(pan(vendure), 3)], KIM, confirm=True)
    assert (bill["total"], bill["message"]) == (Decimal("102.60"), "")
    number = bill["order"]
    wait_until(
        lambda: vendure.at_app(
            "SELECT 1 FROM received WHERE event = 'order.created' AND data LIKE ?", f"%{number}%"
        ),
        30,
    )
    [order] = vendure.app("GET", f"/orders?externalId={number}").json()["data"]
    assert (order["amount"], order["discount"], order["deliveryFee"]) == (102.6, 11.4, 0)
    assert (order["validation"], order["status"], order["customer"]["email"]) == (
        "VALID",
        "PENDING",
        KIM.email,
    )
    taken = "SELECT q.differs FROM stores_quote q JOIN stores_order o ON o.id = q.order_id WHERE o.number = ?"
    assert vendure.at_platform(taken, number) == [(None,)]


@pytest.mark.spec(SPEC, "A refusal of order.validate is shown at the shop's checkout")
def test_3_app_refuses_an_order(vendure: ConnectedVendure) -> None:
    bill = vendure.driver.checkout([(pan(vendure), 13)], PAT, confirm=True)
    assert bill["order"] is None
    assert bill["message"] == "At most 12 pieces of one product in an order, please."


@pytest.mark.spec(SPEC, "Commands: an app moves an order in the shop's own software, which may refuse")
def test_4_app_moves_an_order(vendure: ConnectedVendure) -> None:
    order = vendure.app("GET", "/orders").json()["data"][0]
    for status, state in (
        ("CONFIRMED", "PaymentSettled"),
        ("IN_DELIVERY", "Shipped"),
        ("DELIVERED", "Delivered"),
    ):
        moved = vendure.app("PATCH", f"/orders/{order['id']}/status", status=status)
        assert (moved.status_code, moved.json().get("status")) == (200, status), moved.text
        assert vendure.in_shop('SELECT state FROM "order" WHERE code = %s', order["externalId"]) == [(state,)]
    refused = vendure.app("PATCH", f"/orders/{order['id']}/status", status="READY")
    assert (refused.status_code, refused.json()["message"]) == (422, "This shop has no such status.")
    wait_until(lambda: vendure.at_app("SELECT 1 FROM received WHERE event = 'order.status_changed'"))


@pytest.mark.spec(SPEC, "Commands: a repeated one is done once, and a forged one is refused")
def test_5_command_is_done_once(vendure: ConnectedVendure) -> None:
    number = vendure.driver.checkout([(pan(vendure), 1)], PAT, confirm=True)["order"]
    vendure.driver.move_order(number, "PaymentSettled")
    body = command_of(number, "IN_DELIVERY")
    assert sent(vendure, body, "whsec_another").status_code == 401
    assert sent(vendure, body, vendure.secret, at=time.time() - 301).status_code == 401
    assert vendure.in_shop('SELECT state FROM "order" WHERE code = %s', number) == [("PaymentSettled",)]
    first, again = (sent(vendure, body, vendure.secret) for _ in range(2))
    assert (first.status_code, first.json()["order"]["status"]) == (200, "IN_DELIVERY")
    assert (again.status_code, again.json()["order"]["status"]) == (200, "IN_DELIVERY")
    assert again.json()["order"]["version"] > first.json()["order"]["version"]
    assert vendure.in_shop("SELECT count(*) FROM order_fulfillments_fulfillment f JOIN \"order\" o ON o.id = f.\"orderId\""
                           " WHERE o.code = %s", number) == [(1,)]  # fmt: skip
    # A command that fails half-way leaves nothing behind but its answer.
    refused = sent(vendure, command_of(number, "CONFIRMED"), vendure.secret)
    assert refused.status_code == 409, refused.text


def command_of(order: str, status: str) -> bytes:
    data = {"orderId": order, "status": status}
    about = {"command": "order.set_status", "commandId": str(uuid.uuid4()), "store": "main", "data": data}
    return json.dumps(about).encode()


def sent(vendure: ConnectedVendure, body: bytes, secret: str, at: float | None = None) -> requests.Response:
    """A command as the platform sends it."""
    stamp = str(int(at or time.time()))
    signed = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {
        "X-Webhook-Timestamp": stamp,
        "X-Webhook-Signature": f"sha256={signed}",
        "Content-Type": "application/json",
    }
    return requests.post(f"{vendure.url}/platform/commands", data=body, headers=headers, timeout=30)


@pytest.mark.spec(
    SPEC, "A shop in another language is killed between its change and the push, and nothing is lost"
)
def test_6_nothing_is_lost_when_processes_are_killed(vendure: ConnectedVendure) -> None:
    driver = vendure.driver
    products = [
        str(each) for (each,) in vendure.in_shop("SELECT id FROM product_variant ORDER BY id LIMIT 6")
    ]
    prices = {product: Decimal(10 + number) for number, product in enumerate(products)}
    for number, (product, price) in enumerate(prices.items()):
        driver.save_product(product, name=f"Changed {number}", price=price, stock=50)
        if number % 2:
            driver.restart_sender(compare=False)  # by SIGKILL, at once after a change
    gone = driver.save_product(None, name="Soon gone", price=Decimal(5), stock=1)
    number = driver.checkout([(products[0], 3)], PAT, confirm=True)["order"]
    driver.delete_product(gone)
    driver.stop_all()
    for name in ("work", "serve"):
        driver.start(name)
    wait_until(driver.answers, 60)

    def there() -> dict[str, Decimal]:
        rows = vendure.at_platform(
            "SELECT external_id, price FROM stores_product WHERE external_id IS NOT NULL"
        )
        return {product: Decimal(price) / 100 for product, price in rows}

    wait_until(lambda: there().items() >= prices.items(), 60, said=there)
    wait_until(lambda: number in orders(vendure), 30)
    wait_until(lambda: gone not in there(), 30)
    wait_until(lambda: vendure.in_shop("SELECT count(*) FROM platform_mark") == [(0,)], 30)


@pytest.mark.spec(
    SPEC, "1,000 changes of a shop in another language with 20 kills on each side: equal, and no event twice"
)
def test_6_both_sides_are_equal_after_many_kills(vendure: ConnectedVendure) -> None:
    """Each change is one of a name, which the triggers see. By turns the sender and the platform are killed, wherever they are."""
    products = [
        str(each) for (each,) in vendure.in_shop("SELECT id FROM product_variant ORDER BY id LIMIT 6")
    ]
    for number in range(CHANGES):
        vendure.in_shop(
            "UPDATE product_variant_translation SET name = %s WHERE \"baseId\" = %s::int",
            f"Change {number}", products[number % len(products)],
        )  # fmt: skip
        if number % (CHANGES // KILLS) == CHANGES // KILLS - 1:
            vendure.driver.restart_sender(compare=False)
        if number % (CHANGES // KILLS) == CHANGES // KILLS // 2:
            vendure.demo.stop(signal.SIGKILL)
            vendure.demo.start()
    last = {products[number % len(products)]: f"Change {number}" for number in range(CHANGES)}

    def there() -> dict[str, str]:
        kept = "SELECT external_id, name FROM stores_product WHERE external_id IS NOT NULL"
        return {product: name for product, name in vendure.at_platform(kept) if product in last}

    wait_until(lambda: there() == last, 90, said=there)
    wait_until(lambda: vendure.in_shop("SELECT count(*) FROM platform_mark") == [(0,)], 30)
    vendure.driver.restart_sender(compare=True)
    wait_until(lambda: there() == last, 60, said=there)
    told = [json.loads(data)["name"] for (data,) in vendure.at_platform(UPDATED)]
    names = [name for name in told if name.startswith("Change ")]
    assert len(names) == len(set(names)) > KILLS


@pytest.mark.spec(SPEC, "A comparison finds what was lost on the way, and what no trigger saw")
def test_7_comparison_repairs(vendure: ConnectedVendure) -> None:
    product = (
        pan(vendure)
        if vendure.in_shop("SELECT 1 FROM product_variant_translation WHERE name = %s", PAN)
        else "1"
    )
    vendure.in_shop("ALTER TABLE product_variant_translation DISABLE TRIGGER platform_marks")
    vendure.in_shop(
        "UPDATE product_variant_translation SET name = 'Unseen' WHERE \"baseId\" = %s::int", product
    )
    vendure.in_shop("ALTER TABLE product_variant_translation ENABLE TRIGGER platform_marks")
    vendure.driver.restart_sender(compare=True)

    kept = "SELECT name FROM stores_product WHERE external_id = ?"
    wait_until(lambda: vendure.at_platform(kept, product) == [("Unseen",)], 60)


@pytest.mark.spec(SPEC, "Platform stopped: orders go on, and none is missing after the repair")
def test_8_orders_go_on_while_the_platform_is_stopped(
    vendure: ConnectedVendure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_BUDGET_MS", "250")
    vendure.driver.connect(vendure.demo.url, vendure.key, vendure.secret)
    before = vendure.driver.checkout([("2", 1)], PAT, confirm=True)
    os.kill(vendure.demo.pid, signal.SIGSTOP)
    try:
        bills = [vendure.driver.checkout([(product, 1)], PAT, confirm=True) for product in ("3", "4", "5")]
    finally:
        os.kill(vendure.demo.pid, signal.SIGCONT)
    print(
        f"\nseconds of the slowest answer: {before['seconds']:.2f}, while stopped {[round(b['seconds'], 2) for b in bills]}"
    )
    assert all(bill["order"] for bill in bills)
    assert max(bill["seconds"] for bill in bills) < before["seconds"] + 1

    wait_until(lambda: {bill["order"] for bill in bills} <= orders(vendure), 60)


def orders(vendure: ConnectedVendure) -> set[str]:
    """The orders that the platform has, by the shop's ids."""
    return {number for (number,) in vendure.at_platform("SELECT external_id FROM stores_order")}


@pytest.mark.spec(SPEC, "Erasure: nothing of the customer is left in both databases")
def test_9_customer_is_erased_on_both_sides(vendure: ConnectedVendure) -> None:
    assert hits(vendure)  # there is something to erase
    vendure.driver.erase(KIM)
    wait_until(lambda: not hits(vendure), 60, said=lambda: hits(vendure))


@pytest.mark.spec(SPEC, "A shop in another language follows all rules of the check")
def test_shop_follows_all_rules(vendure: ConnectedVendure, tmp_path: Path) -> None:
    vendure.driver.stop_all()  # the check starts it, with keys of its own
    report = tmp_path / "check.json"
    command = [sys.executable, "-m", "extension_platform_store", "check", str(SHOP / "driver.py")]
    checked = subprocess.run(
        [*command, "--platform", vendure.demo.url, "--json", str(report)],
        env=os.environ
        | {"PLATFORM_KEY": vendure.key, "PYTHONPATH": str(SHOP.parents[1] / "sdk" / "store-python")},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    outcomes = [each["outcome"] for each in json.loads(report.read_text())["results"]]
    assert outcomes.count("PASS") >= 40, checked.stdout


def hits(vendure: ConnectedVendure) -> list[str]:
    """Lines of the shop's database and tables of the platform's that have name, address or number of the customer."""
    wanted = (KIM.name, KIM.email, KIM.phone.lstrip("+"))
    found = [
        line[:100] for line in vendure.driver.dump().splitlines() if any(each in line for each in wanted)
    ]
    for (table,) in vendure.at_platform("SELECT name FROM sqlite_master WHERE type = 'table'"):
        rows = vendure.at_platform(f'SELECT * FROM "{table}"')  # noqa: S608
        found += [table] if any(each in str(row) for row in rows for each in wanted) else []
    return found


@pytest.mark.parametrize(
    ("currency", "minor"), [("USD", 450), ("JPY", 5), ("KWD", 4500)], ids=lambda value: str(value)
)
def test_hooks_count_in_minor_units_of_the_currency(currency: str, minor: int) -> None:
    """Vendure counts 4.50 as 450 in every currency."""
    script = (
        f"const {{Money}} = require('./client/money'); const it = new Money('{currency}', 2); it.toMinor(450)"
    )
    command = ["node", "--print", f"{script} + ' ' + it.toMajor(450) + ' ' + it.fromMinor({minor})"]
    said = subprocess.run(command, cwd=SHOP, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    assert said == [str(minor), "4.5", "500" if currency == "JPY" else "450"]
