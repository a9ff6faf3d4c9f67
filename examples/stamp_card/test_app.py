"""The app, from the platform's side. The app API is a server of the test's own."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import cards
import database
import environment
import known_stores
import pytest
import signed
from app import app
from conftest import Send

KIM, ADA = "shp_kim", "shp_ada"


class Platform:
    """Answers for the orders that it knows, and counts how often it was asked. `limited` requests are 429 first."""

    def __init__(self) -> None:
        self.orders: dict[str, Any] = {}
        self.asked, self.limited = 0, 0
        self.meanwhile: Callable[[], object] = lambda: None  # between the request and the answer
        platform = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                platform.asked += 1
                status, body = 200, platform.answer(self.path)
                if platform.limited:
                    platform.limited -= 1
                    status, body = (
                        429,
                        {"statusCode": 429, "message": "Slow down.", "error": "Too Many Requests"},
                    )
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                if status == 429:
                    self.send_header("Retry-After", "1")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, path: str) -> Any:
        if path == "/app-api/business":
            return {"locale": "de-CH"}
        order = dict(self.orders[path.rpartition("/")[2]])
        self.meanwhile()
        return order

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    running = Platform()
    monkeypatch.setattr(environment, "PLATFORM_URL", running.url)
    monkeypatch.setattr(environment, "CLIENT_ID", "client-1")
    known_stores.keep(signed.STORE)
    yield running
    running.close()


class Shop:
    """What happens in the store."""

    def __init__(self, platform: Platform, send: Send) -> None:
        self.platform, self.send = platform, send

    def order(self, number: int, shopper: str = KIM, *, request: str = "", discount: float = 0) -> str:
        order_id = f"o-{number}"
        self.platform.orders[order_id] = {
            "status": "PENDING", "amount": 12 - discount, "refunded": 0, "discount": discount, "customer": {"key": shopper},
        }  # fmt: skip
        self.tell("order.created", order_id, request=request)
        return order_id

    def tell(self, event: str, order_id: str, **more: Any) -> None:
        assert self.send("/webhooks", *signed.webhook(event, {"orderId": order_id}, **more))[0] == 200

    def discount(self, request: str, *, shopper: str = KIM, proven: bool = True) -> Any:
        """The answer to a question about the price."""
        who = {"key": shopper, "proven": proven}
        call = signed.hook_call("order.calculate_discounts", shopper=who, request=request)
        status, answer = self.send("/webhooks/hooks", *call)
        assert status == 200
        return answer

    def place(self, request: str) -> Any:
        """The two questions about an order of Kim's that is being placed."""
        who = {"key": KIM, "proven": True}
        call = signed.hook_call("order.validate", shopper=who, request=request)
        assert self.send("/webhooks/hooks", *call) == (200, {"valid": True})
        return self.discount(request)


@pytest.fixture
def shop(platform: Platform, send: Send) -> Shop:
    return Shop(platform, send)


def wait_until(condition: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "This took too long."
        time.sleep(0.02)


def stamps(shopper: str = KIM) -> int:
    return cards.card(signed.STORE.business_id, shopper)["stamps"]


def is_read() -> bool:
    """Whether no order waits to be read."""
    with database.transaction() as rows:
        return not rows.execute("SELECT 1 FROM orders WHERE due > 0").fetchone()


@pytest.fixture
def full(shop: Shop) -> Shop:
    """Kim has ordered nine times."""
    for number in range(9):
        shop.order(number)
    wait_until(lambda: stamps() == 9)
    return shop


def test_tenth_order_is_free_for_who_has_proven_it(full: Shop) -> None:
    assert full.discount("r-1", proven=False) == {"discount": 0}
    assert full.discount("r-1", shopper=ADA) == {"discount": 0}
    answer = full.discount("r-1")
    assert (answer["discount"], "gratis" in answer["reason"]) == (1200, True)


def test_free_order_empties_the_card(full: Shop) -> None:
    full.discount("r-1")  # what the checkout shows costs nothing
    full.place("r-2")
    full.order(10, request="r-2", discount=12)
    assert full.discount("r-3") == {"discount": 0}
    wait_until(is_read)
    assert stamps() == 0
    full.order(11)
    wait_until(lambda: stamps() == 1)


def test_two_orders_at_once_are_not_both_free(full: Shop) -> None:
    assert full.place("r-1")["discount"] == 1200
    assert full.place("r-2") == {"discount": 0}


def test_free_order_that_was_not_free_in_the_end_earns_a_stamp(full: Shop) -> None:
    """The store waits for an answer only so long."""
    full.place("r-1")
    full.order(10, request="r-1")
    wait_until(is_read)
    assert cards.card(signed.STORE.business_id, KIM) == {"stamps": 9, "of": 9, "free": 1}


def test_repeat_has_one_effect(full: Shop) -> None:
    full.tell("order.created", "o-1")
    full.tell("order.created", "o-1")
    wait_until(is_read)
    assert cards.card(signed.STORE.business_id, KIM)["free"] == 1
    full.platform.orders["o-1"]["status"] = "CANCELLED"
    full.tell("order.cancelled", "o-1")
    wait_until(lambda: stamps() == 8)


@pytest.mark.parametrize(("refunded", "left"), [(11.99, 9), (12, 8)])
def test_refund_takes_a_stamp_back_if_it_is_all(full: Shop, refunded: float, left: int) -> None:
    full.platform.orders["o-3"]["refunded"] = refunded
    full.tell("order.refunded", "o-3")
    wait_until(is_read)
    assert stamps() == left


def test_limit_of_the_platform_loses_no_stamp(shop: Shop) -> None:
    shop.platform.limited = 2
    began = time.monotonic()
    for number in range(3):
        shop.order(number)
    wait_until(lambda: stamps() == 3)
    assert time.monotonic() - began >= 2  # twice as long as it was asked to wait
    assert shop.platform.asked <= 6


def test_erased_customer_is_in_no_file(full: Shop, kept: Any) -> None:
    """Not in a row that is read while the erasure comes, either."""
    full.discount("r-1")
    full.platform.orders["o-9"] = full.platform.orders["o-1"]
    data = {
        "orderIds": ["o-9", "o-1"],
        "reviewIds": [],
        "customer": {"email": "kim@example.com", "phone": None},
    }

    def erase() -> None:
        full.platform.meanwhile = lambda: None
        full.send("/webhooks", *signed.webhook("customer.data_erasure", data))

    full.platform.meanwhile = erase
    full.tell("order.created", "o-9")
    wait_until(lambda: full.platform.meanwhile is not erase and is_read())
    assert stamps() == 0
    assert all(KIM.encode() not in file.read_bytes() for file in kept.iterdir())


def test_card_is_shown_to_the_person_of_the_token_alone(full: Shop, send: Send) -> None:
    token = signed.block_token({"key": KIM, "proven": True}, client_id="client-1")
    assert send("/card", token) == (200, {"card": {"stamps": 9, "of": 9, "free": 1}})
    assert send("/card", signed.block_token(None, client_id="client-1")) == (200, {"card": None})
    for forged in (
        "",
        KIM,
        token[:-2],
        signed.block_token({"key": KIM, "proven": True}, client_id="client-2"),
    ):
        assert send("/card", forged)[0] == 401


def test_forged_webhook_is_refused(send: Send, platform: Platform) -> None:
    body, headers = signed.webhook("order.created", {"orderId": "o-1"})
    assert send("/webhooks", body + b" ", headers)[0] == 401


@pytest.mark.parametrize(
    ("locale", "text"),
    [("en", "Stamp card"), ("de-CH", "Stempelkarte"), ("fr", "Carte"), ("kk", "Stamp card")],
)
def test_block_speaks_the_language_of_the_store(locale: str, text: str) -> None:
    response = app.test_client().get(f"/block?locale={locale}")
    assert text in response.text
    assert "X-Frame-Options" not in response.headers
