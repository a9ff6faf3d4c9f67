"""What a merchant records on an order: that money was given back, and notes for the staff."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, resolve_url
from django.views.decorators.http import require_http_methods

from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST
from merchants.access import MerchantRequest, orders_page
from merchants.orders.forms import NoteForm, RefundForm
from merchants.orders.views import order_page, own_order
from stores.services.history import merchant
from stores.services.orders import add_staff_note, record_refund
from stores.standing import refundable


@require_http_methods(GET_OR_POST)
@orders_page
def refund(request: MerchantRequest, order_id: str) -> HttpResponse:
    order = own_order(request, order_id)
    if not refundable(order):
        messages.info(request, f"Nothing of order {order.number} is left to refund.")
        return redirect("merchants:order", order.pk)
    form = RefundForm(typed(request), order=order)

    def save() -> HttpResponse:
        record_refund(order=order, by=merchant(request.user), **form.cleaned_data)
        return done(request, "The refund is recorded.", "merchants:order", order.pk)

    if response := saved(request, form, save):
        return response
    context = {"order": order, "form": form, "refundable": refundable(order)}
    return form_page(request, "merchants/orders/refund.html", context)


@require_http_methods(GET_OR_POST)
@orders_page
def add_note(request: MerchantRequest, order_id: str) -> HttpResponse:
    """Body: `text`."""
    order, page = own_order(request, order_id), resolve_url("merchants:order", order_id)
    if (data := typed(request)) is None:
        return redirect(page)
    form = NoteForm(data)

    def save() -> HttpResponse:
        add_staff_note(order=order, text=form.cleaned_data["text"], by=merchant(request.user))
        return done(request, "The note is added.", page)

    again = partial(sent_again, request, page)
    return saved(request, form, save, again=again) or order_page(request, order, form)
