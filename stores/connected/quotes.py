"""Quotes: what apps answered before an order of a shop (contract, section 17, "Hooks").

Each call of a hook point makes one, which also holds the answers of the quote that came with the call. The shop sends the newest one back
with the order's row, in whose transaction the order takes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import DateTimeField, UUIDField
from django.utils import timezone

from accounts.models import Business
from common.db.compiled import Compiled, Param
from common.db.inserts import insert
from common.ids import parse_id
from stores import signals
from stores.buyers.attributes import ByOwner
from stores.buyers.shoppers import NOBODY, Buyer
from stores.enums import HookOutcome, OrderValidation, QuoteResult
from stores.hookpoints import (
    Asked,
    Discount,
    Flow,
    HookPart,
    HookPoint,
    OrderVerdict,
    ShippingRate,
)
from stores.models import OrderHookPart, Quote
from stores.services.history import parts_of

GOOD_FOR: Final = timedelta(hours=1)  # from its newest call
KEPT: Final = timedelta(hours=2)
BATCH: Final = 5_000
BEFORE_AN_ORDER: Final = (HookPoint.VALIDATE, HookPoint.DISCOUNTS, HookPoint.SHIPPING_RATES)
SHARED_FOR: Final = timedelta(minutes=1)
AMOUNTS: Final = (
    "subtotal", "promoDiscount", "builtInFee", "deliveryFee", "amount",
)  # fmt: skip


_OF_ID: Final = Compiled(
    lambda: Quote.objects.filter(
        pk=Param("id", UUIDField()),
        business=Param("business", UUIDField()),
        asked_at__gt=Param("asked_after", DateTimeField()),
    ),
    prepared_as="quotes",
)


# --- Asking ------------------------------------------------------------------------------------------


def find(business: Business, text: str, now: datetime) -> Quote | None:
    """The quote that came with a call. None for one that is unknown, another store's, or too old."""
    quote_id = parse_id(text) if text else None
    if quote_id is None:
        return None
    return _OF_ID.first(id=quote_id, business=business.pk, asked_after=now - GOOD_FOR)


def flow_for(
    point: HookPoint, before: Quote | None, seconds: float, now: datetime, buyer: Buyer = NOBODY
) -> Flow:
    """Of so many seconds what is left. The calls of the three points before an order share them."""
    if point in BEFORE_AN_ORDER:
        spent = sum(milliseconds for _, milliseconds in _spent(before, now))
        seconds = max(0.0, seconds - spent / 1000)
    return Flow.start(seconds, buyer)


def _spent(before: Quote | None, now: datetime) -> list[list[float]]:
    since = (now - SHARED_FOR).timestamp()
    return [[at, took] for at, took in before.spent if at > since] if before else []


def add(
    *,
    business: Business,
    before: Quote | None,
    point: HookPoint,
    data: Mapping[str, Any],
    asked: Asked[Any] | None,
    attributes: ByOwner | None,
    began: datetime,
    now: datetime | None = None,
) -> Quote:
    """A quote with the answers of `before`, and with this one; `asked` is None if no app was asked. It carries the newest attributes that
    a call had; None are those of a call without any.
    """
    now = now or timezone.now()
    answers = before.answers if before else {}
    if asked is not None:
        answers = answers | {str(point): _answer(data, asked)}
    spent = _spent(before, now)
    if point in BEFORE_AN_ORDER:
        spent.append([began.timestamp(), round((now - began).total_seconds() * 1000)])
    quote = Quote(business=business, answers=answers, spent=spent, asked_at=now)
    carried = attributes if attributes is not None or before is None else before.attributes
    quote.attributes = dict(carried) if carried else None
    insert(quote)
    return quote


def _answer(data: Mapping[str, Any], asked: Asked[Any]) -> dict[str, Any]:
    return {
        "asked": {name: data[name] for name in AMOUNTS if name in data},
        "answer": _kept(asked.answer),
        "parts": [asdict(each) | {"call_id": each.call_id and str(each.call_id)} for each in asked.parts],
    }


def _kept(answer: Any) -> dict[str, Any]:
    """What an order is compared with. A payment has a row of its own, and methods are in none."""
    return asdict(answer) if isinstance(answer, OrderVerdict | Discount | ShippingRate) else {}


def remove_old(*, now: datetime | None = None) -> int:
    """Those that no order took. Returns how many."""
    old = Quote.objects.filter(order=None, asked_at__lt=(now or timezone.now()) - KEPT)
    removed = 0
    while ids := list(old.order_by("asked_at").values_list("pk", flat=True)[:BATCH]):
        removed += Quote.objects.filter(pk__in=ids, order=None).delete()[0]
    return removed


# --- Taking ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Taken:
    """A quote that belongs to an order from now on, or did before."""

    quote: Quote
    is_new: bool

    @property
    def validation(self) -> OrderValidation:
        """Whether all that should have been asked whether the order is valid said so."""
        verdict = self.quote.answers.get(HookPoint.VALIDATE, {}).get("answer", {})
        heard_all = verdict.get("valid") and verdict.get("all_heard")
        return OrderValidation.VALID if heard_all else OrderValidation.NOT_VALIDATED

    @property
    def result(self) -> QuoteResult:
        return QuoteResult.TAKEN if self.quote.differs is None else QuoteResult.DIFFERS


class Quotes:
    """Those that came with some rows, read at once while the store's mirror is locked. `save` writes what the orders took."""

    def __init__(self, business: Business, texts: Sequence[str], now: datetime) -> None:
        self._business, self._now = business, now
        ids = {found for text in texts if text and (found := parse_id(text))}
        rows = Quote.objects.filter(business=business, pk__in=ids) if ids else ()
        self._rows = {str(each.pk): each for each in rows}
        self._taken: dict[UUID, list[Quote]] = {}

    def take(self, text: str, order_id: UUID, values: Mapping[str, Any]) -> Taken | None:
        """Let an order have it, whose row has these columns. None for one that is too old, unknown, or another order's."""
        quote = self._rows.get(text)
        if quote is None or quote.order_id not in (None, order_id):
            return None
        if quote.order_id == order_id:
            return Taken(quote, is_new=False)
        if quote.asked_at <= self._now - GOOD_FOR:
            return None
        quote.order_id = order_id
        quote.differs = dict(_differences(quote, values)) or None
        self._taken.setdefault(order_id, []).append(quote)
        return Taken(quote, is_new=True)

    def save(self, erased: set[UUID]) -> None:
        """Once the orders are there. Of those whose customer was erased nothing that apps wrote is kept."""
        known = self._calls_before()
        for order_id, quotes in self._taken.items():
            parts: list[OrderHookPart] = []
            calls: list[UUID] = []
            for quote in quotes:
                for part in _parts(quote):
                    if part.call_id and part.call_id not in known:
                        known.add(part.call_id)
                        calls.append(part.call_id)
                        parts += parts_of(order_id, [part], now=quote.asked_at)
                if order_id in erased:
                    quote.answers, quote.attributes = {}, None
                quote.save(update_fields=["order", "differs", "answers", "attributes"])
            for each in parts if order_id in erased else ():
                each.reason = each.instead = ""
            insert(*parts)
            signals.quote_taken.send(sender=Quote, order_id=order_id, calls=calls, now=self._now)

    def _calls_before(self) -> set[UUID]:
        """Of quotes that these orders took before: a later one holds their answers, too."""
        if not self._taken:
            return set()
        rows = Quote.objects.filter(business=self._business, order__in=self._taken)
        return {part.call_id for quote in rows for part in _parts(quote) if part.call_id}


def _parts(quote: Quote) -> Iterator[HookPart]:
    """In the order in which an order asks."""
    for point in HookPoint:
        for each in quote.answers.get(point, {}).get("parts", ()):
            yield HookPart(
                **each
                | {
                    "point": point,
                    "outcome": HookOutcome(each["outcome"]),
                    "call_id": each["call_id"] and UUID(each["call_id"]),
                }
            )


def _differences(quote: Quote, values: Mapping[str, Any]) -> Iterator[tuple[str, list[int]]]:
    """The amounts that the row has otherwise, each with that of the apps and that of the row."""
    asked = {point: quote.answers[point]["asked"] for point in BEFORE_AN_ORDER if point in quote.answers}
    subtotals = {each["subtotal"] for each in asked.values()} - {values["subtotal"]}
    if subtotals:
        yield "subtotal", [min(subtotals), values["subtotal"]]
    if HookPoint.DISCOUNTS in asked:
        given = quote.answers[HookPoint.DISCOUNTS]["answer"]["amount"]
        discount = asked[HookPoint.DISCOUNTS]["promoDiscount"] + given
        if discount != values["discount"]:
            yield "discount", [discount, values["discount"]]
    rates = quote.answers.get(HookPoint.SHIPPING_RATES)
    if rates and any(each["outcome"] == HookOutcome.ANSWERED for each in rates["parts"]):
        fee = rates["answer"]["fee"]
        if fee != values["delivery_fee"]:
            yield "deliveryFee", [fee, values["delivery_fee"]]
