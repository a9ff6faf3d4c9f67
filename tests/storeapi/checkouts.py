"""The checkout of a shop, which asks apps."""

from typing import Any

from django.test import Client

from accounts.models import Business
from tests.hooking import Hooked, Hooking
from tests.storeapi.rows import post, put

VALIDATE, DISCOUNTS, RATES = "order.validate", "order.calculate_discounts", "checkout.shipping_rates"
METHODS, PAYMENT = "checkout.payment_methods", "checkout.create_payment"
ITEMS = [{"productId": "p-1", "quantity": 2}]
DATA: dict[str, dict[str, Any]] = {
    METHODS: {},
    PAYMENT: {
        "orderId": "o-1",
        "amount": "900",
        "currency": "USD",
        "paymentMethodId": "nobody:wallet",
        "description": "Order 1001",
    },
    RATES: {"deliveryMethod": "DELIVERY", "locality": "Almaty", "subtotal": 900, "builtInFee": 350},
    VALIDATE: {"items": ITEMS, "subtotal": 900, "deliveryMethod": "DELIVERY"},
    DISCOUNTS: {"items": ITEMS, "subtotal": 900, "promoDiscount": 0, "deliveryFee": 350},
}
PAY = {"paymentUrl": "https://pay.example/77", "invoiceId": "inv-77"}


def ask(shop: Client, point: str, quote: str = "", budget: int = 10_000, **data: Any) -> Any:
    """The response of a hook. `data` replaces some of its fields."""
    body: dict[str, Any] = {"data": DATA[point] | data, "budgetMs": budget}
    return post(shop, f"hooks/{point}", **body | ({"quote": quote} if quote else {}))


def asked(shop: Client, point: str, quote: str = "", **data: Any) -> dict[str, Any]:
    response = ask(shop, point, quote, **data)
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


def order(shop: Client, quote: str = "", id_: str = "o-1", version: int = 1, **fields: Any) -> dict[str, Any]:
    """What became of an order's row with this quote."""
    response = put(shop, f"orders/{id_}", version, **({"quote": quote} if quote else {}), **fields)
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


def wallet(hooking: Hooking, business: Business, *answers: Any, **content: Any) -> tuple[Hooked, str]:
    """An app that makes payments, and its method."""
    app = hooking(PAYMENT, *(answers or (PAY,)), business=business, **content)
    return app, f"{app.app.slug}:wallet"


def pay(shop: Client, method: str, quote: str = "", **data: Any) -> Any:
    """The payment for an order."""
    return asked(shop, PAYMENT, quote, paymentMethodId=method, **data)["answer"]["payment"]
