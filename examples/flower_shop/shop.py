"""Tulip, a small flower shop on aiohttp and SQLite, connected: `python shop.py web` serves it, `python shop.py sender` pushes what changed."""

import asyncio
import hmac
import html
import json
import os
import sqlite3
import sys
from datetime import UTC, datetime
from decimal import Decimal

from aiohttp import BasicAuth, web
from extension_platform_store import Commands, Hooks, Refused, Sender, SqliteOutbox, StoreClient
from extension_platform_store.plain import to_json

STORE = os.environ.get("SHOP_STORE", "main")
HOME = os.environ.get("SHOP_HOME", "http://localhost:8160")
RECORD = {"name": "Tulip", "currency": "USD", "storefrontUrl": HOME}
DELIVERY = Decimal("4.90")
STATES = {"new": "PENDING", "packed": "PREPARING", "sent": "DELIVERED", "void": "CANCELLED"}
ABOUT = {"slug": "about", "title": "About us", "url": f"{HOME}/about"}
TABLES = """
CREATE TABLE IF NOT EXISTS flower (id TEXT PRIMARY KEY, name TEXT, price TEXT, stock INTEGER);
CREATE TABLE IF NOT EXISTS purchase (id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT DEFAULT 'new', subtotal TEXT,
    discount TEXT, delivery TEXT, name TEXT, email TEXT, phone TEXT, placed_at TEXT);
CREATE TABLE IF NOT EXISTS line (purchase INTEGER, flower TEXT, name TEXT, quantity INTEGER, price TEXT);
"""


def client():
    return StoreClient(os.environ["PLATFORM_URL"], os.environ["PLATFORM_KEY"], STORE)


class Tulip:
    """The shop on a connection of its own, as the platform reads it."""

    def __init__(self):
        self.db = sqlite3.connect(os.environ.get("SHOP_DATABASE", "tulip.sqlite3"), timeout=20)
        self.db.row_factory = sqlite3.Row
        self.outbox = SqliteOutbox(self.db, STORE)

    def create_tables(self):
        self.db.executescript("PRAGMA journal_mode=WAL;" + TABLES)
        self.outbox.create_tables()

    def ids(self, resource, since):
        match resource:
            case "products":
                return [row["id"] for row in self.db.execute("SELECT id FROM flower")]
            case "pages":
                return ["about"]
            case "orders":
                since = since.astimezone(UTC).isoformat() if since else ""
                found = self.db.execute("SELECT id FROM purchase WHERE placed_at >= ?", [since])
                return [str(row["id"]) for row in found]
        return []

    def rows(self, resource, ids):
        make = {"products": self.flower, "orders": self.purchase, "pages": lambda _: ABOUT}.get(
            resource, lambda _: None
        )
        return {each: row for each in ids if (row := make(each))}

    def one(self, table, row_id):
        return self.db.execute(f"SELECT * FROM {table} WHERE id = ?", [row_id]).fetchone()  # noqa: S608

    def flower(self, row_id):
        it = self.one("flower", row_id)
        return it and {"name": it["name"], "price": Decimal(it["price"]), "stock": it["stock"]}

    def purchase(self, row_id):
        if not (it := self.one("purchase", row_id)):
            return None
        lines = self.db.execute("SELECT * FROM line WHERE purchase = ?", [row_id]).fetchall()
        subtotal, discount, delivery = (Decimal(it[name]) for name in ("subtotal", "discount", "delivery"))
        return {
            "orderNumber": row_id,
            "status": STATES[it["state"]],
            "items": [
                {
                    "productId": line["flower"],
                    "name": line["name"],
                    "quantity": line["quantity"],
                    "price": Decimal(line["price"]),
                }
                for line in lines
            ],
            "subtotal": subtotal,
            "discount": discount,
            "deliveryFee": delivery,
            "amount": subtotal - discount + delivery,
            "customer": {name: it[name] for name in ("name", "email", "phone") if it[name]},
            "createdAt": it["placed_at"],
        }

    def move(self, row_id, state):
        if not self.db.execute("UPDATE purchase SET state = ? WHERE id = ?", [state, row_id]).rowcount:
            raise Refused("There is no such order.", 404)
        self.outbox.mark("orders", str(row_id))
        return str(row_id)


def points():
    return (Tulip().outbox.state("wanted") or {}).get("hookPoints")


hooks = Hooks(client, points=points)


def cents(amount):
    return int(amount * 100)


def ask_apps(items, subtotal, person, *, fresh):
    """The reason of an app that refuses, the discount and the delivery fee, and the newest quote."""
    checkout = hooks.checkout(fresh=fresh, shopper={name: person.get(name) for name in ("email", "phone")})
    data = {"items": items, "subtotal": cents(subtotal), "deliveryMethod": "DELIVERY"}
    verdict = checkout.ask("order.validate", data).answer
    data = {"items": items, "subtotal": cents(subtotal), "promoDiscount": 0, "deliveryFee": cents(DELIVERY)}
    discount = checkout.ask("order.calculate_discounts", data).answer["discount"]
    data = {"deliveryMethod": "DELIVERY", "subtotal": cents(subtotal), "builtInFee": cents(DELIVERY)}
    fee = checkout.ask("checkout.shipping_rates", data).answer["fee"]
    refusal = None if verdict["valid"] else verdict["reason"] or "This order can't be placed."
    return refusal, Decimal(discount) / 100, Decimal(fee) / 100, checkout.quote


# The web server

routes = web.RouteTableDef()


def page(method, path, *, staff=False):
    """SQLite and the client block, so that each request runs in a thread."""

    def register(view):
        async def handle(request):
            if staff and not is_staff(request):
                return web.Response(status=401, headers={"WWW-Authenticate": "Basic"})
            body = await request.read()
            return await asyncio.to_thread(lambda: view(Tulip(), request, body))

        routes.route(method, path)(handle)
        return view

    return register


def is_staff(request):
    try:
        given = BasicAuth.decode(request.headers.get("Authorization", "")).password
    except ValueError:
        return False
    return hmac.compare_digest(given.encode(), os.environ["SHOP_PASSWORD"].encode())


def respond(value, status=200):
    return web.Response(text=to_json(value), status=status, content_type="application/json")


@page("PUT", "/flowers/{id}", staff=True)
def save_flower(shop, request, body):
    given, row_id = json.loads(body), request.match_info["id"]
    with shop.outbox.atomic():
        values = [row_id, given["name"], given["price"], given["stock"]]
        shop.db.execute("REPLACE INTO flower VALUES (?, ?, ?, ?)", values)
        shop.outbox.mark("products", row_id)
    return respond({"id": row_id})


@page("DELETE", "/flowers/{id}", staff=True)
def delete_flower(shop, request, body):
    with shop.outbox.atomic():
        shop.db.execute("DELETE FROM flower WHERE id = ?", [request.match_info["id"]])
        shop.outbox.mark("products", request.match_info["id"])
    return respond({})


@page("POST", "/checkout")
def checkout(shop, request, body):
    given = json.loads(body)
    lines = [(item["flower"], item["quantity"], shop.flower(item["flower"])) for item in given["items"]]
    if not lines or not all(flower for _, _, flower in lines):
        return respond({"message": "One of these flowers is gone."}, 409)
    items = [{"productId": flower, "quantity": quantity} for flower, quantity, _ in lines]
    subtotal = sum(flower["price"] * quantity for _, quantity, flower in lines)
    refusal, discount, delivery, quote = ask_apps(items, subtotal, given["person"], fresh=given["confirm"])
    total = str(subtotal - discount + delivery)
    if refusal:
        return respond({"message": refusal, "total": total}, 409)
    if not given["confirm"]:
        return respond({"message": "Please confirm.", "total": total})
    with shop.outbox.atomic():
        person = [given["person"].get(name) for name in ("name", "email", "phone")]
        values = [str(subtotal), str(discount), str(delivery), *person, datetime.now(UTC).isoformat()]
        order = shop.db.execute(
            "INSERT INTO purchase (subtotal, discount, delivery, name, email, phone, placed_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            values,
        ).lastrowid
        shop.db.executemany(
            "INSERT INTO line VALUES (?, ?, ?, ?, ?)",
            [(order, flower, it["name"], quantity, str(it["price"])) for flower, quantity, it in lines],
        )
        shop.outbox.mark("orders", str(order), quote=quote)
    return respond({"message": "Thank you.", "total": total, "order": str(order)})


@page("POST", "/orders/{id}/state", staff=True)
def move_order(shop, request, body):
    with shop.outbox.atomic():
        shop.move(request.match_info["id"], json.loads(body)["state"])
    return respond({})


@page("POST", "/erase", staff=True)
def erase(shop, request, body):
    email = json.loads(body)["email"]
    client().erase_customer(email=email)  # first, so that a failure can be repeated
    with shop.outbox.atomic():
        found = [
            str(row["id"]) for row in shop.db.execute("SELECT id FROM purchase WHERE email = ?", [email])
        ]
        shop.db.execute(
            "UPDATE purchase SET name = NULL, email = NULL, phone = NULL WHERE email = ?", [email]
        )
        shop.outbox.mark("orders", *found)
    return respond({})


@page("GET", "/about")
def about(shop, request, body):
    platform, business = os.environ["PLATFORM_URL"], shop.outbox.state("business") or ""
    hosts = shop.outbox.state("hosts") or {}
    scripts, frames = (" ".join(hosts.get(name, [])) for name in ("scripts", "frames"))
    policy = (
        f"default-src 'self'; script-src {platform} {scripts};"
        f" connect-src {platform} {scripts}; frame-src {platform} {frames}"
    )
    text = (
        "<!doctype html><title>About us</title><h1>About us</h1><div data-extension-blocks></div>"
        f'<script async src="{html.escape(platform)}/store.js" data-store="{html.escape(business)}"'
        ' data-page="about"></script>'
    )
    return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": policy})


@page("POST", "/platform/commands")
def commands(shop, request, body):
    def set_status(command):
        states = {status: state for state, status in STATES.items()}
        if command.data["status"] not in states:
            raise Refused("We have no such status.")
        return shop.move(command.data["orderId"], states[command.data["status"]])

    handling = Commands(os.environ["PLATFORM_SECRET"], shop.outbox, shop, {"order.set_status": set_status})
    status, answer = handling.answer(request.headers, body)
    return respond(answer, status)


@page("GET", "/platform/apps", staff=True)
def open_apps(shop, request, body):
    url = client().ticket({"id": "owner", "name": "The owner"}, "OWNER", next_page=request.query.get("next"))
    return web.Response(status=302, headers={"Location": url})


def main(what, *options):
    shop = Tulip()
    shop.create_tables()
    if what == "web":
        app = web.Application()
        app.add_routes(routes)
        web.run_app(app, host="localhost", port=int(HOME.rsplit(":", 1)[1]), print=None)
        return
    sender = Sender(client(), shop.outbox, shop, record=RECORD)
    if "--compare" in options:
        sender.step()
        sender.compare()
    sender.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
