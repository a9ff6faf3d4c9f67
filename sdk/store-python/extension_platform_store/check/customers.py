"""EC: a customer who is erased."""

from __future__ import annotations

import time

from .driver import Person
from .rules import rule
from .sales import paths
from .subject import Subject, has
from .verdicts import NotTried, RuleBroken

LOOKS = 0.5  # seconds between two looks at what the shop keeps


def traces(person: Person) -> dict[str, str]:
    return {"name": person.name, "e-mail address": person.email, "phone number": person.phone}


def erased(shop: Subject) -> tuple[Person, str, str]:
    """Somebody who has ordered and was erased, what the shop kept before, and the order; once for all rules."""
    if shop.erased is None:
        person = shop.person()
        placed, _, _ = shop.order(person=person)
        before = shop.driver.dump()
        if person.email not in before:
            raise NotTried("What `dump` returned has no trace of somebody who has just ordered.")
        shop.driver.erase(person)
        shop.erased = (person, before, placed)
    return shop.erased


@rule("EC001", "Passes the erasure of a customer on")
def passes_erasure_on(shop: Subject) -> str:
    person, _, _ = erased(shop)

    def statuses() -> list[int]:
        return [
            call.reply.status for call in shop.door.calls
            if call.rest == "/customers/erase" and call.reply
            and (call.body.get("email") == person.email or call.body.get("phone") == person.phone)
        ]  # fmt: skip

    if not shop.door.wait(lambda: 202 in statuses(), shop.patience):
        did = f"called it, and got {statuses()[-1]}" if statuses() else "passed nothing on"
        raise RuleBroken(f"Expected a call of /customers/erase for {person.email}. Your shop {did}.")
    return "The platform has taken it."


@rule("EC002", "Keeps nothing of an erased customer")
def keeps_nothing(shop: Subject) -> str:
    person, before, _ = erased(shop)
    there = {what: text for what, text in traces(person).items() if text in before}
    until = time.monotonic() + shop.patience
    while left := found(shop.driver.dump(), there):
        if time.monotonic() > until:
            raise RuleBroken(
                f"Expected no trace of the customer. Your shop still keeps the {', the '.join(left)}."
            )
        time.sleep(LOOKS)
    return f"The {', the '.join(there)} are gone."


def found(dump: str, there: dict[str, str]) -> list[str]:
    return [what for what, text in there.items() if text in dump]


@rule("EC003", "Pushes nothing of an erased customer any more", needs=("EC002",))
def pushes_nothing(shop: Subject) -> str:
    person, _, placed = erased(shop)
    state, status = paths(shop)[0][0]
    mark = len(shop.door.calls)
    shop.driver.move_order(placed, state)
    row = shop.row("orders", placed, mark, f"with the status {status}", has("status", status))
    left = [what for what, text in traces(person).items() if text in str(row.data)]
    if left:
        raise RuleBroken(
            f"Expected an order without its customer. Your shop pushed the {', the '.join(left)}."
        )
    return "The order came without its customer."
