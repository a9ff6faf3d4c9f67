"""What the app does: one function for each event and each hook."""

import cards
import known_stores
import reading
import texts
from extension_platform_sdk import HookCall, HookRouter, WebhookEvent, WebhookRouter
from extension_platform_sdk.types import (
    BusinessDataErasure,
    CustomerDataErasure,
    OrderCalculateDiscountsAnswer,
    OrderCalculateDiscountsData,
    OrderCreated,
    OrderValidateAnswer,
    OrderValidateData,
)

webhooks = WebhookRouter()
hooks = HookRouter()


@webhooks.on("order.created")
def placed(event: WebhookEvent[OrderCreated]) -> None:
    """Anybody's order earns a stamp, also that of a shopper who hasn't proven who they are."""
    cards.note(event.business_id, event.data["orderId"], event.request_id)
    reading.wake()


@webhooks.on("order.cancelled", "order.refunded")
def taken_back(event: WebhookEvent) -> None:
    """Whether all of it was given back, the order itself says."""
    cards.note(event.business_id, event.data["orderId"])
    reading.wake()


@webhooks.on("customer.data_erasure")
def erase_customer(event: WebhookEvent[CustomerDataErasure]) -> None:
    cards.erase(event.business_id, event.data["orderIds"])


@webhooks.on("business.data_erasure")
def erase(event: WebhookEvent[BusinessDataErasure]) -> None:
    known_stores.forget(event.business_id)


@hooks.on("order.validate")
def hold(call: HookCall[OrderValidateData]) -> OrderValidateAnswer:
    """The first question about an order that is being placed. Two tabs can't have the same free order."""
    if call.shopper and call.shopper.proven and call.request_id:
        cards.offer_free_order(call.business_id, call.shopper.key, call.request_id, hold=True)
    return {"valid": True}


@hooks.on("order.calculate_discounts")
def discount(call: HookCall[OrderCalculateDiscountsData]) -> OrderCalculateDiscountsAnswer:
    """Only who has proven that the address is theirs may spend a card. Anybody can type anybody's address."""
    shopper, request = call.shopper, call.request_id
    if not shopper or not shopper.proven or not request:
        return {"discount": 0}
    if not cards.offer_free_order(call.business_id, shopper.key, request):
        return {"discount": 0}
    free = call.data["subtotal"] - call.data["promoDiscount"]
    return {"discount": free, "reason": texts.of(known_stores.locale_of(call.business_id))["free"]}
