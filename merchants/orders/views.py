"""Orders: the list, one order, and moving it along."""

from typing import cast

from django.contrib import messages
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import Conflict, Invalid
from common.web.methods import require_safe
from common.web.pagination import page_request
from merchants.access import MerchantRequest, merchant_page
from merchants.constants import GET_OR_POST, ROWS, UNPROCESSABLE
from merchants.filter_forms import OrderFilter, list_context
from merchants.orders.descriptions import history, may_cancel, next_stage, parts, stages
from merchants.orders.export import lines
from merchants.store.queries import orders_found, orders_of_customer, still_sold
from stores import queries
from stores.enums import FULFILMENT, OrderStatus
from stores.models import Order
from stores.services.history import merchant
from stores.services.orders import change_order_status


@require_safe
@merchant_page
def order_list(request: MerchantRequest) -> HttpResponse:
    form = OrderFilter(request.GET)
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    context = list_context(request, form, wanted, thing="order", icon="inbox")
    if not form.is_valid():
        return render(request, "merchants/orders/orders.html", context, status=UNPROCESSABLE)
    listing = orders_found(request.business, **form.wanted)
    context |= {
        "rows": listing.rows[wanted.window],
        "total": listing.total,
        "export_query": _without_page(request.GET),
    }
    return render(request, "merchants/orders/orders.html", context)


def _without_page(query: QueryDict) -> str:
    kept = query.copy()
    kept.pop("page", None)
    return kept.urlencode()


@require_safe
@merchant_page
def export(request: MerchantRequest) -> HttpResponse:
    """The orders of the list with its filters, as CSV."""
    form = OrderFilter(request.GET)
    if not form.is_valid():
        return order_list(request)
    rows = orders_found(request.business, **form.wanted).rows
    response = StreamingHttpResponse(
        lines(rows, request.business.timezone), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="orders-{request.business.slug}.csv"'
    return cast(HttpResponse, response)  # the guards of pages pass it on as it is


@require_safe
@merchant_page
def order(request: MerchantRequest, order_id: str) -> HttpResponse:
    found = _own(request, order_id)
    context = {
        "order": found,
        "still_sold": still_sold(found),
        "history": history(found, request.user),
        "parts": parts(found),
        "orders_of_customer": orders_of_customer(found),
        "payment": getattr(found, "payment", None),
        "stages": stages(found),
        "next": next_stage(found),
        "may_cancel": may_cancel(found),
    }
    return render(request, "merchants/orders/order.html", context)


@require_safe
@merchant_page
def packing_slip(request: MerchantRequest, order_id: str) -> HttpResponse:
    """What goes into the parcel: items without prices, for printing."""
    found = _own(request, order_id)
    context = {"order": found, "look": queries.store_settings(request.business)}
    return render(request, "merchants/orders/packing_slip.html", context)


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
    }
    return render(request, "merchants/orders/cancel.html", context)


def _move(request: MerchantRequest, order: Order, target: OrderStatus) -> None:
    """Tells how it went: an app, or another window, may have moved the order meanwhile."""
    try:
        change_order_status(order=order, status=target, by=merchant(request.user))
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
