"""What the app asks of the platform: connect a store, place a sample order, send a test event, disconnect."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime
from typing import Any

from extension_platform_sdk import ApiError, AppClient

from .connections import Connection, ConnectionStore

EVENTS = (
    "order.created",
    "order.status_changed",
    "order.delivered",
    "order.cancelled",
    "product.created",
    "product.updated",
    "product.deleted",
    "product.out_of_stock",
    "product.low_stock",
    "product.back_in_stock",
    "business.data_erasure",
)
"""What Order Bell listens to. An app that keeps data of a store must listen to its erasure as well."""

DESCRIPTION = "Order Bell, the sample app"


class NothingToOrder(Exception):
    """The store has no product that is available and in stock."""


class Platform:
    """The platform at ``url``, for an app that receives its webhooks at ``webhook_url``.

    Every method raises the SDK's ``PlatformError`` where the platform says no or nothing.
    """

    def __init__(self, *, url: str, webhook_url: str, connections: ConnectionStore) -> None:
        self.url = url
        self.webhook_url = webhook_url
        self._connections = connections
        self._lock = threading.Lock()

    def connect(self, access_token: str) -> Connection:
        """Register this app's webhook for the store behind a token, and keep the secret.

        A store that is connected already keeps its webhook where the platform still has it: the secret is shown
        only once, and a second registration would bring every event twice.
        """
        with self._lock, self._client(access_token) as client:
            installation = client.installation()
            known = self._connections.of_installation(installation["installationId"])
            webhook = self._reuse(client, known) if known else None
            secret = known.webhook_secret if known and webhook else ""
            if webhook is None:
                webhook = client.create_webhook(self.webhook_url, EVENTS, DESCRIPTION)
                secret = webhook["secret"]
            business = _business(client)
            connection = Connection(
                installation_id=installation["installationId"],
                business_id=installation["businessId"],
                business_name=business.get("name") or "",
                currency=business.get("currency") or "",
                is_test_install=bool(installation.get("isTestInstall")),
                access_token=access_token,
                webhook_id=webhook["id"],
                webhook_secret=secret,
                webhook_url=self.webhook_url,
                events_without_scope=tuple(webhook.get("eventsWithoutScope") or ()),
                connected_at=known.connected_at if known else datetime.now(UTC).isoformat(),
            )
            self._connections.save(connection)
        return connection

    def place_sample_order(self, connection: Connection) -> dict[str, Any]:
        """Order one piece of the first product that can be had, and return the order.

        Raises ``NothingToOrder`` where there is none. Needs the scopes ``read_products`` and ``write_orders``.
        """
        with self._client(connection.access_token) as client:
            for product in client.iter_products(is_available=True):
                if product["isAvailable"] and product.get("stock") != 0:
                    return client.create_order(
                        items=[{"productId": product["id"], "quantity": 1}],
                        customer={"name": "Robin Sample", "email": "robin.sample@example.com"},
                        note="A sample order, placed by Order Bell",
                        idempotency_key=str(uuid.uuid4()),
                    )
        raise NothingToOrder

    def send_test(self, connection: Connection) -> dict[str, Any]:
        """Have the platform send ``webhook.test`` now, and return what it saw."""
        with self._client(connection.access_token) as client:
            return client.test_webhook(connection.webhook_id)

    def disconnect(self, connection: Connection) -> None:
        """End the webhook and forget the store. A webhook or token that is gone already is as good."""
        with self._lock, self._client(connection.access_token) as client:
            try:
                client.delete_webhook(connection.webhook_id)
            except ApiError as error:
                if error.status_code not in {401, 404}:
                    raise
            self._connections.remove(connection.installation_id)

    def _client(self, access_token: str) -> AppClient:
        return AppClient(self.url, access_token)

    def _reuse(self, client: AppClient, known: Connection) -> dict[str, Any] | None:
        """Bring a connection's webhook up to date; ``None`` when the platform has it no more."""
        try:
            return client.update_webhook(
                known.webhook_id, url=self.webhook_url, events=EVENTS, is_active=True
            )
        except ApiError as error:
            if error.status_code != 404:
                raise
            return None


def _business(client: AppClient) -> dict[str, Any]:
    """The store's name and currency where the app may read them: pleasant to show, not needed."""
    try:
        return client.business()
    except ApiError:
        return {}
