"""OR and MN: orders as they were charged, and amounts of apps in them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .calls import Call, Record
from .door import POINTS, busy
from .rules import rule
from .subject import Subject, describe, has, placed_by
from .verdicts import NotTried, RuleBroken

PERCENT = 10
RESTS = 1.5  # seconds after which a push would have come


@rule("OR001", "Pushes no order as long as no app reads orders, and pushes it then")
def pushes_only_what_is_read(shop: Subject) -> str:
    shop.needs_orders()
    shop.door.reads_orders = False
    shop.driver.restart_sender(compare=False)
    item, person = shop.product(), shop.person()
    mark = len(shop.door.calls)
    placed = placed_by(shop.buy(item, person=person))
    shop.product()  # by then the sender has looked at what is wanted, and at the order
    shop.door.wait(lambda: bool(shop.rows("orders", placed, mark)), RESTS)
    sent = shop.rows("orders", placed, mark)
    if sent or any(person.email.encode() in call.raw for call in shop.door.since(mark) if call.is_push):
        raise RuleBroken(
            f"Expected no order while `wanted` says that orders aren't. Your shop pushed the order {placed}."
        )
    shop.door.reads_orders = True
    shop.driver.restart_sender(compare=False)
    row = shop.row("orders", placed, mark, "that was placed before an app read orders")
    return f"The order came with version {row.version}, once it was wanted."


@rule("OR002", "Pushes an order as it was charged")
def pushes_an_order(shop: Subject) -> str:
    item, person = shop.product(), shop.person()
    _, row, bill = shop.order(item, person=person)
    data = row.data or {}
    if money(data, "amount") != bill["total"]:
        raise RuleBroken(f"Expected the amount {bill['total']}. Your shop pushed {data.get('amount')!r}.")
    lines = [
        (each.get("productId"), each.get("quantity"), money(each, "price"))
        for each in data.get("items") or []
    ]
    if lines != [(item.id, 2, item.price)]:
        raise RuleBroken(
            f"Expected 2 of {item.id} at {item.price}. Your shop pushed the items {data.get('items')}."
        )
    customer = data.get("customer") or {}
    if (customer.get("name"), customer.get("email")) != (person.name, person.email):
        raise RuleBroken(f"Expected {person.name}, {person.email}. Your shop pushed the customer {customer}.")
    return f"The platform {row.result['result']} it, with the amount {data['amount']}."


@rule("OR003", "Pushes each state of an order as the status that it is mapped to", needs=("OR002",))
def maps_states(shop: Subject) -> str:
    seen = []
    for path in paths(shop):
        placed, _, _ = shop.order()
        for state, status in path:
            mark = len(shop.door.calls)
            shop.driver.move_order(placed, state)
            row = shop.pushed("orders", placed, mark, has("status", status))
            if row is None or not row.is_taken:
                came = describe(shop.rows("orders", placed, mark)) or "pushed nothing"
                raise RuleBroken(f"Expected {state!r} as {status}. Your shop {came}.")
            seen.append(f"{state!r} is {status}")
    return "; ".join(seen) + "."


@rule(
    "OR004",
    "Pushes the state that an order is in, also when it went through several at once",
    needs=("OR003",),
)
def jumps(shop: Subject) -> str:
    path = max(paths(shop), key=len)
    if len(path) < 2:
        raise NotTried("No path of the driver has two states.")
    placed, _, _ = shop.order()
    mark = len(shop.door.calls)
    with shop.door.between(busy):
        for state, _ in path:
            shop.driver.move_order(placed, state)
        shop.door.wait(lambda: bool(shop.pushes(placed, mark)), shop.patience)
    state, status = path[-1]
    row = shop.row("orders", placed, mark, f"with the status {status}", has("status", status))
    return f"{state!r} came with version {row.version}."


@rule("MN001", "Sends amounts to hooks in minor units of its currency")
def sends_minor_units(shop: Subject) -> str:
    item = shop.product()
    mark = len(shop.door.calls)
    shop.look(item)
    asked = questions(shop, mark)
    expected = shop.minor(item.price * 2)
    for call in asked:
        if call.answered and call.answered.status >= 400:
            raise RuleBroken(f"Expected data of {call.point} that the platform takes. {refusal(call)}")
        given = data_of(call).get("subtotal")
        if given != expected:
            raise RuleBroken(
                f"Expected the subtotal {expected}: 2 at {item.price} {shop.business.get('currency')}, in minor units. "
                f"Your shop sent {given!r} to {call.point}."
            )
    return f"{', '.join(sorted({call.point for call in asked}))} got the subtotal {expected}."


@rule("MN002", "Shows what apps take off before the customer confirms", needs=("MN001",))
def shows_the_discount(shop: Subject) -> str:
    first = shop.product()
    without = shop.look(first)["total"]
    second = shop.product(price=first.price)
    shop.door.apps.percent = PERCENT
    mark = len(shop.door.calls)
    total = shop.look(second)["total"]
    discount = shop.major(answered(shop, mark, "order.calculate_discounts")["discount"])
    if without - total != discount:
        raise RuleBroken(
            f"Expected the total {without - discount}, {discount} less. Your shop showed {total}."
        )
    return f"The total was {total}, {discount} less than without apps."


@rule(
    "MN003",
    "Charges what apps take off, and pushes the order with its newest quote",
    needs=("MN001", "OR002"),
)
def charges_the_discount(shop: Subject) -> str:
    item = shop.product()
    shop.door.apps.percent = PERCENT
    mark = len(shop.door.calls)
    _, row, bill = shop.order(item)
    answer = answered(shop, mark, "order.calculate_discounts")
    asked, data = newest(shop, mark, "order.calculate_discounts"), row.data or {}
    discount = shop.major(answer["discount"] + int(data_of(asked).get("promoDiscount") or 0))
    if money(data, "discount") != discount:
        raise RuleBroken(
            f"Expected the discount {discount} in the order. Your shop pushed {data.get('discount', 0)!r}."
        )
    if money(data, "amount") != bill["total"]:
        raise RuleBroken(f"Expected the amount {bill['total']}. Your shop pushed {data.get('amount')!r}.")
    quotes = [call.reply.record.get("quote") for call in questions(shop, mark) if call.reply]
    if data.get("quote") != quotes[-1]:
        raise RuleBroken(
            "Expected the quote of the last hook that was asked. Your shop pushed "
            + ("another one." if data.get("quote") else "none.")
        )
    return f"The order has the discount {discount} and its quote."


@rule("MN004", "Charges the delivery fee that apps set", needs=("MN001", "OR002"))
def charges_the_fee(shop: Subject) -> str:
    item = shop.product()
    shop.door.apps.more = shop.minor(1) or 1
    mark = len(shop.door.calls)
    _, row, bill = shop.order(item)
    fee = shop.major(answered(shop, mark, "checkout.shipping_rates")["fee"])
    if money(row.data or {}, "deliveryFee") != fee or money(row.data or {}, "amount") != bill["total"]:
        raise RuleBroken(
            f"Expected the fee {fee} and the amount {bill['total']}. Your shop pushed the fee "
            f"{(row.data or {}).get('deliveryFee', 0)!r} and the amount {(row.data or {}).get('amount')!r}."
        )
    return f"The order has the fee {fee}."


# What was asked and pushed


def questions(shop: Subject, since: int) -> list[Call]:
    """The calls of hook points at the checkout."""
    found = [call for call in shop.door.since(since) if call.point in POINTS]
    if not found:
        raise NotTried("Your shop asked no hook at this checkout.")
    return found


def newest(shop: Subject, since: int, point: str) -> Call:
    found = [call for call in questions(shop, since) if call.point == point]
    if not found:
        raise NotTried(f"Your shop doesn't ask {point}.")
    return found[-1]


def answered(shop: Subject, since: int, point: str) -> Record:
    """The newest answer of apps at a point."""
    call = newest(shop, since, point)
    if call.reply is None or call.reply.status != 200:
        raise RuleBroken(f"Expected a question to {point} that the platform takes. {refusal(call)}")
    return dict(call.reply.record["answer"])


def data_of(call: Call) -> Record:
    return dict(call.body.get("data") or {})


def refusal(call: Call) -> str:
    if call.answered is None:
        return "It got no answer."
    record = call.answered.record
    return f"It answered {call.answered.status}: {record.get('details') or record.get('message')}."


def paths(shop: Subject) -> list[list[tuple[str, str]]]:
    found = [list(path) for path in shop.about.get("paths", ()) if path]
    if not found:
        raise NotTried("The driver names no `paths` of an order.")
    return found


def money(data: Record, name: str) -> Decimal:
    value: Any = data.get(name)
    return Decimal(str(value or 0))
