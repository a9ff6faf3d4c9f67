"""One row of a shop: its version, its content, and what apps read of it (contract, section 17)."""

from datetime import timedelta
from typing import Any
from unittest.mock import ANY

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore
from common.times import iso
from installations.models import Installation
from stores.models import MirroredRow, MirrorState, Order, Product, Review, StoreTotals
from tests.storeapi.rows import MAIN, PAGE, WHOLE, published, put, refusal, result

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store", "reader")]
RESOURCES = pytest.mark.parametrize("resource", WHOLE)


@RESOURCES
def test_row_is_created_updated_and_repeated(shop: Client, resource: str) -> None:
    changes = {
        "products": {"price": 5},
        "orders": {"note": "Sliced."},
        "reviews": {"rating": 4},
        "pages": {"title": "We"},
    }
    path = f"{resource}/x-1"
    first = put(shop, path).json()
    assert first["result"] == "created"
    assert (first["resource"], first["externalId"]) == (resource, "x-1")
    again = put(shop, path).json()
    assert again == first | {"result": "unchanged", "events": []}
    assert result(shop, path, 2)[0] == "unchanged"
    assert result(shop, path, 1)[0] == "stale"
    assert result(shop, path, 3, **changes[resource])[0] == "updated"
    assert shop.get(f"{MAIN}/{path}").json() == {
        "resource": resource, "id": first["id"], "externalId": "x-1", "version": 3, "deleted": False,
    }  # fmt: skip


def test_same_version_with_other_content_is_409(shop: Client) -> None:
    put(shop, "products/p-1")
    answer = put(shop, "products/p-1", price=9)
    assert (answer.status_code, answer["X-Error-Code"]) == (409, "version_taken")
    assert Product.objects.get().price == 450
    refused = MirrorState.objects.get().refused
    assert [(each["externalId"], each["code"]) for each in refused] == [("p-1", "version_taken")]


def test_forced_row_is_taken_whatever_its_version(shop: Client) -> None:
    put(shop, "products/p-1", 7)
    assert result(shop, "products/p-1", 3, price=9, force=True)[0] == "updated"
    assert Product.objects.get().price == 900
    assert shop.get(f"{MAIN}/products/p-1").json()["version"] == 3


@pytest.mark.parametrize("version", [-1, 2**53, "1", 1.5, None, True])
def test_version_is_an_integer(shop: Client, version: Any) -> None:
    assert refusal(put(shop, "products/p-1", version)) == (400, ["version"])


def test_deleted_row_leaves_its_version_and_comes_back_under_another_id(shop: Client) -> None:
    first = put(shop, "products/p-1", 3).json()["id"]
    path = f"{MAIN}/products/p-1"
    assert shop.delete(f"{path}?version=2").json()["result"] == "stale"
    gone = shop.delete(f"{path}?version=3").json()
    assert (gone["result"], gone["id"], gone["events"]) == ("deleted", first, ["product.deleted"])
    assert not Product.objects.exists()
    assert shop.delete(f"{path}?version=5").json()["result"] == "unchanged"
    assert shop.delete(f"{path}?version=1").json()["result"] == "unchanged"
    assert shop.get(path).json() == {
        "resource": "products",
        "id": first,
        "externalId": "p-1",
        "version": 5,
        "deleted": True,
    }
    assert result(shop, "products/p-1", 5) == ("stale", [])
    back = put(shop, "products/p-1", 6).json()
    assert (back["result"], back["events"]) == ("created", ["product.created"])
    assert back["id"] != first


def test_deletion_of_an_unseen_id_leaves_its_version(shop: Client) -> None:
    answer = shop.delete(f"{MAIN}/reviews/r-9?version=4").json()
    assert answer == {
        "resource": "reviews",
        "id": None,
        "externalId": "r-9",
        "result": "unchanged",
        "events": [],
    }
    assert result(shop, "reviews/r-9", 4)[0] == "stale"
    assert result(shop, "reviews/r-9", 5)[0] == "created"


@pytest.mark.parametrize("query", ["", "?version=", "?version=-1", "?version=x", f"?version={2**53}"])
def test_deletion_names_its_version(shop: Client, query: str) -> None:
    put(shop, "products/p-1")
    assert refusal(shop.delete(f"{MAIN}/products/p-1{query}")) == (400, ["version"])
    assert Product.objects.exists()


def test_orders_can_not_be_deleted(shop: Client) -> None:
    put(shop, "orders/o-1")
    assert shop.delete(f"{MAIN}/orders/o-1?version=9").status_code == 405
    assert Order.objects.exists()


@RESOURCES
def test_unknown_row_is_404(shop: Client, resource: str) -> None:
    assert shop.get(f"{MAIN}/{resource}/nobody").status_code == 404
    wrong = put(shop, f"{resource}/%2e%2e")
    assert (wrong.status_code, wrong["X-Error-Code"]) == (400, "wrong_id")


def test_product_as_apps_read_it(shop: Client, api: Client) -> None:
    fields = {
        "slug": "rye", "description": "Dark.", "category": "Bread", "imageUrl": "https://shop.example/rye.jpg?v=1", "stock": 4,
        "lowStockThreshold": 5, "isAvailable": False, "groupId": "breads", "createdAt": "2026-01-02T03:04:05.678+02:00",
    }  # fmt: skip
    made = put(shop, "products/p-1", **fields).json()["id"]
    (record,) = api.get("/app-api/products").json()["data"]
    assert record == {
        "id": made, "name": "Rye bread", "description": "Dark.", "price": 4.5, "category": "Bread", "isAvailable": False,
        "imageUrl": "https://shop.example/rye.jpg?v=1", "slug": "rye", "status": "ACTIVE", "stock": 4,
        "createdAt": "2026-01-02T01:04:05.678Z", "updatedAt": ANY, "externalId": "p-1", "groupId": "breads",
    }  # fmt: skip
    assert api.get("/app-api/products?externalId=p-1").json()["data"] == [record]
    assert api.get("/app-api/products?externalId=P-1").json()["data"] == []
    assert api.get(f"/app-api/products/{made}").json() == record
    # What is left out has its default: a row is whole. The time stays that of the first row.
    put(shop, "products/p-1", 2)
    plain = {
        "description": "", "category": "", "isAvailable": True, "imageUrl": "/static/images/product.svg", "slug": "rye-bread",
        "stock": None, "groupId": None,
    }  # fmt: skip
    assert api.get(f"/app-api/products/{made}").json() == record | plain | {"updatedAt": ANY}
    put(shop, "products/p-1", 3, status="ARCHIVED")
    assert api.get("/app-api/products").json()["total"] == 0
    assert api.get(f"/app-api/products/{made}").json()["status"] == "ARCHIVED"


def test_null_is_as_good_as_nothing(shop: Client) -> None:
    put(shop, "products/p-1")
    names = (
        "slug",
        "description",
        "category",
        "imageUrl",
        "stock",
        "lowStockThreshold",
        "isAvailable",
        "status",
        "groupId",
        "createdAt",
    )
    assert result(shop, "products/p-1", 2, **dict.fromkeys(names)) == ("unchanged", [])


def test_order_as_apps_read_it(shop: Client, api: Client) -> None:
    product = put(shop, "products/p-1").json()["id"]
    items = [
        {"productId": "p-1", "name": "Rye", "quantity": 2, "price": 4.5},
        {"productId": None, "name": "Gift wrap", "quantity": 1, "price": 1},
        {"productId": "p-2", "name": "Later", "quantity": 1, "price": 0},
    ]
    fields = {
        "orderNumber": "N" * 50, "items": items, "subtotal": 10, "discount": 1.5, "deliveryFee": 3, "otherCharges": -0.25, "amount": 11.25,
        "refunded": 2, "deliveryMethod": "PICKUP", "address": "1 Quay Street", "paymentMethod": "Invoice", "note": "Sliced.",
        "customer": {"name": "Kim", "email": "kim@example.com", "phone": "+1 555 0100"}, "isGuest": False,
        "payment": {"status": "PENDING", "paymentUrl": "https://shop.example/pay/1", "invoiceId": "i-1", "expiresAt": "2026-11-21T00:00:00Z"},
        "createdAt": iso(timezone.now()),
    }  # fmt: skip
    made = put(shop, "orders/o-1", **fields).json()["id"]
    (record,) = api.get("/app-api/orders").json()["data"]
    later = MirroredRow.objects.get(external_id="p-2")
    assert record == {
        "id": made, "orderNumber": "N" * 50, "status": "PENDING",
        "items": [
            {"productId": product, "name": "Rye", "quantity": 2, "price": 4.5},
            {"productId": None, "name": "Gift wrap", "quantity": 1, "price": 1.0},
            {"productId": str(later.row_id), "name": "Later", "quantity": 1, "price": 0.0},
        ],
        "subtotal": 10.0, "discount": 1.5, "deliveryFee": 3.0, "amount": 11.25, "refunded": 2.0, "currency": "USD", "deliveryMethod": "PICKUP",
        "address": "1 Quay Street", "paymentMethod": "Invoice",
        "payment": {
            "status": "PENDING", "paymentUrl": "https://shop.example/pay/1", "qrCode": None, "invoiceId": "i-1",
            "expiresAt": "2026-11-21T00:00:00.000Z",
        },
        "customer": {"name": "Kim", "email": "kim@example.com", "phone": "+1 555 0100", "key": ANY}, "note": "Sliced.", "isGuest": False,
        "attributes": {}, "validation": "NOT_VALIDATED", "createdAt": fields["createdAt"], "updatedAt": ANY, "externalId": "o-1", "otherCharges": -0.25,
    }  # fmt: skip
    assert api.get("/app-api/orders?externalId=o-1").json()["data"] == [record]
    assert api.get(f"/app-api/orders/{made}").json() == record
    # A mention has an id before its row comes, and keeps it.
    assert api.get(f"/app-api/products/{later.row_id}").status_code == 404
    assert api.get("/app-api/products?externalId=p-2").json()["data"] == []
    assert put(shop, "products/p-2").json()["id"] == str(later.row_id)
    # An order is whole, too.
    put(shop, "orders/o-1", 2, createdAt=fields["createdAt"])
    (plain,) = api.get("/app-api/orders").json()["data"]
    assert [plain[name] for name in ("payment", "deliveryMethod", "otherCharges", "isGuest", "amount")] == [
        None,
        "DELIVERY",
        0,
        True,
        9,
    ]
    assert [each["name"] for each in plain["items"]] == ["Rye bread"]
    assert plain["customer"] == {"name": None, "email": None, "phone": None, "key": None}


def test_order_without_a_name_shows_its_address(shop: Client, api: Client) -> None:
    put(shop, "orders/o-1", address="1 Quay Street", note="Ring twice.", createdAt=iso(timezone.now()))
    (record,) = api.get("/app-api/orders").json()["data"]
    assert (record["address"], record["note"]) == ("1 Quay Street", "Ring twice.")


def test_app_can_not_settle_a_payment_of_the_shop(shop: Client, api: Client) -> None:
    made = put(shop, "orders/o-1", payment={"status": "PENDING"}, createdAt=iso(timezone.now())).json()["id"]
    answer = api.patch(
        f"/app-api/orders/{made}/payment", {"status": "COMPLETED"}, content_type="application/json"
    )
    assert (answer.status_code, answer["X-Error-Code"]) == (403, "payment_of_other_app")


def test_review_as_apps_read_it(shop: Client, api: Client) -> None:
    """It may come before its product, and stays when that is deleted."""
    made = put(shop, "reviews/r-1", comment="Just right.", createdAt="2026-11-20T15:04:05Z").json()["id"]
    product = put(shop, "products/p-1").json()["id"]
    expected = {
        "id": made, "productId": product, "rating": 5, "comment": "Just right.", "authorName": None,
        "createdAt": "2026-11-20T15:04:05.000Z", "externalId": "r-1",
    }  # fmt: skip
    assert api.get("/app-api/reviews?externalId=r-1").json()["data"] == [expected]
    put(shop, "reviews/r-1", 2, authorName="Kim", rating=4, comment="Good.")
    shop.delete(f"{MAIN}/products/p-1?version=2")
    changed = expected | {"rating": 4, "authorName": "Kim", "comment": "Good."}
    assert api.get(f"/app-api/reviews?productId={product}").json()["data"] == [changed]
    assert "review.deleted" not in published()
    assert shop.delete(f"{MAIN}/reviews/r-1?version=3").json()["events"] == ["review.deleted"]
    assert api.get("/app-api/reviews").json()["total"] == 0


def test_page_as_apps_read_it(shop: Client, api: Client) -> None:
    made = put(shop, "pages/about", content="<p>We roast <b>&</b> bake.</p>").json()["id"]
    page = api.get("/app-api/pages/about").json()
    assert page == {
        "id": made, "slug": "about", "title": "About us", "content": "<p>We roast <b>&</b> bake.</p>", "createdAt": ANY,
        "updatedAt": ANY, "externalId": "about",
    }  # fmt: skip
    assert shop.delete(f"{MAIN}/pages/about?version=2").json()["result"] == "deleted"
    assert api.get("/app-api/pages").json()["data"] == []
    assert published() == []


def test_records_of_other_stores_have_no_such_fields(
    shop: Client, api: Client, store: ConnectedStore
) -> None:
    own = Product.objects.create(business=store.business, name="Own", slug="own", price=1)
    assert not {"externalId", "groupId"} & api.get(f"/app-api/products/{own.pk}").json().keys()


def test_totals_move_as_in_own_stores(shop: Client, store: ConnectedStore) -> None:
    def totals() -> tuple[int, int, int]:
        row = StoreTotals.objects.get(business=store.pk)
        return row.products, row.orders, row.reviews

    for path in ("products/p-1", "products/p-2", "orders/o-1", "reviews/r-1"):
        put(shop, path)
    assert totals() == (2, 1, 1)
    put(shop, "products/p-1", 2, status="ARCHIVED")
    put(shop, "orders/o-1", 2, status="CONFIRMED")
    shop.delete(f"{MAIN}/products/p-2?version=2")
    shop.delete(f"{MAIN}/reviews/r-1?version=2")
    assert totals() == (0, 1, 0)
    put(shop, "products/p-1", 3)
    assert totals() == (1, 1, 0)


def test_newest_row_has_the_slug_and_the_other_a_derived_one(shop: Client, api: Client) -> None:
    def slugs() -> dict[str, str]:
        rows = api.get("/app-api/products").json()["data"]
        return {each["externalId"]: each["slug"] for each in rows}

    put(shop, "products/a", slug="rye")
    put(shop, "products/b", slug="Rye & more/1")
    assert result(shop, "products/c", slug="rye") == ("created", ["product.created"])
    assert slugs() == {"a": "rye-2", "b": "Rye & more/1", "c": "rye"}
    assert published()[-2:] == ["product.created", "product.updated"]
    put(shop, "products/d")
    put(shop, "products/e")
    assert (slugs()["d"], slugs()["e"]) == ("rye-bread", "rye-bread-2")
    put(shop, "products/e", 2, price=1)
    assert slugs()["e"] == "rye-bread-2"
    assert result(shop, "products/a", 2, slug="Rye & more/1") == ("updated", ["product.updated"])
    assert (slugs()["a"], slugs()["b"]) == ("Rye & more/1", "Rye & more/1-2")
    put(shop, "pages/1")
    put(shop, "pages/2")
    assert {each["slug"] for each in api.get("/app-api/pages").json()["data"]} == {"about", "about-2"}


def test_orders_and_reviews_that_nobody_reads_are_unwanted(shop: Client, reader: Installation) -> None:
    reader.granted_scopes = ["read_products"]
    reader.save(update_fields=["granted_scopes"])
    for path in ("orders/o-1", "reviews/r-1"):
        answer = put(shop, path).json()
        assert (answer["result"], answer["id"], answer["events"]) == ("unwanted", None, [])
    assert put(shop, "products/p-1").json()["result"] == "created"
    assert not Order.objects.exists()
    assert not Review.objects.exists()
    assert [(each.resource, each.external_id) for each in MirroredRow.objects.all()] == [("products", "p-1")]
    assert shop.get(f"{MAIN}/orders/o-1").status_code == 404
    reader.granted_scopes = ["read_orders", "read_reviews"]
    reader.save(update_fields=["granted_scopes"])
    assert result(shop, "orders/o-1")[0] == "created"
    assert result(shop, "reviews/r-1")[0] == "created"


def test_orders_of_long_before_the_install_are_unwanted_unless_they_are_kept(
    shop: Client, reader: Installation
) -> None:
    old = iso(reader.installed_at - timedelta(days=91))
    assert result(shop, "orders/o-1", createdAt=old) == ("unwanted", [])
    put(shop, "orders/o-2")
    assert result(shop, "orders/o-2", 2, createdAt=old) == ("updated", [])
    assert result(shop, "orders/o-2", 3, createdAt=old, status="READY") == (
        "updated",
        ["order.status_changed"],
    )


def test_quote_is_no_content_of_the_row(shop: Client) -> None:
    answer = put(shop, "orders/o-1", quote="q.A-_1").json()
    assert (answer["result"], answer["quote"]) == ("created", "ignored")
    assert "quote" not in put(shop, "orders/o-1").json()
    assert refusal(put(shop, "orders/o-1", 2, quote="no spaces")) == (400, ["quote"])


@pytest.mark.parametrize(
    ("currency", "right", "wrong"), [("JPY", 1250, 12.5), ("KWD", 1.234, 1.2345), ("USD", 1.25, 1.255)]
)
def test_money_has_the_decimals_of_the_currency(
    shop: Client, store: ConnectedStore, api: Client, currency: str, right: float, wrong: float
) -> None:
    store.business.currency = currency
    store.business.save(update_fields=["currency"])
    made = put(shop, "products/p-1", price=right).json()["id"]
    assert api.get(f"/app-api/products/{made}").json()["price"] == right
    assert refusal(put(shop, "products/p-1", 2, price=wrong)) == (400, ["price"])


LONG = 10_001 * "x"
WRONG: list[tuple[str, dict[str, Any], list[str]]] = [
    ("products", {"name": None}, ["name"]),
    ("products", {"name": "x" * 201, "slug": "x" * 201, "category": "x" * 201, "groupId": "x" * 201}, ["name", "slug", "category", "groupId"]),
    ("products", {"description": LONG, "price": -1}, ["price", "description"]),
    ("products", {"name": 5, "isAvailable": "yes", "stock": 1.5, "status": "GONE"}, ["name", "stock", "isAvailable", "status"]),
    ("products", {"name": "a\0b"}, ["name"]),
    ("products", {"imageUrl": "http://shop.example/a.jpg"}, ["imageUrl"]),
    ("products", {"imageUrl": "javascript:alert(1)"}, ["imageUrl"]),
    ("products", {"imageUrl": "https://shop.example/" + "a" * 2_000}, ["imageUrl"]),
    ("products", {"price": 10**12 + 1}, ["price"]),
    ("products", {"createdAt": "2026-11-20"}, ["createdAt"]),
    ("products", {"createdAt": "2026-11-20 15:04Z"}, ["createdAt"]),
    ("products", {"colour": "red"}, ["colour"]),
    ("orders", {"items": None}, ["items"]),
    ("orders", {"items": [{"productId": "../p", "name": "x", "quantity": 1_000_001, "price": -1, "sku": 1}]}, ["items[0].productId", "items[0].quantity", "items[0].price", "items[0].sku"]),
    ("orders", {"items": [{"productId": "p", "name": "x", "quantity": 1, "price": 1}] * 501}, ["items"]),
    ("orders", {"orderNumber": "1" * 51}, ["orderNumber"]),
    ("orders", {"amount": 10}, ["amount"]),
    ("orders", {"discount": 10, "amount": -1}, ["amount"]),
    ("orders", {"discount": 10, "deliveryFee": 1, "amount": 0}, ["discount"]),
    ("orders", {"otherCharges": -10, "amount": -1}, ["amount"]),
    ("orders", {"createdAt": None}, ["createdAt"]),
    ("orders", {"payment": {"paymentUrl": "ftp://x"}}, ["payment.status", "payment.paymentUrl"]),
    ("orders", {"customer": {"name": "x" * 201, "fax": "1"}, "note": LONG, "address": LONG}, ["address", "customer.name", "customer.fax", "note"]),
    ("reviews", {"productId": None, "rating": 6, "comment": LONG}, ["productId", "rating", "comment"]),
    ("pages", {"url": None, "title": "x" * 201, "content": "ü" * 131_073}, ["title", "url", "content"]),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "fields", "wrong"), WRONG)
def test_wrong_row_is_400_with_its_paths(
    shop: Client, resource: str, fields: dict[str, Any], wrong: list[str]
) -> None:
    assert refusal(put(shop, f"{resource}/x", **fields)) == (400, wrong)
    assert not MirroredRow.objects.exists()
    assert MirrorState.objects.get().refused[0]["externalId"] == "x"


def test_longest_row_is_taken_as_it_is(shop: Client, api: Client) -> None:
    """In letters of four bytes, with spaces around them and control characters in them: nothing is cut or trimmed."""
    text = " " + "𝒳" * 197 + "\x07\n"
    put(
        shop,
        "products/p-1",
        name=text,
        slug=text,
        category=text,
        groupId=text,
        description="𝒳" * 10_000,
        stock=-5,
    )
    (product,) = api.get("/app-api/products").json()["data"]
    assert [product[name] for name in ("name", "slug", "category", "groupId", "stock")] == [
        text,
        text,
        text,
        text,
        0,
    ]
    customer = {"name": text, "email": "not an address", "phone": "ask at the bar"}
    put(
        shop,
        "orders/o-1",
        customer=customer,
        note="𝒳" * 10_000,
        address="𝒳" * 10_000,
        createdAt=iso(timezone.now()),
    )
    (order,) = api.get("/app-api/orders").json()["data"]
    assert order["customer"] == customer | {"key": None}
    found = Order.objects.get()
    assert (found.customer_email_key, found.customer_phone_key) == ("", "")
    put(shop, "reviews/r-1", authorName=text, comment="𝒳" * 10_000, authorEmail="not an address")
    assert api.get("/app-api/reviews").json()["data"][0]["authorName"] == text
    put(shop, "pages/p", **PAGE | {"title": text, "slug": text, "content": "ü" * 131_072})
    assert api.get("/app-api/pages").json()["data"][0]["slug"] == text
