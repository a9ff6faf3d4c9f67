"""The shop, connected: its rows, what marks them, apps at the checkout, what apps may do, and people on their way to apps.

A shop that exists adds this module, three mixins (``ApplicatorMixin``, ``ShippingMixin``, ``CheckoutMixin``), and two lines of URLs.
Prices are in a currency of two decimals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from extension_platform_store import Checkout, Command, Refused
from extension_platform_store.django.connection import client, hooks, mark_with, outbox
from oscar.apps.offer.results import BasketDiscount
from oscar.apps.order.exceptions import InvalidOrderStatus
from oscar.core.loading import get_class, get_model
from oscar.core.prices import Price

STATUSES = {
    "Pending": "PENDING",
    "Being processed": "CONFIRMED",
    "Complete": "DELIVERED",
    "Cancelled": "CANCELLED",
}
"""Of Oscar's orders, and what apps read."""

MOVES = {ours: theirs for theirs, ours in STATUSES.items()} | {"PREPARING": "Being processed"}
"""What apps may ask for, and what it is here."""

HOME = "home"
SHOWN = "total_shown"  # in the session: what the customer is about to confirm


# Rows


class OscarShop:
    """Products that can be bought, orders, approved reviews, and the page on which merchants place blocks."""

    def ids(self, resource: str, since: datetime | None) -> Iterable[str]:
        if resource == "pages":
            return [HOME]
        rows, created, name = QUERIES[resource]()
        rows = rows.filter(**{f"{created}__gte": since}) if since else rows
        return map(str, rows.values_list(name, flat=True))

    def rows(self, resource: str, ids: Sequence[str]) -> Mapping[str, dict[str, Any]]:
        if resource == "pages":
            title, url = f"All products of {settings.OSCAR_SHOP_NAME}", reverse("catalogue:index")
            page = {"slug": HOME, "title": title, "url": settings.SHOP_URL + url}
            return {HOME: page} if HOME in ids else {}
        rows, _, name = QUERIES[resource]()
        make = {"products": product_row, "orders": order_row, "reviews": review_row}[resource]
        return {str(getattr(each, name)): make(each) for each in rows.filter(**{f"{name}__in": ids})}


def _products() -> tuple[Any, str, str]:
    rows = get_model("catalogue", "Product").objects.exclude(structure="parent").distinct()
    rows = rows.filter(stockrecords__price__isnull=False).select_related("parent")
    return rows.prefetch_related("stockrecords", "categories", "parent__categories"), "date_created", "pk"


def _orders() -> tuple[Any, str, str]:
    rows = get_model("order", "Order").objects.select_related("user", "shipping_address__country")
    return rows.prefetch_related("lines", "surcharges"), "date_placed", "number"


def _reviews() -> tuple[Any, str, str]:
    review = get_model("reviews", "ProductReview")
    return review.objects.filter(status=review.APPROVED).select_related("user"), "date_created", "pk"


QUERIES: dict[str, Callable[[], tuple[Any, str, str]]] = {
    "products": _products,
    "orders": _orders,
    "reviews": _reviews,
}


def product_row(product: Any) -> dict[str, Any]:
    stock, category = product.stockrecords.all()[0], next(iter(product.get_categories().all()), None)
    return {
        "name": product.get_title()[:200],
        "price": stock.price,
        "slug": product.slug[:200],
        "description": product.description,
        "category": category.name if category else None,
        "stock": max(0, stock.net_stock_level) if product.get_product_class().track_stock else None,
        "lowStockThreshold": stock.low_stock_threshold,
        "isAvailable": product.is_public and (product.parent is None or product.parent.is_public),
        "groupId": str(product.parent_id) if product.parent_id else None,
        "createdAt": product.date_created,
    }


def order_row(order: Any) -> dict[str, Any]:
    lines, address = order.lines.all(), order.shipping_address
    subtotal = sum((line.line_price_before_discounts_incl_tax for line in lines), Decimal(0))
    discount, fee = min(order.total_discount_incl_tax, subtotal), order.shipping_incl_tax
    name = address.name if address else order.user.get_full_name() if order.user else ""
    phone = str(address.phone_number or "") if address else ""
    items = [
        {"productId": str(line.product_id) if line.product_id else None, "name": line.title[:200], "quantity": line.quantity,
         "price": line.unit_price_incl_tax or Decimal(0)}
        for line in lines
    ]  # fmt: skip
    return {
        "orderNumber": order.number,
        "status": STATUSES[order.status],
        "items": items,
        "subtotal": subtotal,
        "discount": discount,
        "deliveryFee": fee,
        "otherCharges": order.total_incl_tax - subtotal + discount - fee,  # surcharges
        "amount": order.total_incl_tax,
        "deliveryMethod": "DELIVERY" if address else "PICKUP",
        "address": ", ".join(address.active_address_fields()) if address else None,
        "customer": {"name": name or None, "email": order.email or None, "phone": phone or None},
        "note": address.notes if address else None,
        "isGuest": order.user_id is None,
        "createdAt": order.date_placed,
    }


def review_row(review: Any) -> dict[str, Any]:
    return {
        "productId": str(review.product_id),
        "rating": max(1, review.score),  # Oscar has a 0
        "comment": f"{review.title}\n\n{review.body}",
        "authorName": review.reviewer_name,
        "authorEmail": review.email or (review.user.email if review.user else None),
        "createdAt": review.date_created,
    }


# Marks, in the transaction that changes the shop


def connect_receivers() -> None:
    """Whatever is saved or deleted marks the row that it is a part of."""
    parts = {
        "catalogue.Product": lambda it: ("products", [it.pk, *it.children.values_list("pk", flat=True)]),
        "partner.StockRecord": lambda it: ("products", [it.product_id]),
        "order.Order": lambda it: ("orders", [it.number]),
        "order.Line": lambda it: ("orders", [it.order.number]),
        "reviews.ProductReview": lambda it: ("reviews", [it.pk]),
    }
    mark_with({get_model(*name.split(".")): rows_of for name, rows_of in parts.items()})


# Apps at the checkout


def minor(amount: Decimal) -> int:
    return int(amount * 100)


def major(amount: int) -> Decimal:
    return Decimal(amount) / 100


def checkout_of(request: HttpRequest | None, *, fresh: bool = False) -> Checkout:
    """One for a request: its hooks share their time, and Oscar asks for prices several times on a page."""
    if request is None:
        return hooks().checkout(fresh=fresh)
    if fresh or not hasattr(request, "checkout_with_apps"):
        guest = get_class("checkout.utils", "CheckoutSessionData")(request).get_guest_email()
        shopper = {"email": getattr(request.user, "email", guest)}
        request.checkout_with_apps = hooks().checkout(fresh=fresh, shopper=shopper)
    return request.checkout_with_apps


def items_of(basket: Any) -> list[dict[str, Any]]:
    return [{"productId": str(line.product_id), "quantity": line.quantity} for line in basket.all_lines()]


def own_fee(basket: Any) -> int:
    methods = get_class("shipping.repository", "Repository").methods
    return minor(methods[0].calculate(basket).incl_tax) if basket.is_shipping_required() else 0


class ApplicatorMixin:
    """Take off what apps say, after the shop's own offers: split over the lines, where Oscar looks for what is charged."""

    def apply(self, basket: Any, user: Any = None, request: HttpRequest | None = None) -> None:
        super().apply(basket, user, request)
        if basket.is_empty:
            return
        data = {
            "items": items_of(basket),
            "subtotal": minor(basket.total_incl_tax_excl_discounts),
            "promoDiscount": minor(basket.total_discount),
            "deliveryFee": own_fee(basket),
        }
        answer = checkout_of(request).ask("order.calculate_discounts", data).answer
        if answer["discount"]:
            take_off(basket, major(answer["discount"]), answer["reason"])


def take_off(basket: Any, amount: Decimal, reason: str | None) -> None:
    offer = apps_offer()
    lines = basket.all_lines()
    rest, capacity = amount, sum((line.line_price_incl_tax_incl_discounts for line in lines), Decimal(0))
    for line in lines:
        price = line.line_price_incl_tax_incl_discounts
        share = (rest * price / capacity).quantize(Decimal("0.01")) if capacity else Decimal(0)
        rest, capacity = rest - share, capacity - price
        if share:
            line.discount(share, line.quantity, incl_tax=True, offer=offer)
    name, offer.name = offer.name, reason or offer.name  # what the basket's page shows
    basket.offer_applications.add(offer, BasketDiscount(amount - rest))
    offer.name = name  # it is saved with the order


def apps_offer() -> Any:
    """The offer under which Oscar keeps such discounts in orders and reports. Of the type SESSION, it never applies by itself."""
    offers = get_model("offer", "ConditionalOffer")
    found = offers.objects.filter(slug="discounts-by-apps").first()
    if found is None:
        condition = get_model("offer", "Condition").objects.create(type="Count", value=1)
        benefit = get_model("offer", "Benefit").objects.create(type="Absolute", value=0)
        found = offers.objects.create(
            slug="discounts-by-apps",
            name="Discount",
            offer_type=offers.SESSION,
            condition=condition,
            benefit=benefit,
        )
    return found


class ShippingMixin:
    """The shop's own ways of delivery, at the prices that apps set."""

    def get_available_shipping_methods(
        self, basket: Any, shipping_addr: Any = None, request: HttpRequest | None = None, **kwargs: Any
    ) -> list[Any]:
        own = super().get_available_shipping_methods(
            basket=basket, shipping_addr=shipping_addr, request=request, **kwargs
        )
        return own if basket.is_empty else [AppRate(each, shipping_addr, request) for each in own]


class AppRate:
    is_discounted = False

    def __init__(self, method: Any, address: Any, request: HttpRequest | None) -> None:
        self._method, self._address, self._request = method, address, request

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def calculate(self, basket: Any) -> Price:
        own = self._method.calculate(basket)
        data = {
            "deliveryMethod": "DELIVERY",
            "subtotal": minor(basket.total_incl_tax_excl_discounts),
            "builtInFee": minor(own.incl_tax),
        }
        if self._address and self._address.city:
            data["locality"] = self._address.city
        fee = major(checkout_of(self._request).ask("checkout.shipping_rates", data).answer["fee"])
        return own if fee == own.incl_tax else Price(currency=own.currency, excl_tax=fee, incl_tax=fee)


class CheckoutMixin:
    """Ask afresh when the customer confirms, charge what was shown, and mark the order with the quote."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        if self.preview and context.get("order_total"):
            self.request.session[SHOWN] = str(context["order_total"].incl_tax)
        return context

    def handle_place_order_submission(self, request: HttpRequest) -> HttpResponse:
        checkout, basket = checkout_of(request, fresh=True), request.basket
        basket.reset_offer_applications()
        get_class("offer.applicator", "Applicator")().apply(basket, request.user, request)
        submission = self.build_submission()
        if str(submission["order_total"].incl_tax) != request.session.get(SHOWN):
            return self.render_preview(
                request, error="The total has changed. Please check it, and place the order again."
            )
        data = {
            "items": items_of(basket),
            "subtotal": minor(basket.total_incl_tax_excl_discounts),
            "deliveryMethod": "DELIVERY" if submission["shipping_address"] else "PICKUP",
        }
        verdict = checkout.ask("order.validate", data).answer
        if not verdict["valid"]:
            return self.render_preview(request, error=verdict["reason"] or "This order can't be placed.")
        return self.submit(**submission)

    def place_order(self, *args: Any, **kwargs: Any) -> Any:
        with transaction.atomic():
            order = super().place_order(*args, **kwargs)
            outbox().mark("orders", order.number, quote=checkout_of(self.request).quote)
        return order


# What apps may do


def set_status(command: Command) -> str:
    status = MOVES.get(command.data["status"])
    if status is None:
        raise Refused("This shop has no such status.", 422)
    order = get_model("order", "Order").objects.filter(number=command.data["orderId"]).first()
    if order is None:
        raise Refused("There is no such order.", 404)
    try:
        order.set_status(status)
    except InvalidOrderStatus as refusal:
        raise Refused(str(refusal)) from refusal
    return str(order.number)


HANDLERS = {"order.set_status": set_status}


# People


@login_required(login_url=reverse_lazy("dashboard:login"))
def open_apps(request: HttpRequest) -> HttpResponse:
    """**Apps** of the dashboard, and where the platform sends people who aren't signed in there."""
    person = request.user
    if not person.is_staff:
        raise PermissionDenied
    about = {"id": str(person.pk), "name": person.get_full_name() or person.email, "email": person.email}
    role = "OWNER" if person.is_superuser else "MANAGER"
    return redirect(client().ticket(about, role, next_page=request.GET.get("next")))
