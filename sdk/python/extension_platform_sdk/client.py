"""The app API and the webhook endpoints, for one installation.

Records are the platform's JSON objects as dicts, with their names unchanged (``orderNumber``, not
``order_number``); ``types`` says what each holds. Arguments are Python's: ``updated_since=datetime(...)`` is sent as
``updatedSince``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from types import EllipsisType
from typing import Any, Generic, Literal, TypedDict, TypeVar, Unpack
from urllib.parse import quote

from . import types
from .transport import Record, Transport

Item = TypeVar("Item")


class ProductFilters(TypedDict, total=False):
    category: str
    is_available: bool
    search: str
    updated_since: datetime


class OrderFilters(TypedDict, total=False):
    status: types.OrderStatus
    created_after: datetime
    created_before: datetime
    updated_since: datetime


class ReviewFilters(TypedDict, total=False):
    product_id: str


class DeliveryFilters(TypedDict, total=False):
    status: types.DeliveryStatus


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list: its records newest first, and ``total`` over all pages."""

    data: list[Item]
    total: int
    page: int
    limit: int


class Reconciled:
    """The events of ``reconcile``, each once.

    ``next_cursor`` is the place behind those that you have handled, the one that is being handled not included. A store
    without events has one, too.
    """

    def __init__(self, read: Callable[[str | None], types.Feed], cursor: str | None) -> None:
        self.next_cursor = cursor
        self._events = self._read_all(read)

    def __iter__(self) -> Iterator[types.FeedEvent]:
        return self._events

    def __next__(self) -> types.FeedEvent:
        return next(self._events)

    def _read_all(self, read: Callable[[str | None], types.Feed]) -> Iterator[types.FeedEvent]:
        more = True
        while more:
            page = read(self.next_cursor)
            for event in page["data"]:
                yield event
                self.next_cursor = event["cursor"]
            self.next_cursor, more = page["nextCursor"], page["hasMore"]


class AppClient:
    """Calls with the access token of one installation, over one connection pool.

    Every method raises ``ApiError`` for an error answer (``RateLimited`` for 429) and ``Unreachable`` when none
    came. A call whose connection is lost is retried, ``retries`` times, and carried out once: calls that change
    something have an Idempotency-Key. With ``wait_on_rate_limit`` a 429 is waited out once, as long as the platform asks.
    Making a client raises ``ValueError`` for a text that is no token, without showing it.
    Use one client per thread; ``with AppClient(...) as client`` closes its connections.
    """

    def __init__(
        self,
        base_url: str,
        access_token: str,
        *,
        timeout: float = 10,
        wait_on_rate_limit: bool = False,
        retries: int = 2,
    ) -> None:
        self._transport = Transport(
            base_url, access_token, timeout=timeout, wait_on_rate_limit=wait_on_rate_limit, retries=retries
        )

    def __enter__(self) -> AppClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. The client can't be used afterwards."""
        self._transport.close()

    def following(self, traceparent: str | None) -> AppClient:
        """A client over the same connections, whose calls are in the thread of an event or a hook call.

        ``client.following(event.traceparent).order(order_id)``. With None it is this client's equal.
        """
        found = copy(self)
        found._transport = self._transport.following(traceparent)  # noqa: SLF001 - our own
        return found

    # The installation and its business

    def installation(self) -> types.Installation:
        """``installationId, businessId, isTestInstall, needsReConsent, scopes, settings, installedAt``."""
        return self._transport.record(types.Installation, "GET", "/app-api/installation")

    def business(self) -> types.Business:
        """``id, slug, name, currency, timezone, isSandbox, …``. Scope ``read_business``."""
        return self._transport.record(types.Business, "GET", "/app-api/business")

    # Products: scope read_products

    def products(
        self, *, page: int = 1, limit: int = 50, **filters: Unpack[ProductFilters]
    ) -> Page[types.Product]:
        """One page of at most 100; filters ``category``, ``is_available``, ``search``, ``updated_since``."""
        return self._page("/app-api/products", page, limit, filters)

    def iter_products(self, **filters: Unpack[ProductFilters]) -> Iterator[types.Product]:
        """Every product, page after page, with the filters of ``products``.

        A row that changes meanwhile may be met twice or not at all, as with any paged list.
        """
        return self._every(self.products, 100, filters)

    def product(self, product_id: str) -> types.Product:
        """One product; 404 when there is none."""
        return self._transport.record(types.Product, "GET", f"/app-api/products/{_part(product_id)}")

    def product_by_slug(self, slug: str) -> types.Product:
        """One product by the readable part of its address; 404 when there is none."""
        return self._transport.record(types.Product, "GET", f"/app-api/products/slug/{_part(slug)}")

    # Orders: scopes read_orders and write_orders

    def orders(self, *, page: int = 1, limit: int = 20, **filters: Unpack[OrderFilters]) -> Page[types.Order]:
        """One page of at most 50; filters ``status``, ``created_after``, ``created_before``, ``updated_since``."""
        return self._page("/app-api/orders", page, limit, filters)

    def iter_orders(self, **filters: Unpack[OrderFilters]) -> Iterator[types.Order]:
        """Every order, page after page, as ``iter_products`` does."""
        return self._every(self.orders, 50, filters)

    def order(self, order_id: str) -> types.Order:
        """One order; 404 when there is none."""
        return self._transport.record(types.Order, "GET", f"/app-api/orders/{_part(order_id)}")

    def create_order(
        self,
        *,
        items: Sequence[types.ItemBody],
        customer: types.CustomerBody,
        delivery_method: Literal["DELIVERY", "PICKUP"] = "PICKUP",
        payment_method: str = "CASH",
        address: str | None = None,
        promo_discount: float | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.Order:
        """Place a guest order and return it, PENDING.

        ``items`` are ``{"productId": str, "quantity": int}``, ``customer`` is ``{"name", "email", "phone"}`` with
        one of the last two. ``delivery_method`` is PICKUP, or DELIVERY with an ``address``. The same
        ``idempotency_key`` and order within 24 hours give the first answer again instead of a second order, also after a
        restart of yours; without one, each call has its own.

        409 when a product is unavailable or out of stock, 422 when another of the store's apps refuses it.
        """
        body = {
            "items": list(items),
            "customer": customer,
            "deliveryMethod": delivery_method,
            "paymentMethod": payment_method,
            "address": address,
            "promoDiscount": promo_discount,
            "note": note,
        }
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
        return self._transport.record(types.Order, "POST", "/app-api/orders", _given(body), headers=headers)

    def set_order_status(self, order_id: str, status: types.OrderStatus) -> types.Order:
        """Move an order forward, or cancel it, and return it; 409 for a move that isn't allowed."""
        return self._transport.record(
            types.Order, "PATCH", f"/app-api/orders/{_part(order_id)}/status", {"status": status}
        )

    # Paying: scope write_orders

    def payment_methods(self) -> list[types.PaymentMethod]:
        """How an order can be paid for now: ``id, name, description, icon``, built-in ones first.

        The platform asks the store's apps for it, which may take some seconds.
        """
        return self._transport.record(types.PaymentMethods, "GET", "/app-api/payment-methods")["methods"]

    def settle_payment(
        self, order_id: str, status: Literal["COMPLETED", "FAILED"], *, reference: str | None = None
    ) -> types.Order:
        """Say how a payment that your ``checkout.create_payment`` made has ended, and return the order.

        ``status`` is COMPLETED or FAILED, ``reference`` your own word for the payment. The same status again changes
        nothing; 409 where the payment has ended otherwise (it may have expired), 403 for another app's payment.
        """
        body = {"status": status, "reference": reference}
        return self._transport.record(
            types.Order, "PATCH", f"/app-api/orders/{_part(order_id)}/payment", _given(body)
        )

    def change_attributes(self, order_id: str, attributes: Mapping[str, str | None]) -> types.Order:
        """Merge texts into what your app keeps with an order, and return the order. ``None`` removes a key.

        At most 20 keys of 1 to 40 characters of ``a-z 0-9 _``, and texts of at most 500 characters. No other app sees them.
        """
        return self._transport.record(
            types.Order,
            "PATCH",
            f"/app-api/orders/{_part(order_id)}/attributes",
            {"attributes": dict(attributes)},
        )

    # Reviews: scope read_reviews

    def reviews(
        self, *, page: int = 1, limit: int = 10, **filters: Unpack[ReviewFilters]
    ) -> Page[types.Review]:
        """One page of at most 50; filter ``product_id``."""
        return self._page("/app-api/reviews", page, limit, filters)

    def iter_reviews(self, **filters: Unpack[ReviewFilters]) -> Iterator[types.Review]:
        """Every review, page after page, as ``iter_products`` does."""
        return self._every(self.reviews, 50, filters)

    def review_stats(self) -> types.ReviewStats:
        """``total, averageRating`` (``None`` without any) and ``distribution``, from "1" to "5"."""
        return self._transport.record(types.ReviewStats, "GET", "/app-api/reviews/stats")

    # Sales figures: scope read_analytics

    def dashboard(self, *, days: int = 30) -> types.Dashboard:
        """Sales of the last 1 to 90 days: ``totalOrders, totalRevenue, topProducts, daily, …``."""
        return self._transport.record(
            types.Dashboard, "GET", "/app-api/analytics/dashboard", query={"days": days}
        )

    # The site's published pages: scope read_pages

    def pages(self, *, page: int = 1, limit: int = 50) -> Page[types.Page]:
        """One page of at most 100 site pages, without filters."""
        return self._page("/app-api/pages", page, limit, {})

    def page_by_slug(self, slug: str) -> types.Page:
        """One site page: ``id, slug, title, content`` (HTML); 404 when there is none, or it is not published."""
        return self._transport.record(types.Page, "GET", f"/app-api/pages/{_part(slug)}")

    # What happened: any scope

    def events(
        self, *, after: str | None = None, only: Sequence[types.SentEvent] = (), limit: int = 100
    ) -> types.Feed:
        """One page of the feed, oldest first, from behind the cursor ``after`` or from the installation on.

        410 (``ApiError``) for a cursor older than 30 days; its message names the oldest one that is left.
        """
        query = {"after": after, "type": ",".join(only) or None, "limit": limit}
        return self._transport.record(types.Feed, "GET", "/app-api/events", query=_given(query))

    def reconcile(self, cursor: str | None = None, *, only: Sequence[types.SentEvent] = ()) -> Reconciled:
        """Every event behind ``cursor``, oldest first, until there is none left.

        Start from the ``cursor`` of the last delivery that you handled, or from the ``feedCursor`` of an export. Some
        events may be ones that you know; none is missing. Keep the ``cursor`` of each that you have handled, or after the
        loop the ``next_cursor`` of what this returned.
        """
        return Reconciled(lambda after: self.events(after=after, only=only, limit=500), cursor)

    def create_export(self, resource: Literal["products", "orders"]) -> types.RequestedExport:
        """Have a file made of all records of a list, which takes a scope of that list; 409 while another is being made."""
        body = {"resource": resource}
        return self._transport.record(types.RequestedExport, "POST", "/app-api/exports", body)

    def export(self, export_id: str) -> types.Export:
        """One export: its ``status``, and once READY the ``url`` of the file and the ``feedCursor`` behind it."""
        return self._transport.record(types.Export, "GET", f"/app-api/exports/{_part(export_id)}")

    # Webhooks: no scope

    def create_webhook(
        self,
        url: str,
        events: Sequence[types.SentEvent],
        description: str | None = None,
        *,
        filter: types.WebhookFilter | None = None,  # noqa: A002  the API's name
    ) -> types.CreatedWebhook:
        """Register ``url`` for ``events``: ``id, url, events, isActive, eventsWithoutScope, …`` and ``secret``.

        With a ``filter`` it gets those of them that pass: ``{"all": [{"field": "amount", "op": "gte", "value": 100}]}``.

        Keep the secret: no other answer holds it.
        """
        body = {"url": url, "events": list(events), "description": description, "filter": filter}
        return self._transport.record(types.CreatedWebhook, "POST", "/webhooks", _given(body))

    def webhooks(self, *, page: int = 1, limit: int = 50) -> Page[types.Webhook]:
        """One page of at most 100 registrations, the one that the app's Webhook URL brings (``isAppDefined``) too."""
        return self._page("/webhooks", page, limit, {})

    def webhook(self, webhook_id: str) -> types.Webhook:
        """One registration, without its secret; 404 when there is none."""
        return self._transport.record(types.Webhook, "GET", f"/webhooks/{_part(webhook_id)}")

    def update_webhook(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[types.SentEvent] | None = None,
        description: str | None = None,
        is_active: bool | None = None,
        filter: types.WebhookFilter | EllipsisType | None = ...,  # noqa: A002  the API's name
    ) -> types.Webhook:
        """Change what is given of a registration, and return it. ``filter=None`` takes its filter away."""
        body = {"url": url, "events": events, "description": description, "isActive": is_active}
        given = _given(body) | ({} if filter is ... else {"filter": filter})
        return self._transport.record(types.Webhook, "PATCH", f"/webhooks/{_part(webhook_id)}", given)

    def delete_webhook(self, webhook_id: str) -> None:
        """End a registration; nothing more is sent for it."""
        self._transport.send("DELETE", f"/webhooks/{_part(webhook_id)}")

    def test_webhook(self, webhook_id: str) -> types.WebhookTestResult:
        """Have ``webhook.test`` sent now, once: ``success, httpStatus, durationMs, error, eventId``."""
        return self._transport.record(types.WebhookTestResult, "POST", f"/webhooks/{_part(webhook_id)}/test")

    def deliveries(
        self, webhook_id: str, *, page: int = 1, limit: int = 50, **filters: Unpack[DeliveryFilters]
    ) -> Page[types.Delivery]:
        """One page of at most 100 deliveries of a webhook; filter ``status``, such as "EXHAUSTED"."""
        return self._page(f"/webhooks/{_part(webhook_id)}/deliveries", page, limit, filters)

    def delivery(self, webhook_id: str, delivery_id: str) -> types.DeliveryWithAttempts:
        """One delivery with its ``attempts``; 404 when there is none."""
        path = f"/webhooks/{_part(webhook_id)}/deliveries/{_part(delivery_id)}"
        return self._transport.record(types.DeliveryWithAttempts, "GET", path)

    def redeliver(self, webhook_id: str, delivery_id: str) -> types.Delivery:
        """Resend one delivery with the same ``X-Service-Event-Id``, and return it; 409 for an inactive webhook."""
        path = f"/webhooks/{_part(webhook_id)}/deliveries/{_part(delivery_id)}/redeliver"
        return self._transport.record(types.Delivery, "POST", path)

    def recover(self, webhook_id: str, *, since: datetime, until: datetime | None = None) -> int:
        """Resend all deliveries of a period that were given up or held; returns how many."""
        body = _given({"since": _text(since), "until": _text(until)})
        path = f"/webhooks/{_part(webhook_id)}/recover"
        return self._transport.record(types.DeliveryCount, "POST", path, body)["deliveries"]

    def _page(self, path: str, page: int, limit: int, filters: Mapping[str, object]) -> Page[Any]:
        query: Record = {"page": page, "limit": limit}
        query |= {_camel(name): _text(value) for name, value in filters.items()}
        answer = self._transport.record(Record, "GET", path, query=query)
        return Page(answer["data"], answer["total"], answer["page"], answer["limit"])

    def _every(
        self, read: Callable[..., Page[Item]], limit: int, filters: Mapping[str, object]
    ) -> Iterator[Item]:
        number, more = 1, True
        while more:
            page = read(page=number, limit=limit, **filters)
            yield from page.data
            number, more = number + 1, bool(page.data) and number * page.limit < page.total


def _part(value: str) -> str:
    """One segment of a path, whatever the value holds."""
    return quote(value, safe="")


def _given(body: dict[str, Any]) -> Record:
    """Only what was given: the platform fills in the rest."""
    return {name: value for name, value in body.items() if value is not None}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def _text(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value
