"""What the app asks of the platform. Every function raises the SDK's ``PlatformError`` for an error or no answer."""

import uuid
from dataclasses import replace
from threading import Lock
from typing import Any

from extension_platform_sdk import ApiError, AppClient, Installation, Page, PlatformError

from . import stores
from .bell import bell
from .database import now_text
from .stores import Store

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

connecting = Lock()


class NothingToOrder(PlatformError):
    """The store has no product that is available and in stock."""


class SecretNeeded(PlatformError):
    """The platform signs deliveries to this app with a webhook secret that the app doesn't know."""


def client(access_token: str, timeout: float = 10) -> AppClient:
    return AppClient(bell.config.platform_url, access_token, timeout=timeout)


def keep(installed: Installation) -> Store:
    """Keep what the exchange of a code gave, before anything else is asked: the platform won't give it again."""
    token, secret = installed.access_token, installed.webhook_secret
    known = stores.of_installation(installed.installation_id)
    if known:  # consented to again: a new token for the same installation, whose webhook stays
        return stores.save(
            replace(known, access_token=token, installation_secret=secret, by_oauth=True, ended_at=None)
        )
    return stores.save(
        Store(
            installation_id=installed.installation_id,
            business_id=installed.business_id,
            business_name="",
            currency="",
            storefront_url="",
            is_test_install=installed.is_test_install,
            by_oauth=True,
            access_token=token,
            installation_secret=secret,
            webhook_id="",
            webhook_secret=secret,
            webhook_url="",
            missing_events="",
            connected_at=now_text(),
        )
    )


def connect(access_token: str, secret: str = "") -> Store:
    """Have the webhooks of a token's store arrive here. ``secret`` is the installation's webhook secret, if it is known.

    A store that is connected keeps its webhook: its secret is shown only once, and a second webhook would bring every event twice.
    Raises ``SecretNeeded`` if the app's Webhook URL leads here and the secret is not known.
    """
    with connecting, client(access_token) as asked:
        installation = asked.installation()
        known = stores.of_installation(installation["installationId"])
        webhook, webhook_secret = _webhook(asked, known, secret)
        business = _business(asked)
        return stores.save(
            Store(
                installation_id=installation["installationId"],
                business_id=installation["businessId"],
                business_name=business.get("name") or "",
                currency=business.get("currency") or "",
                storefront_url=str(business.get("storefrontUrl") or ""),
                is_test_install=bool(installation.get("isTestInstall")),
                # An installation of this very app, which can then uninstall it.
                by_oauth=bool(known and known.by_oauth) or bool(bell.oauth and webhook.get("isAppDefined")),
                access_token=access_token,
                installation_secret=secret or (known.installation_secret if known else ""),
                webhook_id=webhook["id"],
                webhook_secret=webhook_secret,
                webhook_url=bell.webhook_url,
                missing_events=" ".join(webhook.get("eventsWithoutScope") or ()),
                connected_at=known.connected_at if known else now_text(),
            )
        )


def _webhook(asked: AppClient, known: Store | None, secret: str) -> tuple[Any, str]:
    """The webhook that leads here, and its secret: the one by the app's Webhook URL, the known one, or a new one."""
    ours = (each for each in asked.webhooks().data if each["url"] == bell.webhook_url and each["isActive"])
    defined = next((each for each in ours if each.get("isAppDefined")), None)
    if defined and known and known.webhook_id in {"", defined["id"]}:
        secret = secret or known.webhook_secret
    if defined and secret:
        return defined, secret
    if known and known.webhook_id:
        try:
            updated = asked.update_webhook(
                known.webhook_id, url=bell.webhook_url, events=EVENTS, is_active=True
            )
        except ApiError as error:
            if error.status_code not in {404, 409}:  # gone, or led elsewhere
                raise
        else:
            return updated, known.webhook_secret
    if defined:
        raise SecretNeeded
    webhook = asked.create_webhook(bell.webhook_url, EVENTS, DESCRIPTION)
    return webhook, webhook["secret"]


def _business(asked: AppClient) -> Any:
    """The store's name, currency and time zone; empty if the app may not read them."""
    try:
        return asked.business()
    except ApiError:
        return {}


def time_zone(store: Store) -> str:
    with client(store.access_token) as asked:
        return str(_business(asked).get("timezone") or "UTC")


def products(store: Store) -> Page[Any]:
    """The newest products. If the token has ended, that is noted, and raised as the ``ApiError`` 401 that it is."""
    with client(store.access_token) as asked:
        try:
            return asked.products(limit=20)
        except ApiError as error:
            if error.status_code == 401:
                stores.end(store)
            raise


def place_sample_order(store: Store) -> Any:
    """Order one piece of the first available product."""
    with client(store.access_token) as asked:
        for product in asked.iter_products(is_available=True):
            if product["isAvailable"] and product.get("stock") != 0:
                return asked.create_order(
                    items=[{"productId": product["id"], "quantity": 1}],
                    customer={"name": "Robin Sample", "email": "robin.sample@example.com"},
                    note="A sample order, placed by Order Bell",
                    idempotency_key=str(uuid.uuid4()),
                )
    raise NothingToOrder


def disconnect(store: Store) -> None:
    """Uninstall what OAuth installed; it is kept until the erasure call. Of other stores, delete the webhook and forget the store."""
    if store.by_oauth and bell.oauth:
        bell.oauth.revoke(store.access_token)
        stores.end(store)
        return
    with client(store.access_token) as asked:
        try:
            asked.delete_webhook(store.webhook_id)
        except ApiError as error:
            if error.status_code not in {401, 404}:  # gone already
                raise
    stores.remove(store)
