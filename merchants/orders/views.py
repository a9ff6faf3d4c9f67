"""Orders: the list, one order, and moving it along."""

from collections.abc import Collection
from typing import cast

from django.contrib import messages
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import Conflict, Invalid
from common.web.forms.pages import UNPROCESSABLE, form_page
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from merchants.access import MerchantRequest, orders_page, own_row
from merchants.constants import ROWS
from merchants.filter_forms import OrderFilter
from merchants.orders.descriptions import history, parts
from merchants.orders.export import lines
from merchants.orders.forms import NoteForm
from merchants.orders.moves import main_stage, may_cancel, stages, steps_of
from merchants.store.queries import VIEWS, orders_found, orders_of_customer, still_sold
from stores import queries
from stores.enums import FULFILMENT, OrderStatus, may_move
from stores.models import Order
from stores.services.history import merchant
from stores.services.orders import change_order_status
from stores.standing import is_unpaid_online, payment_of, refundable


@require_safe
@orders_page
def order_list(request: MerchantRequest) -> HttpResponse:
    return list_page(request)


def list_page(request: MerchantRequest, *, selected: Collection[str] = ()) -> HttpResponse:
    form = OrderFilter(request.GET)
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    context = {"form": form, "page_request": wanted, "filtered": any(map(request.GET.get, form.fields))}
    if not form.is_valid():
        return render(request, "merchants/orders/orders.html", context, status=UNPROCESSABLE)
    listing = orders_found(request.business, **form.wanted)
    orders = list(listing.rows[wanted.window])
    context |= {
        "orders": orders,
        "total": listing.total,
        "query": _without_page(request.GET),
        "views": _views(form.cleaned_data["view"]),
        "steps": steps_of(orders),
        "selected": selected,
    }
    return render(request, "merchants/orders/orders.html", context)


def _views(chosen: str) -> list[tuple[str, str, bool]]:
    """Name, label and whether it is shown, of each saved view; all orders come last."""
    names = [(name, view.label) for name, view in VIEWS.items()]
    return [(name, label, name == chosen) for name, label in [*names, ("", "All")]]


def _without_page(query: QueryDict) -> str:
    kept = query.copy()
    kept.pop("page", None)
    return kept.urlencode()


@require_safe
@orders_page
def export(request: MerchantRequest) -> HttpResponse:
    """The orders of the list with its filters, as CSV."""
    form = OrderFilter(request.GET)
    if not form.is_valid():
        return list_page(request)
    rows = orders_found(request.business, **form.wanted).rows
    response = StreamingHttpResponse(
        lines(rows, request.business.timezone), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="orders-{request.business.slug}.csv"'
    return cast(HttpResponse, response)  # the guards of pages pass it on as it is


@require_safe
@orders_page
def order(request: MerchantRequest, order_id: str) -> HttpResponse:
    return order_page(request, own_order(request, order_id), NoteForm())


def order_page(request: MerchantRequest, order: Order, note_form: NoteForm) -> HttpResponse:
    context = {
        "order": order,
        "still_sold": still_sold(order) if request.manages else (),
        "history": history(order, request.user),
        "parts": parts(order),
        "orders_of_customer": orders_of_customer(order),
        "payment": payment_of(order),
        "refundable": refundable(order),
        "stages": stages(order),
        "main": main_stage(order),
        "may_cancel": may_cancel(order),
        "form": note_form,
        "note_form": note_form,
    }
    return form_page(request, "merchants/orders/order.html", context)


@require_safe
@orders_page
def packing_slip(request: MerchantRequest, order_id: str) -> HttpResponse:
    """What goes into the parcel: items without prices, for printing."""
    found = own_order(request, order_id)
    context = {"order": found, "look": queries.store_settings(request.business)}
    return render(request, "merchants/orders/packing_slip.html", context)


@require_POST
@orders_page
def change_status(request: MerchantRequest, order_id: str) -> HttpResponse:
    """Body: `status`, a stage further on; `anyway` once the merchant knows that the order isn't paid. Cancelling has a page of
    its own.
    """
    found = own_order(request, order_id)
    target = request.POST.get("status", "")
    if target not in FULFILMENT:
        raise Invalid.field("status", "Choose a later stage of the order.")
    if is_unpaid_online(found) and may_move(found.status, target) and "anyway" not in request.POST:
        page = reverse("merchants:order", args=[found.pk])
        context = {
            "orders": [found],
            "target": OrderStatus(target),
            "action": reverse("merchants:order_status", args=[found.pk]),
            "back": page,
        }
        return render(request, "merchants/orders/unpaid.html", context)
    _move(request, found, OrderStatus(target))
    return redirect("merchants:order", found.pk)


@require_http_methods(GET_OR_POST)
@orders_page
def cancel(request: MerchantRequest, order_id: str) -> HttpResponse:
    """Says what will follow, and asks; pressed twice it is done once."""
    found = own_order(request, order_id)
    if request.method == "POST":
        _move(request, found, OrderStatus.CANCELLED)
        return redirect("merchants:order", found.pk)
    if not may_cancel(found):
        messages.info(request, f"Order {found.number} is {_words(found.status)} and can't be cancelled.")
        return redirect("merchants:order", found.pk)
    context = {
        "order": found,
        "payment": payment_of(found),
        "refundable": refundable(found),
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


def own_order(request: MerchantRequest, order_id: str) -> Order:
    return own_row(request, queries.whole_orders(), order_id, "Order")
