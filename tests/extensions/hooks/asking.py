"""The shop's five questions, with dull data where a test does not care."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from accounts.models import Business
from stores import hookpoints
from stores.hookpoints import Discount, Flow, OrderVerdict, PaymentMethod


@dataclass(frozen=True)
class Line:
    product_id: UUID
    quantity: int


LINES = [Line(uuid4(), 2)]


def fee(shop: Business, *, built_in: int = 350, flow: Flow | None = None, **asked: Any) -> int:
    return hookpoints.ask_shipping_fee(
        business=shop,
        **{"delivery_method": "DELIVERY", "subtotal": 2000, "built_in_fee": built_in, **asked},
        flow=flow,
    ).answer


def verdict(shop: Business, *, seconds: float = 5.0, flow: Flow | None = None) -> OrderVerdict:
    return hookpoints.ask_verdict(
        business=shop,
        lines=LINES,
        subtotal=2000,
        delivery_method="PICKUP",
        flow=flow or Flow.start(seconds),
    ).answer


def discount(shop: Business, *, subtotal: int = 2000, promo: int = 0) -> Discount:
    return hookpoints.ask_discount(
        business=shop,
        lines=LINES,
        subtotal=subtotal,
        promo_discount=promo,
        delivery_fee=350,
        flow=Flow.start(),
    ).answer


def methods(shop: Business, **asked: Any) -> list[PaymentMethod]:
    return list(hookpoints.ask_payment_methods(business=shop, **asked))
