"""`{% load merchant_store %}`: descriptions on the merchant's pages about the store; and the rows of the list of orders."""

from collections.abc import Collection, Iterable
from datetime import date, datetime
from html import escape
from typing import Any, Final

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.enums import StoreRole
from accounts.validators import timezone_label
from common.money import currency_label
from common.templatetags.links import address
from common.templatetags.ui import avatar, pill, thousands, time_element
from common.web.charts import MONTHS
from merchants.lists import NAMED_BY, store_query
from merchants.orders.descriptions import paid_look, payment_detail, payment_method
from merchants.store.overview import SetupStep
from merchants.store.queries import Customer
from stores.enums import DeliveryMethod, OrderStatus, ProductStatus, is_low
from stores.models import Order, Product
from stores.queries import lines_of
from stores.standing import is_paid
from stores.templatetags.stores import money

register = template.Library()

ORDER_LOOKS = {
    OrderStatus.PENDING: ("warn", "clock"),
    OrderStatus.CONFIRMED: ("neutral", "check"),
    OrderStatus.PREPARING: ("neutral", "package"),
    OrderStatus.READY: ("neutral", "shopping-bag"),
    OrderStatus.IN_DELIVERY: ("neutral", "truck"),
    OrderStatus.DELIVERED: ("ok", "check"),
    OrderStatus.CANCELLED: ("neutral", "ban"),
}


@register.simple_tag
def order_pill(order: Order, *, is_quiet: bool = False) -> SafeString:
    """Quiet where the page says elsewhere how many wait."""
    status = OrderStatus(order.status)
    kind, icon_name = ORDER_LOOKS[status]
    return pill("neutral" if is_quiet else kind, status.label, icon_name)


@register.simple_tag
def paid_pill(order: Order) -> SafeString:
    """Paid or Unpaid, beside the status."""
    return pill(*paid_look(order))


@register.filter
def shop_time(moment: datetime) -> SafeString:
    """`Today, 15:31` or `20 Nov, 15:31`, in the store's time zone, which the page names once; with the year if it is another."""
    return time_element(moment, f"{shop_day(moment)}, {_hour(timezone.localtime(moment))}")


@register.filter
def shop_day(moment: datetime) -> str:
    """`Today`, `Yesterday` or `20 Nov`, with the year if it is another."""
    return _day_name(timezone.localtime(moment).date(), timezone.localdate())


def _day_name(day: date, today: date) -> str:
    if (days := (today - day).days) in (0, 1):
        return ("Today", "Yesterday")[days]
    return f"{day.day} {MONTHS[day.month - 1]}" + ("" if day.year == today.year else f" {day.year}")


DAY: Final = '<tr class="day"><th scope="colgroup" colspan="{}">{}</th></tr>'


def by_days(rows: Iterable[dict[str, Any]], columns: int) -> list[dict[str, Any]]:
    """Rows of a table, newest first, each with the time `at`, as the hour and minute. `day` is the head of those of one day."""
    shown, last, zone = [], None, timezone.get_current_timezone()
    today = timezone.localdate()
    for row in rows:
        local = row["at"].astimezone(zone)
        day = local.date()
        head = SafeString(DAY.format(columns, _day_name(day, today))) if day != last else ""
        shown.append(row | {"day": head, "placed": time_element(row["at"], _hour(local))})
        last = day
    return shown


def _hour(local: datetime) -> str:
    return f"{local.hour:02}:{local.minute:02}"


@register.simple_tag(takes_context=True)
def store_field(context: Any) -> str:
    """In a form that filters a list: the store, if the address names it."""
    named = context["request"].GET.get(NAMED_BY)
    return format_html('<input type="hidden" name="{}" value="{}">', NAMED_BY, named) if named else ""


@register.simple_tag(takes_context=True, name="store_query")
def store_query_tag(context: Any, joint: str = "?") -> str:
    return store_query(context["request"], joint)


register.filter("is_paid", is_paid)
register.filter("payment_detail", payment_detail)
register.filter("payment_method", payment_method)


@register.filter
def compared(now: int, before: int) -> str:
    """A figure beside the one of the days before: `12% more than before`."""
    if not before:
        return "None before"
    percent = round(100 * (now - before) / before)
    if percent == 0:
        return "About as much as before"
    return f"{abs(percent):,}% {'more' if percent > 0 else 'less'} than before"


@register.filter
def steps_done(steps: list[SetupStep]) -> int:
    return sum(each.is_done for each in steps)


@register.filter
def gives_back(order: Order) -> bool:
    """Whether a cancellation returns something to stock: products whose stock was tracked."""
    return any(item.from_stock for item in order.lines)


@register.filter
def product_pill(product: Product) -> SafeString:
    """Whether it can be bought, and whether its stock is low."""
    if product.status == ProductStatus.ARCHIVED:
        return pill("neutral", "Archived", "inbox")
    if not product.is_available:
        return pill("neutral", "Unavailable", "eye-off")
    if product.stock == 0:
        return pill("bad", "Sold out")
    if is_low(product.stock, product.low_stock_threshold):
        return pill("warn", "Low", "triangle-alert")
    return pill("ok", "Available")


@register.filter
def role_name(role: str) -> str:
    return StoreRole(role).label


@register.filter
def currency_name(code: str) -> str:
    return currency_label(code)


@register.filter
def zone_name(timezone: str) -> str:
    return timezone_label(timezone)


# --- The rows of the list of orders, as their template writes them -----------------------------------

BOX: Final = (
    '<td class="row-select"><input type="checkbox" name="order" value="{}" aria-label="Order {}"{}></td>'
)


def order_rows(
    orders: Collection[Order], selected: Collection[str], *, may_select: bool
) -> list[dict[str, Any]]:
    """One for each order, which has its payment. `selected` has the ids of those whose box is checked. For `by_days`, or `each_dated`."""
    lines = lines_of([each.pk for each in orders])
    return [
        _row(
            each,
            sum(line.quantity for line in lines[each.pk]),
            _box(each, str(each.pk) in selected) if may_select else "",
        )
        for each in orders
    ]


def each_dated(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rows, each with its day."""
    return [row | {"day": "", "placed": shop_time(row["at"])} for row in rows]


def newest_row(order: Order) -> dict[str, Any]:
    """On the home page, which says elsewhere how many wait."""
    return _shown(order) | {
        "step": order_pill(order, is_quiet=True),
        "placed": shop_time(order.created_at),
    }


def _shown(order: Order) -> dict[str, Any]:
    """What every list shows. The order has its payment."""
    return {
        "id": order.pk,
        "number": order.number,
        "url": address("merchants:order", order.pk),
        "paid": paid_pill(order),
        "customer": order.customer_name or "Erased",
        "total": money(order.amount, order),
        "at": order.created_at,
    }


def customer_rows(customers: Collection[Customer]) -> list[dict[str, Any]]:
    """One for each person, whose page has the address of the newest order."""
    return [
        {
            "avatar": avatar(each.newest.customer_name),
            "url": address("merchants:customer", each.newest.pk),
            "name": each.newest.customer_name or "No name",
            "contact": each.newest.customer_email or each.newest.customer_phone,
            "orders": thousands(each.orders),
            "unit": " order" if each.orders == 1 else " orders",
            "spent": money(each.spent, each.newest),
            "last": shop_time(each.newest.created_at),
        }
        for each in customers
    ]


def _row(order: Order, count: int, box: SafeString | str) -> dict[str, Any]:
    return _shown(order) | {
        "status": order_pill(order),
        "box": box,
        "pieces": f"{thousands(count)} item{'' if count == 1 else 's'}",
        "method": DeliveryMethod(order.delivery_method).label.lower(),
        "unchecked": pill("warn", "Not checked", "triangle-alert")
        if order.validation == "NOT_VALIDATED"
        else "",
        "payment": payment_detail(order),
    }


def _box(order: Order, is_selected: bool) -> SafeString:
    return SafeString(BOX.format(order.pk, escape(order.number), " checked" if is_selected else ""))
