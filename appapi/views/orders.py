"""Orders: read with `read_orders`, placed and moved along with `write_orders`."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from appapi.pages import page_of
from appapi.serializers import OrderBody, PaymentBody, StatusBody
from appapi.services.idempotency import Answer, answer_once
from appapi.views.base import AppApiView
from common.errors import NotFound
from common.ids import parse_id
from stores import enums, queries
from stores.models import Order
from stores.records import order_record
from stores.services.checkout import OrderLine, OrderRequest, place_order
from stores.services.orders import change_order_status
from stores.services.payments import settle_payment


class OrderList(AppApiView):
    required_scope = {"GET": "read_orders", "POST": "write_orders"}

    def get(self, request: Request) -> Response:
        query = self.query()
        page = query.page(default=20, maximum=50)
        status = query.choice("status", enums.OrderStatus.values)
        after, before = query.moment("createdAfter"), query.moment("createdBefore")
        since = query.moment("updatedSince")
        query.check()
        listing = queries.orders(
            self.business, status=status, created_after=after, created_before=before, updated_since=since
        )
        return Response(page_of(listing, page, order_record))

    def post(self, request: Request) -> HttpResponse:
        """Place a guest order; once only where the call carries an `Idempotency-Key`."""
        body = self.read(OrderBody, currency=self.business.currency)
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return written(self._place(body))
        canonical = b"POST /app-api/orders\n" + orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
        answer = answer_once(
            installation=self.installation,
            key=key,
            request=canonical,
            work=lambda save: self._place(body, save),
        )
        return written(answer)

    def _place(self, body: dict[str, Any], save: Callable[[Answer], None] | None = None) -> Answer:
        """`save` keeps the answer in the transaction of the order."""

        def keep(order: Order) -> None:
            if save:
                save(created(order))

        return created(place_order(business=self.business, request=order_request(body), on_saved=keep))


class OrderDetail(AppApiView):
    required_scope = "read_orders"

    def get(self, request: Request, order_id: str) -> Response:
        return Response(order_record(queries.order_by_id(self.business, parse_id(order_id))))


class OrderStatus(AppApiView):
    required_scope = "write_orders"

    def patch(self, request: Request, order_id: str) -> Response:
        status = self.read(StatusBody)["status"]
        order = queries.order_by_id(self.business, parse_id(order_id))
        return Response(order_record(change_order_status(order=order, status=status)))


class OrderPayment(AppApiView):
    required_scope = "write_orders"

    def patch(self, request: Request, order_id: str) -> Response:
        """How the payment ended that this app made; the order as it is then."""
        said = self.read(PaymentBody)
        payment = settle_payment(
            order=queries.order_by_id(self.business, parse_id(order_id)),
            provider=str(self.installation.app_id),
            status=said["status"],
            reference=said["reference"],
        )
        return Response(order_record(payment.order))


def order_request(body: dict[str, Any]) -> OrderRequest:
    """The valid body of a guest order, as the shop takes it. `NotFound` for a product whose id is none."""
    customer = body["customer"]
    return OrderRequest(
        items=[OrderLine(_product_id(item["productId"]), item["quantity"]) for item in body["items"]],
        customer_name=customer["name"],
        customer_email=customer["email"],
        customer_phone=customer["phone"],
        delivery_method=body["deliveryMethod"],
        address=body["address"],
        payment_method=body["paymentMethod"],
        promo_discount=body["promoDiscount"],
        note=body["note"],
    )


def _product_id(text: str) -> UUID:
    product_id = parse_id(text)
    if product_id is None:
        raise NotFound(f"Product {text} not found")
    return product_id


def created(order: Order) -> Answer:
    return Answer(201, orjson.dumps(order_record(order)))


def written(answer: Answer) -> HttpResponse:
    """An answer whose bytes are final, since a repeated request gets the same ones."""
    response = HttpResponse(answer.body, status=answer.status, content_type="application/json")
    if answer.replayed:
        response["Idempotent-Replayed"] = "true"
    return response
