"""A store's records for its merchant, newest first, including those that shoppers and apps don't see."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Business
from common import places
from common.contacts import kept_email_key
from common.db.compiled import AmongIds, Compiled
from common.db.folding import FindsAll
from common.db.long_lists import COUNTED_EXACTLY
from common.places import Work
from common.times import shifted
from stores.customers import count_orders
from stores.enums import OPEN, DeliveryMethod, OrderStatus, PaymentStatus, ProductStatus
from stores.models import PERSON, Order, Product, Review, SitePage
from stores.order_search import SearchText, matching, plain_words
from stores.queries import BUSINESS, Listing, counted
from stores.standing import PAID, UNPAID, UNPAID_ONLINE

MOST_CATEGORIES = 200  # that a form proposes
MAX_NEW: Final = 100
INDEXED = 3  # characters that a search must have for the index of `stores.order_search`

SOLD_OUT = Q(stock=0)
LOW = Q(stock__gt=0, stock__lt=F("low_stock_threshold"))  # `stores.enums.is_low`

# What a merchant may ask to see of the products; without a choice, whatever is not archived.
SHELVES: dict[str, Q] = {
    "available": Q(status=ProductStatus.ACTIVE, is_available=True),
    "off": Q(status=ProductStatus.ACTIVE, is_available=False),
    "low": Q(status=ProductStatus.ACTIVE) & (SOLD_OUT | LOW),
    "out": Q(status=ProductStatus.ACTIVE) & SOLD_OUT,
    "archived": Q(status=ProductStatus.ARCHIVED),
}

PAYMENTS: dict[str, Q] = {"paid": PAID, "unpaid": UNPAID, "online": UNPAID_ONLINE}

LATE: Final = timedelta(days=1)  # after its placing, for an order that is still open


@dataclass(frozen=True, slots=True)
class View:
    """A saved view of the orders' list. `narrows` takes the time."""

    label: str
    narrows: Callable[[datetime], Q]


_OPEN: Final = Q(status__in=OPEN)
VIEWS: Final = {
    "open": View("Open", lambda now: _OPEN),
    "unpaid": View("Unpaid", lambda now: UNPAID & ~Q(status=OrderStatus.CANCELLED)),
    "pickup": View("To pick up", lambda now: _OPEN & Q(delivery_method=DeliveryMethod.PICKUP)),
    "late": View("Late", lambda now: _OPEN & Q(created_at__lt=now - LATE)),
}


def orders_found(
    business: Business,
    *,
    view: str = "",
    status: str = "",
    payment: str = "",
    search: str = "",
    first_day: date | None = None,
    last_day: date | None = None,
) -> Listing[Order]:
    """Orders with their payment. `view` is one of `VIEWS`, `payment` one of `PAYMENTS`; `search` looks into number, name, e-mail address and phone number, and below three characters
    only at the beginning of the number. Both days are included, in the business's time zone.
    """
    narrowed, rows = Q(), business.orders.select_related("payment").order_by("-id")
    if status:
        narrowed &= Q(status=status)
    if view:
        narrowed &= VIEWS[view].narrows(timezone.now())
    if payment:
        narrowed &= PAYMENTS[payment]
    if first_day:
        narrowed &= Q(created_at__gte=_midnight(business, first_day))
    if last_day:
        narrowed &= Q(created_at__lt=_midnight(business, last_day, days_later=1))
    if len(search) >= INDEXED:
        places.require(Work.SEARCH)
        rows = rows.alias(found_in=SearchText()).filter(narrowed)
        return OrdersFound(business, rows.filter(matching(search)), None, rows, plain_words(search))
    if search:
        narrowed &= Q(number__startswith=search)
    if not narrowed:
        return Listing(business, rows, "orders", written=_ORDERS)
    return Listing(business, rows.filter(narrowed), None)


# What the first pages of the lists show.
_ORDERS: Final = Compiled(
    lambda: Order.objects.filter(business=BUSINESS).select_related("payment").order_by("-id"),
    prepared_as="merchants_orders",
)
_PRODUCTS: Final = Compiled(
    lambda: Product.objects.filter(business=BUSINESS, status=ProductStatus.ACTIVE).order_by("-id"),
    prepared_as="merchants_products",
)
_REVIEWS: Final = Compiled(
    lambda: Review.objects.filter(business=BUSINESS).select_related("product").order_by("-id"),
    prepared_as="merchants_reviews",
)
_PAGES: Final = Compiled(
    lambda: SitePage.objects.filter(business=BUSINESS).order_by("-id"), prepared_as="merchants_pages"
)


@dataclass(frozen=True)
class OrdersFound(Listing[Order]):
    """What a search for `words` finds `among` orders."""

    among: QuerySet[Order]
    words: list[str]

    @property
    def total(self) -> int:
        """Asked where a page is full. Then the index costs more than it saves, unless the store has very many orders."""
        if self.words and counted(self.business, "orders")[0] <= COUNTED_EXACTLY:
            return self.among.filter(FindsAll(SearchText(), *self.words)).count()
        return super().total


def orders_newer(listing: Listing[Order], than: UUID) -> int:
    """How many of a list came after an order, at most `MAX_NEW`."""
    return listing.rows.filter(pk__gt=than).order_by()[:MAX_NEW].count()


def with_orders_to_confirm(businesses: QuerySet[Business]) -> QuerySet[Business]:
    """Read along with the businesses, because every page shows the number: `to_confirm`."""
    pending = Order.objects.filter(business=OuterRef("pk"), status=OrderStatus.PENDING).order_by()
    number = pending.values("business").annotate(number=Count("pk")).values("number")
    return businesses.annotate(to_confirm=Coalesce(Subquery(number), 0))


def _midnight(business: Business, day: date, *, days_later: int = 0) -> datetime:
    start = datetime.combine(day, time.min, tzinfo=ZoneInfo(business.timezone))
    return shifted(start, timedelta(days=days_later))


def orders_of_customer(order: Order) -> int:
    """How many orders of the store carry this order's e-mail address, in whatever spelling."""
    key = kept_email_key(order.customer_email)
    return count_orders(order.business, key) if key else 0


@dataclass(frozen=True, slots=True)
class Customer:
    """A person in the list: by the newest order, with how many there are and what they come to."""

    newest: Order
    orders: int
    spent: int  # minor units, without cancelled orders and what was refunded


NOT_CANCELLED: Final = ~Q(status=OrderStatus.CANCELLED)
SPENT: Final = Coalesce(Sum(F("amount") - F("refunded"), filter=NOT_CANCELLED), 0)


def customers_of(
    business: Business, *, before: UUID | None = None, search: str = "", most: int
) -> list[Customer]:
    """The people who ordered, by their newest order, from the one before an id. `search` is a part of a name. Two statements.

    An order is the newest if the index of people has none after it, so that a page costs as much as it has rows.
    """
    orders = business.orders.annotate(person=PERSON).filter(person__gt="")
    newer = orders.filter(person=OuterRef("person"), pk__gt=OuterRef("pk"))
    newest = orders.filter(~Exists(newer)).order_by("-id")
    if before:
        newest = newest.filter(pk__lt=before)
    if search:
        places.require(Work.SEARCH)
        newest = newest.filter(customer_name__finds=search)
    found: list[Any] = list(newest[:most])
    sums = orders.filter(person__in=[each.person for each in found]).order_by().values("person")
    known = {
        person: (number, spent)
        for person, number, spent in sums.annotate(number=Count("pk"), spent=SPENT).values_list(
            "person", "number", "spent"
        )
    }
    return [Customer(each, *known[each.person]) for each in found if each.person in known]


def still_sold(order: Order) -> dict[UUID, Product]:
    """The products of an order's lines that still exist, archived ones too, by their ids."""
    ids = {item.product_id for item in order.lines}
    return {each.pk: each for each in _SOLD.rows(business=order.business_id, ids=ids)}


_SOLD: Final = Compiled(
    lambda: Product.objects.filter(AmongIds("id", "ids"), business=BUSINESS).only("image"),
    prepared_as="merchants_sold",
)


def products_found(
    business: Business, *, search: str = "", category: str = "", shelf: str = ""
) -> Listing[Product]:
    """`search` looks into name and description; `shelf` is one of `SHELVES`."""
    narrowed = SHELVES[shelf] if shelf else Q()
    if category:
        narrowed &= Q(category=category)
    if search:
        places.require(Work.SEARCH)
        narrowed &= Q(name__finds=search) | Q(description__finds=search)
    wanted = narrowed if shelf else narrowed & Q(status=ProductStatus.ACTIVE)
    rows = Product.objects.filter(wanted, business=business).order_by("-id")
    return (
        Listing(business, rows, None) if narrowed else Listing(business, rows, "products", written=_PRODUCTS)
    )


def categories_in_use(business: Business) -> list[str]:
    """Archived products' ones too, by name."""
    rows = Product.objects.filter(business=business).exclude(category="").order_by("category")
    return list(rows.values_list("category", flat=True).distinct()[:MOST_CATEGORIES])


def reviews_found(
    business: Business, *, product_name: str = "", product_id: UUID | None = None, rating: int | None = None
) -> Listing[Review]:
    """Reviews with their product. `product_name` is a part of its name."""
    narrowed = Q()
    if product_name:
        places.require(Work.SEARCH)
        narrowed &= Q(product__name__finds=product_name)
    if product_id:
        narrowed &= Q(product=product_id)
    if rating:
        narrowed &= Q(rating=rating)
    rows = Review.objects.filter(narrowed, business=business).select_related("product").order_by("-id")
    return Listing(business, rows, None) if narrowed else Listing(business, rows, "reviews", written=_REVIEWS)


def pages_of(business: Business) -> Listing[SitePage]:
    """Those that are not published, too."""
    rows = SitePage.objects.filter(business=business).order_by("-id")
    return Listing(business, rows, None, written=_PAGES)


# --- What waits -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for the merchant now, besides the orders to confirm."""

    unpaid: int  # orders whose payment through an app isn't completed
    failed: int  # those of them whose payment failed or expired
    low: int  # products that are sold out or below their threshold
    has_products: bool  # archived ones, too


def waiting_in(business: Business) -> Waiting:
    """Two statements."""
    unpaid, failed = _UNPAID.first(business=business.pk) or (0, 0)
    products = _LOW.first(business=business.pk)
    return Waiting(unpaid, failed, products[0] if products else 0, products is not None)


def _unpaid() -> Any:
    over = Q(payment__status__in=(PaymentStatus.FAILED, PaymentStatus.EXPIRED))
    of_business = Order.objects.filter(UNPAID_ONLINE, business=BUSINESS).order_by().values("business")
    counted = of_business.annotate(unpaid=Count("pk"), failed=Count("pk", filter=over))
    return counted.values_list("unpaid", "failed")


def _low() -> Any:
    of_business = Product.objects.filter(business=BUSINESS).order_by().values("business")
    return of_business.annotate(low=Count("pk", filter=SHELVES["low"])).values_list("low")


_UNPAID: Final[Compiled[Any]] = Compiled(_unpaid, prepared_as="merchants_unpaid")
_LOW: Final[Compiled[Any]] = Compiled(_low, prepared_as="merchants_low")
