"""What a shop has and what is here (contract, section 17)."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore
from common.times import iso
from installations.models import Installation
from stores.connected.mirror import remove_old_mentions
from stores.models import MirroredRow, MirrorState, Order, Product
from tests.storeapi.rows import MAIN, batched, post, published, put, refusal, result

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store", "reader")]


def compared(shop: Client, resource: str = "products", **body: Any) -> dict[str, Any]:
    answer = post(shop, "snapshot", resource=resource, **body)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_differences(shop: Client) -> None:
    for name in ("a", "b", "c", "d", "e"):
        put(shop, f"products/{name}", 5)
    shop.delete(f"{MAIN}/products/e?version=6")
    shop.delete(f"{MAIN}/products/f?version=6")
    rows = [["a", 5], ["b", 6], ["c", 4], ["e", 7], ["f", 6], ["g", 1]]
    expected = {"missing": ["e", "g"], "outdated": ["b"], "ahead": ["c", "f"], "unknown": ["d"], "deleted": 0}
    assert compared(shop, rows=rows) == expected
    assert Product.objects.count() == 4
    state = MirrorState.objects.get()
    assert state.last_snapshot_at is not None
    figures = {"missing": 2, "outdated": 1, "ahead": 2, "unknown": 1, "deleted": 0}
    assert state.snapshots["products"].items() >= figures.items()
    # A shop that was restored from a backup sends what it has by force.
    assert result(shop, "products/c", 4, force=True)[0] == "unchanged"
    assert result(shop, "products/f", 6, force=True)[0] == "created"
    assert compared(shop, rows=rows)["ahead"] == []


def test_interval_is_by_code_points(shop: Client) -> None:
    for name in ("A", "Z", "a", "b", "~"):
        put(shop, f"products/{name}")
    assert compared(shop, rows=[["Z", 1], ["a", 1], ["b", 1]], after="A", until="b")["unknown"] == []
    assert compared(shop, rows=[], after="Z", until="b")["unknown"] == ["a", "b"]
    assert compared(shop, rows=[])["unknown"] == ["A", "Z", "a", "b", "~"]


def test_unknown_rows_are_deleted_when_asked(shop: Client) -> None:
    put(shop, "products/a", 3)
    put(shop, "products/b", 3)
    later = iso(timezone.now() + timedelta(seconds=1))
    found = compared(shop, rows=[["a", 3]], delete=True, takenAt=later)
    assert (found["unknown"], found["deleted"]) == (["b"], 1)
    assert published()[-1] == "product.deleted"
    assert shop.get(f"{MAIN}/products/b").json() | {"id": ""} == {
        "resource": "products", "id": "", "externalId": "b", "version": 3, "deleted": True,
    }  # fmt: skip


def test_row_that_came_after_the_shop_was_read_is_not_unknown(shop: Client) -> None:
    put(shop, "products/a")
    put(shop, "products/b")
    MirroredRow.objects.update(received_at=timezone.now() - timedelta(minutes=2))
    put(shop, "products/b")  # again, unchanged
    taken = iso(timezone.now() - timedelta(minutes=1))
    assert compared(shop, rows=[], takenAt=taken)["unknown"] == ["a"]
    assert compared(shop, rows=[], takenAt=taken, delete=True)["deleted"] == 1
    assert [each.external_id for each in Product.objects.all()] == ["b"]


def test_orders_are_only_named(shop: Client) -> None:
    put(shop, "orders/o-1")
    found = compared(shop, "orders", rows=[], delete=True, takenAt=iso(timezone.now() + timedelta(seconds=1)))
    assert (found["unknown"], found["deleted"]) == (["o-1"], 0)
    assert Order.objects.exists()


def test_what_nobody_wants_is_not_missing(shop: Client, reader: Installation) -> None:
    old = iso(reader.installed_at - timedelta(days=91))
    assert result(shop, "orders/old", createdAt=old)[0] == "unwanted"
    assert compared(shop, "orders", rows=[["new", 1], ["old", 1]])["missing"] == ["new"]
    remove_old_mentions(now=timezone.now() + timedelta(days=91))
    assert compared(shop, "orders", rows=[["new", 1], ["old", 1]])["missing"] == ["new"]
    reader.granted_scopes = ["read_products"]
    reader.save(update_fields=["granted_scopes"])
    for resource, missing in (("orders", []), ("reviews", []), ("products", ["x"]), ("pages", ["x"])):
        assert compared(shop, resource, rows=[["x", 1]])["missing"] == missing


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"rows": [["b", 1], ["a", 1]]}, ["rows[1]"]),
        ({"rows": [["a", 1], ["a", 1]]}, ["rows[1]"]),
        ({"rows": [["a", 1]], "after": "a"}, ["rows[0]"]),
        ({"rows": [["b", 1]], "until": "a"}, ["rows[0]"]),
        ({"rows": [["a"]]}, ["rows[0]"]),
        ({"rows": [["a", -1]]}, ["rows[0]"]),
        ({"rows": [["../", 1]]}, ["rows[0]"]),
        ({"rows": [[f"p-{number:04}", 1] for number in range(5_001)]}, ["rows"]),
        ({"rows": [], "delete": True}, ["takenAt"]),
        ({"rows": [], "takenAt": "yesterday", "more": 1}, ["takenAt", "more"]),
        ({"rows": [], "after": "a/b"}, ["after"]),
    ],
)
def test_wrong_snapshot_is_400(shop: Client, body: dict[str, Any], fields: list[str]) -> None:
    assert refusal(post(shop, "snapshot", resource="products", **body)) == (400, fields)


def test_ids_that_never_get_a_row_go_after_90_days(shop: Client, store: ConnectedStore) -> None:
    items = [{"productId": f"m-{number}", "name": "x", "quantity": 1, "price": 0} for number in range(500)]
    put(shop, "orders/o-1", items=items)
    put(shop, "products/m-0")
    mentions = MirroredRow.objects.filter(resource="products", version=None)
    assert mentions.count() == 499
    now = timezone.now()
    assert remove_old_mentions(now=now + timedelta(days=89)) == 0
    assert remove_old_mentions(now=now + timedelta(days=91)) == 499
    assert MirroredRow.objects.count() == 2
    # The order keeps the ids that it had.
    again = post(shop, "rows", rows=[batched("orders", "o-1", 1, items=items)]).json()["results"][0]
    assert again["result"] == "unchanged"
