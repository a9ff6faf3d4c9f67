"""What the app asks of the platform: connect a store, read its products, place a sample order, disconnect."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from extension_platform_sdk import ApiError, AppClient, Installation, OAuthClient, Page, PlatformError

from .connections import Connection, ConnectionStore
from .times import now_text

EVENTS = (
    "order.created",
    "order.status_changed",
    "order.delivered",
    "order.cancelled",
    "payment.completed",
    "payment.expired",
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


class SecretNeeded(PlatformError):
    """The platform signs deliveries to this app with a webhook secret that the app doesn't know."""


class Platform:
    """The platform at ``url``, for an app that receives its webhooks at ``webhook_url``.

    ``origin`` is what frames its pages. Every method raises the SDK's ``PlatformError`` where the platform says no or nothing. ``oauth`` is ``None`` for an
    app without client credentials.
    """

    def __init__(
        self, *, url: str, webhook_url: str, connections: ConnectionStore, oauth: OAuthClient | None
    ) -> None:
        self.url = url
        self.webhook_url = webhook_url
        self.oauth = oauth
        parts = urlsplit(url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self._connections = connections
        self._lock = threading.Lock()

    def keep(self, installed: Installation) -> Connection:
        """Write down what an exchange gave, before anything else is asked: the platform won't give it again."""
        connection = Connection(
            installation_id=installed.installation_id,
            business_id=installed.business_id,
            business_name="",
            currency="",
            is_test_install=installed.is_test_install,
            access_token=installed.access_token,
            webhook_id="",
            webhook_secret=installed.webhook_secret,
            webhook_url="",
            events_without_scope=(),
            connected_at=now_text(),
            by_oauth=True,
            installation_secret=installed.webhook_secret,
        )
        with self._lock:
            known = self._connections.of_installation(installed.installation_id)
            if known:  # consented to again: a new token for the same installation, whose webhook stays
                connection = replace(
                    known,
                    access_token=installed.access_token,
                    by_oauth=True,
                    ended_at=None,
                    installation_secret=installed.webhook_secret,
                )
            self._connections.save(connection)
        return connection

    def connect(self, access_token: str, webhook_secret: str | None = None) -> Connection:
        """See to it that the webhooks of the store behind a token arrive here, and can be verified.

        A store that is connected already keeps its webhook where the platform still has it: the secret is shown
        only once, and a second registration would bring every event twice. ``webhook_secret`` is the installation's,
        under which the platform sends to the app's Webhook URL; where that leads elsewhere, the app registers a
        webhook of its own.

        Raises ``SecretNeeded`` where the app's Webhook URL leads here and the secret is not known.
        """
        with self._lock, self._client(access_token) as client:
            installation = client.installation()
            known = self._connections.of_installation(installation["installationId"])
            webhook, secret = self._webhook(client, known, webhook_secret)
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
                connected_at=known.connected_at if known else now_text(),
                by_oauth=(known.by_oauth if known else False) or self._is_ours(webhook),
                installation_secret=webhook_secret or (known.installation_secret if known else ""),
                storefront_url=str(business.get("storefrontUrl") or ""),
            )
            self._connections.save(connection)
        self._forget_former(connection)
        return connection

    def settings(self, connection: Connection) -> dict[str, Any]:
        """What the merchant set for this app, the defaults of the manifest's ``settingsSchema`` included.

        The checkout waits for this, so not for long: a hook that is late is as good as none.
        """
        with self._client(connection.access_token, timeout=2) as client:
            settings: dict[str, Any] = client.installation()["settings"]
            return settings

    def business(self, connection: Connection) -> dict[str, Any]:
        """The store's name, currency and time zone; empty where the app may not read them."""
        with self._client(connection.access_token) as client:
            return _business(client)

    def orders(self, connection: Connection, *, limit: int, created_after: datetime | None = None) -> Page:
        """The newest orders of a store; needs the scope ``read_orders``."""
        with self._client(connection.access_token, timeout=5) as client:
            return client.orders(limit=limit, created_after=created_after)

    def settle_payment(self, connection: Connection, order_id: str, status: str, reference: str) -> None:
        """Say how a payment of this app has ended; needs the scope ``write_orders``."""
        with self._client(connection.access_token) as client:
            client.settle_payment(order_id, status, reference=reference)

    def products(self, connection: Connection) -> Page:
        """The newest products of a store, read now; needs the scope ``read_products``.

        A token that has ended is written down, and raised as the ``ApiError`` 401 that it is.
        """
        with self._client(connection.access_token) as client:
            try:
                return client.products(limit=20)
            except ApiError as error:
                if error.status_code == 401:
                    self._connections.end(connection.installation_id, now_text())
                raise

    def place_sample_order(self, connection: Connection) -> dict[str, Any]:
        """Order one piece of the first available product, and return the order.

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
        """End what connects the app and the store.

        What OAuth installed is uninstalled, and kept until the erasure call that follows. Of a store that was connected
        by a token only the webhook is ended, and the store is forgotten. What is gone already is as good.
        """
        if connection.by_oauth and self.oauth:
            self.oauth.revoke(connection.access_token)
            self._connections.end(connection.installation_id, now_text())
            return
        with self._lock, self._client(connection.access_token) as client:
            try:
                client.delete_webhook(connection.webhook_id)
            except ApiError as error:
                if error.status_code not in {401, 404}:
                    raise
            self._connections.remove(connection.installation_id)

    def _forget_former(self, connection: Connection) -> None:
        """Drop ended installations on the same store: a new install cancels the erasure that they waited for."""
        for each in self._connections.active():
            if (
                connection.by_oauth
                and each.by_oauth
                and each.business_id == connection.business_id
                and each.installation_id != connection.installation_id
                and self._has_ended(each)
            ):
                self._connections.remove(each.installation_id)

    def _has_ended(self, connection: Connection) -> bool:
        if connection.ended_at:
            return True
        try:
            with self._client(connection.access_token) as client:
                client.installation()
        except PlatformError as error:
            return isinstance(error, ApiError) and error.status_code == 401
        return False

    def _client(self, access_token: str, timeout: float = 10) -> AppClient:
        return AppClient(self.url, access_token, timeout=timeout)

    def _is_ours(self, webhook: dict[str, Any]) -> bool:
        """Whether the installation is of the very app whose client credentials we have, which can then uninstall it."""
        return self.oauth is not None and bool(webhook.get("isAppDefined"))

    def _webhook(
        self, client: AppClient, known: Connection | None, secret: str | None
    ) -> tuple[dict[str, Any], str]:
        """The registration that leads here, and its secret: the app-defined, the known, or a new one."""
        defined = self._app_defined(client)
        if defined and known and known.webhook_id in {"", defined["id"]}:
            secret = secret or known.webhook_secret
        if defined and secret:
            return defined, secret
        if known and known.webhook_id and (webhook := self._reuse(client, known)):
            return webhook, known.webhook_secret
        if defined:
            raise SecretNeeded
        webhook = client.create_webhook(self.webhook_url, EVENTS, DESCRIPTION)
        return webhook, webhook["secret"]

    def _app_defined(self, client: AppClient) -> dict[str, Any] | None:
        """What the platform registered for the app's Webhook URL, where that leads here and is switched on."""
        for webhook in client.webhooks().data:
            if webhook.get("isAppDefined") and webhook["url"] == self.webhook_url and webhook["isActive"]:
                return webhook
        return None

    def _reuse(self, client: AppClient, known: Connection) -> dict[str, Any] | None:
        """Bring a connection's webhook up to date; ``None`` when the platform has it no more, or leads it elsewhere."""
        try:
            return client.update_webhook(
                known.webhook_id, url=self.webhook_url, events=EVENTS, is_active=True
            )
        except ApiError as error:
            if error.status_code not in {404, 409}:
                raise
            return None


def _business(client: AppClient) -> dict[str, Any]:
    """The store's name and currency where the app may read them: pleasant to show, not needed."""
    try:
        return client.business()
    except ApiError:
        return {}
