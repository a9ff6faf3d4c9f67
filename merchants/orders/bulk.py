"""Moving several orders of the list along at once, and how many came since it was shown."""

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from common.errors import Conflict, Invalid
from common.ids import parse_id
from common.web.forms.kept import typed
from common.web.methods import GET_OR_POST, require_safe
from merchants.access import MerchantRequest, orders_page
from merchants.lists import ROWS, OrderFilter
from merchants.orders.descriptions import ACTS, STEPS
from merchants.orders.views import list_page
from merchants.store.queries import orders_found, orders_newer
from stores.enums import OrderStatus, may_move
from stores.models import Order
from stores.services.history import merchant
from stores.services.orders import change_order_status
from stores.standing import is_unpaid_online


@require_http_methods(GET_OR_POST)
@orders_page
def move_several(request: MerchantRequest) -> HttpResponse:
    """Body: `order` (several), `status`. Orders that can't go there stay. Unpaid ones ask: `anyway` moves them, `only_paid` doesn't.

    GET shows a selection that was sent in vain.
    """
    if request.method != "POST":
        data = typed(request)
        return list_page(request, selected=data.getlist("order")) if data else _to_list(request)
    target = next((step for step in STEPS if step == request.POST.get("status")), None)
    if target is None:
        raise Invalid.field("status", "Choose what to do with the orders.")
    chosen = _chosen(request)
    able = [order for order in chosen if may_move(order.status, target)]
    unpaid = [order for order in able if is_unpaid_online(order)]
    if unpaid and not {"anyway", "only_paid"} & set(request.POST):
        return _ask(request, chosen, able, unpaid, target)
    if "only_paid" in request.POST:
        able = [order for order in able if order not in unpaid]
    moved = [order for order in able if _move(request, order, target)]
    _say(request, len(moved), [order for order in chosen if order not in moved], target)
    return _to_list(request)


def _to_list(request: MerchantRequest) -> HttpResponse:
    return redirect(f"{reverse('merchants:orders')}?{request.GET.urlencode()}")


def _chosen(request: MerchantRequest) -> list[Order]:
    """At most a page of the list's."""
    ids = [parse_id(each) for each in request.POST.getlist("order")[:ROWS]]
    rows = Order.objects.filter(business=request.business, pk__in=[each for each in ids if each])
    return list(rows.select_related("payment", "business").order_by("-id"))


def _ask(
    request: MerchantRequest,
    chosen: list[Order],
    able: list[Order],
    unpaid: list[Order],
    target: OrderStatus,
) -> HttpResponse:
    """The form carries all that were chosen, so that the answer, too, can name those that stay."""
    context = {
        "orders": unpaid,
        "able": able,
        "chosen": chosen,
        "left": _numbers([order for order in chosen if order not in able]),
        "target": target,
        "act": ACTS[target],
        "action": f"{reverse('merchants:orders_move')}?{request.GET.urlencode()}",
        "back": f"{reverse('merchants:orders')}?{request.GET.urlencode()}",
    }
    return render(request, "merchants/orders/unpaid.html", context)


def _move(request: MerchantRequest, order: Order, target: OrderStatus) -> bool:
    try:
        change_order_status(order=order, status=target, by=merchant(request.user))
    except Conflict:  # an app, or another window, was faster
        return False
    return True


def _numbers(orders: list[Order]) -> str:
    """`1042, 1043`, as the list shows them."""
    return ", ".join(order.number for order in orders)


def _say(request: MerchantRequest, moved: int, left: list[Order], target: OrderStatus) -> None:
    if moved:
        words = "1 order is" if moved == 1 else f"{moved} orders are"
        messages.success(request, f"{words} {target.label.lower()}.")
    if left:
        words = "1 order was" if len(left) == 1 else f"{len(left)} orders were"
        messages.warning(request, f"{words} not changed: {_numbers(left)}.")
    if not moved and not left:
        messages.warning(request, "Select orders first.")


@require_safe
@orders_page
def news(request: MerchantRequest) -> HttpResponse:
    """JSON such as `{"count": 3}`: how many orders of the filtered list are newer than `after`, at most 100."""
    form, after = OrderFilter(request.GET), parse_id(request.GET.get("after"))
    if after is None or not form.is_valid():
        return JsonResponse({"count": 0})
    return JsonResponse({"count": orders_newer(orders_found(request.business, **form.wanted), after)})
