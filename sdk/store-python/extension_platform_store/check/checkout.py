"""CK: a checkout that goes on, whatever apps and the platform do."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from .calls import Call, Reply
from .door import Forward
from .rules import rule
from .sales import PERCENT, newest, questions
from .subject import Subject, placed_by, text_of, word
from .verdicts import NotTried, RuleBroken

MORE = 0.2  # seconds beside the budget that a shop may wait
SLACK = 0.5  # seconds by which two checkouts may differ for other reasons
LONGER = 4.0  # seconds beside the budget that an answer takes
PLATFORM_BUDGET = 10.0  # of a question that names none
RESTS = 12.0  # seconds after which a shop asks again that has met failures


@dataclass(frozen=True, slots=True)
class Calm:
    """A checkout without trouble, to compare with."""

    seconds: float
    budget: float
    price: Decimal
    total: Decimal

    @property
    def most(self) -> float:
        """Seconds that a checkout in trouble may take."""
        return self.seconds + self.budget + MORE + SLACK


def calm(shop: Subject) -> Calm:
    """Place an order at which apps are asked and answer."""
    item = shop.product()
    for _ in range(int(RESTS)):
        mark = len(shop.door.calls)
        bill = shop.buy(item)
        placed_by(bill)
        asked = [call for call in shop.door.since(mark) if call.point]
        if asked:
            budget = max(float(call.body.get("budgetMs") or PLATFORM_BUDGET * 1000) for call in asked) / 1000
            return Calm(bill["seconds"], budget, item.price, bill["total"])
        threading.Event().wait(1)  # it may rest after failures
    raise NotTried("Your shop asked no hook at this checkout.")


@rule("CK001", "Answers the customer within its budget when apps are slow")
def outlives_slow_apps(shop: Subject) -> str:
    before, done = calm(shop), threading.Event()

    def slow(call: Call, forward: Forward) -> Reply | None:
        if call.point:
            done.wait(before.budget + LONGER)
        return forward()

    return in_trouble(shop, before, slow, done, "apps were slow")


@rule("CK002", "Takes orders while the platform doesn't answer, and pushes them afterwards")
def outlives_a_stopped_platform(shop: Subject) -> str:
    before, done = calm(shop), threading.Event()

    def stopped(call: Call, forward: Forward) -> Reply | None:
        done.wait(before.budget + LONGER * 2)
        return None

    return in_trouble(shop, before, stopped, done, "the platform didn't answer")


def in_trouble(shop: Subject, before: Calm, trouble: object, done: threading.Event, what: str) -> str:
    """Place an order in trouble, which has to be placed in time, and to arrive when the trouble is over."""
    item = shop.product()
    mark = len(shop.door.calls)
    try:
        with shop.door.between(trouble):  # type: ignore[arg-type]
            bill = shop.buy(item)
            asked = [call for call in shop.door.since(mark) if call.point]
    finally:
        done.set()
    placed = placed_by(bill)
    if bill["seconds"] > before.most:
        raise RuleBroken(
            f"Expected an answer within {before.most:.1f} s: {before.seconds:.1f} s as usual, {before.budget:g} s of budget, and "
            f"{MORE + SLACK:g} s. While {what}, your shop took {bill['seconds']:.1f} s."
        )
    if not asked:
        raise NotTried("Your shop asked no hook at this checkout.")
    if shop.reads_orders:
        shop.row("orders", placed, mark, f"that was placed while {what}")
    return f"It took {bill['seconds']:.1f} s, and {before.seconds:.1f} s as usual."


@rule("CK003", "Shows the reason of an app that refuses an order")
def shows_a_refusal(shop: Subject) -> str:
    calm(shop)
    item = shop.product()
    shop.door.apps.refusal = f"Only on {word().title()}."
    mark = len(shop.door.calls)
    bill = shop.buy(item)
    newest(shop, mark, "order.validate")
    if bill["order"] is not None:
        raise RuleBroken(f"Expected no order, since an app refused it. Your shop placed {bill['order']}.")
    if shop.door.apps.refusal not in bill["message"]:
        raise RuleBroken(
            f"Expected the app's reason, {shop.door.apps.refusal!r}. Your shop said {text_of(bill)}."
        )
    return f"The shop said {text_of(bill)}."


@rule("CK004", "Asks once for a basket, and again when the customer confirms")
def asks_once(shop: Subject) -> str:
    calm(shop)
    item, person = shop.product(), shop.person()
    mark = len(shop.door.calls)
    for _ in range(3):
        shop.look(item, person=person)
    looked = questions(shop, mark)
    often = Counter(
        (call.point, str(call.body.get("data")), str(call.body.get("shopper"))) for call in looked
    )
    (point, *_), most = often.most_common(1)[0]
    if most > 1:
        raise RuleBroken(
            f"Expected one question for one basket, whose answer is kept for a minute. Your shop asked {point} {most} times, the same."
        )
    mark = len(shop.door.calls)
    placed_by(shop.buy(item, person=person))
    if not any(call.point for call in shop.door.since(mark)):
        raise RuleBroken("Expected a question when the customer confirmed. Your shop asked nothing.")
    return f"{len(looked)} questions while the customer looked, and {len(questions(shop, mark))} at the end."


@rule("CK005", "Takes orders at its own prices when the platform fails")
def outlives_failures(shop: Subject) -> str:
    before = calm(shop)
    item = shop.product(price=before.price)
    shop.door.apps.percent = PERCENT
    mark = len(shop.door.calls)

    def fail(call: Call, forward: Forward) -> Reply | None:
        return Reply.of(500, {"statusCode": 500, "message": "It failed."}) if call.point else forward()

    with shop.door.between(fail):
        bill = shop.buy(item)
    questions(shop, mark)
    placed_by(bill)
    if bill["total"] != before.total:
        raise RuleBroken(f"Expected the shop's own total, {before.total}. Your shop charged {bill['total']}.")
    return f"The order was placed for {bill['total']}, as without apps."
