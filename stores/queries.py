"""Reading a shop. Lists come newest first: ids are ordered by time, so they order the rows alone."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Count, Model, Q, QuerySet, UUIDField

from accounts.models import Business
from common.compiled import Compiled, Param
from common.errors import NotFound
from common.ids import parse_id
from common.secrets import digest
from common.times import after, not_before
from common.totals import total_of
from stores.enums import DeliveryMethod, ProductStatus
from stores.models import LINES, Order, Product, Review, SitePage, StoreSettings, StoreTotals

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
            return total_of(self.rows)
        return counted(self.business, self.counter)[0]


@dataclass(frozen=True)
class WholeList(Generic[Row]):
    """A list that nothing narrows, so that its SQL need be written only once.

    `of` gives the rows of the business with an id, or of the `Param` that stands for one.
    """

    business: Business
    of: Callable[[Any], QuerySet[Row]]
    counter: str

    @property
    def rows(self) -> QuerySet[Row]:
        return self.of(self.business.pk)

    @property
    def total(self) -> int:
        return counted(self.business, self.counter)[0]


AnyList = Listing[Row] | WholeList[Row]

BUSINESS = Param("business", UUIDField())
_TOTALS = Compiled(lambda: StoreTotals.objects.filter(business=BUSINESS))


def counted(business: Business, counter: str) -> tuple[int, int]:
    """How many rows `counter` counts, and how often ranks in the business's lists have changed."""
    totals = _TOTALS.rows(business=business.pk)[0]
    return getattr(totals, counter), totals.rank_changes


# --- Products ---------------------------------------------------------------------------------------


def listed_products(
    business: Business,
    *,
    category: str | None = None,
    is_available: bool | None = None,
    search: str | None = None,
    updated_since: datetime | None = None,
) -> AnyList[Product]:
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
        narrowed &= Q(updated_at__gte=not_before(updated_since))
    if not narrowed:
        return WholeList(business, _listed, "products")
    return Listing(business, _listed(business.pk).filter(narrowed), None)


def _listed(business_id: Any) -> QuerySet[Product]:
    return Product.objects.filter(business=business_id, status=ProductStatus.ACTIVE).order_by("-id")


def categories(business: Business) -> list[str]:
    """The categories that listed products are in, by name."""
    rows = Product.objects.filter(business=business, status=ProductStatus.ACTIVE).exclude(category="")
    return list(rows.values_list("category", flat=True).distinct().order_by("category"))


def product_by_id(business: Business, product_id: UUID | None) -> Product:
    """An archived one too (contract section 9, "Orders"). `NotFound` where there is none."""
    return _found(_PRODUCT_BY_ID, business, product_id, "Product")


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
) -> AnyList[Order]:
    """Orders with lines and payment brought along. `created_after` and `created_before` exclude the moment,
    `updated_since` includes it, all as times read on the wire."""
    narrowed = Q()
    if status is not None:
        narrowed &= Q(status=status)
    if created_after is not None:
        narrowed &= Q(created_at__gte=after(created_after))
    if created_before is not None:
        narrowed &= Q(created_at__lt=not_before(created_before))
    if updated_since is not None:
        narrowed &= Q(updated_at__gte=not_before(updated_since))
    if not narrowed:
        return WholeList(business, _orders_of, "orders")
    return Listing(business, _orders_of(business.pk).filter(narrowed), None)


def _orders_of(business_id: Any) -> QuerySet[Order]:
    return _whole_orders().filter(business=business_id).order_by("-id")


def order_by_id(business: Business, order_id: UUID | None) -> Order:
    """With lines and payment. `NotFound` where there is none."""
    return _found(_ORDER_BY_ID, business, order_id, "Order")


def order_by_page_key(business: Business, key: str) -> Order | None:
    """The order that a checkout page with this key has placed, with lines and payment; None so far."""
    return _whole_orders().filter(business=business, page_key_digest=digest(key)).first()


def _whole_orders() -> QuerySet[Order]:
    return Order.objects.select_related("payment").prefetch_related(LINES)


# --- Reviews and pages ------------------------------------------------------------------------------


def reviews(business: Business, *, product_id: UUID | str | None = None) -> AnyList[Review]:
    """All of them, or those of one product. Text that is no id names no product, so there are none."""
    if product_id is None:
        return WholeList(business, _reviews_of, "reviews")
    wanted, rows = parse_id(product_id), _reviews_of(business.pk)
    return Listing(business, rows.filter(product=wanted) if wanted else rows.none(), None)


def _reviews_of(business_id: Any) -> QuerySet[Review]:
    return Review.objects.filter(business=business_id).order_by("-id")


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


_ID = Param("id", UUIDField())
_PRODUCT_BY_ID = Compiled(lambda: Product.objects.filter(business=BUSINESS, pk=_ID))
_ORDER_BY_ID = Compiled(lambda: _whole_orders().filter(business=BUSINESS, pk=_ID))


def _found(query: Compiled[Row], business: Business, row_id: UUID | None, noun: str) -> Row:
    """None is what `common.ids.parse_id` makes of text that is no id: there is no such row."""
    row = query.first(business=business.pk, id=row_id) if row_id else None
    if row is None:
        raise NotFound(f"{noun} not found")
    return row


def _with_slug(rows: QuerySet[Row], slug: str) -> QuerySet[Row]:
    """PostgreSQL can't even be asked for text with NUL."""
    return rows.none() if "\0" in slug else rows.filter(slug=slug)


def _only(rows: QuerySet[Row], noun: str) -> Row:
    row = rows.first()
    if row is None:
        raise NotFound(f"{noun} not found")
    return row
