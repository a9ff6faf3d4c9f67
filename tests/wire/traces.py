"""A trace of another system, and an order that belongs to it."""

from typing import Any

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"

TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def order_body(product: Any) -> dict[str, Any]:
    return {
        "items": [{"productId": str(product.pk), "quantity": 1}],
        "customer": {"name": "Kim", "phone": "+1 555 0100"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
