"""A copy of a store for a trial of an app (contract, section 21): its look, pages and products as they are, its orders with people made up.

Nothing personal comes along, and no number or id of an order. Rows are written in bulk without signals: no event reports them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models.fields.files import FieldFile

from accounts.models import Business
from common.db.transactions import of_one_moment
from common.ids import id_at
from stores.enums import BuiltInPayment, OrderValidation, ProductStatus
from stores.models import (
    Order,
    OrderItem,
    Product,
    ProductPicture,
    SitePage,
    StorePicture,
    StoreSettings,
    StoreTotals,
)
from stores.models.orders import LINES
from stores.samples.bakery import CUSTOMERS
from stores.samples.store import FIRST_NUMBER

MOST_PRODUCTS: Final = 1_000
MOST_ORDERS: Final = 50
BATCH: Final = 500
_OWN_OF_PAGES: Final[Mapping[str, Any]] = {
    "external_id": None,
    "url": "",
    "is_framable": False,
    "framing_looked_at": None,
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What of a store is copied, all of one moment."""

    settings: StoreSettings | None
    store_pictures: Sequence[StorePicture]
    pages: Sequence[SitePage]
    products: Sequence[Product]
    pictures: Sequence[ProductPicture]
    orders: Sequence[Order]


def read(store: Business) -> Contents:
    """The newest 1,000 products, the newest 50 orders, the published pages. Not inside a transaction."""
    return of_one_moment(lambda: _read(store))


def _read(store: Business) -> Contents:
    settings = StoreSettings.objects.filter(business=store).first()
    listed = Product.objects.filter(business=store, status=ProductStatus.ACTIVE).order_by("-id")
    products = list(listed[:MOST_PRODUCTS])
    orders = Order.objects.filter(business=store).order_by("-id").prefetch_related(LINES)
    shown = [] if settings is None else [settings.logo_id, settings.hero_picture_id]
    return Contents(
        settings=settings,
        store_pictures=list(
            StorePicture.objects.filter(business=store, pk__in=[each for each in shown if each])
        ),
        pages=list(SitePage.objects.filter(business=store, is_published=True).order_by("id")),
        products=products,
        pictures=list(ProductPicture.objects.filter(product__in=[each.pk for each in products])),
        orders=list(orders[:MOST_ORDERS]),
    )


@transaction.atomic
def fill_copy(*, copy: Business, contents: Contents, now: datetime) -> None:
    """Fill an empty store with these contents. Files of pictures are shared: a picture is removed with the last row that has it."""
    products = _products(copy, contents)
    _settings(copy, contents, now)
    _pages(copy, contents)
    orders = _orders(copy, contents.orders, {old: new.pk for old, new in products.items()})
    StoreTotals.objects.filter(business=copy).update(
        products=len(products), orders=len(orders), last_order_number=FIRST_NUMBER + len(orders) - 1
    )


def _again(row: Any, **changes: Any) -> Any:
    """A new row with the values of this one, but for these."""
    model = type(row)
    values = {each.attname: each.value_from_object(row) for each in model._meta.concrete_fields}
    values = {name: str(value) if isinstance(value, FieldFile) else value for name, value in values.items()}
    known = {
        model._meta.get_field(name).attname: getattr(value, "pk", value) for name, value in changes.items()
    }
    return model(**(values | known))


def _products(copy: Business, contents: Contents) -> dict[UUID, Product]:
    """By the ids of those that they are copies of. A rating has no reviews here that would explain it."""
    products = {
        each.pk: _again(
            each,
            id=id_at(each.created_at),
            business=copy,
            external_id=None,
            image=each.image if each.image.startswith("/") else "",
            rating=0,
            review_count=0,
        )
        for each in contents.products
    }
    pictures: dict[UUID, ProductPicture] = {}
    for picture in contents.pictures:
        pictures[picture.pk] = _again(
            picture, id=id_at(picture.created_at), product=products[picture.product_id]
        )
    by_path = {each.path: pictures[each.pk].path for each in contents.pictures}
    for product in products.values():
        product.image = by_path.get(product.image, product.image)
    Product.objects.bulk_create(products.values(), batch_size=BATCH)
    ProductPicture.objects.bulk_create(pictures.values(), batch_size=BATCH)
    return products


def _settings(copy: Business, contents: Contents, now: datetime) -> None:
    if contents.settings is None:
        return
    pictures = {
        each.pk: _again(each, id=id_at(each.created_at), business=copy) for each in contents.store_pictures
    }
    StorePicture.objects.bulk_create(pictures.values())
    settings = contents.settings
    row = _again(
        settings,
        business=copy,
        logo=_found(pictures, settings.logo_id),
        hero_picture=_found(pictures, settings.hero_picture_id),
        seen_at=now,
    )
    StoreSettings.objects.filter(business=copy).delete()
    row.save(force_insert=True)


def _found(pictures: Mapping[UUID, StorePicture], picture_id: UUID | None) -> StorePicture | None:
    return pictures.get(picture_id) if picture_id else None


def _pages(copy: Business, contents: Contents) -> None:
    SitePage.objects.bulk_create(
        _again(each, id=id_at(each.created_at), business=copy, **_OWN_OF_PAGES) for each in contents.pages
    )


def _orders(copy: Business, orders: Sequence[Order], products: Mapping[UUID, UUID]) -> list[Order]:
    """Oldest first under new numbers. A line of a product that wasn't copied has none."""
    people = _People()
    made: list[Order] = []
    items: list[OrderItem] = []
    for number, order in enumerate(reversed(orders), FIRST_NUMBER):
        person = people.instead_of(order)
        new = Order(
            id=id_at(order.created_at),
            business=copy,
            number=str(number),
            status=order.status,
            subtotal=order.subtotal,
            discount=order.discount,
            delivery_fee=order.delivery_fee,
            other_charges=order.other_charges,
            amount=order.amount,
            currency=order.currency,
            delivery_method=order.delivery_method,
            address=person.address if order.address else "",
            payment_method=order.payment_method
            if order.payment_method in BuiltInPayment.values
            else BuiltInPayment.CASH,
            customer_name=person.name,
            customer_email=person.email if order.customer_email else "",
            customer_phone=person.phone if order.customer_phone else "",
            refunded=order.refunded,
            validation=OrderValidation.VALID,
            created_at=order.created_at,
            updated_at=order.updated_at,
        )
        made.append(new)
        items += [
            OrderItem(
                order=new,
                product_id=products.get(line.product_id) if line.product_id else None,
                name=line.name,
                quantity=line.quantity,
                price=line.price,
                from_stock=line.from_stock and line.product_id in products,
            )
            for line in order.lines
        ]
    Order.objects.bulk_create(made, batch_size=BATCH)
    OrderItem.objects.bulk_create(items, batch_size=BATCH)
    return made


@dataclass(frozen=True, slots=True)
class _Person:
    name: str
    email: str
    phone: str
    address: str


class _People:
    """Made-up people, one for each that has orders: by the e-mail address, else the phone number, else the name."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Person] = {}
        self._new = self._made_up()

    def instead_of(self, order: Order) -> _Person:
        who = [
            ("email", order.customer_email_key or order.customer_email),
            ("phone", order.customer_phone_key or order.customer_phone),
            ("name", order.customer_name),
        ]
        known = next(((kind, text) for kind, text in who if text), ("", str(order.pk)))
        if known not in self._known:
            self._known[known] = next(self._new)
        return self._known[known]

    @staticmethod
    def _made_up() -> Iterator[_Person]:
        for number in count():
            name, _, _, address = CUSTOMERS[number % len(CUSTOMERS)]
            turn = number // len(CUSTOMERS)
            yield _Person(
                name=f"{name} {turn + 1}" if turn else name,
                email=f"customer-{number + 1}@example.com",
                phone=f"+1202555{100 + number % 100:04}",  # reserved for fiction
                address=address,
            )
