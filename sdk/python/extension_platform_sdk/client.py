"""The app API and the webhook endpoints, for one installation.

Records are the platform's JSON objects as dicts, with their names unchanged (``orderNumber``, not
``order_number``). Arguments are Python's: ``updated_since=datetime(...)`` is sent as ``updatedSince``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from .transport import Record, Transport

Filter = str | int | bool | datetime | None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: its records newest first, and ``total`` over all pages."""

    data: list[Record]
    total: int
    page: int
    limit: int


class AppClient:
    """Calls with the access token of one installation, over one connection pool.

    Every method raises ``ApiError`` for an error answer (``RateLimited`` for 429) and ``Unreachable`` when none
    came. With ``wait_on_rate_limit`` a 429 is waited out once, as long as the platform asks, and tried again.
    Use one client per thread; ``with AppClient(...) as client`` closes its connections.
    """

    def __init__(
        self, base_url: str, access_token: str, *, timeout: float = 10, wait_on_rate_limit: bool = False
    ) -> None:
        self._transport = Transport(
            base_url, access_token, timeout=timeout, wait_on_rate_limit=wait_on_rate_limit
        )

    def __enter__(self) -> AppClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. The client can't be used afterwards."""
        self._transport.close()

    # The installation and its business

    def installation(self) -> Record:
        """``installationId, businessId, isTestInstall, needsReConsent, scopes, settings, installedAt``."""
        return self._transport.record("GET", "/app-api/installation")

    def business(self) -> Record:
        """``id, slug, name, currency, timezone, isSandbox, …``. Scope ``read_business``."""
        return self._transport.record("GET", "/app-api/business")

    # Products: scope read_products

    def products(self, *, page: int = 1, limit: int = 50, **filters: Filter) -> Page:
        """One page of at most 100; filters ``category``, ``is_available``, ``search``, ``updated_since``."""
        return self._page("/app-api/products", page, limit, filters)

    def iter_products(self, **filters: Filter) -> Iterator[Record]:
        """Every product, page after page, with the filters of ``products``.

        What changes meanwhile may be met twice or not at all, as with any paged list.
        """
        return self._every(self.products, 100, filters)

    def product(self, product_id: str) -> Record:
        """One product; 404 when there is none."""
        return self._transport.record("GET", f"/app-api/products/{_part(product_id)}")

    def product_by_slug(self, slug: str) -> Record:
        """One product by the readable part of its address; 404 when there is none."""
        return self._transport.record("GET", f"/app-api/products/slug/{_part(slug)}")

    # Orders: scopes read_orders and write_orders

    def orders(self, *, page: int = 1, limit: int = 20, **filters: Filter) -> Page:
        """One page of at most 50; filters ``status``, ``created_after``, ``created_before``, ``updated_since``."""
        return self._page("/app-api/orders", page, limit, filters)

    def iter_orders(self, **filters: Filter) -> Iterator[Record]:
        """Every order, page after page, as ``iter_products`` does."""
        return self._every(self.orders, 50, filters)

    def order(self, order_id: str) -> Record:
        """One order; 404 when there is none."""
        return self._transport.record("GET", f"/app-api/orders/{_part(order_id)}")

    def create_order(
        self,
        *,
        items: Sequence[Record],
        customer: Record,
        delivery_method: str = "PICKUP",
        payment_method: str = "CASH",
        address: str | None = None,
        promo_discount: float | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> Record:
        """Place a guest order and return it, PENDING.

        ``items`` are ``{"productId": str, "quantity": int}``, ``customer`` is ``{"name", "email", "phone"}`` with
        one of the last two. ``delivery_method`` is PICKUP, or DELIVERY with an ``address``. The same
        ``idempotency_key`` and order within 24 hours give the first answer again instead of a second order.

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
        return self._transport.record("POST", "/app-api/orders", _given(body), headers=headers)

    def set_order_status(self, order_id: str, status: str) -> Record:
        """Move an order forward, or cancel it, and return it; 409 for a move that isn't allowed."""
        return self._transport.record(
            "PATCH", f"/app-api/orders/{_part(order_id)}/status", {"status": status}
        )

    # Paying: scope write_orders

    def payment_methods(self) -> list[Record]:
        """How an order can be paid for now: ``id, name, description, icon``, built-in ones first.

        The platform asks the store's apps for it, which may take some seconds.
        """
        methods: list[Record] = self._transport.record("GET", "/app-api/payment-methods")["methods"]
        return methods

    def settle_payment(self, order_id: str, status: str, *, reference: str | None = None) -> Record:
        """Say how a payment that your ``checkout.create_payment`` made has ended, and return the order.

        ``status`` is COMPLETED or FAILED, ``reference`` your own word for the payment. The same status again changes
        nothing; 409 where the payment has ended otherwise (it may have expired), 403 for another app's payment.
        """
        body = {"status": status, "reference": reference}
        return self._transport.record("PATCH", f"/app-api/orders/{_part(order_id)}/payment", _given(body))

    # Reviews: scope read_reviews

    def reviews(self, *, page: int = 1, limit: int = 10, **filters: Filter) -> Page:
        """One page of at most 50; filter ``product_id``."""
        return self._page("/app-api/reviews", page, limit, filters)

    def iter_reviews(self, **filters: Filter) -> Iterator[Record]:
        """Every review, page after page, as ``iter_products`` does."""
        return self._every(self.reviews, 50, filters)

    def review_stats(self) -> Record:
        """``total, averageRating`` (``None`` without any) and ``distribution``, from "1" to "5"."""
        return self._transport.record("GET", "/app-api/reviews/stats")

    # Sales figures: scope read_analytics

    def dashboard(self, *, days: int = 30) -> Record:
        """Sales of the last 1 to 90 days: ``totalOrders, totalRevenue, topProducts, daily, …``."""
        return self._transport.record("GET", "/app-api/analytics/dashboard", query={"days": days})

    # The site's published pages: scope read_pages

    def pages(self, *, page: int = 1, limit: int = 50) -> Page:
        """One page of at most 100 site pages, without filters."""
        return self._page("/app-api/pages", page, limit, {})

    def page_by_slug(self, slug: str) -> Record:
        """One site page: ``id, slug, title, content`` (HTML); 404 when there is none, or it is not published."""
        return self._transport.record("GET", f"/app-api/pages/{_part(slug)}")

    # Webhooks: no scope

    def create_webhook(self, url: str, events: Sequence[str], description: str | None = None) -> Record:
        """Register ``url`` for ``events``: ``id, url, events, isActive, eventsWithoutScope, …`` and ``secret``.

        Keep the secret: no other answer holds it.
        """
        body = {"url": url, "events": list(events), "description": description}
        return self._transport.record("POST", "/webhooks", _given(body))

    def webhooks(self, *, page: int = 1, limit: int = 50) -> Page:
        """One page of at most 100 registrations, the one that the app's Webhook URL brings (``isAppDefined``) too."""
        return self._page("/webhooks", page, limit, {})

    def webhook(self, webhook_id: str) -> Record:
        """One registration, without its secret; 404 when there is none."""
        return self._transport.record("GET", f"/webhooks/{_part(webhook_id)}")

    def update_webhook(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        description: str | None = None,
        is_active: bool | None = None,
    ) -> Record:
        """Change what is given of a registration, and return it."""
        body = {"url": url, "events": events, "description": description, "isActive": is_active}
        return self._transport.record("PATCH", f"/webhooks/{_part(webhook_id)}", _given(body))

    def delete_webhook(self, webhook_id: str) -> None:
        """End a registration; nothing more is sent for it."""
        self._transport.send("DELETE", f"/webhooks/{_part(webhook_id)}")

    def test_webhook(self, webhook_id: str) -> Record:
        """Have ``webhook.test`` sent now, once: ``success, httpStatus, durationMs, error, eventId``."""
        return self._transport.record("POST", f"/webhooks/{_part(webhook_id)}/test")

    def deliveries(self, webhook_id: str, *, page: int = 1, limit: int = 50, **filters: Filter) -> Page:
        """One page of at most 100 deliveries of a webhook; filter ``status``, such as "EXHAUSTED"."""
        return self._page(f"/webhooks/{_part(webhook_id)}/deliveries", page, limit, filters)

    def delivery(self, webhook_id: str, delivery_id: str) -> Record:
        """One delivery with its ``attempts``; 404 when there is none."""
        path = f"/webhooks/{_part(webhook_id)}/deliveries/{_part(delivery_id)}"
        return self._transport.record("GET", path)

    def redeliver(self, webhook_id: str, delivery_id: str) -> Record:
        """Resend one delivery with the same ``X-Service-Event-Id``, and return it; 409 for an inactive webhook."""
        path = f"/webhooks/{_part(webhook_id)}/deliveries/{_part(delivery_id)}/redeliver"
        return self._transport.record("POST", path)

    def recover(self, webhook_id: str, *, since: datetime, until: datetime | None = None) -> int:
        """Resend all deliveries of a period that were given up or held; returns how many."""
        body = _given({"since": _text(since), "until": _text(until)})
        return int(
            self._transport.record("POST", f"/webhooks/{_part(webhook_id)}/recover", body)["deliveries"]
        )

    def _page(self, path: str, page: int, limit: int, filters: dict[str, Filter]) -> Page:
        query: Record = {"page": page, "limit": limit}
        query |= {_camel(name): _text(value) for name, value in filters.items()}
        answer = self._transport.record("GET", path, query=query)
        return Page(answer["data"], answer["total"], answer["page"], answer["limit"])

    def _every(self, read: Callable[..., Page], limit: int, filters: dict[str, Filter]) -> Iterator[Record]:
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


def _text(value: Filter) -> str | int | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value
