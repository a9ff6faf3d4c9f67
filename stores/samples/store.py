"""Sample data of every new sandbox store, of test stores and of the demo. Nothing else makes up orders, benchmarks and mails included.

Rows are written in bulk without signals: no event reports sample orders. The same seed makes every sandbox
alike on any day. Ids carry the time of their rows, so newest by id is newest.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import Business
from common.ids import id_at
from common.money import decimals
from stores.addresses import SAMPLES
from stores.enums import BuiltInPayment, DeliveryMethod, OrderStatus
from stores.models import Order, OrderItem, Product, Review, SitePage, StoreSettings, StoreTotals
from stores.queries import DEFAULT_DELIVERY_FEE
from stores.samples.bakery import CUSTOMERS, LOOK, NOTES, PAGES, REVIEWS, SHELVES, Goods
from stores.services.catalogue.products import create_product
from stores.services.pages import written
from stores.services.reviews import rate

SEED = 1847
OPENED = timedelta(days=100)  # when products and pages were created
DAYS = 90
PAST_ORDERS = 48
FIRST_NUMBER = 1001
BATCH = 5000  # rows in a statement

Dated = tuple[datetime, OrderStatus]
Customer = tuple[str, str, str, str]  # name, e-mail address, phone, address

# The orders of the last day, oldest first, so that the merchant has something to do. (hours ago, status)
OPEN_ORDERS = [
    (21.0, OrderStatus.DELIVERED),
    (19.5, OrderStatus.IN_DELIVERY),
    (18.0, OrderStatus.IN_DELIVERY),
    (15.5, OrderStatus.READY),
    (12.0, OrderStatus.READY),
    (9.0, OrderStatus.PREPARING),
    (6.5, OrderStatus.PREPARING),
    (4.0, OrderStatus.CONFIRMED),
    (2.5, OrderStatus.CONFIRMED),
    (1.5, OrderStatus.PENDING),
    (0.75, OrderStatus.PENDING),
    (0.2, OrderStatus.PENDING),
]


@transaction.atomic
def fill_store(
    *, business: Business, busy: Sequence[datetime] = (), at_least: int = 0, now: datetime | None = None
) -> None:
    """Fill an empty store with products, past orders, reviews and pages. `busy` are times of more orders.

    With `at_least` it has so many products and so many orders, the others spread over the days. A store that has products stays unchanged. No row is dated in the future.
    """
    if Product.objects.filter(business=business).exists():
        return
    now = now or timezone.now()
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    missing = at_least - PAST_ORDERS - len(OPEN_ORDERS) - len(busy)
    busy = [*busy, *(now - timedelta(days=1 + (DAYS - 2) * number / missing) for number in range(missing))]
    products = Product.objects.bulk_create(_products(business, at_least, now))
    orders = write_orders(business, products, _dated(chance, busy, now), chance=chance, now=now)
    reviews = Review.objects.bulk_create(_reviews(business, products, chance, now))
    rate(Product.objects.filter(business=business))
    SitePage.objects.bulk_create(_pages(business, now))
    StoreSettings.objects.bulk_create([StoreSettings(business=business, **LOOK)], ignore_conflicts=True)
    StoreTotals.objects.filter(business=business).update(
        products=len(products),
        orders=len(orders),
        reviews=len(reviews),
        last_order_number=FIRST_NUMBER + len(orders) - 1,
    )


@transaction.atomic
def add_sample_products(*, business: Business, now: datetime | None = None) -> int:
    """Put the sample goods into a merchant's own store, as if they were added one by one: its apps learn of them. A store that has a
    product, also an archived one, stays unchanged. Returns how many were added.
    """
    now = now or timezone.now()
    StoreTotals.objects.select_for_update().get(business=business)  # a second press waits for the first
    if Product.objects.filter(business=business).exists():
        return 0
    goods = [(category, each) for category, shelf in reversed(SHELVES.items()) for each in reversed(shelf)]
    for category, each in goods:
        create_product(business=business, now=now, **_fields(business, category, each))
    return len(goods)


def _products(business: Business, at_least: int, now: datetime) -> Iterator[Product]:
    """What the shelves hold; then the same with a number, until there are enough."""
    moment = now - OPENED
    stock = [(category, goods) for category, shelf in SHELVES.items() for goods in shelf]
    for number in range(max(at_least, len(stock))):
        category, goods = stock[number % len(stock)]
        moment += timedelta(minutes=7)
        product = _product(business, category, goods, moment)
        if turn := number // len(stock):
            product.name, product.slug = f"{product.name} {turn + 1}", f"{product.slug}-{turn + 1}"
        yield product


def _product(business: Business, category: str, goods: Goods, moment: datetime) -> Product:
    fields = _fields(business, category, goods)
    return Product(id=id_at(moment), business=business, created_at=moment, updated_at=moment, **fields)


def _fields(business: Business, category: str, goods: Goods) -> dict[str, Any]:
    slug = slugify(goods.name)
    return {
        "name": goods.name,
        "slug": slug,
        "description": goods.description,
        "price": _minor(goods.price, business.currency),
        "category": category,
        "is_available": goods.is_available,
        "image": f"{SAMPLES}{slug}.webp",
        "stock": goods.stock,
        "low_stock_threshold": goods.threshold,
    }


def _minor(hundredths: int, currency: str) -> int:
    """4.50 in a currency with two decimals; 450 in one without, where prices have bigger numbers."""
    return hundredths * 10 if decimals(currency) == 3 else hundredths


def write_orders(
    business: Business,
    products: Sequence[Product],
    dated: Iterable[Dated],
    *,
    chance: random.Random,
    now: datetime,
    customers: Sequence[Customer] = CUSTOMERS,
) -> list[Order]:
    """An order for each of these times, of made-up customers, with lines of these products. Totals of the store don't count them."""
    orders = [
        _order(business, str(number), moment, status, chance.choice(customers), chance, now)
        for number, (moment, status) in enumerate(dated, start=FIRST_NUMBER)
    ]
    available = [product for product in products if product.is_available]
    items = [item for order in orders for item in _items(order, available, chance)]
    Order.objects.bulk_create(orders, batch_size=BATCH)
    OrderItem.objects.bulk_create(items, batch_size=BATCH)
    return orders


def sample_order(business: Business, *, now: datetime) -> Order:
    """One that waits for its customer, with its `lines`, for samples of mails. Nothing is saved."""
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    order = _order(business, str(FIRST_NUMBER), now, OrderStatus.READY, CUSTOMERS[0], chance, now)
    order.delivery_method, order.delivery_fee, order.address = DeliveryMethod.PICKUP, 0, ""
    order.payment_method = BuiltInPayment.CASH
    order.lines = _items(order, list(_products(business, 0, now)), chance)
    return order


def _dated(chance: random.Random, busy: Sequence[datetime], now: datetime) -> list[Dated]:
    past = [*_past(chance, now), *((moment, OrderStatus.DELIVERED) for moment in busy)]
    return [*sorted(past), *((now - timedelta(hours=hours), status) for hours, status in OPEN_ORDERS)]


def _past(chance: random.Random, now: datetime) -> list[Dated]:
    """Delivered, some cancelled; spread over the days with a random hour each."""
    step = (DAYS - 2) / PAST_ORDERS
    days_ago = [DAYS - 1 - (index + chance.random() * 0.9) * step for index in range(PAST_ORDERS)]
    return [
        (
            now - timedelta(days=days),
            OrderStatus.CANCELLED if index % 11 == 5 else OrderStatus.DELIVERED,
        )
        for index, days in enumerate(days_ago)
    ]


def _order(
    business: Business,
    number: str,
    moment: datetime,
    status: OrderStatus,
    customer: Customer,
    chance: random.Random,
    now: datetime,
) -> Order:
    """Without amounts, which come with the lines."""
    name, email, phone, address = customer
    brought = status == OrderStatus.IN_DELIVERY or chance.random() < 0.55
    worked_on = timedelta() if status == OrderStatus.PENDING else timedelta(minutes=chance.randint(4, 600))
    return Order(
        id=id_at(moment),
        business=business,
        number=number,
        status=status,
        currency=business.currency,
        delivery_method=DeliveryMethod.DELIVERY if brought else DeliveryMethod.PICKUP,
        delivery_fee=DEFAULT_DELIVERY_FEE if brought else 0,
        address=address if brought else "",
        payment_method=chance.choice(BuiltInPayment.values),
        customer_name=name,
        customer_email=email,
        customer_phone=phone,
        note=chance.choice(NOTES) if chance.random() < 0.2 else "",
        created_at=moment,
        updated_at=min(moment + worked_on, now),
    )


def _items(order: Order, products: list[Product], chance: random.Random) -> list[OrderItem]:
    """One to four lines; sets the order's amounts from them. About one customer in eight had a voucher."""
    wanted = chance.sample(products, chance.randint(1, 4))
    items = [
        OrderItem(
            order=order,
            product_id=product.pk,
            name=product.name,
            quantity=chance.choice((1, 1, 1, 2, 2, 3)),
            price=product.price,
            from_stock=product.stock is not None,
        )
        for product in wanted
    ]
    order.subtotal = sum(item.price * item.quantity for item in items)
    order.discount = order.subtotal // 10 if chance.random() < 0.125 else 0
    order.amount = order.subtotal - order.discount + order.delivery_fee
    return items


def _reviews(
    business: Business, products: list[Product], chance: random.Random, now: datetime
) -> Iterator[Review]:
    by_name = {product.name: product for product in products}
    said = chance.sample(REVIEWS, len(REVIEWS))
    step = timedelta(days=DAYS) / len(said)
    for index, (name, rating, comment, author) in enumerate(said):
        moment = now - timedelta(days=DAYS) + step * (index + chance.random() * 0.9)
        yield Review(
            id=id_at(moment),
            business=business,
            product=by_name[name],
            rating=rating,
            comment=comment,
            author_name=author,
            created_at=moment,
        )


def _pages(business: Business, now: datetime) -> Iterator[SitePage]:
    moment = now - OPENED
    for slug, title, text, is_published in PAGES:
        moment += timedelta(hours=1)
        yield SitePage(
            id=id_at(moment),
            business=business,
            slug=slug,
            title=title,
            **written(text),
            is_published=is_published,
            created_at=moment,
            updated_at=moment,
        )
