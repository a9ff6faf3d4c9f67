"""A store's records for its merchant, newest first, including those that shoppers and apps don't see."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Business
from common.times import shifted
from stores.enums import OPEN, DeliveryMethod, OrderStatus, PaymentStatus, ProductStatus
from stores.models import Order, Product, Review, SitePage
from stores.order_search import SearchText, matching
from stores.queries import Listing
from stores.standing import PAID, UNPAID, UNPAID_ONLINE

MOST_CATEGORIES = 200  # that a form proposes
MOST_COUNTED = 1000
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
    """Orders with their lines. `view` is one of `VIEWS`, `payment` one of `PAYMENTS`; `search` looks into number, name, e-mail address and phone number, and below three characters
    only at the beginning of the number. Both days are included, in the business's time zone.
    """
    narrowed, rows = Q(), Order.objects.filter(business=business)
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
        rows = rows.alias(found_in=SearchText())
        narrowed &= matching(search)
    elif search:
        narrowed &= Q(number__startswith=search)
    rows = rows.filter(narrowed).select_related("payment", "business")
    return Listing(business, rows.prefetch_related("items").order_by("-id"), None if narrowed else "orders")


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
    """How many orders of the store carry this order's e-mail address."""
    if not order.customer_email:
        return 0
    rows = Order.objects.filter(business=order.business_id, customer_email__iexact=order.customer_email)
    indexed = rows.alias(found_in=SearchText()).filter(matching(order.customer_email))
    return indexed[:MOST_COUNTED].count()


def still_sold(order: Order) -> set[UUID]:
    """The products of an order's lines that still exist, archived ones too."""
    ids = {item.product_id for item in order.items.all()}
    rows = Product.objects.filter(business=order.business_id, pk__in=ids)
    return set(rows.values_list("pk", flat=True))


def products_found(
    business: Business, *, search: str = "", category: str = "", shelf: str = ""
) -> Listing[Product]:
    """`search` looks into name and description; `shelf` is one of `SHELVES`."""
    narrowed = SHELVES[shelf] if shelf else Q()
    if category:
        narrowed &= Q(category=category)
    if search:
        narrowed &= Q(name__icontains=search) | Q(description__icontains=search)
    wanted = narrowed if shelf else narrowed & Q(status=ProductStatus.ACTIVE)
    rows = Product.objects.filter(wanted, business=business).order_by("-id")
    return Listing(business, rows, None if narrowed else "products")


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
        narrowed &= Q(product__name__icontains=product_name)
    if product_id:
        narrowed &= Q(product=product_id)
    if rating:
        narrowed &= Q(rating=rating)
    rows = Review.objects.filter(narrowed, business=business).select_related("product").order_by("-id")
    return Listing(business, rows, None if narrowed else "reviews")


def pages_of(business: Business) -> Listing[SitePage]:
    """Those that are not published, too."""
    return Listing(business, SitePage.objects.filter(business=business).order_by("-id"), None)


# --- What waits -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for the merchant now."""

    waiting: int  # orders of any day that are not confirmed yet
    unpaid: int  # orders whose payment through an app isn't completed
    failed: int  # those of them whose payment failed or expired
    low: int  # products that are sold out or below their threshold


def waiting_in(business: Business) -> Waiting:
    orders = Order.objects.filter(business=business)
    online = orders.filter(UNPAID_ONLINE)
    over = Q(payment__status__in=(PaymentStatus.FAILED, PaymentStatus.EXPIRED))
    return Waiting(
        waiting=orders.filter(status=OrderStatus.PENDING).count(),
        **online.aggregate(unpaid=Count("pk"), failed=Count("pk", filter=over)),
        low=Product.objects.filter(SHELVES["low"], business=business).count(),
    )
