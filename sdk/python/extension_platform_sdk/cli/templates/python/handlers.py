"""What the app does: one function for each event and each hook."""

import installations
from extension_platform_sdk import ApiError, HookCall, HookRouter, WebhookEvent, WebhookRouter
from extension_platform_sdk.types import (
    BusinessDataErasure,
    CustomerDataErasure,
    OrderCalculateDiscountsAnswer,
    OrderCalculateDiscountsData,
    OrderCreated,
)

webhooks = WebhookRouter()
hooks = HookRouter()


@webhooks.on("order.created")
def note_order(event: WebhookEvent[OrderCreated]) -> None:
    """The event has the order's number, the app API the rest. If this raises, the platform sends the event again."""
    store = installations.client_of(event)
    if store is None:
        return
    with store:
        try:
            order = store.order(event.data["orderId"])
        except ApiError as error:
            if error.status_code in (401, 404):  # the store removed the app, or the order is gone
                return
            raise
    items = ", ".join(f"{line['quantity']} x {line['name']}" for line in order["items"])
    print(f"New order {order['orderNumber']}: {items}", flush=True)


@webhooks.on("business.data_erasure")
def erase(event: WebhookEvent[BusinessDataErasure]) -> None:
    """48 hours after a store uninstalled the app: delete everything about it."""
    installations.forget(event.business_id)
    print(f"Erased the data of {event.business_id}", flush=True)


@webhooks.on("customer.data_erasure")
def erase_customer(event: WebhookEvent[CustomerDataErasure]) -> None:
    """A store erased one of its customers: delete what you keep of these orders and reviews. This app keeps none."""
    count = len(event.data["orderIds"]) + len(event.data["reviewIds"])
    print(f"Erased a customer of {event.business_id} with {count} records", flush=True)


@hooks.on("order.calculate_discounts")
def discount(call: HookCall[OrderCalculateDiscountsData]) -> OrderCalculateDiscountsAnswer:
    """10% off orders of 20.00 and more. Amounts are in minor units: 2000 is 20.00."""
    if call.data["subtotal"] < 2000:
        return {"discount": 0}
    return {"discount": call.data["subtotal"] // 10, "reason": "10% off orders of 20.00 and more"}
