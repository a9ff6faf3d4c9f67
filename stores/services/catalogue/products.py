"""Changes of products by the merchant. Orders change stock through `services.stock`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from django.db import transaction
from django.utils import timezone

from accounts.models import Business
from accounts.public_names import check_no_address
from common.db.rows import get_or_not_found
from common.errors import Invalid, check_fields
from common.files.pictures import Decoded
from stores import signals
from stores.enums import ProductStatus
from stores.hookpoints import MAX_MINOR
from stores.models import Product, Review
from stores.records import ProductRecord, ReviewRecord
from stores.services.catalogue.pictures import PictureChanges, change_pictures
from stores.services.catalogue.stock import announce, stock_crossing
from stores.services.slugs import insert_under_free_slug, save_under_own_slug
from stores.services.totals import move_totals

# The columns that a merchant edits, by their API names. The threshold is in no API object, so changing only it sends
# no event.
WIRE_NAMES = {
    "name": "name",
    "slug": "slug",
    "description": "description",
    "price": "price",
    "category": "category",
    "is_available": "isAvailable",
    "image": "imageUrl",
    "stock": "stock",
    "low_stock_threshold": "lowStockThreshold",
}
SILENT_FIELDS = {"low_stock_threshold"}
# Archived ones included. A search that finds nothing fast reads the descriptions of all: 10,000 of the longest take two seconds.
MOST_PRODUCTS: Final = 10_000


class _Details(TypedDict, total=False):
    slug: str
    description: str
    category: str
    is_available: bool
    image: str
    stock: int | None  # None: not tracked
    low_stock_threshold: int | None


class NewProduct(_Details):
    name: str
    price: int  # minor units


class ProductChanges(_Details, total=False):
    name: str
    price: int  # minor units


@transaction.atomic
def create_product(
    *,
    business: Business,
    pictures: Sequence[Decoded] = (),
    now: datetime | None = None,
    **fields: Unpack[NewProduct],
) -> Product:
    """Create a product with its pictures. Without a `slug` it gets one from its name.

    Raises `Invalid`, also if the store has `MOST_PRODUCTS`, and `Conflict` for a slug that is taken.
    """
    now = now or timezone.now()
    _require_room(business)
    product = Product(business=business, created_at=now, updated_at=now, **fields)
    _check_name(product)
    if product.slug:
        _check(product, WIRE_NAMES)
        save_under_own_slug(product, is_new=True)
    else:
        _check(product, WIRE_NAMES.keys() - {"slug"})
        insert_under_free_slug(product, name=product.name)
    if pictures:
        product.image = change_pictures(product=product, changes=PictureChanges(new=pictures), now=now)
        product.save(update_fields=["image"])
    signals.product_created.send(sender=Product, product=_record(product), now=now)
    move_totals(business, products=1)
    return product


@transaction.atomic
def update_product(
    *, product: Product, now: datetime | None = None, **changes: Unpack[ProductChanges]
) -> Product:
    """Edit the given fields of the current row of a product. Returns that row.

    Unchanged values change nothing and send no event. A change of stock that crosses a threshold also sends an
    inventory event. Raises `Invalid`, `NotFound`, and `Conflict` for a slug that is taken.
    """
    now = now or timezone.now()
    product = _lock(product)
    changed = {column: value for column, value in changes.items() if getattr(product, column) != value}
    if not changed:
        return product
    stock_before = product.stock
    _assign(product, changed)
    if "name" in changed:  # a name of before there was this rule stays
        _check_name(product)
    _check(product, changed)
    product.updated_at = now
    save_under_own_slug(product, is_new=False)
    _send_update(product, {WIRE_NAMES[column] for column in changed.keys() - SILENT_FIELDS}, now)
    if crossing := stock_crossing(stock_before, product.stock, product.low_stock_threshold):
        announce(product.business, [(product, crossing)], now=now)
    return product


@transaction.atomic
def edit_product(
    *,
    product: Product,
    stock_seen: int | None,
    pictures: PictureChanges | None = None,
    now: datetime | None = None,
    **changes: Unpack[ProductChanges],
) -> Product:
    """`update_product` for a page that showed older values, and for pictures.

    Also raises `Invalid` if a new stock is given and the stock has changed since the page showed it: orders placed in
    between would be lost.
    """
    current = _lock(product)
    if "stock" in changes and current.stock != stock_seen:
        left = "is not tracked" if current.stock is None else f"is {current.stock}"
        raise Invalid.field("stock", f"The stock has changed since you looked: it {left} now.")
    if pictures:
        current.image = changes.get("image", current.image)
        changes["image"] = change_pictures(product=current, changes=pictures, now=now or timezone.now())
    return update_product(product=current, now=now, **changes)


def archive_product(*, product: Product, now: datetime | None = None) -> Product:
    """Archive a product: lists leave it out; it stays readable by id and slug."""
    return _set_status(product, ProductStatus.ARCHIVED, now or timezone.now())


def restore_product(*, product: Product, now: datetime | None = None) -> Product:
    """Bring an archived product back into the lists."""
    return _set_status(product, ProductStatus.ACTIVE, now or timezone.now())


@transaction.atomic
def delete_product(*, product: Product, now: datetime | None = None) -> None:
    """Delete a product with its reviews, each with an event. Order lines stay."""
    now = now or timezone.now()
    product = _lock(product, for_deletion=True)
    reviews = product.reviews.count()
    for review in product.reviews.iterator():
        signals.review_deleted.send(sender=Review, review=ReviewRecord.of(review), now=now)
    signals.product_deleted.send(sender=Product, product=_record(product), now=now)
    product.delete()
    listed = product.status == ProductStatus.ACTIVE
    move_totals(product.business, products=-int(listed), reviews=-reviews)


@transaction.atomic
def _set_status(product: Product, status: ProductStatus, now: datetime) -> Product:
    product = _lock(product)
    if product.status == status:
        return product
    product.status = status
    product.updated_at = now
    product.save(update_fields=["status", "updated_at"])
    _send_update(product, {"status"}, now)
    # A restored product is listed by its age, not at the top.
    move_totals(product.business, products=1 if status == ProductStatus.ACTIVE else -1, rank_changes=1)
    return product


def _send_update(product: Product, wire_names: set[str], now: datetime) -> None:
    if wire_names:
        signals.product_updated.send(
            sender=Product, product=_record(product), changed_fields=sorted(wire_names), now=now
        )


def _record(product: Product) -> ProductRecord:
    return ProductRecord.of(product, product.business.currency)


def _lock(product: Product, *, for_deletion: bool = False) -> Product:
    """The current row. A deletion locks the key too, so that no review is added meanwhile."""
    rows = Product.objects.select_related("business").select_for_update(no_key=not for_deletion, of=("self",))
    return get_or_not_found(rows, product.pk, "Product not found")


def _require_room(business: Business) -> None:
    if Product.objects.filter(business=business)[:MOST_PRODUCTS].count() >= MOST_PRODUCTS:
        raise Invalid(
            f"A store has at most {MOST_PRODUCTS:,} products, archived ones included. Delete some first."
        )


def _assign(product: Product, values: dict[str, Any]) -> None:
    for column, value in values.items():
        setattr(product, column, value)


def _check_name(product: Product) -> None:
    """Buyers read it in mails that come from the platform (contract, section 15, "Mails to strangers")."""
    try:
        check_no_address(product.name)
    except ValueError as problem:
        raise Invalid.field("name", str(problem)) from None


def _check(product: Product, columns: Collection[str]) -> None:
    check_fields(product, {column: name for column, name in WIRE_NAMES.items() if column in columns})
    if product.price > MAX_MINOR:
        raise Invalid.field("price", "The price is too high.")
