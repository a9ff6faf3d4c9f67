"""The checkout page. Its button is safe to press twice, because the page has a key for one order."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib.messages import INFO
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from common import errors, lengths
from common.strangers import may_wait_for_strangers
from storefront import forms
from storefront.forms import MAX_LOCALITY, CheckoutForm
from storefront.views.access import ShopRequest, limit_asking, shop_page, shop_render
from stores import queries
from stores.buyers.shoppers import person_of
from stores.enums import DeliveryMethod
from stores.hookpoints import PaymentMethod
from stores.models import Order
from stores.services.carts import CartLine, order_lines, subtotal
from stores.services.checkout import place_once
from stores.services.pricing import PRICES_CHANGED, OrderRequest, Price, quote

KEY = re.compile(r"[A-Za-z0-9_-]{32}")

# The form fields for the field names of a refused request.
FORM_FIELDS = {
    "customer": "customer_email",
    "customer.name": "customer_name",
    "customer.email": "customer_email",
    "customer.phone": "customer_phone",
    "address": "address",
    "note": "note",
    "paymentMethod": "payment_method",
}


@may_wait_for_strangers
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@shop_page
def checkout(request: ShopRequest) -> HttpResponse:
    if request.method == "POST":
        return _place(request)
    lines = request.cart.lines()
    if not lines or any(line.problem for line in lines):
        return redirect("storefront:cart")
    limit_asking(request)
    methods = forms.methods_now(request.shop, request.cart.buyer)
    form = CheckoutForm(initial=_as_before(request, methods), methods=methods)
    return _checkout_page(request, form, lines, methods, new_key())


def _as_before(request: ShopRequest, methods: Sequence[PaymentMethod]) -> dict[str, str]:
    """How this browser's last order was delivered and paid: nothing of who ordered or where. A method that is gone isn't chosen.

    Before the first order the method of an app is chosen, if the store has one and no other. Those of the merchant stay beside it.
    """
    last = next(iter(request.cart.orders), {})
    if not last and len(methods) == 1:
        return {"payment_method": methods[0].id}
    chosen = {"delivery_method": last.get("delivery", ""), "payment_method": last.get("payment", "")}
    known: dict[str, set[str]] = {
        "delivery_method": set(DeliveryMethod),
        "payment_method": {*forms.BUILT_IN, *(method.id for method in methods)},
    }
    return {name: value for name, value in chosen.items() if value in known[name]}


def _place(request: ShopRequest) -> HttpResponse:
    key = known_key(request.POST.get("key", ""))
    if placed := queries.order_by_page_key(request.shop, key):
        return _lead_to_order(request, key, placed)
    lines = request.cart.lines()
    if not lines:
        request.cart.add_notice(INFO, _("Your cart is empty."))
        return redirect("storefront:cart")
    try:
        limit_asking(request)
    except errors.TooManyRequests as error:
        if _wants_sums(request):
            raise
        return _too_many(request, lines, key, error)
    methods = forms.offered_on_page(request.shop, request.POST.get("offered", ""), request.cart.buyer)
    if "total" in request.POST:
        return _total_page(request, lines, methods, key)
    form = CheckoutForm(request.POST, methods=methods)
    if not form.is_valid():
        status = 422
    elif not _is_as_seen(form, lines):
        status = 409
    else:
        try:
            placed = place_once(
                business=request.shop,
                key=key,
                request=_order_request(form, lines),
                cart_digest=request.cart.digest,
                offered=methods,
                buyer=request.cart.buyer,
            )
        except errors.Unavailable as error:
            return _come_again(request, form, lines, methods, key, error)
        except errors.ServiceError as error:
            _say(form, error, request.cart.lines())
            status = 422 if isinstance(error, errors.Invalid | errors.Refused) else 409
        else:
            return _lead_to_order(request, key, placed)
    return _checkout_page(request, form, request.cart.lines(), methods, key, status)


def _too_many(
    request: ShopRequest, lines: Sequence[CartLine], key: str, error: errors.TooManyRequests
) -> HttpResponse:
    """The page again with its values, without calling apps."""
    methods = forms.shown_on_page(request.shop, request.POST.get("offered", "")) or ()
    return _come_again(request, CheckoutForm(request.POST, methods=methods), lines, methods, key, error)


def _come_again(
    request: ShopRequest,
    form: CheckoutForm,
    lines: Sequence[CartLine],
    methods: Sequence[PaymentMethod],
    key: str,
    error: errors.RetryLater,
) -> HttpResponse:
    """The page again with its values, and with the time to wait."""
    form.add_error(None, error.message)
    response = _checkout_page(request, form, lines, methods, key, error.status)
    response["Retry-After"] = str(error.retry_after)
    return response


def _total_page(
    request: ShopRequest, lines: Sequence[CartLine], methods: Sequence[PaymentMethod], key: str
) -> HttpResponse:
    """The page again with its values so far and the whole price. Missing values are not errors yet.

    The page's script asks for the sums alone whenever the delivery method or the town has changed.
    """
    form = CheckoutForm(initial=request.POST.dict(), methods=methods)
    chosen = str(form["delivery_method"].value())
    is_delivery = chosen == DeliveryMethod.DELIVERY
    try:
        price = quote(
            business=request.shop,
            items=order_lines(lines),
            delivery_method=chosen if is_delivery else DeliveryMethod.PICKUP,
            locality=str(form["locality"].value() or "")[:MAX_LOCALITY] if is_delivery else "",
            buyer=replace(request.cart.buyer, person=_typed_person(form)),
        )
    except (errors.Conflict, errors.NotFound) as error:  # said in the cart, line by line
        if _wants_sums(request):
            return HttpResponse(status=error.status)
        return redirect("storefront:cart")
    if _wants_sums(request):
        context = {"shop": request.shop, "form": form} | _sums(request, lines, price)
        return render(request, "storefront/checkout_sums.html", context)
    return _checkout_page(request, form, lines, methods, key, price=price)


def _typed_person(form: CheckoutForm) -> str:
    email, phone = (str(form[name].value() or "") for name in ("customer_email", "customer_phone"))
    return person_of(email[: lengths.EMAIL], phone[: lengths.PHONE])


def _wants_sums(request: ShopRequest) -> bool:
    return request.headers.get("X-Part") == "sums"


def new_key() -> str:
    """A random key of 192 bits for one order, which also opens the order's page."""
    return secrets.token_urlsafe(24)


def known_key(text: str) -> str:
    """The key that the page sent, or a new one if it is malformed."""
    return text if KEY.fullmatch(text) else new_key()


def _lead_to_order(request: ShopRequest, key: str, order: Order) -> HttpResponse:
    request.cart.remember(order, key)
    return redirect("storefront:order", key)


def _is_as_seen(form: CheckoutForm, lines: list[CartLine]) -> bool:
    """Whether the subtotal is still the one that the page showed. If not, the page shows the change first."""
    problems = [f"{line.name}: {line.problem}" for line in lines if line.problem]
    if not problems and form.cleaned_data["seen"] != subtotal(lines):
        problems = [str(PRICES_CHANGED)]
    for problem in problems:
        form.add_error(None, problem)
    return not problems


def _order_request(form: CheckoutForm, lines: list[CartLine]) -> OrderRequest:
    typed = form.cleaned_data
    is_delivery = typed["delivery_method"] == DeliveryMethod.DELIVERY
    where = [typed["address"], typed["locality"]] if is_delivery else []
    return OrderRequest(
        items=order_lines(lines),
        customer_name=typed["customer_name"],
        customer_email=typed["customer_email"],
        customer_phone=typed["customer_phone"],
        delivery_method=typed["delivery_method"],
        address="\n".join(part for part in where if part),
        locality=typed["locality"] if is_delivery else "",
        payment_method=typed["payment_method"],
        note=typed["note"],
        expected_subtotal=typed["seen"],
    )


def _say(form: CheckoutForm, error: errors.ServiceError, lines: list[CartLine]) -> None:
    """Show why the order was refused: an app's own reason, or the problems of the cart."""
    problems = [f"{line.name}: {line.problem}" for line in lines if line.problem]
    if isinstance(error, errors.Conflict | errors.NotFound) and problems:
        for problem in problems:
            form.add_error(None, problem)
    elif isinstance(error, errors.Invalid) and error.details:
        for detail in error.details:
            form.add_error(FORM_FIELDS.get(detail["field"]), detail["message"])
    else:
        form.add_error(None, error.message)


def _checkout_page(
    request: ShopRequest,
    form: CheckoutForm,
    lines: Sequence[CartLine],
    methods: Sequence[PaymentMethod],
    key: str,
    status: int = 200,
    price: Price | None = None,
) -> HttpResponse:
    context = {
        "form": form,
        "key": key,
        "offered": forms.seal_offers(request.shop, methods),
        "lines": lines,
    } | _sums(request, lines, price)
    return shop_render(request, "storefront/checkout.html", context, status)


def _sums(request: ShopRequest, lines: Sequence[CartLine], price: Price | None) -> dict[str, Any]:
    delivery_fee = queries.delivery_fee(request.shop, DeliveryMethod.DELIVERY)
    return {
        "subtotal": subtotal(lines),
        "delivery_fee": delivery_fee,
        "price": price,
        "total_delivered": subtotal(lines) + delivery_fee,
    }
