"""A small shop, connected. `flask run --port 8010` is its web server, `python app.py` its sender; README.md has the settings."""

import os
import sqlite3
from datetime import UTC, datetime
from decimal import Decimal

from extension_platform_store import Commands, Hooks, Refused, Sender, SqliteOutbox, StoreClient
from extension_platform_store.plain import to_json
from flask import Flask, abort, redirect, request

STORE, RECORD = "main", {"name": "My shop", "currency": "USD"}
TABLES = """CREATE TABLE IF NOT EXISTS product (id TEXT PRIMARY KEY, name TEXT, price TEXT, stock INTEGER);
CREATE TABLE IF NOT EXISTS placed (id INTEGER PRIMARY KEY, status TEXT DEFAULT 'PENDING', product TEXT, pieces INTEGER,
                                   price TEXT, discount TEXT, email TEXT, placed_at TEXT)"""
app = Flask(__name__)


def client():
    return StoreClient(os.environ["PLATFORM_URL"], os.environ["PLATFORM_KEY"], STORE)


hooks = Hooks(client)


class MyShop:
    """The shop as the platform reads it, and its outbox on the same connection: a change and its mark are one transaction."""

    def __init__(self):
        self.database = sqlite3.connect("shop.sqlite3", timeout=20)
        self.database.row_factory = sqlite3.Row
        self.database.executescript(TABLES)
        self.outbox = SqliteOutbox(self.database, STORE)
        self.outbox.create_tables()

    def ids(self, resource, since):
        table = {"products": "product", "orders": "placed"}.get(resource)
        rows = self.database.execute(f"SELECT * FROM {table}").fetchall() if table else []
        return [str(row["id"]) for row in rows if not since or row["placed_at"] >= since.isoformat()]

    def rows(self, resource, ids):
        make = {"products": self.product, "orders": self.order}.get(resource, lambda _: None)
        return {row_id: row for row_id in ids if (row := make(row_id))}

    def find(self, table, row_id):
        return self.database.execute(f"SELECT * FROM {table} WHERE id = ?", [row_id]).fetchone()

    def product(self, row_id):
        found = self.find("product", row_id)
        return found and {"name": found["name"], "price": Decimal(found["price"]), "stock": found["stock"]}

    def order(self, row_id):
        if not (found := self.find("placed", row_id)):
            return None
        price, pieces, discount = Decimal(found["price"]), found["pieces"], Decimal(found["discount"])
        item = {"productId": found["product"], "name": found["product"], "quantity": pieces, "price": price}
        return {"orderNumber": row_id, "status": found["status"], "items": [item], "subtotal": price * pieces, "discount": discount,
                "amount": price * pieces - discount, "customer": {"email": found["email"]}, "createdAt": found["placed_at"]}


def staff_only():
    """Put your own sign-in here."""
    if not request.authorization or request.authorization.password != os.environ["SHOP_PASSWORD"]:
        abort(401)


@app.put("/products/<product>")
def save_product(product):
    staff_only()
    shop, given = MyShop(), request.get_json()
    with shop.outbox.atomic():
        values = [product, given["name"], str(given["price"]), given["stock"]]
        shop.database.execute("REPLACE INTO product VALUES (?, ?, ?, ?)", values)
        shop.outbox.mark("products", product)
    return {"id": product}


@app.post("/orders")
def place_order():
    """Ask apps, charge what they answer, and mark the order with the quote."""
    shop, given = MyShop(), request.get_json()
    product = shop.product(given["product"]) or abort(404)
    subtotal = product["price"] * given["pieces"]
    checkout = hooks.checkout(fresh=True, shopper={"email": given["email"]})
    data = {"items": [{"productId": given["product"], "quantity": given["pieces"]}], "subtotal": int(subtotal * 100),
            "promoDiscount": 0, "deliveryFee": 0}
    discount = Decimal(checkout.ask("order.calculate_discounts", data).answer["discount"]) / 100
    with shop.outbox.atomic():
        values = [given["product"], given["pieces"], str(product["price"]), str(discount), given["email"]]
        order = shop.database.execute("INSERT INTO placed (product, pieces, price, discount, email, placed_at)"
                                      " VALUES (?, ?, ?, ?, ?, ?)", [*values, datetime.now(UTC).isoformat()]).lastrowid
        shop.outbox.mark("orders", str(order), quote=checkout.quote)
    return {"order": str(order), "total": str(subtotal - discount)}


@app.post("/platform/commands")
def commands():
    """Let apps move orders."""
    shop = MyShop()

    def set_status(command):
        order, status = command.data["orderId"], command.data["status"]
        if not shop.database.execute("UPDATE placed SET status = ? WHERE id = ?", [status, order]).rowcount:
            raise Refused("There is no such order.", 404)
        shop.outbox.mark("orders", order)
        return order

    handling = Commands(os.environ["PLATFORM_SECRET"], shop.outbox, shop, {"order.set_status": set_status})
    status, answer = handling.answer(request.headers, request.get_data())
    return app.response_class(to_json(answer), status, mimetype="application/json")


@app.get("/platform/apps")
def open_apps():
    """**Apps** in your dashboard, and the sign-in URL of the connection."""
    staff_only()
    return redirect(client().ticket({"id": "owner", "name": "The owner"}, "OWNER", next_page=request.args.get("next")))


if __name__ == "__main__":
    shop = MyShop()
    Sender(client(), shop.outbox, shop, record=RECORD).run()
