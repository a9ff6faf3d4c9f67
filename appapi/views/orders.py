"""Orders and their payments: `read_orders` and `write_orders`."""

from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from appapi.pages import rows_of
from appapi.serializers import (
    AttributesBody,
    OrderBody,
    OrderFilters,
    PaymentBody,
    StatusBody,
    order_answer,
    own_parts,
)
from appapi.services.idempotency import earlier_answer
from appapi.views.base import AppApiView
from common.errors import NotInBody
from common.ids import parse_id
from common.rest.schema import problem
from common.strangers import may_wait_for_strangers
from common.web.pagination import page_body
from extensions.shops import writing
from installations.limits import ORDERS_A_PAGE
from installations.models import Installation
from stores import enums, queries, serializers
from stores.buyers.writing import change_attributes
from stores.connected.payments import Settled, settle
from stores.hookpoints import ask_payment_methods
from stores.models import Order
from stores.services.history import Actor
from stores.services.payments import settle_payment
from stores.services.pricing import OrderLine, OrderRequest


def _actor(installation: Installation) -> Actor:
    """The app, by the name that its merchant knows."""
    return Actor(enums.ActorKind.APP, installation.app_id, installation.app_fields.name)


class WritingView(AppApiView):
    @property
    def key(self) -> str:
        """The call's `Idempotency-Key`, or nothing."""
        return self.claim.key if self.claim else ""

    def answer(self, order: Order, status: int = 200) -> Response:
        return Response(order_answer(self.installation, order), status=status)

    def keep_answer(self, order: Order, status: int = 200) -> None:
        """For a repeated call, in the transaction of the change."""
        if self.claim:
            self.keep(self.answer(order, status))


class OrderView(WritingView):
    tag = "Orders"
    path_fields = {"order_id": serializers.OrderId()}


@may_wait_for_strangers
class OrderList(WritingView):
    tag = "Orders"
    required_scope = {"GET": "read_orders", "POST": "write_orders"}
    page_default, page_maximum = ORDERS_A_PAGE

    @extend_schema("listOrders", parameters=[OrderFilters], responses=serializers.OrderSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List orders."""
        query = self.query()
        page = self.page(query)
        status = query.choice("status", enums.OrderStatus.values)
        after, before = query.moment("createdAfter"), query.moment("createdBefore")
        since, external_id = query.moment("updatedSince"), query.text("externalId")
        query.check()
        listing = queries.orders(
            self.business,
            status=status,
            created_after=after,
            created_before=before,
            updated_since=since,
            external_id=external_id,
        )
        rows, total = rows_of(listing, page, serializers.ORDER_COLUMNS)
        lines = queries.lines_of([row.id for row in rows])
        own = own_parts(self.installation, rows)
        data = [
            serializers.order_row_payload(row, lines[row.id], part)
            for row, part in zip(rows, own, strict=True)
        ]
        return Response(page_body(data, total=total, request=page))

    @extend_schema(
        "createOrder",
        request=OrderBody,
        responses={
            201: OpenApiResponse(serializers.OrderSerializer, "The order, PENDING."),
            404: problem("There is no such product."),
            409: problem("A product is unavailable or out of stock, or the shop can't place the order."),
            422: problem("An app of the merchant, or the shop, refuses the order; `message` is its reason."),
            503: problem(
                "The database, the payment app or the shop can't be reached. Try again after `Retry-After` seconds."
            ),
        },
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Place a guest order.

        The store's apps are called as in its checkout. The shop of a connected store is asked to place it; repeat a 503 with the same
        `Idempotency-Key`.
        """
        body = self.read(OrderBody, currency=self.business.currency)
        if self.claim and (earlier := earlier_answer(self.installation, self.claim.key)):
            return earlier
        placed = writing.place(
            installation=self.installation,
            request=order_request(body),
            attributes=body["attributes"],
            by=_actor(self.installation),
            key=self.key,
            on_saved=lambda order: self.keep_answer(order, 201),
        )
        return self.answer(placed, 201)


class OrderDetail(OrderView):
    required_scope = "read_orders"

    @extend_schema("getOrder", responses=serializers.OrderSerializer)
    def get(self, request: Request, order_id: str) -> Response:
        """Get an order."""
        return self.answer(queries.order_by_id(self.business, order_id))


@may_wait_for_strangers
class OrderStatusView(OrderView):
    required_scope = "write_orders"

    @extend_schema(
        "changeOrderStatus",
        request=StatusBody,
        responses={
            200: serializers.OrderSerializer,
            409: problem("The order can't go from its status to this one."),
            422: problem("The shop of a connected store refuses it; `message` is its reason."),
            503: problem("The database or the shop can't be reached. Try again after `Retry-After` seconds."),
        },
    )
    def patch(self, request: Request, order_id: str) -> Response:
        """Change an order's status.

        Forward along PENDING, CONFIRMED, PREPARING, READY, IN_DELIVERY, DELIVERED; stages may be skipped.
        CANCELLED from any status but DELIVERED. Setting the current status changes nothing. The shop of a connected store decides
        which moves it allows.
        """
        status = self.read(StatusBody)["status"]
        order = queries.order_by_id(self.business, order_id)
        changed = writing.change_status(
            installation=self.installation,
            order=order,
            status=status,
            by=_actor(self.installation),
            key=self.key,
            on_saved=self.keep_answer,
        )
        return self.answer(changed)


class OrderPayment(OrderView):
    required_scope = "write_orders"

    @extend_schema(
        "settlePayment",
        request=PaymentBody,
        responses={
            200: OpenApiResponse(
                serializers.OrderSerializer,
                "The order. Of a connected store whose order isn't there yet `{orderId, payment}`.",
            ),
            403: problem("The token lacks the scope `write_orders`; or the payment is not this app's."),
            409: problem("The payment has ended with another result."),
        },
    )
    def patch(self, request: Request, order_id: str) -> Response:
        """Report a payment's result.

        Only the app whose `checkout.create_payment` created the payment may. The result is final.
        """
        result = self.read(PaymentBody) | {"provider": str(self.installation.app_id)}
        if not self.business.capabilities.checkout:
            settled = settle(business=self.business, order_id=parse_id(order_id), **result)
            if settled:
                return self._settled(settled)
        payment = settle_payment(
            order=queries.order_by_id(self.business, order_id), by=_actor(self.installation), **result
        )
        return self.answer(payment.order)

    def _settled(self, settled: Settled) -> Response:
        """The order, if its row is there."""
        if settled.order:
            return self.answer(settled.order)
        payment = settled.payment
        return Response({"orderId": str(payment.order_id), "payment": serializers.payment_payload(payment)})


class OrderAttributes(OrderView):
    required_scope = "write_orders"

    @extend_schema("changeOrderAttributes", request=AttributesBody, responses=serializers.OrderSerializer)
    def patch(self, request: Request, order_id: str) -> Response:
        """Change your app's attributes of an order.

        They are merged with those that it has; null removes one. Other apps don't see them, and no event follows. A connected store's shop
        isn't notified.
        """
        changes = self.read(AttributesBody)["attributes"]
        changed = change_attributes(
            order=queries.order_by_id(self.business, order_id),
            owner=str(self.installation.app_id),
            changes=changes,
            on_saved=self.keep_answer,
        )
        return self.answer(changed)


@may_wait_for_strangers
class PaymentMethods(AppApiView):
    tag = "Orders"
    required_scope = "write_orders"

    @extend_schema("listPaymentMethods", responses=serializers.PaymentMethodsSerializer)
    def get(self, request: Request) -> Response:
        """List payment methods.

        The methods that the checkout would offer now: the built-in ones, then those of apps, which are called. Of a connected store
        those of apps alone.
        """
        offered = ask_payment_methods(business=self.business)
        return Response(serializers.payment_methods_payload(self.business, offered))


def order_request(body: dict[str, Any]) -> OrderRequest:
    """The order request for a valid body. Raises `NotFound` for a malformed product id."""
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
        raise NotInBody(f"Product {text} not found")
    return product_id
