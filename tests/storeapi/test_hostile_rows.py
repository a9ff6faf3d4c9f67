"""Rows that are meant to hurt: markup, sizes and sums (docs/security.md)."""

import json
import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from accounts.enums import StoreRole
from accounts.models import Business, ConnectedStore, User
from accounts.services import shops
from common.times import iso
from stores.connected import bodies, mirror
from stores.models import MirroredRow, Product, SitePage
from tests.factories import PASSWORD
from tests.pages import signed_in, text_of
from tests.state import rows_read
from tests.storeapi.people import person_in
from tests.storeapi.rows import MAIN, WHOLE, batched, post, put

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store", "reader")]
MENTIONS = """
INSERT INTO stores_mirroredrow (business_id, resource, external_id, is_deleted, made_at)
SELECT %s, 'products', 'm-' || number, false, %s FROM generate_series(1, 200000) AS number
"""
SCRIPT = "<script>alert(1)</script>"


def test_markup_of_rows_is_text_for_apps_and_on_no_page_of_ours(
    shop: Client, api: Client, store: ConnectedStore, client: Client, settings: Any
) -> None:
    put(shop, "products/p-1", name=SCRIPT, slug=SCRIPT)
    put(shop, "pages/p", slug="about", title=SCRIPT, content=SCRIPT)
    answer = api.get("/app-api/pages/about")
    assert (answer.json()["content"], answer["Content-Type"]) == (SCRIPT, "application/json")
    assert answer["X-Content-Type-Options"] == "nosniff"
    host = settings.STORES_URL.partition("://")[2].strip("/")
    for path in ("", "pages/about/", "products/about/"):
        page = client.get(f"/store/{store.business.slug}/{path}", headers={"host": host})
        assert (page.status_code, SCRIPT in page.content.decode()) == (404, False)


@pytest.mark.parametrize("where", ["pages", "editor", "search", "operators"])
def test_markup_of_rows_is_escaped_on_pages(
    shop: Client, store: ConnectedStore, connected: shops.Connected, where: str
) -> None:
    """Of the store's people, who see its pages, and of operators, who see what was refused."""
    put(shop, "pages/p", slug=f"s-{SCRIPT}", title=SCRIPT, content=SCRIPT)
    post(shop, "rows", rows=[batched("products", SCRIPT, **{SCRIPT: 1})])
    page = {
        "pages": "/merchant/pages/",
        "editor": f"/merchant/pages/{SitePage.objects.get().pk}/edit/",
        "search": "/search/?q=script",
        "operators": f"/admin/accounts/shopsystem/{connected.system.pk}/change/",
    }[where]
    people = signed_in(
        User.objects.create_superuser("ada@example.com", PASSWORD)
        if where == "operators"
        else person_in(store.business, StoreRole.OWNER)
    )
    shown = text_of(people.get(page), 200)
    assert escape(SCRIPT) in shown
    assert SCRIPT not in shown


def test_500_rows_of_the_longest_texts(shop: Client) -> None:
    """More than a body may have is 413; what one may have is taken, and costs a few times its size in memory."""
    text = "x" * 10_000
    long = [batched("products", f"{number:0100}", description=text, name="x" * 200) for number in range(500)]
    assert post(shop, "rows", rows=long).status_code == 413
    fitting = [
        batched("products", f"{number:0100}", description="x" * 1_400, name="x" * 200)
        for number in range(500)
    ]
    size = len(json.dumps({"rows": fitting}))
    assert 900_000 < size < 1024 * 1024
    tracemalloc.start()
    try:
        results = post(shop, "rows", rows=fitting).json()["results"]
        assert tracemalloc.get_traced_memory()[1] < 40 * size
    finally:
        tracemalloc.stop()
    assert {each["result"] for each in results} == {"created"}
    assert Product.objects.count() == 500


def test_ids_that_never_get_a_row_fill_no_table(shop: Client, store: ConnectedStore, api: Client) -> None:
    """200,000 are mentioned; they go in batches, by an index, and the lists of apps never have them."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(MENTIONS, [store.pk, now - timedelta(days=91)])
    items = [{"productId": f"n-{number}", "name": "x", "quantity": 1, "price": 0} for number in range(500)]
    put(shop, "orders/o-1", items=items)
    with CaptureQueriesContext(connection) as captured:
        assert mirror.remove_old_mentions(now=now) == 200_000
    assert len(captured) > 200_000 / 5_000
    assert MirroredRow.objects.filter(version=None).count() == 500
    assert api.get("/app-api/products").json()["total"] == 0


@pytest.mark.long
@pytest.mark.postgres
def test_ids_that_never_get_a_row_slow_nothing_down(shop: Client, store: ConnectedStore, api: Client) -> None:
    """With 200,000 of them no call reads more rows, and a comparison with all of them reads each once."""
    calls: dict[str, Callable[[], Any]] = {
        "list": lambda: api.get("/app-api/products"),
        "filter": lambda: api.get("/app-api/products?externalId=m-7"),
        "wanted": lambda: shop.get(f"{MAIN}/wanted"),
        "row": lambda: put(shop, "products/n", 2),
        "mentions": lambda: put(shop, "reviews/r", productId="of-a-review"),
        "interval": lambda: post(
            shop, "snapshot", resource="products", after="ma", until="z", rows=[["n", 2]]
        ),
    }
    put(shop, "products/n", 1)
    for call in calls.values():
        assert call().status_code == 200
    with connection.cursor() as cursor:
        cursor.execute(MENTIONS, [store.pk, timezone.now()])
        cursor.execute("ANALYZE stores_mirroredrow")
    read = {name: rows_read(call).get("stores_mirroredrow", 0) for name, call in calls.items()}
    assert max(read.values()) <= 10, read

    whole = {"resource": "products", "rows": [["n", 2]]}
    found = post(shop, "snapshot", **whole).json()
    assert not any(found.values()), found
    compared = rows_read(lambda: post(shop, "snapshot", **whole))
    assert compared["stores_mirroredrow"] <= 200_010


@pytest.mark.parametrize("currency", ["USD", "JPY", "KWD"])
def test_order_with_500_items_of_the_largest_amounts(
    shop: Client, api: Client, store: ConnectedStore, currency: str
) -> None:
    """Their sum is beyond 64 bits, on the dashboard of an app, too."""
    store.business.currency = currency
    store.business.save(update_fields=["currency"])
    item = {"productId": "p-1", "name": "x", "quantity": 1_000_000, "price": 10**12}
    large = {
        "items": [item] * 500,
        "subtotal": 10**12,
        "amount": 3 * 10**12,
        "deliveryFee": 10**12,
        "otherCharges": 10**12,
    }
    wrong = put(shop, "orders/o-1", **large)
    assert [each["field"] for each in wrong.json()["details"]] == ["amount"]
    fitting = large | {
        "deliveryFee": 0,
        "otherCharges": 0,
        "amount": 10**12,
        "createdAt": iso(timezone.now()),
    }
    assert put(shop, "orders/o-1", **fitting).status_code == 200
    (record,) = api.get("/app-api/orders").json()["data"]
    assert (len(record["items"]), record["amount"], record["items"][0]["quantity"]) == (
        500,
        10**12,
        1_000_000,
    )
    figures = api.get("/app-api/analytics/dashboard")
    assert figures.status_code == 200, figures.content
    (best,) = figures.json()["topProducts"]
    assert (best["quantity"], best["revenue"]) == (500 * 10**6, 500 * 10**18)


@pytest.mark.parametrize("resource", WHOLE)
def test_body_that_is_no_row_is_400(shop: Client, resource: str) -> None:
    for body in (
        b"[]",
        b"{",
        b'{"version": 1, "name": {"a": []}, "items": "x", "payment": 3, "customer": []}',
        b"{}",
    ):
        answer = shop.put(f"{MAIN}/{resource}/x", body, content_type="application/json")
        assert answer.status_code == 400, answer.content


def test_rows_are_not_taken_in_a_currency_of_before(
    shop: Client, store: ConnectedStore, monkeypatch: Any
) -> None:
    """The store has another one once the amounts are read: nothing is written, and the shop tries again."""
    original = bodies.values_of

    def late(*args: Any) -> dict[str, Any]:
        values = original(*args)
        Business.objects.filter(pk=store.pk).update(currency="JPY")
        return values

    monkeypatch.setattr(bodies, "values_of", late)
    answer = put(shop, "products/p-1")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert not Product.objects.exists()
    monkeypatch.undo()
    assert [each["field"] for each in put(shop, "products/p-1").json()["details"]] == ["price"]
    assert put(shop, "products/p-1", price=450).status_code == 200
