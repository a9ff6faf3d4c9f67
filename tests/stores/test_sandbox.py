import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from accounts.models import Business
from accounts.signals import business_created
from stores.enums import OrderStatus
from stores.models import Order, OrderItem, Product, Review, SitePage, StoreTotals
from stores.records import OrderRecord
from stores.samples.store import fill_store
from stores.serializers import order_payload
from stores.services.orders import change_order_status
from stores.services.pages import clean_html
from tests import factories

NOW = datetime(2026, 11, 20, 8, 15, tzinfo=UTC)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def fresh(sandbox):
    fill_store(business=sandbox, now=NOW)
    return sandbox


def opened(owner, **fields):
    business = Business.objects.create(owner=owner, name="New", slug="new", **fields)
    business_created.send(sender=Business, business=business, now=NOW)
    return business


@pytest.mark.spec(
    "Contract 9 Accounts",
    "A fresh sandbox holds at least 30 products (tracked, untracked, unavailable ones among them), orders, reviews, "
    "two or more published pages",
)
def test_fresh_sandbox_is_a_shop_that_looks_lived_in(fresh):
    products = Product.objects.filter(business=fresh)
    assert products.count() == 30
    assert products.values("category").distinct().count() == 5
    assert products.filter(stock=None).exists()
    assert products.filter(stock=0).exists()
    assert any(p.stock and p.low_stock_threshold and p.stock < p.low_stock_threshold for p in products)
    assert products.filter(is_available=False).exists()
    assert Order.objects.filter(business=fresh).count() == 60
    assert set(Order.objects.values_list("status", flat=True)) == set(OrderStatus.values)
    assert set(Order.objects.values_list("delivery_method", flat=True)) == {"DELIVERY", "PICKUP"}
    assert Review.objects.filter(business=fresh).count() == 40
    assert set(Review.objects.values_list("rating", flat=True)) == {1, 2, 3, 4, 5}
    assert SitePage.objects.filter(business=fresh, is_published=True).count() == 3
    assert SitePage.objects.filter(business=fresh, is_published=False).count() == 1


def test_developer_has_it_from_the_first_minute(dana):
    Business.objects.filter(owner=dana).delete()
    business = opened(dana, is_sandbox=True)
    totals = StoreTotals.objects.get(business=business)
    assert (totals.products, totals.orders, totals.reviews) == (30, 60, 40)


def test_merchant_begins_with_an_empty_shop(mira):
    business = opened(mira)
    totals = StoreTotals.objects.get(business=business)
    assert (totals.products, totals.orders, totals.last_order_number) == (0, 0, 1000)
    assert not Product.objects.filter(business=business).exists()


@pytest.mark.parametrize("model", [Product, Order, Review, SitePage])
def test_newest_by_id_is_newest_by_time_and_none_is_of_the_future(fresh, model):
    by_id = list(model.objects.order_by("-id").values_list("created_at", flat=True))
    assert by_id == sorted(by_id, reverse=True)
    assert len(set(by_id)) == len(by_id)
    assert by_id[0] <= NOW


def test_orders_lie_in_the_last_ninety_days_after_their_products(fresh):
    first, last = Order.objects.order_by("id").first(), Order.objects.order_by("id").last()
    assert NOW - timedelta(days=90) < first.created_at < NOW - timedelta(days=85)
    assert NOW - timedelta(hours=1) < last.created_at < NOW
    assert Product.objects.order_by("id").last().created_at < first.created_at
    for order in Order.objects.all():
        assert order.created_at <= order.updated_at <= NOW


def test_money_of_each_order_adds_up(fresh):
    prices = dict(Product.objects.values_list("pk", "price"))
    for order in Order.objects.prefetch_related("items"):
        assert order.subtotal == sum(item.price * item.quantity for item in order.items.all())
        assert order.amount == order.subtotal - order.discount + order.delivery_fee
        assert bool(order.address) == (order.delivery_method == "DELIVERY") == bool(order.delivery_fee)
        assert order.customer_email or order.customer_phone
        assert all(item.price == prices[item.product_id] for item in order.items.all())
    assert Order.objects.filter(discount__gt=0).exists()


def test_next_order_gets_the_next_number(fresh):
    numbers = [int(number) for number in Order.objects.order_by("id").values_list("number", flat=True)]
    assert numbers == list(range(1001, 1061))
    assert StoreTotals.objects.get(business=fresh).last_order_number == 1060


def test_open_order_can_be_moved_along(fresh):
    order = Order.objects.filter(status="PENDING").first()
    tracked = OrderItem.objects.filter(order=order, from_stock=True).count()
    assert (
        tracked
        == Product.objects.filter(pk__in=order.items.values("product_id"), stock__isnull=False).count()
    )
    assert change_order_status(order=order, status="CANCELLED").status == "CANCELLED"


def test_pages_are_as_clean_as_written_ones(fresh):
    for page in SitePage.objects.all():
        assert clean_html(page.content) == page.content


def test_pictures_are_served(fresh, client):
    images = set(Product.objects.values_list("image", flat=True))
    assert len(images) == 30
    for image in images:
        assert client.get(image).headers["Content-Type"] == "image/webp"


def test_filling_tells_nobody_and_takes_few_statements(sandbox, ear, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        fill_store(business=sandbox, now=NOW)
    assert ear == []


def test_every_sandbox_is_alike(fresh, shop):
    fill_store(business=shop, now=NOW)
    other = factories.business(shop.owner, currency="JPY")
    fill_store(business=other, now=NOW)

    def shape(business):
        orders = Order.objects.filter(business=business).order_by("id").prefetch_related("items")
        different = {"id", "items", "currency", *("subtotal", "discount", "deliveryFee", "amount")}
        return [
            {key: value for key, value in order_payload(order).items() if key not in different}
            for order in map(OrderRecord.of, orders)
        ]

    assert shape(fresh) == shape(shop) == shape(other)
    sourdough = Product.objects.filter(name="Country Sourdough")
    assert set(sourdough.values_list("price", flat=True)) == {690}


def test_store_with_products_is_left_as_it_is(shop):
    factories.product(shop)
    fill_store(business=shop, now=NOW)
    assert Product.objects.filter(business=shop).count() == 1
    assert not Order.objects.exists()


MAKES = re.compile(r"(?<!class )(?<![\w.])Order(\(|\.objects\.\w*create)")


def test_no_other_module_makes_up_orders():
    """The demo, test stores, mails, screenshots and benchmarks use the one maker: a second world would have to be kept up, too."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    product = [
        each for each in tracked.stdout.split() if not each.startswith(("tests/", "sdk/", "examples/"))
    ]
    texts = {each: (ROOT / each).read_text() for each in product}
    makers = {each for each, text in texts.items() if "stores.models" in text and MAKES.search(text)}
    assert makers == {
        "stores/samples/store.py",
        "stores/samples/copies.py",  # of a store's own, for a trial
        "stores/services/checkout.py",  # for shoppers and apps
        "stores/connected/sales.py",  # for shops, which placed them
    }
