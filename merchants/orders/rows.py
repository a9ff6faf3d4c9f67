"""The rows of the list of orders, as their template writes them."""

from collections.abc import Collection
from typing import Any, Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.templatetags.links import address
from common.templatetags.ui import pill, thousands
from merchants.orders.descriptions import payment_detail
from merchants.templatetags.merchant_store import order_pill, paid_pill, shop_time
from stores.models import Order
from stores.queries import lines_of
from stores.templatetags.stores import money

BOX: Final = (
    '<td class="row-select"><input type="checkbox" name="order" value="{}" aria-label="Order {}"{}></td>'
)


def order_rows(
    orders: Collection[Order], selected: Collection[str], *, may_select: bool
) -> list[dict[str, Any]]:
    """One for each order, which has its payment. `selected` has the ids of those whose box is checked."""
    lines = lines_of([each.pk for each in orders])
    return [
        _row(
            each,
            sum(line.quantity for line in lines[each.pk]),
            _box(each, str(each.pk) in selected) if may_select else "",
        )
        for each in orders
    ]


def order_row(order: Order) -> dict[str, Any]:
    """What every list shows. The order has its payment."""
    return {
        "id": order.pk,
        "number": order.number,
        "url": address("merchants:order", order.pk),
        "status": order_pill(order),
        "paid": paid_pill(order),
        "customer": order.customer_name or "Erased",
        "total": money(order.amount, order),
        "placed": shop_time(order.created_at),
    }


def _row(order: Order, count: int, box: SafeString | str) -> dict[str, Any]:
    return order_row(order) | {
        "box": box,
        "pieces": f"{thousands(count)} item{'' if count == 1 else 's'}",
        "method": order.get_delivery_method_display().lower(),
        "unchecked": pill("warn", "Not checked", "triangle-alert")
        if order.validation == "NOT_VALIDATED"
        else "",
        "payment": payment_detail(order),
    }


def _box(order: Order, is_selected: bool) -> SafeString:
    return format_html(BOX, order.pk, order.number, " checked" if is_selected else "")
