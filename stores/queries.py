"""Reading a shop. Lists come newest first: ids are ordered by time, so they order the rows alone."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from django.db.models import Count, Model, Q, QuerySet

from accounts.models import Business
from common.errors import NotFound
from common.ids import parse_id
from common.secrets import digest
from stores.enums import DeliveryMethod, ProductStatus
from stores.models import Order, Product, Review, SitePage, StoreSettings, StoreTotals

DEFAULT_DELIVERY_FEE = 500  # minor units
RATINGS = range(1, 6)

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """A list before it is cut into pages.

    `counter` is the column of `StoreTotals` that counts these rows; None where a filter narrows them.
    """

    business: Business
    rows: QuerySet[Row]
    counter: str | None

    @property
    def total(self) -> int:
        """How many rows there are: read from the business's totals where nothing filters, else counted."""
        if self.counter is None:
            return self.rows.order_by().count()
        totals = StoreTotals.objects.filter(business=self.business)
        return totals.values_list(self.counter, flat=True).get()


# --- Products ---------------------------------------------------------------------------------------


def listed_products(
    business: Business,
    *,
    category: str | None = None,
    is_available: bool | None = None,
    search: str | None = None,
    updated_since: datetime | None = None,
) -> Listing[Product]:
    """Products that are not archived; the unavailable ones too. `search` looks into name and description;
    `updated_since` includes the moment."""
    narrowed = Q()
    if category is not None:
        narrowed &= Q(category=category)
    if is_available is not None:
        narrowed &= Q(is_available=is_available)
    if search:
        narrowed &= Q(name__icontains=search) | Q(description__icontains=search)
    if updated_since is not None:
        narrowed &= Q(updated_at__gte=updated_since)
    rows = Product.objects.filter(narrowed, business=business, status=ProductStatus.ACTIVE).order_by("-id")
    return Listing(business, rows, None if narrowed else "products")


def categories(business: Business) -> list[str]:
    """The categories that listed products are in, by name."""
    rows = Product.objects.filter(business=business, status=ProductStatus.ACTIVE).exclude(category="")
    return list(rows.values_list("category", flat=True).distinct().order_by("category"))


def product_by_id(business: Business, product_id: UUID | None) -> Product:
    """An archived one too (contract section 9, "Orders"). `NotFound` where there is none."""
    return _only(_with_id(Product.objects.filter(business=business), product_id), "Product")


def product_by_slug(business: Business, slug: str) -> Product:
    """An archived one too. `NotFound` where there is none."""
    return _only(_with_slug(Product.objects.filter(business=business), slug), "Product")


# --- Orders -----------------------------------------------------------------------------------------


def orders(
    business: Business,
    *,
    status: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    updated_since: datetime | None = None,
) -> Listing[Order]:
    """Orders with lines and payment brought along. `created_after` and `created_before` exclude the moment,
    `updated_since` includes it."""
    narrowed = Q()
    if status is not None:
        narrowed &= Q(status=status)
    if created_after is not None:
        narrowed &= Q(created_at__gt=created_after)
    if created_before is not None:
        narrowed &= Q(created_at__lt=created_before)
    if updated_since is not None:
        narrowed &= Q(updated_at__gte=updated_since)
    rows = _whole_orders().filter(narrowed, business=business).order_by("-id")
    return Listing(business, rows, None if narrowed else "orders")


def order_by_id(business: Business, order_id: UUID | None) -> Order:
    """With lines and payment. `NotFound` where there is none."""
    return _only(_with_id(_whole_orders().filter(business=business), order_id), "Order")


def order_by_page_key(business: Business, key: str) -> Order | None:
    """The order that a checkout page with this key has placed, with lines and payment; None so far."""
    return _whole_orders().filter(business=business, page_key_digest=digest(key)).first()


def _whole_orders() -> QuerySet[Order]:
    return Order.objects.select_related("payment").prefetch_related("items")


# --- Reviews and pages ------------------------------------------------------------------------------


def reviews(business: Business, *, product_id: UUID | str | None = None) -> Listing[Review]:
    """All of them, or those of one product. Text that is no id names no product, so there are none."""
    rows = Review.objects.filter(business=business).order_by("-id")
    if product_id is None:
        return Listing(business, rows, "reviews")
    wanted = parse_id(product_id)
    return Listing(business, rows.filter(product=wanted) if wanted else rows.none(), None)


@dataclass(frozen=True, slots=True)
class ReviewStats:
    """How often each rating from 1 to 5 was given."""

    distribution: dict[int, int]

    @property
    def total(self) -> int:
        return sum(self.distribution.values())

    @property
    def average(self) -> float | None:
        """None where there is no review."""
        ratings = sum(rating * count for rating, count in self.distribution.items())
        return ratings / self.total if self.total else None


def review_stats(business: Business, *, product: Product | None = None) -> ReviewStats:
    """Of all reviews, or of one product's."""
    rows = Review.objects.filter(business=business).order_by()
    if product is not None:
        rows = rows.filter(product=product)
    counted = dict(rows.values_list("rating").annotate(number=Count("pk")))
    return ReviewStats({rating: counted.get(rating, 0) for rating in RATINGS})


def published_pages(business: Business) -> Listing[SitePage]:
    rows = SitePage.objects.filter(business=business, is_published=True).order_by("-id")
    return Listing(business, rows, None)


def page_by_slug(business: Business, slug: str) -> SitePage:
    """A published one. `NotFound` where there is none."""
    return _only(_with_slug(SitePage.objects.filter(business=business, is_published=True), slug), "Page")


# --- The store's own --------------------------------------------------------------------------------


def delivery_fee(business: Business, delivery_method: str) -> int:
    """The store's own fee in minor units: flat for a delivery, none for a pickup."""
    if delivery_method == DeliveryMethod.PICKUP:
        return 0
    chosen = StoreSettings.objects.filter(business=business).values_list("delivery_fee", flat=True).first()
    return DEFAULT_DELIVERY_FEE if chosen is None else chosen


def _with_id(rows: QuerySet[Row], row_id: UUID | None) -> QuerySet[Row]:
    """None is what `common.ids.parse_id` makes of text that is no id: there is no such row."""
    return rows.none() if row_id is None else rows.filter(pk=row_id)


def _with_slug(rows: QuerySet[Row], slug: str) -> QuerySet[Row]:
    """PostgreSQL can't even be asked for text with NUL."""
    return rows.none() if "\0" in slug else rows.filter(slug=slug)


def _only(rows: QuerySet[Row], noun: str) -> Row:
    row = rows.first()
    if row is None:
        raise NotFound(f"{noun} not found")
    return row
