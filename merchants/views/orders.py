"""Orders: the list, one order, and moving it along."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.errors import Conflict, Invalid
from common.web.pagination import page_request
from merchants.access import MerchantRequest, merchant_page
from merchants.forms import OrderFilter
from merchants.order_moves import may_cancel, next_stage, stages
from merchants.store_queries import orders_found, still_sold
from merchants.views import GET_OR_POST, ROWS, UNPROCESSABLE
from stores import queries
from stores.enums import FULFILMENT, OrderStatus
from stores.models import Order
from stores.services.orders import change_order_status


@require_safe
@merchant_page
def order_list(request: MerchantRequest) -> HttpResponse:
    form = OrderFilter(request.GET)
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    context = {"form": form, "page_request": wanted, "filtered": any(map(request.GET.get, form.fields))}
    if not form.is_valid():
        return render(request, "merchants/store/orders.html", context, status=UNPROCESSABLE)
    listing = orders_found(
        request.business, status=form.cleaned_data["status"], number=form.cleaned_data["q"]
    )
    context |= {"orders": listing.rows[wanted.window], "total": listing.total}
    return render(request, "merchants/store/orders.html", context)


@require_safe
@merchant_page
def order(request: MerchantRequest, order_id: str) -> HttpResponse:
    found = _own(request, order_id)
    context = {
        "order": found,
        "still_sold": still_sold(found),
        "payment": getattr(found, "payment", None),
        "stages": stages(found),
        "next": next_stage(found),
        "may_cancel": may_cancel(found),
    }
    return render(request, "merchants/store/order.html", context)


@require_POST
@merchant_page
def change_status(request: MerchantRequest, order_id: str) -> HttpResponse:
    """Body: `status`, a stage further on. Cancelling has a page of its own."""
    found = _own(request, order_id)
    target = request.POST.get("status", "")
    if target not in FULFILMENT:
        raise Invalid.field("status", "Choose a later stage of the order.")
    _move(request, found, OrderStatus(target))
    return redirect("merchants:order", found.pk)


@require_http_methods(GET_OR_POST)
@merchant_page
def cancel(request: MerchantRequest, order_id: str) -> HttpResponse:
    """Says what will follow, and asks; pressed twice it is done once."""
    found = _own(request, order_id)
    if request.method == "POST":
        _move(request, found, OrderStatus.CANCELLED)
        return redirect("merchants:order", found.pk)
    if not may_cancel(found):
        messages.info(request, f"Order {found.number} is {_words(found.status)} and can't be cancelled.")
        return redirect("merchants:order", found.pk)
    context = {
        "order": found,
        "payment": getattr(found, "payment", None),
        "gives_back": any(item.from_stock for item in found.items.all()),
    }
    return render(request, "merchants/store/order_cancel.html", context)


def _move(request: MerchantRequest, order: Order, target: OrderStatus) -> None:
    """Tells how it went: an app, or another window, may have moved the order meanwhile."""
    try:
        change_order_status(order=order, status=target)
    except Conflict:
        now = _words(queries.order_by_id(request.business, order.pk).status)
        messages.warning(request, f"Order {order.number} is already {now}, so it was not changed.")
    else:
        messages.success(request, f"Order {order.number} is {_words(target)}.")


def _words(status: str) -> str:
    return str(OrderStatus(status).label).lower()


def _own(request: MerchantRequest, order_id: str) -> Order:
    found = queries.order_by_id(request.business, order_id)
    found.business = request.business
    return found
