"""What apps write to a connected store's orders is asked of its shop (contract, section 17, "Commands")."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from accounts.models import ConnectedStore, ShopSystem
from accounts.services import shops
from common import strangers
from extensions.models import ShopCommand
from extensions.shops import calling
from installations.models import Installation
from stores.models import Order, Product
from tests import factories
from tests.clients import client_of
from tests.developers.docs.guide_code import code
from tests.receivers import Answer, Receiver
from tests.storeapi import checkouts
from tests.storeapi.commanded import move, order, outcomes, place, refusal
from tests.storeapi.rows import published, put
from tests.strangers import others, places_taken

pytestmark = pytest.mark.django_db(transaction=True)

GONE = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def placed(shop: Client, store: ConnectedStore, reader: Installation) -> Order:
    put(shop, "products/p-1")
    put(shop, "orders/o-1")
    return Order.objects.get()


@pytest.fixture
def product(shop: Client, store: ConnectedStore) -> Product:
    put(shop, "products/p-1")
    return Product.objects.get()


def failed(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer["X-Error-Code"]


def test_shop_is_asked_to_move_an_order(
    asked: Receiver, placed: Order, reader: Installation, api: Client, connected: shops.Connected
) -> None:
    asked.respond_with(order(status="READY"))
    trace = "0af7651916cd43dd8448eb211c80319c"
    path = f"/app-api/orders/{placed.pk}/status"
    answer = api.patch(
        path, {"status": "CONFIRMED"}, content_type="application/json",
        headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"},
    )  # fmt: skip
    assert answer.status_code == 200, answer.content
    assert (answer.json()["id"], answer.json()["status"]) == (str(placed.pk), "READY")  # what the shop says
    (request,) = asked.requests
    body = json.loads(request.body)
    assert (request.method, request.target) == ("POST", "/commands")
    command = ShopCommand.objects.get()
    assert body == {
        "command": "order.set_status",
        "commandId": str(command.command_id),
        "store": "main",
        "businessId": str(placed.business_id),
        "appId": str(reader.app_id),
        "appName": reader.app_fields.name,
        "data": {"orderId": "o-1", "status": "CONFIRMED"},
    }
    headers = request.headers
    assert headers["x-webhook-business-id"] == str(placed.business_id)
    assert headers["x-request-id"] == answer["X-Request-Id"]
    assert headers["traceparent"].startswith(f"00-{trace}-")
    check_signatures(request.body, headers, connected.secret)
    assert headers["webhook-id"] == body["commandId"]
    assert outcomes() == [("order.set_status", "DONE")]
    assert published()[-1] == "order.status_changed"
    assert str(command.request_id) == answer["X-Request-Id"]


def check_signatures(body: bytes, headers: Any, secret: str) -> None:
    """Both schemes, as hook calls have them."""
    stamp = headers["webhook-timestamp"]
    assert abs(int(stamp) - time.time()) < 10
    own = hmac.digest(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hex()
    assert headers["x-webhook-signature"] == f"sha256={own}"
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.digest(key, f"{headers['webhook-id']}.{stamp}.".encode() + body, hashlib.sha256)
    assert headers["webhook-signature"] == "v1," + base64.b64encode(signed).decode()


def test_shop_is_asked_to_place_an_order(asked: Receiver, product: Product, api: Client) -> None:
    asked.respond_with(order("o-7", discount=0.5, amount=8.5, customer={"name": "Kim Lee"}))
    answer = place(api, product, product, key="first")
    assert answer.status_code == 201, answer.content
    kept = Order.objects.get()
    assert (answer.json()["id"], answer.json()["externalId"]) == (str(kept.pk), "o-7")
    assert (kept.discount, kept.customer_name) == (50, "Kim Lee")
    assert json.loads(asked.requests[0].body)["data"] == {
        "items": [{"productId": "p-1", "quantity": 2}],  # lines of one product are joined
        "customer": {"name": "Kim Lee", "email": "kim@example.com", "phone": None},
        "deliveryMethod": "PICKUP",
        "address": None,
        "paymentMethod": "CASH",
        "promoDiscount": 0.5,
        "note": None,
    }
    assert published()[-1] == "order.created"
    assert ShopCommand.objects.get().order_id == kept.pk
    again = place(api, product, product, key="first")
    assert (again.status_code, again.content) == (201, answer.content)
    assert len(asked.requests) == 1


def test_apps_are_not_asked_by_us(
    asked: Receiver, product: Product, hooking: Any, store: ConnectedStore
) -> None:
    """The shop asks them, as at its checkout."""
    asked.respond_with(order("o-7"))
    hooked = hooking("order.validate", {"valid": False, "reason": "No"}, business=store.business)
    assert place(client_of(hooked.installation), product).status_code == 201
    assert hooked.receiver.requests == []


@pytest.mark.parametrize(
    ("status", "code"), [(404, "shop_not_found"), (409, "shop_conflict"), (422, "shop_refused")]
)
def test_refusal_of_the_shop_is_the_answer(
    asked: Receiver, placed: Order, api: Client, status: int, code: str
) -> None:
    why = "<b>Beans & " + "x" * 289
    asked.respond_with(refusal(status, why))
    answer = move(api)
    assert failed(answer) == (status, code)
    assert answer.json()["message"] == why
    placed.refresh_from_db()
    assert (placed.status, outcomes()) == ("PENDING", [("order.set_status", "REFUSED")])


def row_of_another_store(**fields: Any) -> Answer:
    return order("o-9", **fields)


UNUSABLE = {
    "refusal without a reason": Answer(status=409),
    "refusal with an empty one": refusal(409, ""),
    "refusal with a long one": refusal(422, "x" * 301),
    "refusal with one of 10 MB": refusal(422, "x" * 10_000_000),
    "refusal with a number": refusal(404, 7),
    "refusal with NUL": refusal(404, "a\0b"),
    "other refusal": refusal(403, "No"),
    "failure": refusal(500, "No"),
    "other success": Answer(status=201, body=order().body),
    "redirect": Answer(status=307, headers={"Location": "/elsewhere"}),
    "nothing": Answer(),
    "no JSON": Answer(body=b"<html>"),
    "JSON of many values": Answer(body=b'{"order": [' + b"0," * 60_000 + b"0]}"),
    "JSON that is deep": Answer(body=b'{"order": ' + b"[" * 100 + b"]" * 100 + b"}"),
    "no object": Answer(body=b"[]"),
    "no order": Answer(body=b'{"order": null}'),
    "no id": Answer(body=b'{"order": {"version": 2}}'),
    "wrong id": order("../o-1"),
    "another order": order("o-2"),
    "no version": order(version=None),  # type: ignore[arg-type]
    "wrong sum": order(amount=8),
    "unknown key": order(total=9),
    "700,000 lines in one field": order(note="\n" * 700_000),
    "64 MiB": Answer(body=b'{"order": "' + b"x" * (64 * 1024 * 1024)),
    "kept version with other content": order(version=1, status="READY"),
    "connection closed": Answer(script=lambda connection: None),
}  # fmt: skip


@pytest.mark.parametrize("what", UNUSABLE)
def test_no_usable_answer_changes_nothing(asked: Receiver, placed: Order, api: Client, what: str) -> None:
    asked.respond_with(UNUSABLE[what])
    events = published()
    answer = move(api)
    assert failed(answer) == (503, "shop_unreachable")
    assert answer["Retry-After"] == "10"
    assert {each.target for each in asked.requests} == {"/commands"}  # no redirect was followed
    assert (Order.objects.get().status, published()) == ("PENDING", events)
    command = ShopCommand.objects.get()
    assert (command.outcome, bool(command.message), len(command.answer_excerpt) <= 2000) == (
        "UNREACHABLE",
        True,
        True,
    )
    asked.respond_with(order(status="CONFIRMED"))
    assert move(api).status_code == 200


@pytest.mark.parametrize(
    ("said", "passed_on"), [("7", "7"), ("600", "60"), ("soon", "10"), ("Sun, 29 Nov 2015 00:00:00 GMT", "0")]
)
def test_time_to_wait_is_passed_on(
    asked: Receiver, placed: Order, api: Client, said: str, passed_on: str
) -> None:
    asked.respond_with(Answer(status=503, headers={"Retry-After": said}))
    answer = move(api)
    assert (failed(answer), answer["Retry-After"]) == ((503, "shop_unreachable"), passed_on)


@pytest.mark.parametrize(
    "slow", [Answer(delay=5), Answer(body=order().body, drip=0.05)], ids=["silent", "drip"]
)
def test_shop_has_some_seconds(
    asked: Receiver, placed: Order, api: Client, slow: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert calling.SECONDS == 10
    monkeypatch.setattr(calling, "SECONDS", 0.7)
    asked.respond_with(slow)
    began = time.monotonic()
    assert failed(move(api)) == (503, "shop_unreachable")
    assert time.monotonic() - began < 2.5


def test_shop_that_cannot_be_waited_for_is_not_asked(asked: Receiver, placed: Order, api: Client) -> None:
    with places_taken():
        answer = move(api, key="later")
    assert failed(answer) == (503, "too_many_waiting")
    assert answer["Retry-After"]
    assert (asked.requests, outcomes()) == ([], [("order.set_status", "NO_PLACE")])
    asked.respond_with(order(status="CONFIRMED"))
    assert move(api, key="later").status_code == 200


def test_address_of_our_own_network_is_not_asked(
    placed: Order, api: Client, connected: shops.Connected, asked: Receiver, settings: Any
) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = False
    assert failed(move(api)) == (503, "shop_unreachable")
    assert asked.requests == []
    assert "public internet" in ShopCommand.objects.get().message


def test_without_commands_apps_only_read(placed: Order, product: Product, api: Client) -> None:
    assert [failed(each) for each in (move(api), place(api, product))] == [(409, "store_read_only")] * 2
    assert place(api, product, items=[]).status_code == 400  # what is wrong with the body comes first
    assert move(api, "PENDING").status_code == 200
    assert outcomes() == []


def test_status_that_an_order_has_is_not_asked_for(asked: Receiver, placed: Order, api: Client) -> None:
    answer = move(api, "PENDING")
    assert (answer.status_code, answer.json()["status"]) == (200, "PENDING")
    assert move(api, "LOST").status_code == 400
    assert asked.requests == []


def test_products_of_a_guest_order_have_rows(
    asked: Receiver, product: Product, shop: Client, api: Client
) -> None:
    put(shop, "orders/o-1", items=[{"productId": "p-8", "name": "Mentioned", "quantity": 1, "price": 9}])
    mentioned = Order.objects.get().items.get().product_id
    foreign = factories.product(factories.business(factories.merchant("mira@example.com")))
    for other in (mentioned, foreign, GONE, "p-1"):
        answer = place(api, product, other)
        assert failed(answer) == (404, "not_found"), other
    assert asked.requests == []


def test_shop_decides_what_it_sells_and_how(
    asked: Receiver, product: Product, shop: Client, api: Client
) -> None:
    put(shop, "products/p-1", 2, isAvailable=False, stock=0)
    asked.respond_with(order("o-7"))
    assert place(api, product, paymentMethod="invoice").status_code == 201
    assert json.loads(asked.requests[0].body)["data"]["paymentMethod"] == "invoice"


def test_repeated_call_is_one_command(
    asked: Receiver, product: Product, api: Client, reader: Installation
) -> None:
    cut = Answer(
        script=lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
    )
    asked.respond_with(500, cut, order("o-7"))
    statuses = [place(api, product, key="till-1").status_code for _ in range(3)]
    assert statuses == [503, 503, 201]
    place(api, product, key="till-2")
    app = factories.app(factories.developer("devi@example.com"))
    factories.approve(app)
    other = factories.installation(app, product.business)
    place(client_of(other), product, key="till-1")
    place(api, product)
    place(api, product)
    sent = [UUID(json.loads(each.body)["commandId"]) for each in asked.requests]
    assert len(set(sent[:3])) == 1
    assert len(set(sent[2:])) == 5


def test_answer_is_an_order_of_this_command(
    asked: Receiver, product: Product, shop: Client, api: Client
) -> None:
    put(shop, "orders/o-1")
    asked.respond_with(order("o-1", 1))
    assert failed(place(api, product, key="a")) == (503, "shop_unreachable")

    def sends_its_row_first(connection: Any) -> None:
        put(shop, "orders/o-2", 3)
        body = order("o-2", 3).body
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    asked.respond_with(Answer(script=sends_its_row_first), order("o-2", 3))
    answer = place(api, product, key="b")
    assert (answer.status_code, answer.json()["externalId"]) == (201, "o-2")
    assert failed(place(api, product, key="c")) == (503, "shop_unreachable")
    assert Order.objects.count() == 2


def test_quote_of_the_shops_checkout_comes_with_the_order(
    asked: Receiver, shop: Client, store: ConnectedStore, hooking: Any
) -> None:
    hooked = hooking("order.validate", {"valid": True}, business=store.business)
    put(shop, "products/p-1")
    said = checkouts.asked(shop, checkouts.VALIDATE)
    asked.respond_with(order("o-7", quote=said["quote"]))
    answer = place(client_of(hooked.installation), Product.objects.get())
    assert (answer.status_code, answer.json()["validation"]) == (201, "VALID")


@pytest.mark.parametrize(("version", "status"), [(1, "PENDING"), (0, "READY")], ids=["unchanged", "stale"])
def test_older_row_gives_the_kept_one(
    asked: Receiver, placed: Order, api: Client, version: int, status: str
) -> None:
    asked.respond_with(order(version=version, status=status))
    answer = move(api)
    assert (answer.status_code, answer.json()["status"]) == (200, "PENDING")


def test_order_that_came_by_a_command_stays_wanted(
    asked: Receiver, product: Product, shop: Client, api: Client
) -> None:
    """Though it was placed long before the app was installed."""
    old = {"createdAt": "2020-01-01T00:00:00Z"}
    asked.respond_with(order("o-7", 1, **old))
    assert place(api, product).status_code == 201
    assert put(shop, "orders/o-6", **old).json()["result"] == "unwanted"
    assert put(shop, "orders/o-7", 2, status="READY", **old).json()["result"] == "updated"
    compared = shop.post(
        "/store-api/stores/main/snapshot", {"resource": "orders", "rows": [["o-6", 1], ["o-7", 3]]},
        content_type="application/json",
    ).json()  # fmt: skip
    assert (compared["missing"], compared["outdated"]) == ([], ["o-7"])


def test_answer_of_a_store_that_ended_meanwhile_is_dropped(
    asked: Receiver, product: Product, shop: Client, api: Client
) -> None:
    def ends(connection: Any) -> None:
        assert shop.delete("/store-api/stores/main").status_code == 202
        body = order("o-7").body
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    asked.respond_with(Answer(script=ends))
    assert place(api, product).status_code == 404
    assert not Order.objects.exists()


def test_new_secret_signs_at_once(
    asked: Receiver, placed: Order, api: Client, connected: shops.Connected
) -> None:
    secret = shops.new_secret(system=ShopSystem.objects.get(pk=connected.system.pk))
    asked.respond_with(order(status="CONFIRMED"))
    assert move(api).status_code == 200
    check_signatures(asked.requests[0].body, asked.requests[0].headers, secret)


def test_checkout_offers_the_methods_of_apps_alone(
    store: ConnectedStore, hooking: Any, settings: Any
) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = True
    method = {"id": "wallet", "name": "Wallet"}
    hooked = hooking("checkout.payment_methods", {"methods": [method]}, business=store.business)
    offered = client_of(hooked.installation).get("/app-api/payment-methods").json()["methods"]
    assert [each["id"] for each in offered] == [f"{hooked.app.slug}:wallet"]


def test_stores_of_one_shop_share_its_places(
    asked: Receiver, placed: Order, api: Client, connected: shops.Connected
) -> None:
    """A shop that was slow gets no more than half of them, however many stores it has."""
    strangers.bound().remember(str(connected.system.pk), "commands", 5.0)
    asked.respond_with(order(status="CONFIRMED"))
    half = [str(connected.system.pk)] * strangers.bound().for_each
    with others(*half):
        assert failed(move(api)) == (503, "too_many_waiting")
    assert asked.requests == []
    assert move(api).status_code == 200


def test_answer_of_the_guide_is_taken(
    asked: Receiver, shop: Client, store: ConnectedStore, reader: Installation, api: Client
) -> None:
    said, answer = (text for text in code("connect-a-shop", "json") if "CONFIRMED" in text)
    row = json.loads(answer)["order"]
    put(
        shop,
        f"orders/{row['id']}",
        1,
        **{name: row[name] for name in ("items", "subtotal", "amount", "createdAt")},
    )
    asked.respond_with(Answer(body=answer.encode()))
    assert (move(api).status_code, Order.objects.get().status) == (200, "CONFIRMED")
    sent, told = json.loads(asked.requests[0].body), json.loads(said)
    assert list(sent) == list(told)
    assert (sent["command"], sent["data"]) == (told["command"], told["data"])
