"""The events that follow from rows of a shop (contract, section 17, "Events")."""

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import ConnectedStore
from appapi.services.exports import make_exports
from tests.storeapi.rows import MAIN, batched, post, put, result
from tests.webhooks.helpers import wait_for_feed
from webhooks.models import Event

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store", "reader")]


ORDERS = "Contract 23 What an order tells"


class Feed:
    """What is written for it. That it shows what is written has tests of its own, which wait for the server's other transactions."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()

    def read(self) -> list[tuple[str, dict[str, Any]]]:
        """The events since the last time."""
        new = [each for each in Event.objects.order_by("position", "id") if each.pk not in self._seen]
        self._seen |= {each.pk for each in new}
        return [(each.type, json.loads(each.data)) for each in new]

    def names(self) -> list[str]:
        return [name for name, _ in self.read()]


@pytest.fixture
def feed() -> Feed:
    return Feed()


def test_product(shop: Client, feed: Feed, api: Client) -> None:
    made = put(shop, "products/p-1", stock=3, lowStockThreshold=5).json()
    assert made["events"] == ["product.created"]
    record = api.get(f"/app-api/products/{made['id']}").json()
    assert feed.read() == [("product.created", record)]
    assert result(shop, "products/p-1", 2, stock=3, lowStockThreshold=9) == ("updated", [])
    assert feed.read() == []
    assert result(shop, "products/p-1", 3, stock=3, lowStockThreshold=9, price=5, groupId="g")[1] == [
        "product.updated"
    ]
    ((name, data),) = feed.read()
    assert (name, data["changedFields"], data["externalId"]) == (
        "product.updated",
        ["groupId", "price"],
        "p-1",
    )
    shop.delete(f"{MAIN}/products/p-1?version=4")
    ((name, data),) = feed.read()
    assert (name, data["id"], data["externalId"]) == ("product.deleted", made["id"], "p-1")


@pytest.mark.parametrize(
    ("before", "after", "event"),
    [
        (3, 0, "out_of_stock"), (3, -2, "out_of_stock"), (None, 0, "out_of_stock"), (-1, 0, None), (0, 3, "back_in_stock"),
        (0, None, "back_in_stock"), (5, 4, "low_stock"), (None, 4, "low_stock"), (4, 3, None), (4, None, None), (None, 5, None),
    ],
)  # fmt: skip
def test_stock(shop: Client, feed: Feed, before: int | None, after: int | None, event: str | None) -> None:
    """A created row has no stock event; a changed stock is an update first."""
    assert result(shop, "products/p-1", stock=before, lowStockThreshold=5) == ("created", ["product.created"])
    feed.read()
    moved = max(0, before if before is not None else 1) != max(
        0, after if after is not None else 1
    ) or None in (before, after)
    expected = ["product.updated", *([f"product.{event}"] if event else [])] if moved else []
    kind, events = result(shop, "products/p-1", 2, stock=after, lowStockThreshold=5)
    assert (kind, events) == ("updated" if moved else "unchanged", expected)
    found = feed.read()
    assert [name for name, _ in found] == expected
    for name, data in found:
        assert data["externalId"] == "p-1", name
        assert data["stock"] == (None if after is None else max(0, after))


def test_order(shop: Client, feed: Feed) -> None:
    assert result(shop, "orders/o-1", status="READY") == ("created", ["order.created"])
    ((name, data),) = feed.read()
    assert (name, data["orderNumber"], data["externalId"], data["amount"]) == (
        "order.created",
        "1001",
        "o-1",
        9,
    )
    assert result(shop, "orders/o-1", 2, status="READY", note="x") == ("updated", [])
    # Any move is allowed, also back.
    assert result(shop, "orders/o-1", 3, status="DELIVERED")[1] == ["order.status_changed", "order.delivered"]
    assert result(shop, "orders/o-1", 4, status="PENDING")[1] == ["order.status_changed"]
    assert result(shop, "orders/o-1", 5, status="CANCELLED")[1] == ["order.status_changed", "order.cancelled"]
    found = feed.read()
    assert [name for name, _ in found] == [
        "order.status_changed", "order.delivered", "order.status_changed", "order.status_changed", "order.cancelled",
    ]  # fmt: skip
    moves = [(data["previousStatus"], data["status"], data["externalId"]) for _, data in found]
    assert moves[0] == moves[1] == ("READY", "DELIVERED", "o-1")
    assert moves[2] == ("DELIVERED", "PENDING", "o-1")


def test_payment(shop: Client, feed: Feed) -> None:
    def events(id_: str, version: int, status: str | None) -> list[str]:
        payment = status and {"status": status, "invoiceId": "i-1"}
        return result(shop, f"orders/{id_}", version, payment=payment)[1]

    assert events("o-1", 1, "COMPLETED") == ["order.created", "payment.completed"]
    assert events("o-2", 1, "EXPIRED") == ["order.created"]
    assert events("o-3", 1, None) == ["order.created"]
    assert events("o-3", 2, "PENDING") == []
    assert events("o-3", 3, "FAILED") == []
    assert events("o-3", 4, "COMPLETED") == ["payment.completed"]
    assert events("o-3", 5, "EXPIRED") == ["payment.expired"]
    assert events("o-3", 6, None) == []
    found = feed.read()
    assert [name for name, _ in found] == [
        "order.created",
        "payment.completed",
        "order.created",
        "order.created",
        "payment.completed",
        "payment.expired",
    ]
    assert found[1][1] | {"orderId": "", "occurredAt": ""} == {
        "orderId": "", "orderNumber": "1001", "invoiceId": "i-1", "amount": 9.0, "paymentMethod": "", "status": "COMPLETED",
        "occurredAt": "", "externalId": "o-1",
    }  # fmt: skip


@pytest.mark.spec(ORDERS, "order.refunded when a connected row's refunded rises; updatedAt moves")
def test_refund(shop: Client, feed: Feed, api: Client) -> None:
    """A created row publishes its `created` alone, whatever was given back before. A shop may correct what it said."""
    assert result(shop, "orders/o-1", refunded=1) == ("created", ["order.created"])
    feed.read()
    times = [order_of(api)["updatedAt"]]
    assert result(shop, "orders/o-1", 2, refunded=3.5, status="DELIVERED")[1] == [
        "order.status_changed",
        "order.delivered",
        "order.refunded",
    ]
    *_, (name, data) = feed.read()
    assert (name, data["amount"], data["refunded"], data["reason"]) == ("order.refunded", 2.5, 3.5, None)
    assert (data["externalId"], data["currency"]) == ("o-1", "USD")
    times.append(order_of(api)["updatedAt"])
    assert result(shop, "orders/o-1", 3, refunded=3.5, status="DELIVERED", note="x") == ("updated", [])
    assert result(shop, "orders/o-1", 4, refunded=2, status="DELIVERED") == ("updated", [])
    times.append(order_of(api)["updatedAt"])
    assert (feed.names(), order_of(api)["refunded"]) == ([], 2)
    assert times == sorted(set(times))


def order_of(api: Client) -> Any:
    (order,) = api.get("/app-api/orders").json()["data"]
    return order


def test_review(shop: Client, feed: Feed, api: Client) -> None:
    put(shop, "reviews/r-1")
    (record,) = api.get("/app-api/reviews").json()["data"]
    assert result(shop, "reviews/r-1", 2, rating=1) == ("updated", [])
    shop.delete(f"{MAIN}/reviews/r-1?version=3")
    created, deleted = feed.read()
    assert created == ("review.created", record)
    assert (deleted[0], deleted[1]["externalId"]) == ("review.deleted", "r-1")


def test_quiet_batch_publishes_nothing(shop: Client, feed: Feed, store: ConnectedStore) -> None:
    rows = [
        batched("products", "p-1", stock=1),
        batched("orders", "o-1", payment={"status": "COMPLETED"}),
        batched("reviews", "r-1"),
    ]
    results = post(shop, "rows", quiet=True, rows=rows).json()["results"]
    assert [(each["result"], each["events"]) for each in results] == [("created", [])] * 3
    moved = [batched("products", "p-1", 2, stock=0), batched("orders", "o-1", 2, status="DELIVERED")]
    post(
        shop,
        "rows",
        quiet=True,
        rows=[*moved, {"resource": "reviews", "id": "r-1", "version": 2, "deleted": True}],
    )
    assert feed.names() == []


def test_updated_since_finds_mirrored_rows(shop: Client, api: Client) -> None:
    put(shop, "products/p-1")
    since = api.get("/app-api/products").json()["data"][0]["updatedAt"]
    put(shop, "products/p-2")
    put(shop, "products/p-1", 2, price=7)
    rows = api.get("/app-api/products", {"updatedSince": since}).json()["data"]
    assert {each["externalId"] for each in rows} == {"p-1", "p-2"}


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_feed_and_export_have_mirrored_rows(shop: Client, api: Client) -> None:
    put(shop, "products/p-1")
    put(shop, "orders/o-1", payment={"status": "COMPLETED"})
    wait_for_feed()
    feed = api.get("/app-api/events").json()["data"]
    assert [each["event"] for each in feed] == ["product.created", "order.created", "payment.completed"]
    for resource, path in (("products", "p-1"), ("orders", "o-1")):
        export = api.post("/app-api/exports", {"resource": resource}, content_type="application/json").json()
        assert make_exports() == 1
        (line,) = gzip.decompress(b"".join(api.get(f"/app-api/exports/{export['id']}/file"))).splitlines()
        listed = api.get(f"/app-api/{resource}", {"externalId": path}).json()["data"]
        assert [json.loads(line)] == listed
