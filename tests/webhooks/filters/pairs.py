"""Seeded events and filters, which meet one another often enough to pass and to be stopped."""

import random
from typing import Any

from tests.webhooks.filters.oracle import FIELDS, LIST, TIME

TEXTS = ["PENDING", "READY", "DELIVERY", "PICKUP", "CARD", "CASH", "", "e", "é", "É", "ß", "Zebra", "apple", "\U0001f35e bread", "100", "true"]  # fmt: skip
NUMBERS = [0, 1, 4, 5, 12.5, 12, 99.99, 100, 100.0, 100.01, 1e3, 2**53, 2**53 + 1, 0.1, 0.30000000000000004]
TIMES = [
    "2026-11-20T15:04:05.123Z", "2026-11-20T15:04:05Z", "2026-11-20T16:04:05.123+01:00", "2026-11-20T10:04:05.122-05:00",
    "2026-11-20t15:04:05.1230z", "2025-01-01T00:00:00+14:00", "2027-02-28T23:59:59.999999Z",
]  # fmt: skip
CHANGED = ["price", "stock", "status", "name"]


def data_of(dice: random.Random, event: str) -> dict[str, Any]:
    """Fits the event's schema."""
    product = {
        "id": "0193", "name": dice.choice(TEXTS), "description": dice.choice(TEXTS), "price": dice.choice(NUMBERS),
        "category": dice.choice(TEXTS), "isAvailable": dice.random() < 0.5, "imageUrl": dice.choice([None, "/pictures/1"]),
        "slug": "bread", "status": dice.choice(["ACTIVE", "ARCHIVED"]), "stock": dice.choice([None, 0, 4, 5, 100]),
        "createdAt": dice.choice(TIMES), "updatedAt": dice.choice(TIMES),
    }  # fmt: skip
    order = {"orderId": "0194", "orderNumber": dice.choice(["100", "101"])}
    moved = order | {
        "previousStatus": dice.choice(["PENDING", "READY"]), "status": dice.choice(["READY", "DELIVERED"]),
        "changedAt": dice.choice(TIMES), "changedFields": ["status"],
    }  # fmt: skip
    paid_by = dice.choice(["CARD", "CASH"])
    return {
        "order.created": order | {
            "amount": dice.choice(NUMBERS), "deliveryFee": dice.choice(NUMBERS),
            "deliveryMethod": dice.choice(["DELIVERY", "PICKUP"]), "paymentMethod": paid_by,
            "isGuest": dice.random() < 0.5, "createdAt": dice.choice(TIMES),
        },
        "order.status_changed": moved,
        "order.delivered": moved,
        "payment.completed": order | {
            "invoiceId": dice.choice([None, "inv-77", "100"]), "amount": dice.choice(NUMBERS), "paymentMethod": paid_by,
            "status": "COMPLETED", "occurredAt": dice.choice(TIMES),
        },
        "product.created": product,
        "product.updated": product | {"changedFields": dice.sample(CHANGED, dice.randint(0, 3))},
        "product.low_stock": {
            "productId": "0193", "name": dice.choice(TEXTS), "stock": dice.choice([0, 4, 5]), "threshold": dice.choice([None, 5, 100]),
        },
        "review.created": {
            "id": "0195", "productId": "0193", "rating": dice.randint(1, 5), "comment": dice.choice([None, *TEXTS]),
            "authorName": dice.choice([None, "Kim"]), "createdAt": dice.choice(TIMES),
        },
    }[event]  # fmt: skip


def filter_of(dice: random.Random) -> dict[str, Any]:
    """One that is accepted for a webhook that names every event of `FIELDS`."""
    document: dict[str, Any] = {}
    if dice.random() < 0.9:
        mode = dice.choice(["all", "any"])
        document[mode] = [condition_of(dice) for _ in range(dice.choice([1, 1, 1, 2, 3, 8]))]
    if not document or dice.random() < 0.15:
        document["changed"] = dice.sample(CHANGED, dice.randint(1, 3))
    return document


def condition_of(dice: random.Random) -> dict[str, Any]:
    fields = dice.choice(list(FIELDS.values()))
    name = dice.choice(list(fields))
    kinds = {of[name] for of in FIELDS.values() if name in of}
    op = dice.choice(["eq", "ne", "gt", "gte", "lt", "lte", "in", "contains", "exists"])
    condition = {"field": name + dice.choice(["", "[]"]) * (LIST in kinds), "op": op}
    if op == "exists":
        return condition | dice.choice([{}, {"value": True}, {"value": False}])
    single = TIMES if TIME in kinds else [*TEXTS, *NUMBERS, *CHANGED]
    values = single if op in ("gt", "gte", "lt", "lte") or TIME in kinds else [*single, True, False]
    if op == "in":
        return condition | {"value": dice.sample(values, dice.randint(1, 6))}
    return condition | {"value": dice.choice(values)}
