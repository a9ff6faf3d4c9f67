"""What apps, merchants and shoppers do meanwhile, by HTTP, and what they were promised."""

import random
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from html import unescape
from itertools import count
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

CUSTOMERS = 6
ORDERS = 0.5  # a second, of each customer
STATUS_CHANGED = 0.3  # of the orders
CHURN_EVERY = 4.0  # seconds between an uninstall with a new install, and the next
READ_EVERY = 0.5
GIVE_UP = 150.0  # seconds: after a kill, an idempotency key is free again after a minute
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


class GivenUp(Exception):
    """A request that was not accepted in time."""


@dataclass(slots=True)
class Install:
    """An app on a store, from the moment its token is there."""

    app: int
    business: str
    product: str
    slug: str
    token: str
    secret: str
    since: float
    ended: float | None = None  # when its uninstall was about to be sent


@dataclass(frozen=True, slots=True)
class Placed:
    """An order that was accepted."""

    id: str
    marker: str
    business: str
    began: float  # this and the others of `time.monotonic`
    accepted: float
    confirmed: float | None = None  # when its second status was accepted

    @property
    def status(self) -> str:
        return "PENDING" if self.confirmed is None else "CONFIRMED"


@dataclass(frozen=True, slots=True)
class Away:
    """A 503."""

    at: float
    route: str
    has_retry_after: bool


@dataclass
class Ledger:
    """What was answered and promised. All threads write to it."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    away: list[Away] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)
    installs: list[Install] = field(default_factory=list)
    secrets: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, route: str, response: requests.Response) -> None:
        status = response.status_code
        with self.lock:
            self.answers[route, status] += 1
            if status == 503:
                self.away.append(Away(monotonic(), route, "Retry-After" in response.headers))
            elif status >= 500:
                self.failures.append(f"{route}: {status} {response.text[:300]}")

    def failed(self, words: str) -> None:
        with self.lock:
            self.failures.append(words)

    def active(self) -> list[Install]:
        with self.lock:
            return [install for install in self.installs if install.ended is None]


class Load:
    """`start` begins it after every app was installed on every store; `stop` ends it."""

    def __init__(self, url: str, world: dict[str, Any], chance: random.Random) -> None:
        self.ledger = Ledger()
        self.url = url
        self.world = world
        self._chance = chance
        self._over = threading.Event()
        self._markers = count(1)
        self._threads: list[threading.Thread] = []
        self._merchants = [Merchant(self, merchant) for merchant in world["merchants"]]

    def start(self) -> None:
        for merchant in self._merchants:
            for app in self.world["apps"]:
                merchant.install(app)
        jobs = [*([self._order] * CUSTOMERS), self._churn, self._read]
        self._threads = [
            threading.Thread(
                target=self._forever, args=[job, random.Random(self._chance.random())], daemon=True
            )
            for job in jobs
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(GIVE_UP + 30)

    def _forever(self, job: Any, chance: random.Random) -> None:
        session = requests.Session()
        while not self._over.is_set():
            try:
                job(session, chance)
            except GivenUp as problem:
                self.ledger.failed(str(problem))
            except requests.RequestException as problem:
                self.ledger.failed(f"no answer from the proxy: {problem!r}")
            except Exception as problem:  # an answer that the load doesn't understand must not end it
                self.ledger.failed(f"{job.__name__}: {problem!r}")

    def call(
        self, session: requests.Session, method: str, path: str, *, again: bool = True, **options: Any
    ) -> requests.Response:
        """The answer. A 503 and a 429 are tried again, as is a 409 of an order whose first try is being made."""
        route = f"{method} {re.sub(r'[0-9a-f-]{30,}', ':id', path.partition('?')[0])}"
        end = monotonic() + GIVE_UP
        while True:
            response = session.request(method, self.url + path, timeout=60, allow_redirects=False, **options)
            self.ledger.answered(route, response)
            is_running = response.status_code == 409 and "Idempotency-Key" in options.get("headers", {})
            if not again or (response.status_code not in (429, 503) and not is_running):
                return response
            if monotonic() > end:
                raise GivenUp(
                    f"{route} was answered {response.status_code} for {GIVE_UP:.0f} s: {response.text[:200]}"
                )
            sleep(5.0 if is_running else float(response.headers.get("Retry-After", 1)))

    # What people do

    def _order(self, session: requests.Session, chance: random.Random) -> None:
        self._over.wait(chance.expovariate(ORDERS))
        install = chance.choice(self.ledger.active())
        marker = f"Kim {next(self._markers):06}"
        body = {
            "items": [{"productId": install.product, "quantity": 1}],
            "customer": {"name": marker, "email": "kim@example.com"},
            "deliveryMethod": "DELIVERY",
            "address": "1 Harbour Road",
            "paymentMethod": "CASH",
        }
        headers = {"Authorization": f"Bearer {install.token}", "Idempotency-Key": marker}
        began = monotonic()
        response = self.call(session, "POST", "/app-api/orders", json=body, headers=headers)
        if response.status_code == 401 and install.ended is not None:
            return
        if response.status_code != 201:
            self.ledger.failed(f"An order was answered {response.status_code}: {response.text[:300]}")
            return
        order, accepted = response.json()["id"], monotonic()
        confirmed = None
        if chance.random() < STATUS_CHANGED and self._confirm(session, install, order):
            confirmed = monotonic()
        with self.ledger.lock:
            self.ledger.placed.append(Placed(order, marker, install.business, began, accepted, confirmed))

    def _confirm(self, session: requests.Session, install: Install, order: str) -> bool:
        response = self.call(
            session,
            "PATCH",
            f"/app-api/orders/{order}/status",
            json={"status": "CONFIRMED"},
            headers={"Authorization": f"Bearer {install.token}"},
        )
        if response.status_code == 200:
            return True
        if response.status_code != 401 or install.ended is None:
            self.ledger.failed(f"A status was answered {response.status_code}: {response.text[:300]}")
        return False

    def _churn(self, session: requests.Session, chance: random.Random) -> None:
        """Uninstall an app by its token, see that the token is worth nothing, and install it again."""
        self._over.wait(CHURN_EVERY)
        install = chance.choice(self.ledger.active())
        app = self.world["apps"][install.app]
        install.ended = monotonic()
        known = {"auth": (app["client_id"], app["client_secret"])}
        self.call(session, "POST", "/oauth/revoke", data={"token": install.token}, **known)
        headers = {"Authorization": f"Bearer {install.token}"}
        after = self.call(session, "GET", "/app-api/products", headers=headers)
        if after.status_code != 401:
            self.ledger.failed(f"The token of an uninstalled app was answered {after.status_code}.")
        merchant = next(each for each in self._merchants if each.business == install.business)
        merchant.install(app)

    def _read(self, session: requests.Session, chance: random.Random) -> None:
        self._over.wait(READ_EVERY)
        install = chance.choice(self.ledger.active())
        token = {"Authorization": f"Bearer {install.token}"}
        port = urlsplit(self.url).port
        path, headers = chance.choice(
            [
                ("/app-api/products", token),
                ("/app-api/orders?limit=20", token),
                ("/webhooks", token),
                ("/marketplace/", {}),
                ("/", {"Host": f"{install.slug}.stores.localhost:{port}"}),
                ("/healthz", {}),
            ]
        )
        response = self.call(session, "GET", path, headers=headers)
        if response.status_code != 200 and install.ended is None:
            self.ledger.failed(f"GET {path} was answered {response.status_code}: {response.text[:200]}")


class Merchant:
    """Signs in once, and again if the session is gone."""

    def __init__(self, load: Load, merchant: dict[str, str]) -> None:
        self.business = merchant["business"]
        self._load = load
        self._merchant = merchant
        self._session = requests.Session()

    def install(self, app: dict[str, Any]) -> None:
        """The way of a merchant through the consent page, and the app's exchange of the code."""
        while True:
            code = self._consent(app)
            answer = self._load.call(
                requests.Session(),
                "POST",
                "/oauth/token",
                again=False,  # a code that was used once is worth nothing: begin again
                auth=(app["client_id"], app["client_secret"]),
                data={"grant_type": "authorization_code", "code": code, "redirect_uri": app["redirect"]},
            )
            if answer.status_code == 200:
                break
            if answer.status_code != 503:
                raise GivenUp(f"A code was answered {answer.status_code}: {answer.text[:200]}")
            sleep(1.0)
        token = answer.json()
        ledger = self._load.ledger
        with ledger.lock:
            # The answer to an exchange may be lost: the app gets another token for the same installation.
            ledger.secrets.setdefault((app["number"], self.business), set()).add(token["webhookSecret"])
            ledger.installs.append(
                Install(
                    app=app["number"],
                    business=self.business,
                    product=self._merchant["product"],
                    slug=self._merchant["slug"],
                    token=token["access_token"],
                    secret=token["webhookSecret"],
                    since=monotonic(),
                )
            )

    def _consent(self, app: dict[str, Any]) -> str:
        query = {
            "response_type": "code",
            "client_id": app["client_id"],
            "redirect_uri": app["redirect"],
            "state": "xyz",
        }
        path = f"/oauth/authorize?{urlencode(query)}"
        for _ in range(5):
            page = self._load.call(self._session, "GET", path)
            if page.status_code == 302:
                self._sign_in(page.headers["Location"])
                continue
            answer = self._press(path, page, {"answer": "install"})
            if answer.status_code == 302:
                return parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]
        raise GivenUp(f"The consent page was answered {answer.status_code}: {answer.text[:300]}")

    def _sign_in(self, location: str) -> None:
        path = location.replace(self._load.url, "")
        page = self._load.call(self._session, "GET", path)
        fields = {"email": self._merchant["email"], "password": self._load.world["password"]}
        answer = self._press(path.partition("?")[0], page, fields)
        if answer.status_code != 302:
            raise GivenUp(f"The sign-in was answered {answer.status_code}: {answer.text[:300]}")

    def _press(self, path: str, page: requests.Response, fields: dict[str, str]) -> requests.Response:
        hidden = {name: unescape(value) for name, value in HIDDEN.findall(page.text)}
        return self._load.call(self._session, "POST", path, data=hidden | fields)
