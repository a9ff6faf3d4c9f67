from datetime import UTC, datetime

import orjson
import pytest

from stores import queries
from stores.models import Order, OrderItem, Product, Review, SitePage
from stores.records import OrderRecord, ProductRecord, ReviewRecord
from stores.serializers import (
    PAGE_COLUMNS,
    PRODUCT_COLUMNS,
    REVIEW_COLUMNS,
    BusinessSerializer,
    order_payload,
    page_payload,
    payment_payload,
    product_payload,
    review_payload,
)
from stores.services.checkout import place_order
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories
from tests.factories import order_request

MOMENT = datetime(2026, 11, 20, 15, 4, 5, 123456, tzinfo=UTC)
WIRE_MOMENT = "2026-11-20T15:04:05.123Z"


@pytest.mark.spec("Contract 4 Records", "Product: the specification's fields, stock and updatedAt")
def test_product_from_a_row_and_from_an_instance(shop):
    product = factories.product(
        shop,
        name="Rye",
        slug="rye",
        description="Dark.",
        price=1250,
        category="Bread",
        image="/media/rye.png",
        stock=3,
        created_at=MOMENT,
        updated_at=MOMENT,
    )
    expected = {
        "id": str(product.pk),
        "name": "Rye",
        "description": "Dark.",
        "price": 12.5,
        "category": "Bread",
        "isAvailable": True,
        "imageUrl": "/media/rye.png",
        "slug": "rye",
        "status": "ACTIVE",
        "stock": 3,
        "createdAt": WIRE_MOMENT,
        "updatedAt": WIRE_MOMENT,
    }
    row = Product.objects.values_list(*PRODUCT_COLUMNS, named=True).get()
    for source in (ProductRecord.of(product, "USD"), row):
        record = product_payload(source, "USD")
        assert record == expected
        assert list(record) == list(expected)


@pytest.mark.spec(
    "Contract 4 Records", "imageUrl begins with /; a product without a picture has a neutral one"
)
def test_product_without_a_picture_has_a_neutral_one_that_is_served(shop, client):
    record = product_payload(ProductRecord.of(factories.product(shop), "USD"), "USD")
    assert record["imageUrl"] == "/static/images/product.svg"
    assert record["stock"] is None
    assert client.get(record["imageUrl"]).headers["Content-Type"] == "image/svg+xml"


@pytest.mark.parametrize(("currency", "price"), [("USD", 12.5), ("JPY", 1250), ("KWD", 1.25)])
def test_money_is_in_major_units_of_the_currency(shop, currency, price):
    product = ProductRecord.of(factories.product(shop, price=1250), currency)
    assert product_payload(product, currency)["price"] == price


@pytest.mark.spec("Contract 4 Records", "Order: its fields, lines, customer and money")
def test_order(shop):
    bread = factories.product(shop, name="Bread", price=500)
    placed = place_order(
        business=shop,
        request=order_request(
            (bread, 3),
            promo_discount=125,
            delivery_method="DELIVERY",
            address="1 Quay Street",
            note="Sliced.",
        ),
        now=MOMENT,
    )
    expected = {
        "id": str(placed.pk),
        "orderNumber": "1001",
        "status": "PENDING",
        "items": [{"productId": str(bread.pk), "name": "Bread", "quantity": 3, "price": 5.0}],
        "subtotal": 15.0,
        "discount": 1.25,
        "deliveryFee": 5.0,
        "amount": 18.75,
        "refunded": 0.0,
        "currency": "USD",
        "deliveryMethod": "DELIVERY",
        "address": "1 Quay Street",
        "paymentMethod": "CASH",
        "payment": None,
        "customer": {"name": "Kim", "email": "kim@example.com", "phone": None, "key": None},
        "note": "Sliced.",
        "isGuest": True,
        "validation": "VALID",
        "createdAt": WIRE_MOMENT,
        "updatedAt": WIRE_MOMENT,
        "attributes": {},
    }
    for order in (placed, Order.objects.get(), queries.order_by_id(shop, placed.pk)):
        record = order_payload(OrderRecord.of(order))
        assert record == expected
        assert list(record) == list(expected)
        assert orjson.loads(orjson.dumps(record)) == expected


def test_payment(shop):
    payment = factories.payment(
        factories.order(shop), payment_url="https://pay.example/1", invoice_id="INV-1", expires_at=MOMENT
    )
    order = OrderRecord.of(payment.order)
    assert payment_payload(order.payment) == {
        "status": "PENDING",
        "paymentUrl": "https://pay.example/1",
        "qrCode": None,
        "invoiceId": "INV-1",
        "expiresAt": WIRE_MOMENT,
    }
    assert order_payload(order)["payment"] == payment_payload(order.payment)
    assert payment_payload(None) is None


def test_review_and_page_from_rows_and_records(shop):
    product = factories.product(shop)
    review = create_review(product=product, rating=4, comment="Good.", author_name="Kim", now=MOMENT)
    for source in (ReviewRecord.of(review), Review.objects.values_list(*REVIEW_COLUMNS, named=True).get()):
        assert review_payload(source) == {
            "id": str(review.pk),
            "productId": str(product.pk),
            "rating": 4,
            "comment": "Good.",
            "authorName": "Kim",
            "createdAt": WIRE_MOMENT,
        }
    page = create_page(business=shop, title="About", content="<p>Hi</p>", now=MOMENT)
    for source in (page, SitePage.objects.values_list(*PAGE_COLUMNS, named=True).get()):
        assert page_payload(source) == {
            "id": str(page.pk),
            "slug": "about",
            "title": "About",
            "content": "<p>Hi</p>",
            "createdAt": WIRE_MOMENT,
            "updatedAt": WIRE_MOMENT,
        }


def test_business(shop):
    shop.created_at = MOMENT
    assert BusinessSerializer(shop).data == {
        "id": str(shop.pk),
        "slug": shop.slug,
        "storefrontUrl": f"http://stores.test/store/{shop.slug}/",
        "name": "Mira's shop",
        "type": "",
        "address": "",
        "currency": "USD",
        "locale": "en",
        "timezone": "UTC",
        "isSandbox": False,
        "createdAt": WIRE_MOMENT,
    }


@pytest.mark.parametrize("rows", [1, 3])
def test_list_of_orders_takes_two_statements(shop, rows, django_assert_num_queries):
    for index in range(rows):
        order = factories.order(shop)
        OrderItem.objects.create(order=order, product_id=order.pk, name="x", quantity=1, price=index)
        factories.payment(order)
    with django_assert_num_queries(2):
        records = [order_payload(OrderRecord.of(order)) for order in queries.orders(shop).rows]
    assert [len(record["items"]) for record in records] == [1] * rows
