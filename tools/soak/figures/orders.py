"""Orders, their totals, payments and stock."""

from collections import Counter
from collections.abc import Iterator

from tools.soak.figures.finding import Finding, none_of, some_of
from tools.soak.ledger import Placed
from tools.soak.receiver import discount_of, fee_of
from tools.soak.run import Run
from tools.soak.seed import HOOKED, STOCK

CENTS = 100


def _kept(run: Run) -> list[Placed]:
    """Orders that were accepted, and not undone by a restore to a moment."""
    return [each for each in run.ledger.placed if not run.ledger.is_undone(each.accepted)]


def accepted(run: Run) -> Iterator[Finding]:
    yield some_of("orders accepted", len(run.ledger.placed))
    yield some_of("orders sent once more under their key", run.ledger.repeated)


def lost(run: Run) -> Iterator[Finding]:
    there = {order.marker for order in run.database.orders}
    yield none_of("orders lost", [each.marker for each in _kept(run) if each.marker not in there])


def doubled(run: Run) -> Iterator[Finding]:
    number = Counter(order.marker for order in run.database.orders)
    yield none_of("orders doubled", [marker for marker, count in number.items() if count > 1])


def statuses(run: Run) -> Iterator[Finding]:
    there = {order.id: order for order in run.database.orders}
    kept = [each for each in _kept(run) if each.id in there and not run.ledger.is_undone(each.changed)]
    wrong = [each.id for each in kept if there[each.id].status != each.status]
    yield none_of("orders with another status than was accepted", wrong, of=len(kept))
    paid = [each.id for each in kept if each.is_paid]
    yield some_of("orders paid by an app", len(paid))
    yield none_of(
        "payments with another status than was accepted",
        [id_ for id_ in paid if there[id_].payment != "COMPLETED"],
    )


def stock(run: Run) -> Iterator[Finding]:
    wrong = [f"{left} left, {sold} sold" for left, sold in run.database.stock if left != STOCK - sold]
    yield none_of("stock that is off", wrong)


def totals(run: Run) -> Iterator[Finding]:
    """Fee and discount are what the store's app has answered, and there are none of it where no app is."""
    wrong, checked = [], 0
    for order in run.ledger.placed:
        asked = is_asked(run, order)
        if asked is None or order.id in run.database.unanswered:
            continue
        checked += 1
        subtotal, discount, fee, amount = (
            round(order.body[name] * CENTS) for name in ("subtotal", "discount", "deliveryFee", "amount")
        )
        is_right = amount == subtotal - discount + fee and discount == (discount_of(subtotal) if asked else 0)
        if asked:
            is_right = is_right and fee == fee_of(subtotal)
        if not is_right:
            wrong.append(f"{order.id}: {subtotal} - {discount} + {fee} = {amount}")
    yield none_of("orders whose total is not what apps answered", wrong, of=checked)


def is_asked(run: Run, order: Placed) -> bool | None:
    """Whether the store had the app with hooks. None if that is not certain, or the order's answer isn't known."""
    if not order.body:
        return None
    installs = [each for each in run.ledger.installs if (each.app, each.business) == (HOOKED, order.business)]
    if any(each.covers(order.began, order.accepted) for each in installs):
        return True
    return None if any(each.touches(order.began, order.accepted) for each in installs) else False


FIGURES = (accepted, lost, doubled, statuses, stock, totals)
