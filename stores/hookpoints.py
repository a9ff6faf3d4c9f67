"""The five places where the shop asks others, and carries on without them if it must.

The floors above fill a point once, at the start, with one callable that asks whom it likes and combines
what it hears (`fill`). The shop's code asks through the `ask_…` functions and knows nobody by name. An
unfilled point has an answer too, so a shop works alone. A filler that fails never breaks a flow: the
declaration says what holds instead.

The request data is the specification's, word for word (section "Hook calls"); money in it is in minor
units.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from accounts.models import Business
from common.transactions import forbid_transaction
from stores.models import Order
from stores.turns import Turns

log = logging.getLogger(__name__)

BUDGET_SECONDS = 10.0
MAX_MINOR = 2**53 - 1  # beyond this JSON numbers are no longer exact for every reader


class HookPoint(StrEnum):
    PAYMENT_METHODS = "checkout.payment_methods"
    CREATE_PAYMENT = "checkout.create_payment"
    SHIPPING_RATES = "checkout.shipping_rates"
    VALIDATE = "order.validate"
    DISCOUNTS = "order.calculate_discounts"


# --- What is asked ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Budget:
    """The time that is left for asking. Points that share a budget are handed the same one."""

    deadline: float  # of time.monotonic()

    @classmethod
    def start(cls, seconds: float = BUDGET_SECONDS) -> "Budget":
        return cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds, never below 0."""
        return max(0.0, self.deadline - time.monotonic())


class Line(Protocol):
    """A product and how many of it."""

    @property
    def product_id(self) -> UUID: ...
    @property
    def quantity(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Question:
    """What a filler is handed.

    `data` is the hook's request data. `method_id` is the payment method at stake, as it was offered
    (`<owner>:<id>`): for `create_payment` the chosen one, whose owner alone is asked; for `payment_methods`
    the one to be verified, whose owner alone need be asked, or None for all methods.
    """

    point: HookPoint
    business: Business
    data: dict[str, Any]
    budget: Budget
    method_id: str | None = None


# --- What is answered -------------------------------------------------------------------------------


def _check_amount(name: str, minor: int) -> None:
    if isinstance(minor, bool) or not isinstance(minor, int) or not 0 <= minor <= MAX_MINOR:
        raise ValueError(f"{name} must be a whole number of minor units, at least 0, not {minor!r}")


@dataclass(frozen=True, slots=True)
class PaymentMethod:
    """A method that somebody offers.

    `provider` names who offers it, and is kept with the payment; the shop only compares it. Who fills the
    point for apps writes `str(app.pk)` there: by that the app API knows whose payment it is.
    """

    id: str  # `<owner>:<own id>`, unique over all who offer
    name: str
    provider: str
    description: str | None = None
    icon: str | None = None

    def __post_init__(self) -> None:
        if not self.id.partition(":")[2] or len(self.id) > 200:
            raise ValueError(f"A payment method's id must be <owner>:<id>, not {self.id!r}")


@dataclass(frozen=True, slots=True)
class PaymentDetails:
    """How the customer pays; all of it may be missing."""

    payment_url: str = ""
    qr_code: str = ""
    invoice_id: str = ""
    expires_at: datetime | None = None

    def __post_init__(self) -> None:
        if len(self.invoice_id) > 200:
            raise ValueError("An invoice id may have 200 characters.")


@dataclass(frozen=True, slots=True)
class ShippingRate:
    fee: int  # minor units

    def __post_init__(self) -> None:
        _check_amount("fee", self.fee)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an order may be placed. `all_heard` is False when somebody who should have been asked could
    not be: the order is then marked as not validated."""

    valid: bool = True
    reason: str = ""
    all_heard: bool = True


@dataclass(frozen=True, slots=True)
class Discount:
    amount: int = 0  # minor units
    reason: str = ""

    def __post_init__(self) -> None:
        _check_amount("discount", self.amount)


# --- The points -------------------------------------------------------------------------------------

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Declaration(Generic[Answer]):
    """A hook point: how several answers become one, what holds while nobody fills it, and what holds when
    its filler fails. (Where one of several apps fails, the filler itself goes on with the others.)"""

    point: HookPoint
    combining: str
    unfilled: Answer
    failed: Answer


PAYMENT_METHODS: Declaration[Sequence[PaymentMethod]] = Declaration(
    HookPoint.PAYMENT_METHODS,
    combining="All methods, in order; those of an app that fails are left out.",
    unfilled=(),
    failed=(),
)
CREATE_PAYMENT: Declaration[PaymentDetails | None] = Declaration(
    HookPoint.CREATE_PAYMENT,
    combining="Only the app that owns the chosen method is asked; None: it could not make the payment.",
    unfilled=None,
    failed=None,
)
SHIPPING_RATES: Declaration[ShippingRate | None] = Declaration(
    HookPoint.SHIPPING_RATES,
    combining="Each fee overrides the one before; None: the store's own fee stands.",
    unfilled=None,
    failed=None,
)
VALIDATE: Declaration[Verdict] = Declaration(
    HookPoint.VALIDATE,
    combining="The first refusal refuses, and the rest is not asked; an app that fails counts as unheard.",
    unfilled=Verdict(),
    failed=Verdict(all_heard=False),
)
DISCOUNTS: Declaration[Discount] = Declaration(
    HookPoint.DISCOUNTS,
    combining="Discounts add up, never to more than the subtotal less the promo discount.",
    unfilled=Discount(),
    failed=Discount(),
)

DECLARATIONS: dict[HookPoint, Declaration[Any]] = {
    declaration.point: declaration
    for declaration in (PAYMENT_METHODS, CREATE_PAYMENT, SHIPPING_RATES, VALIDATE, DISCOUNTS)
}

# --- Filling ----------------------------------------------------------------------------------------

Filler = Callable[[Question], Any]
_fillers: dict[HookPoint, Filler] = {}


def fill(point: HookPoint | str, filler: Filler) -> None:
    """Answer a point from now on. Each is filled once, in `AppConfig.ready()`.

    `filler` gets a `Question` and returns the point's answer: a sequence of `PaymentMethod`,
    `PaymentDetails | None`, `ShippingRate | None`, `Verdict`, `Discount`. It must return within the budget.
    """
    point = HookPoint(point)
    if point in _fillers:
        raise RuntimeError(f"{point} is filled already.")
    _fillers[point] = filler


@contextmanager
def filled(point: HookPoint | str, filler: Filler | None) -> Iterator[None]:
    """Answer a point for the length of a block, whoever fills it otherwise; None leaves it unfilled."""
    point = HookPoint(point)
    before = _fillers.pop(point, None)
    if filler is not None:
        _fillers[point] = filler
    try:
        yield
    finally:
        _fillers.pop(point, None)
        if before is not None:
            _fillers[point] = before


# --- Asking -----------------------------------------------------------------------------------------

_turns = Turns()


@contextmanager
def flow(business: Business) -> Iterator[Budget]:
    """The budget of one flow, which may ask several points. Nothing is left of it from the start where the business
    holds as many threads as one with slow apps may."""
    with _turns.taken(business.pk) as is_free:
        yield Budget.start() if is_free else Budget.start(0)


def _ask(
    declaration: Declaration[Answer],
    business: Business,
    data: dict[str, Any],
    *,
    budget: Budget | None = None,
    method_id: str | None = None,
) -> Answer:
    forbid_transaction()
    filler = _fillers.get(declaration.point)
    if filler is None:
        return declaration.unfilled
    with nullcontext(budget) if budget else flow(business) as time_left:
        question = Question(declaration.point, business, data, time_left, method_id)
        try:
            answer: Answer = filler(question)
        except Exception:
            log.exception("%s failed for business %s", declaration.point, business.pk)
            return declaration.failed
        return answer


def ask_payment_methods(*, business: Business, only: str | None = None) -> Sequence[PaymentMethod]:
    """The methods that others offer. `only` names one to be verified: its owner alone need be asked, and
    the answer may hold more than it. The point has its own budget."""
    return _ask(PAYMENT_METHODS, business, {"businessId": str(business.pk)}, method_id=only)


def ask_create_payment(*, order: Order) -> PaymentDetails | None:
    """Have the owner of the order's payment method make the payment; None when that failed.

    The amount is text, and the method's id is the owner's own, without the prefix that it was offered
    under. The point has its own budget.
    """
    data = {
        "orderId": str(order.pk),
        "amount": str(order.amount),
        "currency": order.currency,
        "paymentMethodId": order.payment_method.partition(":")[2],
        "businessId": str(order.business_id),
        "description": f"Order {order.number} at {order.business.name}",
    }
    return _ask(CREATE_PAYMENT, order.business, data, method_id=order.payment_method)


def ask_shipping_fee(
    *,
    business: Business,
    delivery_method: str,
    subtotal: int,
    built_in_fee: int,
    locality: str = "",
    budget: Budget | None = None,
) -> int:
    """The fee of this delivery in minor units. Asked for PICKUP too, with a built-in fee of 0."""
    data: dict[str, Any] = {
        "deliveryMethod": delivery_method,
        "subtotal": subtotal,
        "builtInFee": built_in_fee,
    }
    if locality:
        data["locality"] = locality
    rate = _ask(SHIPPING_RATES, business, data, budget=budget)
    return built_in_fee if rate is None else rate.fee


def ask_verdict(
    *, business: Business, lines: Sequence[Line], subtotal: int, delivery_method: str, budget: Budget
) -> Verdict:
    """Whether an order of these lines may be placed."""
    data = {"items": _items(lines), "subtotal": subtotal, "deliveryMethod": delivery_method}
    return _ask(VALIDATE, business, data, budget=budget)


def ask_discount(
    *,
    business: Business,
    lines: Sequence[Line],
    subtotal: int,
    promo_discount: int,
    delivery_fee: int,
    budget: Budget,
) -> Discount:
    """What is taken off besides the promo discount. `delivery_fee` is the store's own, whatever shipping
    apps say."""
    data = {
        "items": _items(lines),
        "subtotal": subtotal,
        "promoDiscount": promo_discount,
        "deliveryFee": delivery_fee,
    }
    return _ask(DISCOUNTS, business, data, budget=budget)


def _items(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [{"productId": str(line.product_id), "quantity": line.quantity} for line in lines]
