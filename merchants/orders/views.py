"""Orders: the list and its file, one order, moving it along, refunds and notes."""

from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import partial
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.db.models import QuerySet, UUIDField
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from common import lengths, places
from common.db.compiled import AmongIds, Compiled, Param
from common.errors import Conflict, Invalid
from common.money import decimals
from common.places import Work
from common.web.csv_files import CsvLines
from common.web.forms.fields import Lines
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE, OneTimeForm, done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from extensions.queries import ShownAttributes, shown_attributes
from merchants.access import MerchantRequest, orders_page, own_row_of
from merchants.lists import OrderFilter, list_context
from merchants.money_field import MoneyField
from merchants.orders import descriptions
from merchants.store.queries import VIEWS, orders_found, orders_of_customer, still_sold
from merchants.templatetags.merchant_store import by_days, order_rows
from stores import queries
from stores.enums import FULFILMENT, OrderStatus, may_move
from stores.models import LINES, Order
from stores.services.history import merchant
from stores.services.order_mails import is_mailed
from stores.services.orders import add_staff_note, change_order_status, record_refund
from stores.standing import is_paid, is_unpaid_online, payment_of, refundable

BATCH: Final = 500
COLUMNS: Final = (
    "Order", "Placed", "Status", "Customer", "E-mail", "Phone", "Delivery method", "Address", "Items", "Subtotal",
    "Discount", "Discount reason", "Delivery fee", "Total", "Currency", "Paid", "Payment method", "Payment status", "Note",
)  # fmt: skip


class RefundForm(forms.Form):
    """`known` is what was refunded when the page was shown."""

    known = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Reason",
        max_length=lengths.REFUND_REASON,
        help_text="Such as: one loaf was missing.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, order: Order, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["known"].initial = order.refunded
        self.fields["amount"] = MoneyField(
            currency=order.currency, label=f"Amount in {order.currency}", initial=refundable(order)
        )
        self.order_fields(["known", "amount", "reason"])


class NoteForm(OneTimeForm):
    text = Lines(
        label="Note for the staff",
        max_length=lengths.NOTE,
        help_text="Customers and apps don’t see it.",
        widget=forms.Textarea({"rows": 2}),
        error_messages={"required": "Write a note first."},
    )


@require_safe
@orders_page
def order_list(request: MerchantRequest) -> HttpResponse:
    return list_page(request)


def list_page(request: MerchantRequest, *, selected: Collection[str] = ()) -> HttpResponse:
    form = OrderFilter(request.GET)
    context = list_context(request, "order", "inbox", form)
    if not form.is_valid():
        return render(request, "merchants/orders/orders.html", context, status=UNPROCESSABLE)
    listing = orders_found(request.business, **form.wanted)
    orders, total = listing.page(context["page_request"].window)
    steps = descriptions.steps_of(orders)
    context |= {
        "orders": orders,
        "total": total,
        "query": _without_page(request.GET),
        "views": _views(form.cleaned_data["view"]),
        "steps": steps,
        "rows": by_days(order_rows(orders, selected, may_select=bool(steps)), 7 if steps else 6),
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
    places.require(Work.EXPORT)
    rows = orders_found(request.business, **form.wanted).rows.prefetch_related(LINES)
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
        "lines": descriptions.lines(order, still_sold(order)),
        "history": descriptions.history(order, request.user),
        "parts": descriptions.parts(order),
        "attributes": attributes_of(order),
        "orders_of_customer": orders_of_customer(order),
        "payment": payment_of(order),
        "refundable": refundable(order),
        "stages": descriptions.stages(order),
        "main": descriptions.main_stage(order),
        "may_cancel": descriptions.may_cancel(order),
        "form": note_form,
        "note_form": note_form,
    }
    return form_page(request, "merchants/orders/order.html", context)


@require_safe
@orders_page
def packing_slip(request: MerchantRequest, order_id: str) -> HttpResponse:
    """What goes into the parcel: items without prices, for printing."""
    found = own_order(request, order_id)
    context = {
        "order": found,
        "look": queries.store_settings(request.business),
        "attributes": attributes_of(found),
    }
    return render(request, "merchants/orders/packing_slip.html", context)


def attributes_of(order: Order) -> list[ShownAttributes]:
    return shown_attributes((order.attributes or {}).items())


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
            "act": descriptions.ACTS[OrderStatus(target)],
            "action": reverse("merchants:order_status", args=[found.pk]),
            "back": page,
        }
        return render(request, "merchants/orders/unpaid.html", context)
    _move(request, found, OrderStatus(target))
    return redirect("merchants:order", found.pk)


@require_http_methods(GET_OR_POST)
@orders_page
def cancel(request: MerchantRequest, order_id: str) -> HttpResponse:
    """Says what will follow, and asks; pressed twice it is done once. Body: `tell_buyer` mails the buyer."""
    found = own_order(request, order_id)
    if request.method == "POST":
        _move(request, found, OrderStatus.CANCELLED, tells_buyer="tell_buyer" in request.POST)
        return redirect("merchants:order", found.pk)
    if not descriptions.may_cancel(found):
        messages.info(request, f"Order {found.number} is {_words(found.status)} and can't be cancelled.")
        return redirect("merchants:order", found.pk)
    context = {
        "order": found,
        "payment": payment_of(found),
        "refundable": refundable(found),
        "is_mailed": is_mailed(found),
    }
    return render(request, "merchants/orders/cancel.html", context)


def _move(request: MerchantRequest, order: Order, target: OrderStatus, *, tells_buyer: bool = True) -> None:
    """Tells how it went: an app, or another window, may have moved the order meanwhile."""
    try:
        change_order_status(order=order, status=target, by=merchant(request.user), tells_buyer=tells_buyer)
    except Conflict:
        now = _words(queries.order_by_id(request.business, order.pk).status)
        messages.warning(request, f"Order {order.number} is already {now}, so it was not changed.")
    else:
        messages.success(request, f"Order {order.number} is {_words(target)}.")


def _words(status: str) -> str:
    return str(OrderStatus(status).label).lower()


def own_order(request: MerchantRequest, order_id: str) -> Order:
    return own_row_of(request, _OWN, order_id, "Order")


_OWN: Final = Compiled(
    lambda: queries.whole_orders().filter(AmongIds("business", "businesses"), pk=Param("id", UUIDField())),
    prepared_as="merchants_order",
)


def lines(rows: QuerySet[Order], timezone: str) -> Iterator[str]:
    """The lines of the file, newest order first, read in batches. `rows` come newest first, with payment and items."""
    file = CsvLines()
    zone = ZoneInfo(timezone)  # the response is sent after the request's time zone has ended
    yield "\ufeff"  # by which spreadsheets recognize UTF-8
    yield file.line(COLUMNS)
    batch = list(rows[:BATCH])
    while batch:
        for order in batch:
            yield file.line(_values(order, zone))
        batch = list(rows.filter(pk__lt=batch[-1].pk)[:BATCH])


def _values(order: Order, zone: ZoneInfo) -> list[Any]:
    payment = getattr(order, "payment", None)
    places = decimals(order.currency)

    def major(minor: int) -> Decimal:
        return Decimal(minor).scaleb(-places)

    return [
        order.number,
        order.created_at.astimezone(zone).isoformat(sep=" ", timespec="seconds"),
        order.get_status_display(),
        order.customer_name,
        order.customer_email,
        order.customer_phone,
        order.get_delivery_method_display(),
        order.address,
        "; ".join(f"{item.quantity} × {item.name}" for item in order.lines),
        major(order.subtotal),
        major(order.discount),
        order.discount_reason,
        major(order.delivery_fee),
        major(order.amount),
        order.currency,
        "Paid" if is_paid(order) else "Unpaid",
        descriptions.payment_method(order),
        payment.get_status_display() if payment else "",
        order.note,
    ]


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
