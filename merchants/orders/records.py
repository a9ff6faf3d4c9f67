"""What a merchant records on an order: that money was given back, and notes for the staff."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import Conflict, Invalid
from common.web.forms.pages import add_service_errors
from merchants.access import MerchantRequest, merchant_page
from merchants.constants import GET_OR_POST, UNPROCESSABLE
from merchants.orders.forms import NoteForm, RefundForm
from merchants.orders.views import order_page, own_order
from stores.services.history import merchant
from stores.services.orders import add_staff_note, record_refund
from stores.standing import refundable


@require_http_methods(GET_OR_POST)
@merchant_page
def refund(request: MerchantRequest, order_id: str) -> HttpResponse:
    order = own_order(request, order_id)
    if not refundable(order):
        messages.info(request, f"Nothing of order {order.number} is left to refund.")
        return redirect("merchants:order", order.pk)
    form = RefundForm(request.POST if request.method == "POST" else None, order=order)
    if form.is_valid():
        try:
            record_refund(order=order, by=merchant(request.user), **form.cleaned_data)
        except (Invalid, Conflict) as error:
            add_service_errors(form, error, names={}, conflict="amount")
        else:
            messages.success(request, "The refund is recorded.")
            return redirect("merchants:order", order.pk)
    context = {"order": order, "form": form, "refundable": refundable(order)}
    return render(
        request, "merchants/orders/refund.html", context, status=UNPROCESSABLE if form.errors else 200
    )


@require_POST
@merchant_page
def add_note(request: MerchantRequest, order_id: str) -> HttpResponse:
    """Body: `text`."""
    order, form = own_order(request, order_id), NoteForm(request.POST)
    if not form.is_valid():
        return order_page(request, order, form, UNPROCESSABLE)
    add_staff_note(order=order, text=form.cleaned_data["text"], by=merchant(request.user))
    messages.success(request, "The note is added.")
    return redirect("merchants:order", order.pk)
