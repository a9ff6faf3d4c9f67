"""Rows that a shop sends once more, unchanged: known by what was sent, written little, and at a pace that leaves the machine to others."""

from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from common import places
from installations.models import Installation
from storeapi.views import rows as view
from stores.connected import bodies
from stores.models import MirroredRow, Product
from tests.storeapi.rows import MAIN, batched, post, put
from tests.strangers import own_places_taken

NOT_WAITING = "SET LOCAL synchronous_commit TO off"

pytestmark = [pytest.mark.usefixtures("store", "reader"), pytest.mark.django_db]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the products that were read field by field."""
    names: list[str] = []
    values_of: Callable[..., dict[str, Any]] = bodies.values_of

    def noted(resource: Any, data: Any, currency: str) -> dict[str, Any]:
        names.append(data.get("name", ""))
        return values_of(resource, data, currency)

    monkeypatch.setattr(bodies, "values_of", noted)
    return names


def taken(shop: Client, *rows: dict[str, Any]) -> list[Any]:
    """What became of each, or the status of its error."""
    results = post(shop, "rows", rows=list(rows)).json()["results"]
    return [each.get("result") or each["error"]["statusCode"] for each in results]


def test_row_as_it_came_is_not_read_again(shop: Client, read: list[str]) -> None:
    put(shop, "products/p-1", 2, name="Put")
    rows = [batched("products", "p-1", 2, name="Put"), batched("pages", "g-1"), batched("orders", "o-1")]
    assert taken(shop, *rows) == ["unchanged", "created", "created"]
    read.clear()
    assert taken(shop, *rows) == ["unchanged"] * 3
    assert read == []


def test_versions_of_rows_as_they_came_count(shop: Client, read: list[str]) -> None:
    put(shop, "products/p-1", 2)
    read.clear()
    assert taken(shop, batched("products", "p-1", 9)) == ["unchanged"]
    assert read == []
    assert taken(shop, batched("products", "p-1", 8)) == ["stale"]
    assert taken(shop, batched("products", "p-1", 9, name="Other")) == [409]
    assert taken(shop, batched("products", "p-1", 8) | {"force": True}) == ["unchanged"]
    assert shop.get(f"{MAIN}/products/p-1").json()["version"] == 8


def test_same_content_in_other_words_is_learnt(shop: Client, read: list[str]) -> None:
    put(shop, "products/p-1")
    other = batched("products", "p-1", category=None)
    read.clear()
    assert taken(shop, other) == taken(shop, other) == ["unchanged"]
    assert len(read) == 1


def test_id_that_comes_twice_is_taken_in_order(shop: Client) -> None:
    put(shop, "products/p-1", 1)
    rows = [
        batched("products", "p-1", 1), batched("products", "p-1", 2, name="Other"), batched("products", "p-1", 3),
    ]  # fmt: skip
    assert taken(shop, *rows) == ["unchanged", "updated", "updated"]
    assert Product.objects.get().name != "Other"


def test_deleted_row_and_unwanted_review_are_not_as_they_came(shop: Client, reader: Installation) -> None:
    put(shop, "products/p-1", 1)
    put(shop, "reviews/r-1", 1)
    shop.delete(f"{MAIN}/products/p-1?version=1")
    reader.granted_scopes = ["read_products"]
    reader.save(update_fields=["granted_scopes"])
    assert taken(shop, batched("products", "p-1"), batched("reviews", "r-1")) == ["stale", "unwanted"]
    assert MirroredRow.objects.get(external_id="p-1").sent_digest is None


def test_quote_is_read_with_an_order_as_it_came(shop: Client) -> None:
    put(shop, "orders/o-1")
    row = batched("orders", "o-1", quote="none.of-ours")
    assert post(shop, "rows", rows=[row]).json()["results"][0]["quote"] == "ignored"


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_only_a_commit_that_may_be_lost_does_not_wait_for_the_disk(shop: Client) -> None:
    def waits(version: int, **headers: str) -> bool:
        body = {"rows": [batched("products", "p-1", version)]}
        with CaptureQueriesContext(connection) as captured:
            answer = shop.post(f"{MAIN}/rows", body, content_type="application/json", headers=headers)
        assert answer.json()["results"][0]["result"] in ("created", "unchanged")
        return NOT_WAITING not in [each["sql"] for each in captured]

    assert [waits(1), waits(1), waits(2), waits(2)] == [True, False, True, False]
    assert waits(2, **{"Idempotency-Key": "1"})  # whose answer is kept in the same transaction


def test_rows_as_they_came_have_a_pace(shop: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkouts of others wait while a shop sends all it has once more. Rows that change aren't delayed."""
    waited: list[float] = []
    monkeypatch.setattr(view, "sleep", waited.append)
    rows = [batched("products", f"p-{number}", slug=f"p-{number}") for number in range(50)]
    began = monotonic()
    assert set(taken(shop, *rows)) == {"created"}
    assert waited == [0.0]
    assert set(taken(shop, *rows)) == {"unchanged"}
    least = 50 / view.REPEATED_A_SECOND
    assert least - (monotonic() - began) < waited[1] <= least
    monkeypatch.setattr(view, "REPEATED_A_SECOND", 1)
    taken(shop, *rows)
    assert 49 - (monotonic() - began) < waited[2] < 50


def test_many_rows_need_a_place(shop: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "WAIT", 0.01)
    rows = [batched("products", f"p-{number}", slug=f"p-{number}") for number in range(view.FEW + 1)]
    places.own_work.cache_clear()
    with own_places_taken():
        busy = post(shop, "rows", rows=rows)
        assert (busy.status_code, busy.headers["Retry-After"]) == (503, "5")
        assert not Product.objects.exists()
        assert set(taken(shop, *rows[1:])) == {"created"}
    places.own_work.cache_clear()
    assert taken(shop, *rows) == ["created"] + ["unchanged"] * view.FEW
