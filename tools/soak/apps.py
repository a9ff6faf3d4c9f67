"""What the apps do: place orders and change their status, settle payments, read lists and the feed, export, come and go."""

import gzip
import json
import random
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import requests

from tools.soak.calls import Calls, every
from tools.soak.ledger import Exported, Install, Placed, key_of
from tools.soak.people import People
from tools.soak.seed import PAYING, RELEASED

CUSTOMERS = 6
ORDERS = 0.5  # a second, of each customer
REPEATED = 0.05  # of the orders are sent once more, with their key
PAID = 0.15  # of the orders are paid by an app, where it is installed
MOVED = 0.4  # of the orders are taken further, and each time with this chance again
CANCELLED = 0.1  # of these are cancelled
CHURN_EVERY = 4.0  # seconds between an uninstall and the next
AWAY = 0.3  # of the uninstalled are installed again so late that the erasure was sent
READ_EVERY = 0.5
FEED_EVERY = 0.7
EXPORT_EVERY = 12.0
EXPORTED_WITHIN = 120.0
STATUSES = ("PENDING", "CONFIRMED", "PREPARING", "READY", "IN_DELIVERY", "DELIVERED")


class Apps:
    """Jobs of threads: each does one thing."""

    def __init__(self, load: Calls, people: People) -> None:
        self._load, self._people = load, people
        self.orders = [(self.order, lambda chance: chance.expovariate(ORDERS))] * CUSTOMERS
        self.jobs = [
            (self.come_and_go, every(CHURN_EVERY)),
            (self.read, every(READ_EVERY)),
            (self.follow_feed, every(FEED_EVERY)),
            (self.export, every(EXPORT_EVERY)),
        ]
        self._away: list[tuple[float, Install]] = []  # when to install again

    def as_(
        self, install: Install, session: requests.Session, method: str, path: str, **options: Any
    ) -> requests.Response:
        """A call with the token of an installation."""
        headers = {"Authorization": f"Bearer {install.token}", **options.pop("headers", {})}
        return self._load.call(session, method, path, headers=headers, **options)

    def _is_explained(self, answer: requests.Response, install: Install, made: float) -> bool:
        """Whether an error is due: the app is uninstalled, or a restore has undone what was made then."""
        is_gone = answer.status_code == 401 and install.ended is not None
        return is_gone or (answer.status_code == 404 and self._load.ledger.is_undone(made))

    # Orders

    def order(self, session: requests.Session, chance: random.Random) -> None:
        ledger = self._load.ledger
        install, marker = chance.choice(ledger.active()), self._load.marker()
        payer = ledger.installed(PAYING, install.business) if chance.random() < PAID else None
        method = f"app-{PAYING}:wallet" if payer else "CASH"
        body = order_of(marker, install.product, chance.randint(1, 9), method)
        began = monotonic()
        answer = self._place(session, install, marker, body)
        if answer.status_code != 201:
            payer_is_gone = answer.status_code == 400 and payer is not None
            if not payer_is_gone and not self._is_explained(answer, install, began):
                self._load.failed("An order", answer)
            return
        order = self._accepted(answer, marker, install.business, began)
        if chance.random() < REPEATED:
            self._repeat(session, install, marker, body, answer)
        if payer and answer.json()["payment"]["status"] == "PENDING":
            self._settle(session, payer, order)
        while chance.random() < MOVED and self._move(session, chance, install, order):
            pass

    def leave_unpaid(self, session: requests.Session, payer: Install) -> Placed | None:
        """An order that waits for the app's payment. None if the app is gone."""
        marker, began = self._load.marker(), monotonic()
        install = self._load.ledger.installed(RELEASED, payer.business)
        assert install  # it is never uninstalled
        body = order_of(marker, payer.product, 1, f"app-{PAYING}:wallet")
        answer = self._place(session, install, marker, body)
        if answer.status_code != 201 or answer.json()["payment"]["status"] != "PENDING":
            return None
        return self._accepted(answer, marker, payer.business, began)

    def _place(
        self, session: requests.Session, install: Install, marker: str, body: dict[str, Any]
    ) -> requests.Response:
        return self.as_(
            install, session, "POST", "/app-api/orders", json=body, headers={"Idempotency-Key": marker}
        )

    def _accepted(self, answer: requests.Response, marker: str, business: str, began: float) -> Placed:
        ledger, body = self._load.ledger, answer.json()
        order = Placed(body["id"], marker, business, began, monotonic())
        if "Idempotent-Replayed" not in answer.headers:
            order.request_id, order.body = answer.headers["X-Request-Id"], body
        with ledger.lock:
            ledger.placed.append(order)
        ledger.changed("order.created", order.id, business, began)
        return order

    def _repeat(
        self,
        session: requests.Session,
        install: Install,
        marker: str,
        body: dict[str, Any],
        first: requests.Response,
    ) -> None:
        again = self._place(session, install, marker, body)
        if again.status_code == 201 and again.json()["id"] == first.json()["id"]:
            self._load.ledger.repeated += 1
        elif not self._is_explained(again, install, 0) and self._load.ledger.undone is None:
            self._load.failed("An order under the same key", again)

    def _settle(self, session: requests.Session, payer: Install, order: Placed) -> None:
        began = monotonic()
        path = f"/app-api/orders/{order.id}/payment"
        answer = self.as_(payer, session, "PATCH", path, json={"status": "COMPLETED"})
        if answer.status_code == 200:
            order.is_paid, order.changed = True, monotonic()
            self._load.ledger.changed("payment.completed", order.id, order.business, began)
        elif not self._is_explained(answer, payer, order.accepted):
            self._load.failed("A payment", answer)

    def _move(
        self, session: requests.Session, chance: random.Random, install: Install, order: Placed
    ) -> bool:
        """To a later status, or cancelled. False if it can't go further."""
        later = STATUSES[STATUSES.index(order.status) + 1 :]
        if not later:
            return False
        status = "CANCELLED" if chance.random() < CANCELLED else chance.choice(later[:2])
        began, path = monotonic(), f"/app-api/orders/{order.id}/status"
        answer = self.as_(install, session, "PATCH", path, json={"status": status})
        if answer.status_code != 200:
            if not self._is_explained(answer, install, order.accepted):
                self._load.failed("A status", answer)
            return False
        order.status, order.changed = status, monotonic()
        ledger = self._load.ledger
        ledger.changed("order.status_changed", f"{order.id} {status}", order.business, began)
        if status in ("DELIVERED", "CANCELLED"):
            ledger.changed(f"order.{status.lower()}", order.id, order.business, began)
        return status != "CANCELLED"

    # Coming and going

    def come_and_go(self, session: requests.Session, chance: random.Random) -> None:
        """Uninstall an app by its token, see that the token is worth nothing, and install it again: at once, or much later."""
        for due, gone in list(self._away):
            if due < monotonic():
                self._away.remove((due, gone))
                self._people.install(gone.app, gone.business)
        install = chance.choice([each for each in self._load.ledger.active() if each.app != RELEASED])
        app = self._load.world["apps"][install.app]
        known = {"auth": (app["client_id"], app["client_secret"])}
        install.ended = monotonic()
        self._load.call(session, "POST", "/oauth/revoke", data={"token": install.token}, **known)
        install.gone = monotonic()
        after = self.as_(install, session, "GET", "/app-api/products")
        if after.status_code != 401:
            self._load.ledger.failed(f"The token of an uninstalled app was answered {after.status_code}.")
        if chance.random() < AWAY:
            self._away.append((monotonic() + self._load.away_for, install))
        else:
            self._people.install(install.app, install.business)

    # Reading

    def read(self, session: requests.Session, chance: random.Random) -> None:
        install = chance.choice(self._load.ledger.active())
        token = {"Authorization": f"Bearer {install.token}"}
        port = urlsplit(self._load.url).port
        path, headers = chance.choice(
            [
                ("/app-api/products", token),
                ("/app-api/orders?limit=20", token),
                ("/app-api/reviews", token),
                ("/webhooks", token),
                ("/marketplace/", {}),
                ("/", {"Host": f"{install.slug}.stores.localhost:{port}"}),
                ("/healthz", {}),
            ]
        )
        answer = self._load.call(session, "GET", path, headers=headers)
        if answer.status_code != 200 and install.ended is None:
            self._load.failed(f"GET {path}", answer)

    def follow_feed(self, session: requests.Session, chance: random.Random) -> None:
        self.read_feed(session, chance.choice(self._load.ledger.active()))

    def read_feed(self, session: requests.Session, install: Install) -> None:
        """To its end. A cursor from before a restore is refused, and the app begins again."""
        while True:
            after = f"&after={install.cursor}" if install.cursor else ""
            answer = self.as_(install, session, "GET", f"/app-api/events?limit=200{after}")
            if answer.status_code == 410:
                install.cursor, install.seen = "", []
                continue
            if answer.status_code != 200:
                if not self._is_explained(answer, install, 0):
                    self._load.failed("The feed", answer)
                return
            page = answer.json()
            install.cursor = page["nextCursor"]
            install.seen += [
                (each["id"], each["event"], key_of(each["event"], each["data"])) for each in page["data"]
            ]
            if not page["hasMore"]:
                return

    def export(self, session: requests.Session, chance: random.Random) -> None:
        install, began = chance.choice(self._load.ledger.active()), monotonic()
        answer = self.as_(install, session, "POST", "/app-api/exports", json={"resource": "orders"})
        path = f"/app-api/exports/{answer.json().get('id')}"
        while answer.status_code in (200, 202) and answer.json()["status"] == "PENDING":
            sleep(0.5)
            answer = self.as_(install, session, "GET", path)
            if monotonic() > began + EXPORTED_WITHIN:
                break
        if answer.status_code == 200 and answer.json()["status"] == "READY":
            answer = self.as_(install, session, "GET", f"{path}/file")
        if answer.headers.get("Content-Type") == "application/gzip":
            ids = frozenset(json.loads(row)["id"] for row in gzip.decompress(answer.content).splitlines())
            exported = Exported(install.business, began, monotonic(), ids)
            self._load.ledger.exports.append(exported)
        elif not self._is_explained(answer, install, began):
            self._load.failed("An export", answer)


def order_of(marker: str, product: str, quantity: int, payment_method: str) -> dict[str, Any]:
    return {
        "items": [{"productId": product, "quantity": quantity}],
        "customer": {"name": marker, "email": "kim@example.com"},
        "deliveryMethod": "DELIVERY",
        "address": "1 Harbour Road",
        "paymentMethod": payment_method,
    }
