"""The driver by which `python -m extension_platform_store check check_driver.py` tries this shop.

It makes a shop of its own in a new folder. Products, orders and the database are reached by Oscar's own code, the pages by HTTP.
"""

import atexit
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import django
import requests
from django.db import connection, transaction
from oscar.core.loading import get_model

HERE = Path(__file__).parent
FOLDER = Path(os.environ.setdefault("OSCAR_FOLDER", tempfile.mkdtemp(prefix="oscar-")))
with socket.create_server(("127.0.0.1", 0)) as free:
    PORT = free.getsockname()[1]
SHOP = os.environ["OSCAR_URL"] = f"http://localhost:{PORT}"
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "shop.settings",
    "OSCAR_BUDGET_MS": "1000",
    "PYTHONWARNINGS": "ignore",
}
OWNER, PASSWORD = "owner@harbor.example", "demo-password"
PATHS = [[("Being processed", "CONFIRMED"), ("Complete", "DELIVERED")], [("Cancelled", "CANCELLED")]]
START_WITHIN = 60  # seconds
processes = {}


def connect(platform, key, secret):
    os.environ["PLATFORM_URL"] = platform
    (FOLDER / "connection.json").write_text(json.dumps({"key": key, "secret": secret}))
    if not (FOLDER / "shop.sqlite3").exists():
        manage("migrate", "--run-syncdb", "--verbosity", "0")
        manage("fill_shop")
        django.setup()
    start("web", "runserver", "--noreload", f"127.0.0.1:{PORT}")
    until = time.monotonic() + START_WITHIN
    while time.monotonic() < until and not answers():
        time.sleep(0.1)
    start("sender", "push_to_platform")
    return {"commands": f"{SHOP}/platform/commands", "page": f"{SHOP}/catalogue/", "paths": PATHS}


def save_product(product, *, name, price, stock):
    goods, records = get_model("catalogue", "Product").objects, get_model("partner", "StockRecord").objects
    with transaction.atomic():
        made = goods.filter(pk=product).first() if product else None
        kind = get_model("catalogue", "ProductClass").objects.get()
        made = made or goods.model(product_class=kind, description=name)
        made.title = name
        made.save()
        partner = get_model("partner", "Partner").objects.get()
        record = records.filter(product=made).first() or records.model(
            product=made, partner=partner, partner_sku=made.pk
        )
        record.price, record.num_in_stock = price, stock
        record.save()
    return str(made.pk)


def delete_product(product):
    get_model("catalogue", "Product").objects.get(pk=product).delete()


def checkout(items, person, *, confirm):
    shopper = Browser()
    for product, quantity in items:
        shopper.open(f"/catalogue/check_{product}/")
        shopper.send(f"/basket/add/{product}/", quantity=quantity)
    shopper.open("/basket/")
    if confirm:
        first, _, last = person.name.partition(" ")
        shopper.open("/checkout/")
        shopper.send("/checkout/", username=person.email, options="anonymous")
        shopper.send(
            "/checkout/shipping-address/", first_name=first, last_name=last, line1="Quay 1", line4="Portland",
            postcode="97201", country="US", phone_number=person.phone,
        )  # fmt: skip
        shopper.open("/checkout/preview/")
    total = shopper.total()
    if confirm:
        shopper.send("/checkout/preview/", action="place_order")
    order = order_of(person.email) if shopper.url == "/checkout/thank-you/" else None
    return {"total": total, "order": order, "message": shopper.text, "seconds": shopper.slowest}


def move_order(order, state):
    get_model("order", "Order").objects.get(number=order).set_status(state)


def erase(person):
    manage("erase_customer", person.email)


def dump():
    connection.ensure_connection()
    return "\n".join(connection.connection.iterdump())


def open_apps(next_page, *, signed_in):
    answer = (owner() if signed_in else requests.Session()).get(
        f"{SHOP}/dashboard/apps/",
        params={"next": next_page} if next_page else {},
        timeout=30,
        allow_redirects=False,
    )
    return answer.headers.get("Location")


def restart_sender(*, compare):
    start("sender", "push_to_platform")
    if compare:
        manage("push_to_platform", "--compare")


# Beside them


class Browser:
    """A shopper's, with the page that they see."""

    def __init__(self):
        self.session, self.slowest = requests.Session(), 0.0
        self.url = self.html = ""

    def open(self, path):
        self._see(self.session.get(SHOP + path, timeout=60))

    def send(self, path, **fields):
        fields["csrfmiddlewaretoken"] = self.session.cookies["oscar_csrf"]
        self._see(self.session.post(SHOP + path, data=fields, timeout=60))

    def _see(self, answer):
        answer.raise_for_status()
        self.url, self.html = urlsplit(answer.url).path, answer.text
        self.slowest = max(
            self.slowest, *(each.elapsed.total_seconds() for each in (answer, *answer.history))
        )

    @property
    def text(self):
        return re.sub(
            r"\s+", " ", unescape(re.sub(r"<script.*?</script>|<[^>]+>", " ", self.html, flags=re.DOTALL))
        )

    def total(self):
        """The last amount of the totals."""
        table = self.html.partition('id="basket_totals"')[2].partition("</table>")[0]
        return Decimal(re.findall(r"\$([\d,.]+)", table)[-1].replace(",", ""))


@cache
def owner():
    browser = Browser()
    browser.open("/dashboard/login/")
    browser.send("/dashboard/login/", username=OWNER, password=PASSWORD)
    return browser.session


def order_of(email):
    return get_model("order", "Order").objects.filter(guest_email=email).latest("pk").number


def answers():
    try:
        return requests.get(f"{SHOP}/healthz", timeout=2).ok
    except requests.RequestException:
        return False


def manage(*arguments):
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ours


def start(name, *arguments):
    stop(name)
    with (FOLDER / f"{name}.log").open("ab") as log:
        command = [sys.executable, "manage.py", *arguments]
        processes[name] = subprocess.Popen(command, cwd=HERE, stdout=log, stderr=log)  # noqa: S603 - ours


def stop(name):
    if name in processes:
        processes[name].kill()
        processes[name].wait()


atexit.register(lambda: [stop(name) for name in processes])
