"""What the client's hooks and commands promise a shop: its checkout goes on, and a command is done once."""

import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from extension_platform_store import (
    ApiError,
    Command,
    Commands,
    Hooks,
    Refused,
    Sender,
    StoreClient,
    Unreachable,
)

from tests.store_client.signing import signed
from tests.store_client.small_shop import SmallShop

SPEC = "Contract 17 Connected stores"
SECRET = "whsec_of_a_test"
BASKET = {
    "items": [{"productId": "rye", "quantity": 2}],
    "subtotal": 900,
    "promoDiscount": 0,
    "deliveryFee": 0,
}
TEN_OFF = {"answer": {"discount": 90, "reason": "One in ten"}, "parts": [], "quote": "q-1"}


class Platform:
    """In place of the platform: answers, or fails, as a test wants."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.takes = 0.0
        self.failure: Exception | None = None

    def ask(self, point: str, data: Any, **options: Any) -> dict[str, Any]:
        self.asked.append({"point": point, **options})
        time.sleep(self.takes)
        if self.failure:
            raise self.failure
        return TEN_OFF


@pytest.fixture
def dripping() -> Iterator[str]:
    """A server that sends a byte of its answer every 50 ms, for ever."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=drip, args=(connection,), daemon=True).start()

    def drip(connection: socket.socket) -> None:
        with connection:
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
            )
            while not ended.wait(0.05):
                connection.sendall(b" ")

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    ended.set()
    listener.close()


@pytest.mark.timed
@pytest.mark.long
@pytest.mark.spec(SPEC, "Client: the shop's own answer after budgetMs and 200 ms, whatever the network does")
def test_budget_holds_with_a_server_that_drips(dripping: str) -> None:
    hooks = Hooks(lambda: StoreClient(dripping, "fbsk_test", "main"), budget_ms=300)
    began = time.monotonic()
    answer = hooks.ask("order.calculate_discounts", BASKET)
    took = time.monotonic() - began
    assert (answer.answer["discount"], answer.heard) == (0, False)
    assert 0.3 <= took < 0.8


@pytest.mark.spec(SPEC, "Client: a platform that failed three times in a row isn't asked for ten seconds")
def test_breaker_opens_after_three_failures_and_closes_again() -> None:
    platform, now = Platform(), [0.0]
    platform.failure = Unreachable("away")
    hooks = Hooks(lambda: platform, clock=lambda: now[0])
    for subtotal in range(5):
        assert not hooks.ask("order.calculate_discounts", BASKET | {"subtotal": subtotal}).heard
    assert len(platform.asked) == 3
    platform.failure, now[0] = None, 10.1
    assert hooks.ask("order.calculate_discounts", BASKET).heard
    platform.failure = ApiError(400, "no such product")
    for subtotal in range(5):  # an answer, not an outage
        hooks.ask("order.calculate_discounts", BASKET | {"subtotal": subtotal})
    assert len(platform.asked) == 9


@pytest.mark.spec(
    SPEC, "Client: an answer is kept for a minute; the last step asks again, and charges what was shown"
)
def test_answers_are_kept_and_asked_again_at_the_last_step() -> None:
    platform, now = Platform(), [0.0]
    hooks = Hooks(lambda: platform, clock=lambda: now[0])
    for _ in range(3):
        assert hooks.checkout().ask("order.calculate_discounts", BASKET).answer["discount"] == 90
    assert len(platform.asked) == 1
    last = hooks.checkout(fresh=True)
    for _ in range(2):
        last.ask("order.calculate_discounts", BASKET)
    assert (len(platform.asked), last.quote) == (2, "q-1")
    platform.failure = Unreachable("away")
    assert hooks.checkout(fresh=True).ask("order.calculate_discounts", BASKET).answer["discount"] == 90
    now[0] = 61
    assert hooks.checkout(fresh=True).ask("order.calculate_discounts", BASKET).answer["discount"] == 0


@pytest.mark.timed
@pytest.mark.spec(SPEC, "Client: the hooks of one checkout share one budget and one quote")
def test_hooks_of_a_checkout_share_its_time_and_quote() -> None:
    platform = Platform()
    checkout = Hooks(lambda: platform, budget_ms=400).checkout()
    checkout.ask("order.calculate_discounts", BASKET)
    platform.takes = 2.0
    began = time.monotonic()
    for point in ("checkout.shipping_rates", "order.validate"):
        checkout.ask(point, {"builtInFee": 390})  # type: ignore[arg-type]
    assert time.monotonic() - began < 1.0
    assert [each["point"] for each in platform.asked] == [
        "order.calculate_discounts",
        "checkout.shipping_rates",
    ]
    assert platform.asked[1]["quote"] == "q-1"


@pytest.mark.spec(
    SPEC, "Client: shopper and attributes go beside the data, and no answer to one is another's"
)
def test_answers_are_of_one_shopper_and_their_attributes() -> None:
    platform = Platform()
    hooks = Hooks(lambda: platform)
    friday = {"slots": {"slot": "Friday"}}
    for email in ("kim@example.com", "kim@example.com", "lee@example.com", None):
        hooks.checkout(shopper={"email": email, "phone": None}).ask("order.calculate_discounts", BASKET)
    hooks.checkout(attributes=friday).ask("order.calculate_discounts", BASKET)
    hooks.checkout(attributes={"slots": {"slot": "Monday"}}).ask("order.calculate_discounts", BASKET)
    assert [(each.get("shopper"), each.get("attributes")) for each in platform.asked] == [
        ({"email": "kim@example.com"}, None),
        ({"email": "lee@example.com"}, None),
        (None, None),
        (None, friday),
        (None, {"slots": {"slot": "Monday"}}),
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(SPEC, "Client: the platform takes shopper and attributes of a checkout")
def test_platform_takes_shopper_and_attributes(sender: Sender, client: StoreClient) -> None:
    checkout = Hooks(lambda: client).checkout(
        shopper={"email": "kim@example.com", "phone": "+12025550123"},
        attributes={"slots": {"slot": "Friday"}},
    )
    data = {"items": BASKET["items"], "subtotal": 900, "deliveryMethod": "DELIVERY"}
    client.push(
        [{"resource": "products", "id": "rye", "version": 1, "data": {"name": "Rye bread", "price": 4.5}}]
    )
    assert checkout.ask("order.validate", data).heard


# Commands


class Moves:
    def __init__(self, shop: SmallShop) -> None:
        self.shop, self.done = shop, 0
        shop.place("1001", datetime.now(UTC))

    def __call__(self, command: Command) -> str:
        self.done += 1
        order, status = command.data["orderId"], command.data["status"]
        self.shop.connection.execute("UPDATE placed SET status = ? WHERE id = ?", (status, order))
        self.shop.outbox.mark("orders", order)
        if status == "CANCELLED":
            raise Refused("It is on its way.")
        return str(order)


def moved(secret: str = SECRET, **data: Any) -> tuple[dict[str, str], bytes]:
    return signed(secret, command="order.set_status", data={"orderId": "1001", "status": "CONFIRMED"} | data)


@pytest.mark.spec(SPEC, "Client: a command is carried out once, and a repeated one is answered as before")
def test_command_is_done_once(shop: SmallShop) -> None:
    moves = Moves(shop)
    commands = Commands(SECRET, shop.outbox, shop, {"order.set_status": moves})
    first, second = commands.answer(*moved()), commands.answer(*moved())
    assert (first[0], second[0], moves.done) == (200, 200, 1)
    assert [each[1]["order"]["status"] for each in (first, second)] == ["CONFIRMED"] * 2
    assert second[1]["order"]["version"] > first[1]["order"]["version"]


@pytest.mark.spec(SPEC, "Client: of a command that the shop refuses nothing stays but its answer")
def test_refused_command_changes_nothing(shop: SmallShop) -> None:
    moves = Moves(shop)
    commands = Commands(SECRET, shop.outbox, shop, {"order.set_status": moves})
    marks = shop.outbox.waiting().marks
    for _ in range(2):
        assert commands.answer(*moved(status="CANCELLED")) == (409, {"message": "It is on its way."})
    assert (moves.done, shop.outbox.waiting().marks) == (1, marks)
    assert shop.connection.execute("SELECT status FROM placed").fetchall() == [("PENDING",)]
    assert commands.answer(*signed(SECRET, commandId="c-2", command="order.create", data={}))[0] == 422


@pytest.mark.spec(SPEC, "Client: a forged, changed or late command is refused with 401, and not done")
def test_forged_command_is_not_done(shop: SmallShop) -> None:
    moves = Moves(shop)
    commands = Commands(SECRET, shop.outbox, shop, {"order.set_status": moves})
    headers, body = moved()
    late = dict(headers) | {"X-Webhook-Timestamp": str(int(time.time()) - 301)}
    for given in (moved("whsec_of_another"), (headers, body + b" "), (late, body), ({}, body)):
        assert commands.answer(*given)[0] == 401
    assert moves.done == 0
    assert commands.answer(*signed(SECRET, store="other", command="order.set_status", data={}))[0] == 404
