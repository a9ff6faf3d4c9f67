"""What the app does with a webhook, and the two addresses that the platform calls."""

import logging

from extension_platform_sdk import WebhookEvent, WebhookRouter
from extension_platform_sdk.types import BusinessDataErasure, CustomerDataErasure, OrderCreated
from flask import Blueprint, Response, request

from . import received, stores
from .bell import bell

REMEMBERED = 10_000  # deliveries that were handled

blueprint = Blueprint("webhooks", __name__)
logger = logging.getLogger(__name__)


class Handled:
    """The deliveries that were handled, in the database: a repeat is known after a restart, too."""

    def seen(self, key: str) -> bool:
        return bool(bell.database.run("SELECT key FROM used WHERE key = ?", key))

    def mark(self, key: str) -> None:
        bell.database.use_once(key)
        bell.database.run("DELETE FROM used WHERE rowid <= (SELECT max(rowid) FROM used) - ?", REMEMBERED)


webhooks = WebhookRouter(seen=Handled())


@webhooks.on("order.created")
def ring(event: WebhookEvent[OrderCreated]) -> None:
    logger.info("New order %s", event.data["orderNumber"])


@webhooks.on("business.data_erasure")
def erase(event: WebhookEvent[BusinessDataErasure]) -> None:
    stores.erase(event.business_id, event.webhook_id)


@webhooks.on("customer.data_erasure")
def erase_customer(event: WebhookEvent[CustomerDataErasure]) -> None:
    received.erase(event.business_id, [*event.data["orderIds"], *event.data["reviewIds"]])


@blueprint.post("/webhooks")
def receive() -> Response:
    response = bell.webhooks.handle(request.headers, request.get_data(), stores.secret_of_webhook)
    received.keep(response, request.headers, request.get_data())
    return Response(response.body, response.status, content_type="application/json")


@blueprint.post("/webhooks/hooks")
def answer() -> Response:
    response = bell.hooks.handle(request.headers, request.get_data(), stores.secret_of_business)
    if response.reason:
        logger.warning("A hook call was answered %s: %s", response.status, response.reason)
    return Response(response.body, response.status, content_type="application/json")
