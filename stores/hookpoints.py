"""The five hook points: where a store asks apps, and continues without them if it must.

A higher app registers one handler for each point, at start-up, which asks the apps and combines their answers
(`register`). The code of `stores` asks through the `ask_…` functions and knows no app. A point without a handler has an answer,
too, so a store works without apps. A failing handler never breaks a flow: the declaration of the point holds the
fallback.

docs/hooks.md describes the request data. Money in it is in minor units. Beside it apps get what they have put into the cart and, where
they may read orders, who orders: from `Flow.buyer`.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from accounts.models import Business
from common.db.transactions import forbid_transaction
from stores.buyers.shoppers import NOBODY, Buyer, SeenShopper
from stores.enums import HookOutcome
from stores.models import Order

log = logging.getLogger(__name__)

BUDGET_SECONDS = 10.0
ASKED_PER_MINUTE = 120  # pages and orders of one shopper's address that ask apps
MAX_MINOR = 2**53 - 1  # beyond this JSON numbers are no longer exact for every reader


class HookPoint(StrEnum):
    PAYMENT_METHODS = "checkout.payment_methods"
    CREATE_PAYMENT = "checkout.create_payment"
    SHIPPING_RATES = "checkout.shipping_rates"
    VALIDATE = "order.validate"
    DISCOUNTS = "order.calculate_discounts"


# --- Requests ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Flow:
    """What the points share that are asked for one order: the time, who orders, and the hooks as they were read."""

    deadline: float  # of time.monotonic()
    buyer: Buyer = NOBODY
    hooks: Sequence[Any] | None = None  # of the store, at all points; None: to be read
    shopper: SeenShopper | None = None  # the buyer, once an app was asked about them

    @classmethod
    def start(cls, seconds: float = BUDGET_SECONDS, buyer: Buyer = NOBODY) -> "Flow":
        return cls(time.monotonic() + seconds, buyer)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPart:
    """An app's part in an order, for the order's history."""

    point: HookPoint
    provider: str  # identifies the app, as `PaymentMethod.provider`
    app_name: str
    outcome: HookOutcome
    amount: int | None = None  # minor units: the discount that counted, or the fee
    reason: str = ""  # in the app's words
    instead: str = ""  # what the store did instead, or changed
    call_id: UUID | None = None  # of the call in the log of the app that answers hook points


@dataclass(frozen=True, slots=True)
class HookRequest:
    """The input of a handler.

    `data` is the hook's request data. `method_id` is the payment method as it was offered (`<owner>:<id>`). For
    `create_payment` it is the chosen one, and only its owner is asked. For `payment_methods` it is the one to
    verify, so only its owner need be asked, or None for all methods. `order_id` is that of the order that is being
    placed or paid; an order that is refused never exists.
    """

    point: HookPoint
    business: Business
    data: dict[str, Any]
    flow: Flow
    method_id: str | None = None
    order_id: UUID | None = None


# --- Answers ----------------------------------------------------------------------------------------


def _check_amount(name: str, minor: int) -> None:
    if isinstance(minor, bool) or not isinstance(minor, int) or not 0 <= minor <= MAX_MINOR:
        raise ValueError(f"{name} must be a whole number of minor units, at least 0, not {minor!r}")


@dataclass(frozen=True, slots=True)
class PaymentMethod:
    """A payment method that an app offers.

    `provider` identifies the app and is stored with the payment; `stores` only compares it. The handler sets it to
    `str(app.pk)`, which is how the app API knows whose payment it is.
    """

    id: str  # `<owner>:<own id>`, unique among all owners
    name: str
    provider: str
    description: str | None = None
    icon: str | None = None

    def __post_init__(self) -> None:
        if not self.id.partition(":")[2] or len(self.id) > 200:
            raise ValueError(f"A payment method's id must be <owner>:<id>, not {self.id!r}")


@dataclass(frozen=True, slots=True)
class PaymentDetails:
    """How the customer pays; every part is optional."""

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
class OrderVerdict:
    """Whether an order may be placed. `all_heard` is False if an app that should have been asked didn't answer; the
    order is then marked as not validated.
    """

    valid: bool = True
    reason: str = ""
    all_heard: bool = True


@dataclass(frozen=True, slots=True)
class Discount:
    amount: int = 0  # minor units
    reason: str = ""

    def __post_init__(self) -> None:
        _check_amount("discount", self.amount)


Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Asked(Generic[Answer]):
    """A point's answer, and each app's part in it."""

    answer: Answer
    parts: tuple[HookPart, ...] = ()


# --- The points -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declaration(Generic[Answer]):
    """A hook point: how several answers are combined, the answer while it has no handler, and the fallback when its
    handler fails. (When one of several apps fails, the handler itself continues with the others.)
    """

    point: HookPoint
    combining: str
    unhandled: Answer
    failed: Answer


PAYMENT_METHODS: Declaration[Sequence[PaymentMethod]] = Declaration(
    HookPoint.PAYMENT_METHODS,
    combining="All methods, in order; those of an app that fails are left out.",
    unhandled=(),
    failed=(),
)
CREATE_PAYMENT: Declaration[PaymentDetails | None] = Declaration(
    HookPoint.CREATE_PAYMENT,
    combining="Only the app that owns the chosen method is asked; None: the payment could not be made.",
    unhandled=None,
    failed=None,
)
SHIPPING_RATES: Declaration[ShippingRate | None] = Declaration(
    HookPoint.SHIPPING_RATES,
    combining="Each fee overrides the one before; None: the store's own fee applies.",
    unhandled=None,
    failed=None,
)
VALIDATE: Declaration[OrderVerdict] = Declaration(
    HookPoint.VALIDATE,
    combining="The first refusal counts, and no further app is asked; a failing app is left out.",
    unhandled=OrderVerdict(),
    failed=OrderVerdict(all_heard=False),
)
DISCOUNTS: Declaration[Discount] = Declaration(
    HookPoint.DISCOUNTS,
    combining="Discounts add up, to at most the subtotal minus the promo discount.",
    unhandled=Discount(),
    failed=Discount(),
)

DECLARATIONS: dict[HookPoint, Declaration[Any]] = {
    declaration.point: declaration
    for declaration in (PAYMENT_METHODS, CREATE_PAYMENT, SHIPPING_RATES, VALIDATE, DISCOUNTS)
}

# --- Handlers ---------------------------------------------------------------------------------------

Handler = Callable[[HookRequest], Any]
_handlers: dict[HookPoint, Handler] = {}


def register(point: HookPoint | str, handler: Handler) -> None:
    """Register the handler of a point, which has one. Called in `AppConfig.ready()`.

    `handler` gets a `HookRequest` and returns the point's answer: a sequence of `PaymentMethod`,
    `PaymentDetails | None`, `ShippingRate | None`, `OrderVerdict`, `Discount`; or an `Asked` of it with the apps' parts. It
    must return within the flow's time.
    """
    point = HookPoint(point)
    if point in _handlers:
        raise RuntimeError(f"{point} has a handler already.")
    _handlers[point] = handler


@contextmanager
def registered(point: HookPoint | str, handler: Handler | None) -> Iterator[None]:
    """Replace a point's handler inside a `with` block; None leaves the point without one."""
    point = HookPoint(point)
    before = _handlers.pop(point, None)
    if handler is not None:
        _handlers[point] = handler
    try:
        yield
    finally:
        _handlers.pop(point, None)
        if before is not None:
            _handlers[point] = before


# --- Asking -----------------------------------------------------------------------------------------


def _ask(
    declaration: Declaration[Answer],
    business: Business,
    data: dict[str, Any],
    *,
    flow: Flow | None = None,
    method_id: str | None = None,
    order_id: UUID | None = None,
) -> Asked[Answer]:
    forbid_transaction()
    handler = _handlers.get(declaration.point)
    if handler is None:
        return Asked(declaration.unhandled)
    request = HookRequest(declaration.point, business, data, flow or Flow.start(), method_id, order_id)
    try:
        found = handler(request)
    except Exception:
        log.exception("%s failed for business %s", declaration.point, business.pk)
        return Asked(declaration.failed)
    return found if isinstance(found, Asked) else Asked(found)


def ask(
    point: HookPoint,
    *,
    business: Business,
    data: dict[str, Any],
    flow: Flow,
    method_id: str | None = None,
    order_id: UUID | None = None,
) -> Asked[Any]:
    """Ask a point with data that is ready, as the checkout of a shop elsewhere sends it. Not inside a transaction."""
    return _ask(DECLARATIONS[point], business, data, flow=flow, method_id=method_id, order_id=order_id)


def ask_payment_methods(
    *, business: Business, only: str | None = None, flow: Flow | None = None
) -> Sequence[PaymentMethod]:
    """The methods that apps offer. `only` is one to verify: only its owner need be asked, and the answer may
    contain more. The point is a flow of its own.
    """
    data = {"businessId": str(business.pk)}
    return _ask(PAYMENT_METHODS, business, data, flow=flow, method_id=only).answer


def ask_create_payment(*, order: Order, flow: Flow | None = None) -> Asked[PaymentDetails | None]:
    """Ask the owner of the order's payment method to make the payment; None if that failed.

    The amount is text, and the method's id is the owner's own, without the prefix under which it was offered.
    The point is a flow of its own.
    """
    data = {
        "orderId": str(order.pk),
        "amount": str(order.amount),
        "currency": order.currency,
        "paymentMethodId": order.payment_method.partition(":")[2],
        "businessId": str(order.business_id),
        "description": f"Order {order.number} at {order.business.name}",
    }
    method_id = order.payment_method
    return _ask(CREATE_PAYMENT, order.business, data, flow=flow, method_id=method_id, order_id=order.pk)


def ask_shipping_fee(
    *,
    business: Business,
    delivery_method: str,
    subtotal: int,
    built_in_fee: int,
    locality: str = "",
    flow: Flow | None = None,
    order_id: UUID | None = None,
) -> Asked[int]:
    """The fee of this delivery in minor units. PICKUP is asked too, with a built-in fee of 0."""
    data: dict[str, Any] = {
        "deliveryMethod": delivery_method,
        "subtotal": subtotal,
        "builtInFee": built_in_fee,
    }
    if locality:
        data["locality"] = locality
    asked = _ask(SHIPPING_RATES, business, data, flow=flow, order_id=order_id)
    return Asked(built_in_fee if asked.answer is None else asked.answer.fee, asked.parts)


def ask_verdict(
    *,
    business: Business,
    lines: Sequence[Line],
    subtotal: int,
    delivery_method: str,
    flow: Flow,
    order_id: UUID | None = None,
) -> Asked[OrderVerdict]:
    """Whether an order of these lines may be placed."""
    data = {"items": _items(lines), "subtotal": subtotal, "deliveryMethod": delivery_method}
    return _ask(VALIDATE, business, data, flow=flow, order_id=order_id)


def ask_discount(
    *,
    business: Business,
    lines: Sequence[Line],
    subtotal: int,
    promo_discount: int,
    delivery_fee: int,
    flow: Flow,
    order_id: UUID | None = None,
) -> Asked[Discount]:
    """The discount besides the promo discount. `delivery_fee` is the store's own, no matter what shipping apps
    answered.
    """
    data = {
        "items": _items(lines),
        "subtotal": subtotal,
        "promoDiscount": promo_discount,
        "deliveryFee": delivery_fee,
    }
    return _ask(DISCOUNTS, business, data, flow=flow, order_id=order_id)


def _items(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [{"productId": str(line.product_id), "quantity": line.quantity} for line in lines]
