"""The small shop with a checkout, pages and people: what the check of a connected shop tries.

`python -m tests.store_client.checked_shop CONFIGURATION [--compare]` is its sender. Faults are in `tests.store_client.faults`.
"""

import json
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from extension_platform_store import (
    Checkout,
    Command,
    Commands,
    Hooks,
    Refused,
    Sender,
    StoreClient,
)

from tests.store_client.small_shop import SmallShop

STATUSES = {"new": "PENDING", "packed": "PREPARING", "sent": "DELIVERED", "void": "CANCELLED"}
DECIMALS = {"JPY": 0, "KWD": 3}
DELIVERY = 3  # in major units
ABOUT = "about"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a shop is started with."""

    file: str
    url: str
    key: str
    secret: str
    currency: str = "USD"
    budget_ms: int = 1_000
    fault: str = ""
    renders: bool = False
    """Whether its pages have what apps show by themselves, without the platform's script."""


class CheckedShop(SmallShop):
    """Orders have details: the items, the person, what was taken off, the fee."""

    def __init__(self, given: Configuration) -> None:
        super().__init__(Path(given.file))
        self.given = given
        self.connection.executescript(
            "CREATE TABLE IF NOT EXISTS sold (id TEXT PRIMARY KEY, state TEXT, created TEXT, details TEXT);"
            "CREATE TABLE IF NOT EXISTS counter (last INTEGER)"
        )
        self.client = StoreClient(given.url, given.key, "main", timeout=3)

    def close(self) -> None:
        self.client.close()
        self.connection.close()

    # Products

    def save(self, product: str | None, name: str, price: Decimal, stock: int) -> str:
        with self.outbox.atomic():
            row_id = product or f"p{self._next():06}"
            self.connection.execute(
                "REPLACE INTO product VALUES (?, ?, ?, ?)", (row_id, name, str(price), stock)
            )
            self.mark("products", row_id)
        return row_id

    def delete(self, product: str) -> None:
        with self.outbox.atomic():
            self.connection.execute("DELETE FROM product WHERE id = ?", (product,))
            self.mark("products", product)

    def mark(self, resource: Any, row_id: str, quote: str = "") -> None:
        self.outbox.mark(resource, row_id, quote=quote)

    def _next(self) -> int:
        [(last,)] = self.connection.execute("SELECT coalesce(max(last), 0) FROM counter").fetchall()
        self.connection.execute("INSERT INTO counter VALUES (?)", (last + 1,))
        return int(last) + 1

    # Money

    def minor(self, amount: Decimal) -> int:
        return int(amount * 10 ** DECIMALS.get(self.given.currency, 2))

    def major(self, amount: int) -> Decimal:
        return Decimal(amount).scaleb(-DECIMALS.get(self.given.currency, 2))

    # Orders

    def checkout(
        self, hooks: Hooks, lines: Sequence[tuple[str, int]], person: dict[str, str], *, confirm: bool
    ) -> dict[str, Any]:
        """What the shopper sees: `total, order, message`."""
        items, subtotal = self._basket(lines)
        asked = [{"productId": each["productId"], "quantity": each["quantity"]} for each in items]
        shopper = {name: person[name] for name in ("email", "phone")}
        checkout = hooks.checkout(fresh=confirm, shopper=shopper)
        amounts = {"subtotal": self.minor(subtotal), "deliveryFee": self.minor(Decimal(DELIVERY))}
        discount, fee = self.apps_amounts(checkout, asked, amounts, confirm=confirm)
        shown = {"total": str(subtotal - discount + fee), "order": None, "message": "Please confirm."}
        if not confirm:
            return shown
        data = {"items": asked, "subtotal": amounts["subtotal"], "deliveryMethod": "DELIVERY"}
        verdict = checkout.ask("order.validate", data).answer
        if not verdict["valid"]:
            return shown | {"message": self.said(verdict["reason"])}
        details = {"items": items, "subtotal": subtotal, "discount": discount, "deliveryFee": fee,
                   "amount": subtotal - discount + fee, "customer": person}  # fmt: skip
        placed = f"o{secrets.token_hex(6)}"
        with self.outbox.atomic():
            self.connection.execute(
                "INSERT INTO sold VALUES (?, 'new', ?, ?)",
                (placed, datetime.now(UTC).isoformat(), json.dumps(details, default=float)),
            )
            self.mark("orders", placed, checkout.quote)
        self.after_placing(placed)
        return shown | {"order": placed, "message": "Thank you."}

    def _basket(self, lines: Sequence[tuple[str, int]]) -> tuple[list[dict[str, Any]], Decimal]:
        items, subtotal = [], Decimal(0)
        for product, quantity in lines:
            [(name, price)] = self.connection.execute(
                "SELECT name, price FROM product WHERE id = ?", (product,)
            )
            items.append({"productId": product, "name": name, "quantity": quantity, "price": price})
            subtotal += Decimal(str(price)) * quantity
        return items, subtotal

    def apps_amounts(
        self, checkout: Checkout, items: list[dict[str, Any]], amounts: dict[str, int], *, confirm: bool
    ) -> tuple[Decimal, Decimal]:
        """What apps take off, and the fee that they set."""
        off = checkout.ask("order.calculate_discounts", {"items": items, "promoDiscount": 0} | amounts)
        about = {
            "deliveryMethod": "DELIVERY",
            "subtotal": amounts["subtotal"],
            "builtInFee": amounts["deliveryFee"],
        }
        fee = checkout.ask("checkout.shipping_rates", about).answer["fee"]
        return self.major(off.answer["discount"]), self.major(fee)

    def said(self, reason: str | None) -> str:
        return reason or "This order can't be placed."

    def after_placing(self, order: str) -> None:
        """Nothing: the sender pushes it."""

    def move(self, order: str, state: str) -> None:
        with self.outbox.atomic():
            if (
                self.connection.execute("UPDATE sold SET state = ? WHERE id = ?", (state, order)).rowcount
                != 1
            ):
                raise Refused("There is no such order.", 404)
            self.mark("orders", order)

    def status(self, state: str) -> str:
        return STATUSES[state]

    def erase(self, email: str) -> None:
        """Blank the person in all orders, and pass it on."""
        for order, details in self.connection.execute("SELECT id, details FROM sold").fetchall():
            about = json.loads(details)
            if (about["customer"] or {}).get("email") == email:
                with self.outbox.atomic():
                    about["customer"] = self.blanked(about["customer"])
                    self.connection.execute(
                        "UPDATE sold SET details = ? WHERE id = ?", (json.dumps(about), order)
                    )
                    self.mark("orders", order)
        self.pass_on(email)

    def blanked(self, customer: dict[str, str]) -> dict[str, str] | None:
        return None

    def pass_on(self, email: str) -> None:
        self.client.erase_customer(email=email)

    def dump(self) -> str:
        return "\n".join(self.connection.iterdump())

    # Rows

    def ids(self, resource: str, since: datetime | None) -> Iterable[str]:
        if resource == "pages":
            return [ABOUT]
        if resource != "orders":
            return super().ids(resource, since)
        found = self.connection.execute("SELECT id, created FROM sold")
        return [row_id for row_id, created in found if since is None or created >= since.isoformat()]

    def rows(self, resource: str, ids: Sequence[str]) -> Mapping[str, dict[str, Any]]:
        page = {"slug": ABOUT, "title": "About us", "url": "https://northwind.example/about"}
        return {ABOUT: page} if resource == "pages" and ABOUT in ids else super().rows(resource, ids)

    def _order(self, row_id: str) -> dict[str, Any] | None:
        found = self.connection.execute(
            "SELECT state, created, details FROM sold WHERE id = ?", (row_id,)
        ).fetchone()
        if found is None:
            return None
        state, created, details = found
        about = {name: value for name, value in json.loads(details).items() if value is not None}
        return about | {"orderNumber": row_id, "status": self.status(state), "createdAt": created}

    # Pages and people

    def page(self) -> tuple[str, dict[str, str]]:
        """The page and its headers."""
        hosts = self.outbox.state("hosts") or {"scripts": [], "frames": []}
        nonce = secrets.token_urlsafe(12)
        policy = f"script-src 'self' 'nonce-{nonce}'; connect-src 'self' {self.given.url}; frame-src {self.frames(hosts)}"
        shown = self.rendered(nonce) if self.given.renders else (
            f'<script async nonce="{nonce}" src="{self.given.url}/store.js" data-store="{self.outbox.state("business")}"></script>'
        )  # fmt: skip
        return f"<!doctype html><h1>About us</h1>{shown}", {"Content-Security-Policy": policy}

    def frames(self, hosts: dict[str, list[str]]) -> str:
        return " ".join(hosts["frames"]) or "'none'"

    def rendered(self, nonce: str) -> str:
        placed = self.placed()
        scripts = [
            f'<script async nonce="{nonce}" src="{each["src"]}"></script>' for each in placed["scripts"]
        ]
        frames = [f'<iframe src="{each["src"]}"></iframe>' for each in placed["widgets"] + placed["blocks"]]
        return "".join(scripts + frames)

    def placed(self) -> dict[str, Any]:
        return self.client.placements(ABOUT)[0] or {}

    def open_apps(self, next_page: str | None, *, signed_in: bool) -> str | None:
        """Where the browser is sent to."""
        if not signed_in:
            return "/login"
        return self.client.ticket({"id": "kim", "name": "Kim Lee"}, "OWNER", next_page=next_page)

    # Commands

    def commands(self) -> Commands:
        return Commands(self.given.secret, self.outbox, self, {"order.set_status": self.set_status})

    def set_status(self, command: Command) -> str:
        states = [state for state, status in STATUSES.items() if status == command.data["status"]]
        if not states:
            raise Refused("This shop has no such status.", 422)
        self.move(command.data["orderId"], states[0])
        return str(command.data["orderId"])

    def hooks(self) -> Hooks:
        """For the process of the web."""
        return Hooks(
            lambda: StoreClient(self.given.url, self.given.key, "main"), budget_ms=self.given.budget_ms
        )

    def sender(self) -> Sender:
        record = {"name": "Northwind Main", "currency": self.given.currency}
        return Sender(self.client, self.outbox, self, record=record)


def shop_of(given: Configuration) -> CheckedShop:
    """The shop, with the fault that it is given."""
    from tests.store_client.faults import FAULTS  # which subclass this shop

    return FAULTS[given.fault](given) if given.fault else CheckedShop(given)


@contextmanager
def opened(given: Configuration) -> Iterator[CheckedShop]:
    """The shop on a connection of its own, as each request has."""
    shop = shop_of(given)
    try:
        yield shop
    finally:
        shop.close()


def main(configuration: str, *options: str) -> None:
    shop = shop_of(Configuration(**json.loads(configuration)))
    sender = shop.sender()
    if "--compare" in options:
        while sender.once() <= 0.0:
            pass
        sender.compare()
    sender.run()


def written(given: Configuration) -> str:
    return json.dumps(asdict(given))


if __name__ == "__main__":
    main(*sys.argv[1:])
