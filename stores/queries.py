"""Reading a store. Lists are newest first: ids are ordered by time, so ordering by id is enough."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import CharField, Count, Model, Q, QuerySet, UUIDField
from django.db.models.functions import Lower
from django.utils.translation import gettext as _

from accounts.models import Business
from common import places
from common.db.compiled import AmongIds, Compiled, Param
from common.db.long_lists import total_of
from common.db.rows import first_or_not_found
from common.errors import NotFound
from common.ids import parse_id
from common.places import Work
from common.secrets import digest
from common.times import after, not_before
from stores.addresses import order_of_key
from stores.enums import Accent, DeliveryMethod, Headings, ProductStatus, Resource
from stores.models import (
    DEFAULT_DELIVERY_FEE,
    LINES,
    Cart,
    MirroredRow,
    Order,
    OrderItem,
    Product,
    ProductPicture,
    Review,
    SitePage,
    StoreSettings,
    StoreTotals,
)

RATINGS = range(1, 6)

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """A list before pagination.

    `counter` is the column of `StoreTotals` that counts these rows; None if a filter narrows them. `written` finds the same rows by SQL
    that is written once.
    """

    business: Business
    rows: QuerySet[Row]
    counter: str | None
    written: Compiled[Row] | None = field(default=None, kw_only=True)

    @property
    def total(self) -> int:
        """The number of rows: from the business's totals without a filter, else counted."""
        if self.counter is None:
            return total_of(self.rows)
        return counted(self.business, self.counter)[0]

    def page(self, window: slice) -> tuple[list[Row], int]:
        """The rows of a page, and how many all pages have. One that isn't full, and isn't beyond the last, says so itself."""
        before, most = window.start, window.stop - window.start
        if self.written:
            found = self.written.rows(limit=most, offset=before, business=self.business.pk)
            for row in found:
                row.business = self.business  # type: ignore[attr-defined]  # which all rows of a listing have
        else:
            found = list(self.rows[window])
        last = len(found) < most
        return found, before + len(found) if last and (found or not before) else self.total


@dataclass(frozen=True)
class WholeList(Generic[Row]):
    """An unfiltered list, whose SQL is compiled only once.

    `of` returns the rows of the business with an id, or of the `Param` in its place.
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
_TOTALS = Compiled(lambda: StoreTotals.objects.filter(business=BUSINESS), prepared_as="stores_totals")


def counted(business: Business, counter: str) -> tuple[int, int]:
    """The value of `counter`, and how often ranks in the business's lists have changed."""
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
    external_id: str | None = None,
) -> AnyList[Product]:
    """Products that are not archived, including unavailable ones. `search` matches name and description;
    `updated_since` includes the moment. Raises `places.Busy` for a search.
    """
    narrowed = _mirrored(business, Resource.PRODUCTS, external_id)
    if category is not None:
        narrowed &= Q(category=category)
    if is_available is not None:
        narrowed &= Q(is_available=is_available)
    if search:
        places.require(Work.SEARCH)
        narrowed &= Q(name__finds=search) | Q(description__finds=search)
    if updated_since is not None:
        narrowed &= Q(updated_at__gte=not_before(updated_since))
    if not narrowed:
        return WholeList(business, _listed, "products")
    return Listing(business, _listed(business.pk).filter(narrowed), None)


def _listed(business_id: Any) -> QuerySet[Product]:
    return Product.objects.filter(business=business_id, status=ProductStatus.ACTIVE).order_by("-id")


SORTS: dict[str, tuple[Any, ...]] = {
    "price": ("price", "-id"),
    "-price": ("-price", "-id"),
    "name": (Lower("name"), "-id"),
    "-rating": ("-rating", "-review_count", "-id"),
}


def sorted_products(listing: AnyList[Product], sort: str) -> QuerySet[Product]:
    """The rows by one of `SORTS`; newest first for any other text."""
    return listing.rows.order_by(*SORTS[sort]) if sort in SORTS else listing.rows


def related_products(product: Product) -> QuerySet[Product]:
    """Others of its category that can be ordered, newest first; none without a category."""
    rows = _listed(product.business_id).filter(category=product.category, is_available=True)
    return rows.exclude(pk=product.pk).exclude(stock=0) if product.category else rows.none()


def categories(business: Business) -> list[str]:
    """The categories of listed products, by name."""
    return [name for (name,) in _CATEGORIES.rows(business=business.pk)]


def product_by_id(business: Business, product_id: object) -> Product:
    """Includes archived products (contract, section 9, "Orders"). Raises `NotFound`."""
    return _found(_PRODUCT_BY_ID, business, product_id, "Product")


def product_by_slug(business: Business, slug: str) -> Product:
    """Includes archived products. Raises `NotFound`."""
    return first_or_not_found(
        _with_slug(Product.objects.filter(business=business), slug), _("Product not found")
    )


def pictures_of(product: Product) -> list[ProductPicture]:
    """In the merchant's order."""
    return list(ProductPicture.objects.filter(product=product))


# --- Orders -----------------------------------------------------------------------------------------


def orders(
    business: Business,
    *,
    status: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    updated_since: datetime | None = None,
    external_id: str | None = None,
) -> AnyList[Order]:
    """Orders with lines and payment prefetched. `created_after` and `created_before` exclude the moment,
    `updated_since` includes it, all as times read on the wire.
    """
    narrowed = _mirrored(business, Resource.ORDERS, external_id)
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
    return whole_orders().filter(business=business_id).order_by("-id")


class ListedLine(NamedTuple):
    """The columns of `OrderItem` that the API shows."""

    order_id: UUID
    product_id: UUID
    name: str
    quantity: int
    price: int


def lines_of(orders: Collection[UUID]) -> dict[UUID, list[ListedLine]]:
    """The lines of each of these orders, in their order. One statement, or none."""
    found: dict[UUID, list[ListedLine]] = {order: [] for order in orders}
    for row in _LINES_OF.rows(ids=orders) if orders else ():
        found[row[0]].append(ListedLine(*row))
    return found


def order_by_id(business: Business, order_id: object) -> Order:
    """With lines and payment. Raises `NotFound`."""
    return _found(_ORDER_BY_ID, business, order_id, "Order")


def order_by_page_key(business: Business, key: str) -> Order | None:
    """The order placed by the checkout page with this key, or of a mailed link, with lines and payment; None without."""
    placed = whole_orders().filter(business=business, page_key_digest__isnull=False)
    order_id = order_of_key(key)
    found = placed.filter(pk=order_id) if order_id else placed.filter(page_key_digest=digest(key))
    return found.first()


def carts_of_key(key_digest: str) -> list[Cart]:
    """The carts of one browser; more than one only where stores share a host."""
    return _CARTS.rows(key=key_digest)


def whole_orders() -> QuerySet[Order]:
    """With lines and payment, of whatever business."""
    return Order.objects.select_related("payment").prefetch_related(LINES)


# --- Reviews and pages ------------------------------------------------------------------------------


def reviews(
    business: Business, *, product_id: UUID | str | None = None, external_id: str | None = None
) -> AnyList[Review]:
    """All reviews, or those of one product. Text that is not an id matches no product."""
    if product_id is None and external_id is None:
        return WholeList(business, _reviews_of, "reviews")
    rows = _reviews_of(business.pk).filter(_mirrored(business, Resource.REVIEWS, external_id))
    if product_id is not None:
        wanted = parse_id(product_id)
        rows = rows.filter(product=wanted) if wanted else rows.none()
    return Listing(business, rows, None)


def _mirrored(business: Business, resource: Resource, external_id: str | None) -> Q:
    """The row with this id of the shop; all rows for None."""
    if external_id is None:
        return Q()
    known = MirroredRow.objects.filter(business=business, resource=resource, external_id=external_id)
    return Q(pk__in=known.filter(row_id__isnull=False).values("row_id"))


def _reviews_of(business_id: Any) -> QuerySet[Review]:
    return Review.objects.filter(business=business_id).order_by("-id")


@dataclass(frozen=True, slots=True)
class ReviewStats:
    """The number of reviews for each rating from 1 to 5."""

    distribution: dict[int, int]

    @property
    def total(self) -> int:
        return sum(self.distribution.values())

    @property
    def average(self) -> float | None:
        """None if there are no reviews."""
        ratings = sum(rating * count for rating, count in self.distribution.items())
        return ratings / self.total if self.total else None


def review_stats(business: Business, *, product: Product | None = None) -> ReviewStats:
    """Statistics of all reviews, or of one product's."""
    rows = Review.objects.filter(business=business).order_by()
    if product is not None:
        rows = rows.filter(product=product)
    counted = dict(rows.values_list("rating").annotate(number=Count("pk")))
    return ReviewStats({rating: counted.get(rating, 0) for rating in RATINGS})


def published_pages(business: Business) -> Listing[SitePage]:
    rows = SitePage.objects.filter(business=business, is_published=True).order_by("-id")
    return Listing(business, rows, None)


def names_of_pages(business: Business) -> list[tuple[str, str]]:
    """Slug and title of each published page, by title."""
    return _PAGES.rows(business=business.pk)


def page_by_slug(business: Business, slug: str) -> SitePage:
    """A published page. Raises `NotFound`."""
    published = SitePage.objects.filter(business=business, is_published=True)
    return first_or_not_found(_with_slug(published, slug), _("Page not found"))


# --- The store's own --------------------------------------------------------------------------------


def store_settings(business: Business) -> StoreSettings:
    """The store's look and fee, with logo and picture; an unsaved row of defaults before the first change."""
    found = _SETTINGS.first(business=business.pk)
    # Defaults of the database are not known to an unsaved row.
    return found or StoreSettings(
        business=business, accent=Accent.GRAPHITE, headings=Headings.PLAIN, tagline="", hero_text=""
    )


def delivery_fee(business: Business, delivery_method: str) -> int:
    """The store's own fee in minor units: flat for a delivery, none for a pickup."""
    if delivery_method == DeliveryMethod.PICKUP:
        return 0
    chosen = StoreSettings.objects.filter(business=business).values_list("delivery_fee", flat=True).first()
    return DEFAULT_DELIVERY_FEE if chosen is None else chosen


# What each page of a store asks.
_CATEGORIES: Final[Compiled[tuple[str]]] = Compiled(
    lambda: (
        Product.objects.filter(business=BUSINESS, status=ProductStatus.ACTIVE)
        .exclude(category="")
        .values_list("category")
        .distinct()
        .order_by("category")
    ),
    prepared_as="stores_categories",
)
_CARTS: Final = Compiled(
    lambda: Cart.objects.filter(key_digest=Param("key", CharField())), prepared_as="stores_carts"
)
_SETTINGS: Final = Compiled(
    lambda: StoreSettings.objects.select_related("logo", "hero_picture").filter(business=BUSINESS),
    prepared_as="stores_settings",
)
_PAGES: Final[Compiled[tuple[str, str]]] = Compiled(
    lambda: (
        SitePage.objects.filter(business=BUSINESS, is_published=True)
        .order_by("title")
        .values_list("slug", "title")
    ),
    prepared_as="stores_pages",
)

_ID = Param("id", UUIDField())
_PRODUCT_BY_ID = Compiled(
    lambda: Product.objects.filter(business=BUSINESS, pk=_ID), prepared_as="stores_product"
)
_LINES_OF: Compiled[Any] = Compiled(
    lambda: OrderItem.objects.filter(AmongIds("order", "ids")).values_list(*ListedLine._fields)
)
_ORDER_BY_ID = Compiled(lambda: whole_orders().filter(business=BUSINESS, pk=_ID), prepared_as="stores_order")


def _found(query: Compiled[Row], business: Business, row_id: object, noun: str) -> Row:
    known_id = parse_id(row_id)
    row = query.first(business=business.pk, id=known_id) if known_id else None
    if row is None:
        raise NotFound(f"{noun} not found")
    return row


def _with_slug(rows: QuerySet[Row], slug: str) -> QuerySet[Row]:
    """PostgreSQL can't store NUL in text, so a query with it would fail."""
    return rows.none() if "\0" in slug else rows.filter(slug=slug)
