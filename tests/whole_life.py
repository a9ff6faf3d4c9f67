"""The whole life of an app, by HTTP alone: from its developer's registration until a store's data is erased.

    life = WholeLife(platform, server, mail)
    run(*life.reviewer.made_by)
    life.begin()
    ...
    life.end()

The platform runs as in production: people confirm their addresses by mail, reviewers have a second factor, and the app's server has
TLS. Each request goes to the next of the platform's addresses.
"""

import gzip
import io
import json
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import requests
import trustme
from PIL import Image

from tests.accounts.second_factor import code
from tests.by_hand import Browser, Page, Platform, query_of
from tests.pictures import picture
from tests.receivers import Answer, ReceivedRequest, Receiver
from tests.webhooks.helpers import is_signed, wait_until

PASSWORD = "sea otters hold hands"
SUPERUSER = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}
SLOW = 120.0  # seconds for what workers do, on a busy machine
SCOPES = ["read_products", "read_orders", "write_orders", "read_business"]
ANSWERS = {
    "/webhooks/validate": {"valid": True},
    "/webhooks/discounts": {"discount": 150, "reason": "One dollar fifty off"},
    "/webhooks/rates": {"fee": 275},
    "/webhooks/methods": {"methods": [{"id": "bell", "name": "Bell Pay"}]},
    "/webhooks/payment": {"paymentUrl": "https://pay.example.com/7", "invoiceId": "B-7"},
}


class AppServer:
    """The server of the app: gets webhooks and answers hooks, by TLS. `url` is where the platform finds it."""

    def __init__(self, receiver: Receiver, url: str) -> None:
        self._receiver, self.url = receiver, url
        for target, answer in ANSWERS.items():
            receiver.answer_at(target, Answer(body=json.dumps(answer).encode()))

    def asked(self, target: str, business: str) -> int:
        """How many hook calls came for a store."""
        return sum(
            each.target == target and each.headers.get("x-webhook-business-id") == business
            for each in list(self._receiver.requests)
        )

    def got(self, event: str, business: str, target: str = "/webhooks") -> list[ReceivedRequest]:
        """The webhooks of a store, each once."""
        found = {
            each.headers["x-service-event-id"]: each
            for each in list(self._receiver.requests)
            if each.target == target
            and each.headers.get("x-webhook-event") == event
            and each.headers.get("x-webhook-business-id") == business
        }
        return list(found.values())

    def wait_for(
        self, event: str, business: str, secret: str, target: str = "/webhooks", count: int = 1
    ) -> dict[str, Any]:
        """The `data` of the newest of `count` webhooks, which must be signed with the secret."""
        wait_until(lambda: len(self.got(event, business, target)) >= count, SLOW)
        newest = self.got(event, business, target)[-1]
        assert is_signed(newest, secret)
        data: dict[str, Any] = json.loads(newest.body)["data"]
        return data


@contextmanager
def app_server(folder: Path, host: str = "127.0.0.1") -> Iterator[tuple[Receiver, Path]]:
    """A receiver with a certificate for the host, and the file of the authority that issued it."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    trusted = folder / "authority.pem"
    authority.cert_pem.write_to_path(trusted)
    with Receiver(tls=context) as receiver:
        yield receiver, trusted


class Mail:
    """What the platform has mailed, as `EMAIL_URL=filemail://` leaves it in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self.url = f"filemail:///{folder}"

    def link(self, address: str, part: str) -> str:
        """The first link with `part` in a mail to this address."""
        found: list[str] = []

        def look() -> bool:
            for mail in sorted(self._folder.iterdir()):
                text = mail.read_text()
                if f"To: {address}" in text:
                    found.extend(re.findall(rf"https?://\S*{part}\S*", text))
            return bool(found)

        wait_until(look, SLOW)
        return found[0]


class Api:
    """JSON calls with a token, each at the next address."""

    def __init__(self, platform: Platform, token: str = "") -> None:
        self._platform = platform
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self, method: str, path: str, *, at: str = "", **options: Any) -> requests.Response:
        headers = self.headers | options.pop("headers", {})
        answer = self._platform.request(method, path, at=at, headers=headers, **options)
        if answer.status_code == 429:  # it makes more than 60 calls in a minute
            time.sleep(float(answer.headers["Retry-After"]))
            answer = self._platform.request(method, path, at=at, headers=headers, **options)
        return answer

    def call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        answer = self.ask(method, path, **options)
        assert answer.ok, f"{method} {path} was answered {answer.status_code}: {answer.text}"
        found: dict[str, Any] = answer.json() if answer.content else {}
        return found

    def everywhere(self, path: str) -> list[requests.Response]:
        """The answers of all addresses to a GET."""
        return [self.ask("GET", path, at=address) for address in self._platform.addresses]


class Person:
    """Somebody with an account and a browser."""

    def __init__(self, platform: Platform, mail: Mail, name: str) -> None:
        self.platform, self.name, self.email = platform, name, f"{name.lower()}@example.net"
        self.browser = Browser(platform)
        self._mail = mail

    def confirm_address(self) -> None:
        self.browser.open(self._mail.link(self.email, "confirm-email"))
        self.browser.press("Confirm address")

    def sign_in(self, path: str = "/accounts/login/") -> Page:
        self.browser.open(path)
        return self.browser.press("Sign in", email=self.email, password=PASSWORD)


class Developer(Person):
    app: dict[str, Any]

    def register(self) -> None:
        body = {"email": self.email, "password": PASSWORD, "name": self.name, "role": "DEVELOPER"}
        account = Api(self.platform).call("POST", "/auth/register", json=body)
        self.api = Api(self.platform, account["accessToken"])
        self.confirm_address()

    def create_app(self, name: str, server: str) -> None:
        body = {
            "name": name, "slug": name.lower(), "description": "Rings for orders.", "category": "other",
            "scopes": SCOPES, "redirectUrl": "https://app.example.com/callback", "webhookUrl": f"{server}/webhooks",
        }  # fmt: skip
        self.app = self.api.call("POST", "/developer/apps", json=body)
        self._path = f"/developer/apps/{self.app['id']}"
        files = {"icon": ("icon.png", picture(), "image/png")}
        self.app |= self.api.call("PATCH", self._path, files=files)
        self.api.call("PUT", f"{self._path}/manifest", json=manifest(server))

    def test_install(self) -> dict[str, Any]:
        return self.api.call("POST", f"{self._path}/test-install")

    def send_test_event(self, event: str) -> None:
        assert self.api.call("POST", f"{self._path}/test-events", json={"event": event})["deliveries"] == 1

    def change(self, **fields: Any) -> None:
        self.app |= self.api.call("PATCH", self._path, json=fields)

    def submit(self, **remarks: str) -> None:
        submitted = self.api.call("POST", f"{self._path}/submit", json=remarks)
        assert submitted["status"] == "PENDING_REVIEW"

    def count_deliveries(self, status: str) -> int:
        found = self.api.call("GET", f"{self._path}/deliveries", params={"status": status})
        return int(found["total"])

    def see_app(self) -> dict[str, Any]:
        return self.api.call("GET", self._path)


class Reviewer(Person):
    @property
    def made_by(self) -> tuple[str, ...]:
        """The command of an administrator, with the password in `SUPERUSER`."""
        return ("manage.py", "createsuperuser", "--noinput", f"--email={self.email}", f"--name={self.name}")

    def set_up_second_factor(self) -> None:
        self.sign_in("/admin/")
        self.browser.follow("Set up authenticator app")
        (key,) = re.findall(r'id="key"[^>]*value="(\w+)"|value="(\w+)"[^>]*id="key"', self.browser.page.html)
        self.browser.press("Turn on", code=code("".join(key)))

    def approve(self) -> None:
        self.browser.open("/admin/marketplace/submission/")
        self.browser.press("Start review")
        criteria = ("functionality", "security", "scopes", "quality", "policy")
        self.browser.press("Approve", **{f"{criterion}__verdict": "PASS" for criterion in criteria})
        page = self.browser.press("Approve")
        assert f"Approved by {self.name}" in page.words, page.words


class Merchant(Person):
    def register(self) -> None:
        self.browser.open("/accounts/register/")
        self.browser.press(
            "Register", role="MERCHANT", name=self.name, email=self.email, password=PASSWORD, business_name="Harbour Bakery"
        )  # fmt: skip
        self.confirm_address()
        if "/login/" in self.browser.page.url:
            self.sign_in()

    def add_product(self, name: str, price: str) -> None:
        self.browser.open("/merchant/products/add/")
        self.browser.press("Add product", name=name, price=price)

    def add_page_with_block(self, title: str, block: str) -> Page:
        self.browser.open("/merchant/pages/add/")
        self.browser.press("Add page", title=title, is_published="on")
        self.browser.open("/merchant/pages/")
        self.browser.follow("Edit")
        return self.browser.press(block)

    def install(self, name: str) -> str:
        """Find the app in the marketplace and agree. Returns the address to which the app is sent."""
        self.browser.open("/marketplace/")
        self.browser.follow(name)
        self.browser.follow("Install")
        return self.browser.press("Install").url

    def app_page(self, installation: dict[str, Any], ending: str = "") -> Page:
        return self.browser.open(f"/merchant/apps/{installation['installationId']}/{ending}")

    def move_order(self, number: str, button: str) -> None:
        self.browser.open("/merchant/orders/")
        self.browser.follow(number)
        self.browser.press(button)


class Shopper:
    def __init__(self, platform: Platform, store: str) -> None:
        self.browser, self.store = Browser(platform), store

    def order(self, product: str, **fields: str) -> Page:
        """Buy one. Returns the page of the order."""
        self.browser.open(self.store)
        self.browser.follow(product)
        self.browser.press("Add to cart")
        self.browser.open(f"{self.store}cart/")
        self.browser.follow("Checkout")
        about = {
            "customer_name": "Kim", "customer_email": "kim@example.com", "delivery_method": "DELIVERY",
            "address": "1 Quay Street", "payment_method": "CASH",
        }  # fmt: skip
        return self.browser.press("Place order", **(about | fields))


def manifest(server: str) -> dict[str, Any]:
    title = {"type": "string", "title": "Title", "default": "Our bell"}
    schema = {"type": "object", "properties": {"title": title}}
    hooks = {
        "order.validate": "validate", "order.calculate_discounts": "discounts", "checkout.shipping_rates": "rates",
        "checkout.payment_methods": "methods", "checkout.create_payment": "payment",
    }  # fmt: skip
    return {
        "settingsSchema": schema,
        "blocks": [
            {"blockType": "bell", "name": "Bell", "renderUrl": f"{server}/block", "settingsSchema": schema}
        ],
        "embeds": [
            {
                "embedType": "ring", "name": "Ring", "kind": "GLOBAL_SCRIPT", "position": "body_end",
                "scriptUrl": f"{server}/ring.js",
            }
        ],
        "hooks": [{"hookPoint": point, "url": f"/{path}"} for point, path in hooks.items()],
        "adminPages": [{"pageId": "bell", "title": "The bell", "renderUrl": f"{server}/admin"}],
    }  # fmt: skip


class WholeLife:
    """`begin`, and then `end`; between them the platform's addresses may change. `number` tells the people of several lives apart."""

    def __init__(self, platform: Platform, server: AppServer, mail: Mail, number: int = 1) -> None:
        self.platform, self.server = platform, server
        self.name = f"Bell-{number}"
        self.developer = Developer(platform, mail, f"Dora{number}")
        self.reviewer = Reviewer(platform, mail, f"Rae{number}")
        self.merchant = Merchant(platform, mail, f"Mira{number}")

    def begin(self) -> None:
        self._app_is_made_and_tested()
        self._app_is_approved()
        self._app_is_installed()
        self._calls_are_counted_together()
        self._shopper_orders()
        self._shopper_pays_with_the_app()
        self._icon_is_seen_everywhere()
        self._export_is_read_everywhere()

    def end(self) -> None:
        self._feed_is_read_everywhere()
        self._app_is_paused()
        self._app_asks_for_more()
        self._app_is_uninstalled()

    def _app_is_made_and_tested(self) -> None:
        self.developer.register()
        self.developer.create_app(self.name, self.server.url)
        self.developer.test_install()
        test = (
            self.developer.test_install()
        )  # by each version, since the earlier one doesn't mark it (docs/upgrading.md)
        self.developer.send_test_event("order.created")
        self.server.wait_for("order.created", test["businessId"], test["webhookSecret"])

    def _app_is_approved(self) -> None:
        self.reviewer.set_up_second_factor()
        self.developer.submit(howToTest="Place an order.")
        self.reviewer.approve()
        app = self.developer.see_app()
        assert (app["status"], app["isListed"], app["approvedScopes"]) == ("APPROVED", True, SCOPES)

    def _app_is_installed(self) -> None:
        self.merchant.register()
        self.merchant.add_product("Rye bread", "4.50")
        callback = query_of(self.merchant.install(self.name))
        assert callback["iss"] == self.platform.url
        self.token = self._exchange(callback["code"])
        self.api = Api(self.platform, self.token["access_token"])
        self.business, self.secret = self.token["businessId"], self.token["webhookSecret"]
        self.store = self.api.call("GET", "/app-api/installation")
        assert (self.store["isTestInstall"], self.store["settings"]) == (False, {"title": "Our bell"})

    def _exchange(self, code: str) -> dict[str, Any]:
        app = self.developer.app
        return Api(self.platform).call(
            "POST", "/oauth/token", auth=(app["clientId"], app["clientSecret"]),
            data={"grant_type": "authorization_code", "code": code, "redirect_uri": app["redirectUrl"]},
        )  # fmt: skip

    def _calls_are_counted_together(self) -> None:
        def count() -> bool:
            """Whether all calls were in the same minute."""
            answers = [self.api.ask("GET", "/app-api/products") for _ in range(4)]
            first, *_ = left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]
            if len({answer.headers["X-RateLimit-Reset"] for answer in answers}) > 1:
                return False
            assert left == [first, first - 1, first - 2, first - 3]
            return True

        wait_until(count)

    def _shopper_orders(self) -> None:
        """All hooks are asked, the app has its block and its script in the store, and receives the events of the order."""
        more = f"{self.server.url}/more"
        body = {"url": more, "events": ["order.status_changed"], "description": "Another one"}
        webhook = self.api.call("POST", "/webhooks", json=body)
        tested = self.api.call("POST", f"/webhooks/{webhook['id']}/test")
        assert (tested["success"], tested["httpStatus"]) == (True, 200)
        self.server.wait_for("webhook.test", self.business, webhook["secret"], "/more")

        page = self.merchant.add_page_with_block("About us", "Bell")
        assert f'src="{self.server.url}/block?' in unescape(page.html)  # in the canvas, which is an attribute
        page = self.merchant.app_page(self.store, "pages/bell/")
        assert f'src="{self.server.url}/admin?' in page.html

        self.shopper = Shopper(self.platform, self.api.call("GET", "/app-api/business")["storefrontUrl"])
        page = self.shopper.order("Rye bread")
        assert "One dollar fifty off" in page.words
        assert f'src="{self.server.url}/ring.js"' in page.html
        for target in ANSWERS.keys() - {"/webhooks/payment"}:
            assert self.server.asked(target, self.business), target
        created = self.server.wait_for("order.created", self.business, self.secret)
        order = self.api.call("GET", f"/app-api/orders/{created['orderId']}")
        assert [order[name] for name in ("discount", "deliveryFee", "amount")] == [1.5, 2.75, 5.75]
        self.merchant.move_order(order["orderNumber"], "Confirm order")
        for target, secret in (("/webhooks", self.secret), ("/more", webhook["secret"])):
            moved = self.server.wait_for("order.status_changed", self.business, secret, target)
            assert (moved["orderId"], moved["status"]) == (order["id"], "CONFIRMED")

    def _shopper_pays_with_the_app(self) -> None:
        page = self.shopper.order("Rye bread", payment_method=f"{self.name.lower()}:bell")
        assert "https://pay.example.com/7" in [url for _, url in page.links]
        created = self.server.wait_for("order.created", self.business, self.secret, count=2)
        path = f"/app-api/orders/{created['orderId']}/payment"
        paid = self.api.call("PATCH", path, json={"status": "COMPLETED", "reference": "B-7"})
        assert paid["payment"]["status"] == "COMPLETED"
        completed = self.server.wait_for("payment.completed", self.business, self.secret)
        assert (completed["orderId"], completed["invoiceId"]) == (created["orderId"], "B-7")

    def _icon_is_seen_everywhere(self) -> None:
        for address in self.platform.addresses:
            shown = self.platform.request("GET", self.developer.app["iconUrl"], at=address)
            assert shown.status_code == 200
            assert Image.open(io.BytesIO(shown.content)).size == (32, 32)

    def _export_is_read_everywhere(self) -> None:
        asked = self.api.call("POST", "/app-api/exports", json={"resource": "orders"})
        path = f"/app-api/exports/{asked['id']}"
        export: dict[str, Any] = {}

        def is_ready() -> bool:
            time.sleep(0.5)  # calls are counted
            export.update(self.api.call("GET", path))
            return export["status"] == "READY"

        wait_until(is_ready, SLOW)
        answers = self.api.everywhere(f"{path}/file")
        assert {answer.status_code for answer in answers} == {200}
        (content,) = {answer.content for answer in answers}
        assert gzip.decompress(content).count(b"\n") == export["rows"] == 2

    def _feed_is_read_everywhere(self) -> None:
        """Two events at a time, each page elsewhere. The earlier version doesn't know the newer one's cursors (CHANGELOG.md)."""
        events, cursor = [], ""
        while True:
            query = {"limit": "2"} | ({"after": cursor} if cursor else {})
            answer = self.api.ask("GET", "/app-api/events", params=query)
            if answer.status_code == 400:
                answer = self.api.ask("GET", "/app-api/events", params=query)
            assert answer.ok, answer.text
            page = answer.json()
            events += [event["event"] for event in page["data"]]
            cursor = page["nextCursor"]
            if not page["hasMore"]:
                break
        assert events == ["order.created", "order.status_changed", "order.created", "payment.completed"]

    def _app_is_paused(self) -> None:
        """Events meanwhile are sent afterwards."""
        self.merchant.app_page(self.store)
        self.merchant.browser.press("Pause")
        assert {answer.status_code for answer in self.api.everywhere("/app-api/products")} == {403}
        page = self.shopper.order("Rye bread")
        assert "One dollar fifty off" not in page.words
        wait_until(lambda: self.developer.count_deliveries("HELD") == 1)
        assert len(self.server.got("order.created", self.business)) == 2
        self.merchant.app_page(self.store)
        self.merchant.browser.press("Resume")
        self.server.wait_for("order.created", self.business, self.secret, count=3)
        assert {answer.status_code for answer in self.api.everywhere("/app-api/products")} == {200}

    def _app_asks_for_more(self) -> None:
        """The token gets the new scope once the merchant agrees."""
        self.developer.change(version="1.1.0", scopes=[*SCOPES, "read_reviews"])
        self.developer.submit(scopeReason="Shows reviews beside orders.")
        self.reviewer.approve()

        def is_asked() -> bool:
            time.sleep(0.5)
            return bool(self.api.call("GET", "/app-api/installation")["needsReConsent"])

        wait_until(is_asked, SLOW)
        assert {answer.status_code for answer in self.api.everywhere("/app-api/reviews")} == {403}
        self.merchant.app_page(self.store, "permissions/")
        self.merchant.browser.press("Approve")
        assert {answer.status_code for answer in self.api.everywhere("/app-api/reviews")} == {200}
        assert not self.api.call("GET", "/app-api/installation")["needsReConsent"]

    def _app_is_uninstalled(self) -> None:
        """Its token is worth nothing anywhere at once, nothing of it is in the store, and the erasure follows."""
        self.merchant.app_page(self.store)
        self.merchant.browser.follow("Uninstall")
        self.merchant.browser.press("Uninstall")
        assert {answer.status_code for answer in self.api.everywhere("/app-api/products")} == {401}
        assert self.server.url not in self.shopper.browser.open(self.shopper.store).html
        erased = self.server.wait_for("business.data_erasure", self.business, self.secret)
        assert (erased["appId"], erased["businessId"]) == (self.developer.app["id"], self.business)
