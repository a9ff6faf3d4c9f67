"""Many rows at once, each for itself; and many at the same time (contract, section 17)."""

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from time import sleep
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ConnectedStore
from accounts.services import shops
from installations.models import Installation
from stores.models import MirroredRow, MirrorState, Product
from stores.records import ProductRecord
from stores.signals import product_created
from tests import signals
from tests.clients import shop_client
from tests.storeapi.rows import MAIN, WHOLE, batched, post, published, put, refusal, result
from tests.threads import at_once
from webhooks.models import Event

SLUGGED = ("products", "pages")

pytestmark = pytest.mark.usefixtures("store", "reader")


@pytest.mark.django_db
def test_each_row_for_itself(shop: Client) -> None:
    put(shop, "products/old", 5)
    rows: list[Any] = [
        batched("products", "p-1"),
        batched("products", "p-2", price="x"),
        batched("products", "old", 4),
        batched("products", "old", 5, price=9),
        batched("orders", "o-1", items=[{"productId": "p-1", "name": "x", "quantity": 0, "price": 1}]),
        {"resource": "orders", "id": "o-1", "version": 1, "deleted": True},
        {"resource": "customers", "id": "c-1", "version": 1, "data": {}},
        {"resource": "products", "id": "../x", "version": 1, "data": WHOLE["products"]},
        "no row",
        {"resource": "products", "id": "p-1", "version": 2, "deleted": True},
        {"resource": "products", "id": "p-9", "version": 2, "deleted": True, "data": {}},
        batched("reviews", "r-1"),
    ]
    answer = post(shop, "rows", rows=rows)
    assert answer.status_code == 200, answer.content
    results = answer.json()["results"]
    found = [
        each.get("result")
        or (each["error"]["statusCode"], [problem["field"] for problem in each["error"]["details"]])
        for each in results
    ]
    assert found == [
        "created", (400, ["price"]), "stale", (409, []), (400, ["items[0].quantity"]), (405, []), (400, ["resource"]), (400, ["id"]),
        (400, [""]), "deleted", (400, ["data"]), "created",
    ]  # fmt: skip
    assert results[1] == {
        "resource": "products", "externalId": "p-2",
        "error": {
            "statusCode": 400, "code": "validation_failed", "message": "price: Must be a number.", "error": "Bad Request",
            "details": [{"field": "price", "message": "Must be a number."}],
        },
    }  # fmt: skip
    assert (results[3]["externalId"], results[3]["error"]["code"]) == ("old", "version_taken")
    assert results[0]["events"] == ["product.created"]
    # In their order, also where one id comes twice.
    assert results[9]["id"] == results[0]["id"]
    assert published() == ["product.created", "product.created", "product.deleted", "review.created"]
    refused = MirrorState.objects.get().refused
    assert {each["externalId"] for each in refused} == {"p-2", "old", "o-1", "c-1", "../x", None, "p-9"}
    assert all(each["code"] and each["message"] and each["at"] for each in refused)


@pytest.mark.django_db(transaction=True)
def test_row_at_which_the_platform_fails_leaves_its_neighbours_alone(
    shop: Client, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(product: ProductRecord, **_: Any) -> None:
        if product.name == "Crash":
            raise RuntimeError(product.name)

    rows = [batched("products", f"p-{number}", slug=f"p-{number}") for number in range(60)]
    rows[7] = batched("products", "p-7", name="Crash")
    with signals.connected(product_created, fails):
        answer = post(shop, "rows", rows=rows)
        alone = put(shop, "products/p-7", name="Crash")
    results = answer.json()["results"]
    failed = results.pop(7)
    assert [each["result"] for each in results] == ["created"] * 59
    assert (failed["externalId"], failed["error"]["statusCode"], failed["error"]["code"]) == (
        "p-7", 500, "internal_error",
    )  # fmt: skip
    assert (alone.status_code, alone["X-Error-Code"]) == (500, "internal_error")
    assert Product.objects.count() == len(published()) == 59
    assert {each["externalId"] for each in MirrorState.objects.get().refused} == {"p-7"}
    assert "RuntimeError while a row of products was taken" in caplog.text
    assert result(shop, "products/p-7") == ("created", ["product.created"])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"rows": []}, ["rows"]), ({}, ["rows"]), ({"rows": {}}, ["rows"]), ({"rows": ["x"] * 501}, ["rows"]),
        ({"rows": ["x"], "quiet": 1, "loud": True}, ["quiet", "loud"]),
    ],
)  # fmt: skip
def test_batch_has_1_to_500_rows(shop: Client, body: dict[str, Any], fields: list[str]) -> None:
    assert refusal(post(shop, "rows", **body)) == (400, fields)


@pytest.mark.django_db
def test_batch_counts_as_one_for_each_50_rows_begun(shop: Client, settings: Any) -> None:
    settings.STORE_API_RATE = 100
    left = [post(shop, "rows", rows=["x"] * count)["X-RateLimit-Remaining"] for count in (1, 50, 51, 500)]
    assert left == ["99", "98", "96", "86"]


@pytest.mark.django_db
def test_rows_that_are_unchanged_cost_few_statements(shop: Client) -> None:
    rows = [batched("products", f"p-{number}") for number in range(50)]
    post(shop, "rows", rows=rows)
    with CaptureQueriesContext(
        connection,
    ) as one:
        post(shop, "rows", rows=rows[:1])
    with CaptureQueriesContext(connection) as all_of_them:
        results = post(shop, "rows", rows=rows).json()["results"]
    assert {each["result"] for each in results} == {"unchanged"}
    assert len(all_of_them) == len(one)


@pytest.mark.django_db
def test_rows_that_are_unchanged_write_only_when_they_came(shop: Client) -> None:
    """And of products and pages no app is asked whether it reads them."""
    rows = [batched("products", "p-1"), batched("pages", "g-1")]
    post(shop, "rows", rows=rows)
    before = MirroredRow.objects.get(external_id="p-1")
    with CaptureQueriesContext(connection) as captured:
        post(shop, "rows", rows=rows)
    of_rows = [each["sql"] for each in captured if MirroredRow._meta.db_table in each["sql"]]
    assert [each.partition(" ")[0] for each in of_rows] == ["SELECT", "UPDATE"]
    assert not [each for each in captured if Installation._meta.db_table in each["sql"]]
    after = MirroredRow.objects.get(external_id="p-1")
    assert after.received_at != before.received_at
    assert (after.version, after.digest) == (before.version, before.digest)


@pytest.mark.django_db
def test_rows_of_all_kinds_cost_as_many_statements_as_one_of_each(shop: Client) -> None:
    """But for those of their events."""

    def cost(count: int, begin: str) -> int:
        rows = [
            batched(kind, f"{begin}-{number}", **({"slug": f"{begin}-{number}"} if kind in SLUGGED else {}))
            for number in range(count)
            for kind in WHOLE
        ]
        with CaptureQueriesContext(connection) as captured:
            results = post(shop, "rows", quiet=True, rows=rows).json()["results"]
        assert [each["result"] for each in results] == ["created"] * len(rows)
        return len(captured)

    cost(1, "first")
    assert cost(12, "a") <= cost(1, "b")


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_of_two_versions_at_once_the_higher_stands_and_each_event_is_published_once(
    connected: shops.Connected, store: ConnectedStore
) -> None:
    """20 at once, 200 times. A shop repeats a call after a 503."""
    rounds, clients = 200, 20
    barrier = threading.Barrier(clients)

    def push(number: int) -> Callable[[], list[tuple[int, Any]]]:
        def run() -> list[tuple[int, Any]]:
            shop, answers = shop_client(connected), []
            for each in range(rounds):
                barrier.wait(120)
                # In each round another client has the highest version.
                version = each * clients + (number + each) % clients + 1
                while (answer := put(shop, "products/p-1", version, price=version)).status_code == 503:
                    # On a busy machine the others take longer than a request waits for a lock.
                    assert answer["X-Error-Code"] == "locked"
                    sleep(float(answer["Retry-After"]))
                answers.append((version, answer))
            return answers

        return run

    answers = [
        each for of_client in at_once(*(push(number) for number in range(clients))) for each in of_client
    ]
    assert {answer.status_code for _, answer in answers} == {200}
    assert Product.objects.get().price == rounds * clients * 100
    results = Counter(answer.json()["result"] for _, answer in answers)
    told = Counter(name for _, answer in answers for name in answer.json()["events"])
    assert (results["created"], told["product.created"]) == (1, 1)
    assert told["product.updated"] == results["updated"] >= rounds - 1
    assert results["stale"] == rounds * clients - results["updated"] - 1 > 0
    assert Counter(Event.objects.values_list("type", flat=True)) == told


@pytest.mark.django_db(transaction=True)
def test_batches_that_take_each_others_slugs_do_not_block_each_other(connected: shops.Connected) -> None:
    def push(number: int) -> list[int]:
        shop, statuses = shop_client(connected), []
        for version in range(1, 6):
            ids = range(20) if number % 2 else reversed(range(20))
            rows = [
                batched("products", f"p-{each}", version * 4 + number, slug=f"s-{(each + version) % 20}")
                for each in ids
            ]
            statuses.append(post(shop, "rows", rows=rows).status_code)
        return statuses

    found = at_once(*(partial(push, number) for number in range(4)))
    assert found == [[200] * 5] * 4
    assert len(set(Product.objects.values_list("slug", flat=True))) == 20


@pytest.mark.django_db
def test_nobody_pushes_rows_into_the_store_of_another_connection(store: ConnectedStore) -> None:
    other = shop_client(shops.connect(name="Contoso"))
    for answer in (
        put(other, "products/p-1"), post(other, "rows", rows=[batched("products", "p-1")]),
        post(other, "snapshot", resource="products", rows=[]), other.get(f"{MAIN}/products/p-1"),
        other.delete(f"{MAIN}/products/p-1?version=1"),
    ):  # fmt: skip
        assert answer.status_code == 404
    assert not Product.objects.exists()
