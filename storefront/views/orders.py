"""The page of an order: its items and its payment.

The page's URL has the key of the checkout page that placed the order, which only the shopper knows. The order's id, which
apps know, doesn't open it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.messages import INFO, SUCCESS
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import Conflict, Invalid, NotAllowed, NotFound, Unavailable
from common.strangers import may_wait_for_strangers
from common.web.methods import require_safe
from extensions.queries import shown_attributes
from storefront import forms
from storefront.forms import BUILT_IN, PaymentForm
from storefront.views.access import ShopRequest, limit_asking, shop_page, shop_render
from stores import queries, standing
from stores.addresses import mailed_key, order_key, proves
from stores.buyers.attributes import public
from stores.buyers.shoppers import Buyer
from stores.enums import FULFILMENT, DeliveryMethod, OrderChangeKind, OrderStatus, PaymentStatus
from stores.hookpoints import PaymentMethod
from stores.models import Order, Payment
from stores.services.order_mails import is_mailed
from stores.services.payments import choose_again
from stores.standing import payment_of

STAGES = {
    DeliveryMethod.DELIVERY: {
        OrderStatus.PENDING: gettext_lazy("Placed"),
        OrderStatus.CONFIRMED: gettext_lazy("Confirmed"),
        OrderStatus.PREPARING: gettext_lazy("Being prepared"),
        OrderStatus.IN_DELIVERY: gettext_lazy("On its way"),
        OrderStatus.DELIVERED: gettext_lazy("Delivered"),
    },
    DeliveryMethod.PICKUP: {
        OrderStatus.PENDING: gettext_lazy("Placed"),
        OrderStatus.CONFIRMED: gettext_lazy("Confirmed"),
        OrderStatus.PREPARING: gettext_lazy("Being prepared"),
        OrderStatus.READY: gettext_lazy("Ready for pickup"),
        OrderStatus.DELIVERED: gettext_lazy("Picked up"),
    },
}
PICKUP, DELIVERY = DeliveryMethod.PICKUP, DeliveryMethod.DELIVERY
NEXT_STEPS: dict[tuple[str, str], Promise] = {
    (DELIVERY, OrderStatus.PENDING): gettext_lazy("Next: the store confirms your order."),
    (PICKUP, OrderStatus.PENDING): gettext_lazy("Next: the store confirms your order."),
    (DELIVERY, OrderStatus.CONFIRMED): gettext_lazy("Next: the store prepares your order."),
    (PICKUP, OrderStatus.CONFIRMED): gettext_lazy("Next: the store prepares your order."),
    (DELIVERY, OrderStatus.PREPARING): gettext_lazy("Your order leaves the store when it is ready."),
    (PICKUP, OrderStatus.PREPARING): gettext_lazy("Wait until it is ready before you come."),
    (DELIVERY, OrderStatus.READY): gettext_lazy("Your order leaves the store soon."),
    (PICKUP, OrderStatus.READY): gettext_lazy("Collect your order at the store and give your name."),
    (DELIVERY, OrderStatus.IN_DELIVERY): gettext_lazy("Make sure that someone is at home."),
}

NO_ORDER = gettext_lazy("There is no order at this address. Check that you copied the whole link.")
CHOOSE_AGAIN = (PaymentStatus.FAILED, PaymentStatus.EXPIRED)


@require_safe
@never_cache
@shop_page
def order(request: ShopRequest, key: str) -> HttpResponse:
    found = _order(request, key)
    context = {
        "key": key,
        "order": found,
        "title": standing.title_for_buyer(found),
        "standing": standing.for_buyer(found),
        "is_mailed": is_mailed(found),
        "refunds": found.changes.filter(kind=OrderChangeKind.REFUND) if found.refunded else (),
        "steps": _steps(found),
        "next_step": NEXT_STEPS.get((found.delivery_method, found.status), ""),
        "attributes": shown_attributes(public(found.attributes)),
        "may_prove": found.proven_at is None and bool(found.customer_email) and proves(key),
        "is_of_test_store": found.business.is_sandbox and bool(found.customer_email),
    }
    return shop_render(request, "storefront/order.html", context | _payment_words(found))


@require_POST
@never_cache
@shop_page
def mine(request: ShopRequest, key: str) -> HttpResponse:
    """The shopper confirms the order on the page behind the mailed link. The first browser that does so is theirs."""
    found = _order(request, key)
    if proves(key) and request.cart.prove(found):
        request.cart.add_notice(SUCCESS, _("Thank you. This store knows you in this browser now."))
    else:
        request.cart.add_notice(
            INFO, _("This link is too old, or was used before. Use the one in the e-mail of your next order.")
        )
    return redirect("storefront:order", order_key(found.pk))


@require_POST
@never_cache
@shop_page
def again(request: ShopRequest, key: str) -> HttpResponse:
    request.cart.add_again(_order(request, key))
    return redirect("storefront:cart")


@require_POST
@never_cache
@shop_page
def as_from_mail(request: ShopRequest, key: str) -> HttpResponse:
    """A test store sends no mails, so its pages open what the mail would have linked to."""
    found = _order(request, key)
    if not request.shop.is_sandbox or not found.customer_email:
        raise NotFound(str(NO_ORDER))
    return redirect("storefront:order", mailed_key(found.pk))


@dataclass(frozen=True)
class ProgressStep:
    name: Promise
    state: str  # done, current or ahead
    at: datetime | None


def _steps(order: Order) -> list[ProgressStep]:
    """What the order goes through, with the times that are known. A cancelled order has none. An order that an app has sent
    out is on its way, also if the customer wanted to pick it up.
    """
    sent_out = order.status == OrderStatus.IN_DELIVERY
    stages = STAGES[DELIVERY if sent_out else DeliveryMethod(order.delivery_method)]
    if order.status == OrderStatus.CANCELLED:
        return []
    reached = FULFILMENT.index(OrderStatus(order.status))
    times = dict(order.changes.filter(kind=OrderChangeKind.STATUS).values_list("status", "at"))
    times[OrderStatus.PENDING] = order.created_at
    passed = [status for status in stages if FULFILMENT.index(status) <= reached]
    if order.status != OrderStatus.PENDING:
        times.setdefault(passed[-1], order.updated_at)
    return [
        ProgressStep(
            name,
            "ahead" if status not in passed else "current" if status == passed[-1] else "done",
            times.get(status) if status in passed else None,
        )
        for status, name in stages.items()
    ]


@require_safe
@never_cache
@shop_page
def payment_state(request: ShopRequest, key: str) -> HttpResponse:
    """For the page's script, which reloads the page when the state has changed."""
    return JsonResponse({"state": _state(_order(request, key))})


@may_wait_for_strangers
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@shop_page
def pay_again(request: ShopRequest, key: str) -> HttpResponse:
    """Choose another payment method after the payment has failed or expired."""
    found = _order(request, key)
    if not _may_choose_again(found):
        return redirect("storefront:order", key)
    limit_asking(request)
    if request.method == "POST":
        return _choose_again(request, found, key)
    methods = forms.methods_now(request.shop, _payer(request, found))
    return _methods_page(request, found, key, PaymentForm(methods=methods), methods)


def _payer(request: ShopRequest, order: Order) -> Buyer:
    """The person who pays the order, with what apps have put into it."""
    return replace(request.cart.buyer, attributes=order.attributes or {})


def _choose_again(request: ShopRequest, order: Order, key: str) -> HttpResponse:
    buyer = _payer(request, order)
    methods = forms.offered_on_page(request.shop, request.POST.get("offered", ""), buyer)
    form = PaymentForm(request.POST, methods=methods)
    if form.is_valid():
        chosen = form.cleaned_data["payment_method"]
        try:
            choose_again(order=order, payment_method=chosen, offered=methods, buyer=buyer)
        except (Conflict, NotAllowed) as error:  # a second press, or the app has said something meanwhile
            request.cart.add_notice(INFO, error.message)
        except Invalid as error:
            form.add_error("payment_method", error.details[0]["message"])
        except Unavailable as error:
            form.add_error(None, error.message)
            page = _methods_page(request, order, key, form, methods, error.status)
            page["Retry-After"] = str(error.retry_after)
            return page
    if form.errors:
        return _methods_page(request, order, key, form, methods, status=422)
    return redirect("storefront:order", key)


def _methods_page(
    request: ShopRequest,
    order: Order,
    key: str,
    form: PaymentForm,
    methods: Sequence[PaymentMethod],
    status: int = 200,
) -> HttpResponse:
    context = {
        "key": key,
        "order": order,
        "form": form,
        "offered": forms.seal_offers(request.shop, methods),
    } | _payment_words(order)
    return shop_render(request, "storefront/pay_again.html", context, status)


def _order(request: ShopRequest, key: str) -> Order:
    found = queries.order_by_page_key(request.shop, key)
    if found is None:
        raise NotFound(str(NO_ORDER))
    found.business = request.shop
    return found


def _may_choose_again(order: Order) -> bool:
    payment = payment_of(order)
    return bool(payment and payment.status in CHOOSE_AGAIN and order.status != OrderStatus.CANCELLED)


def _state(order: Order) -> str:
    """A text that changes with the payment's part of the page."""
    payment = payment_of(order)
    making = "making" if _is_being_made(payment) else ""
    return f"{order.status}:{payment.status if payment else ''}:{making}"


def _is_being_made(payment: Payment | None) -> bool:
    """Whether the app that creates the payment has not responded yet."""
    if payment is None or payment.status != PaymentStatus.PENDING:
        return False
    has_details = payment.payment_url or payment.qr_code or payment.invoice_id
    return not has_details and payment.updated_at == payment.created_at


def _is_over(payment: Payment | None) -> bool:
    """Whether it has expired, but the periodic task has not set the status yet."""
    if payment is None or payment.status != PaymentStatus.PENDING or payment.expires_at is None:
        return False
    return payment.expires_at <= timezone.now()


def _payment_words(order: Order) -> dict[str, object]:
    built_in = BUILT_IN.get(order.payment_method)
    return {
        "payment": payment_of(order),
        "built_in": built_in[0] if built_in else "",
        "is_delivery": order.delivery_method == DeliveryMethod.DELIVERY,
        "is_cancelled": order.status == OrderStatus.CANCELLED,
        "may_choose_again": _may_choose_again(order),
        "is_being_made": _is_being_made(payment_of(order)),
        "is_over": _is_over(payment_of(order)),
        "state": _state(order),
    }
