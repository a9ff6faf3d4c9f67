"""A store's records for its merchant, newest first, including those that shoppers and apps don't see."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Business
from common.times import shifted
from stores.enums import OrderStatus, ProductStatus
from stores.models import Order, Product, Review, SitePage
from stores.order_search import SearchText, matching
from stores.queries import Listing

MOST_CATEGORIES = 200  # that a form proposes
MOST_COUNTED = 1000
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


def orders_found(
    business: Business,
    *,
    status: str = "",
    search: str = "",
    first_day: date | None = None,
    last_day: date | None = None,
) -> Listing[Order]:
    """Orders with their lines. `search` looks into number, name, e-mail address and phone number, and below three characters
    only at the beginning of the number. Both days are included, in the business's time zone.
    """
    narrowed, rows = Q(), Order.objects.filter(business=business)
    if status:
        narrowed &= Q(status=status)
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


# --- Today ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Today:
    """How the day goes so far. Cancelled orders count and carry no revenue, as everywhere."""

    orders: int
    revenue: int  # minor units
    waiting: int  # orders of any day that are not confirmed yet
    low: int  # products that are sold out or below their threshold
    products: bool  # whether there are any that are not archived


def today(business: Business, *, now: datetime | None = None) -> Today:
    """The day is that of the business's time zone."""
    zone = ZoneInfo(business.timezone)
    day = (now or timezone.now()).astimezone(zone).date()
    orders = Order.objects.filter(business=business)
    since_midnight = orders.filter(created_at__gte=datetime.combine(day, time.min, tzinfo=zone))
    paid = since_midnight.exclude(status=OrderStatus.CANCELLED)
    return Today(
        orders=since_midnight.count(),
        revenue=paid.aggregate(sum=Coalesce(Sum("amount"), 0))["sum"],
        waiting=orders.filter(status=OrderStatus.PENDING).count(),
        low=Product.objects.filter(SHELVES["low"], business=business).count(),
        products=Product.objects.filter(status=ProductStatus.ACTIVE, business=business).exists(),
    )
