"""The contract's rules for filters (section 19), written from its words alone: nothing here is the product's.

`FIELDS` says by hand which fields the data of an event has, and which of them are times or lists.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

TIME, LIST, PLAIN = "time", "list", "plain"
_ORDER = {"orderId": PLAIN, "orderNumber": PLAIN}
_MOVED = _ORDER | {"previousStatus": PLAIN, "status": PLAIN, "changedAt": TIME, "changedFields": LIST}
_PRODUCT = {
    "id": PLAIN, "name": PLAIN, "description": PLAIN, "price": PLAIN, "category": PLAIN, "isAvailable": PLAIN,
    "imageUrl": PLAIN, "slug": PLAIN, "status": PLAIN, "stock": PLAIN, "createdAt": TIME, "updatedAt": TIME,
}  # fmt: skip
_STOCK = {"productId": PLAIN, "name": PLAIN, "stock": PLAIN, "threshold": PLAIN}
_PAYMENT = _ORDER | {
    "invoiceId": PLAIN, "amount": PLAIN, "paymentMethod": PLAIN, "status": PLAIN, "occurredAt": TIME,
}  # fmt: skip
FIELDS: dict[str, dict[str, str]] = {
    "order.created": _ORDER
    | {
        "amount": PLAIN, "deliveryFee": PLAIN, "deliveryMethod": PLAIN, "paymentMethod": PLAIN, "isGuest": PLAIN,
        "createdAt": TIME,
    },
    "order.status_changed": _MOVED,
    "order.delivered": _MOVED,
    "payment.completed": _PAYMENT,
    "product.created": _PRODUCT,
    "product.updated": _PRODUCT | {"changedFields": LIST},
    "product.low_stock": _STOCK,
    "review.created": {
        "id": PLAIN, "productId": PLAIN, "rating": PLAIN, "comment": PLAIN, "authorName": PLAIN, "createdAt": TIME,
    },
}  # fmt: skip


def passes(filter_json: str, event: str, data_json: str) -> bool:
    wanted, data = json.loads(filter_json, parse_float=Fraction), json.loads(data_json, parse_float=Fraction)
    parts = []
    if "all" in wanted:
        parts.append(all(holds(each, event, data) for each in wanted["all"]))
    if "any" in wanted:
        parts.append(any(holds(each, event, data) for each in wanted["any"]))
    if "changed" in wanted and "changedFields" in data:
        parts.append(any(name in data["changedFields"] for name in wanted["changed"]))
    return all(parts)


def holds(condition: dict[str, Any], event: str, data: Any) -> bool:
    field, op = condition["field"], condition["op"]
    kind = FIELDS[event].get(field.split("[]")[0])
    if kind is None or ("[]" in field and kind != LIST):
        return False
    there = list(values(data, field))
    if op == "exists":
        return (len(there) > 0) == condition.get("value", True)
    is_time = kind == TIME
    return any(one(op, value, condition["value"], is_time) for value in there)


def values(data: Any, field: str) -> Iterator[Any]:
    """Whatever isn't missing at the path."""
    at = [data]
    for name in field.split("."):
        found = []
        for each in at:
            if not isinstance(each, dict) or name.removesuffix("[]") not in each:
                continue
            value = each[name.removesuffix("[]")]
            if not name.endswith("[]"):
                found.append(value)
            elif isinstance(value, list):
                found.extend(value)
        at = found
    for value in at:
        if value is not None and value != []:
            yield value


def one(op: str, have: Any, value: Any, is_time: bool) -> bool:
    if op == "eq":
        return equal(have, value, is_time)
    if op == "ne":
        return not equal(have, value, is_time)
    if op == "in":
        return any(equal(have, each, is_time) for each in value)
    if op == "contains":
        if type(have) is list:
            return any(equal(element, value, False) for element in have)
        return type(have) is str and type(value) is str and have.find(value) >= 0
    if kind_of(have) != kind_of(value) or kind_of(have) not in ("text", "number"):
        return False
    left, right = (instant(have), instant(value)) if is_time else (sortable(have), sortable(value))
    return {"gt": left > right, "gte": left >= right, "lt": left < right, "lte": left <= right}[op]


def equal(have: Any, value: Any, is_time: bool) -> bool:
    if kind_of(have) != kind_of(value) or kind_of(have) == "other":
        return False
    if is_time and kind_of(have) == "text":
        return bool(instant(have) == instant(value))
    return bool(sortable(have) == sortable(value))


def kind_of(value: Any) -> str:
    if type(value) is bool:
        return "boolean"
    if type(value) in (int, Fraction):
        return "number"
    return "text" if type(value) is str else "other"


def sortable(value: Any) -> Any:
    """Numbers as fractions, texts as the numbers of their letters."""
    if type(value) is str:
        return [ord(letter) for letter in value]
    return value if type(value) is bool else Fraction(value)


def instant(text: str) -> Any:
    return datetime.fromisoformat(text.upper()).astimezone(UTC)
