"""Apps at the checkout, within a time that the customer can wait.

The shop never waits longer than the budget and 200 ms more, whatever the platform and the network do, and goes on with its own
answer. A platform that failed three times in a row isn't asked for ten seconds.
"""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from .errors import ApiError, PlatformError, Unreachable
from .plain import to_json

Point = Literal[
    "order.validate",
    "order.calculate_discounts",
    "checkout.shipping_rates",
    "checkout.payment_methods",
    "checkout.create_payment",
]

Shopper = Mapping[str, str | None]
"""``{"email", "phone"}``, or one of them: what the shopper has typed, or what their account has. Apps get a key in its place."""
Attributes = Mapping[str, Mapping[str, str]]
"""The texts that apps have put into the cart, by the app's slug. Each app gets its own."""

BUDGET_MS = 2_000
LEAST_MS = 100  # that the platform takes as a budget
MORE_MS = 200  # that the platform and the network may take beside the apps
KEPT_FOR = 60.0  # seconds that the answer for one content is good
MOST_KEPT = 1_000
FAILURES = 3  # in a row, after which nothing is asked
RESTS = 10.0  # seconds
THREADS = 16  # that wait for the platform at once, in a process


class Asks(Protocol):
    """A client; ``StoreClient`` is one, but of one thread."""

    def ask(
        self,
        point: str,
        data: Mapping[str, Any],
        *,
        budget_ms: int,
        quote: str | None,
        timeout: float,
        shopper: Shopper | None = None,
        attributes: Attributes | None = None,
    ) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What the store's apps answered, in minor units.

    ``answer`` is that of the hook point: ``{"valid", "reason", "allHeard"}``, ``{"discount", "reason"}``, ``{"fee"}``,
    ``{"methods"}`` or ``{"payment"}``. ``parts`` has each app's share. ``quote`` is for the next hook and for the order's
    row. ``heard`` is False where the platform wasn't asked or didn't answer; then the answer is that of a store without apps.
    """

    answer: dict[str, Any]
    parts: list[dict[str, Any]] = field(default_factory=list)
    quote: str = ""
    heard: bool = False


class Hooks:
    """For all threads of a process. ``make_client`` makes a client for each thread that asks.

    ``points`` returns the names of ``hookPoints`` that are worth asking, such as from the ``wanted`` that ``Sender`` notes.
    None asks all.
    """

    def __init__(
        self,
        make_client: Callable[[], Asks],
        *,
        points: Callable[[], list[str] | None] = lambda: None,
        budget_ms: int = BUDGET_MS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make_client, self._points, self._budget_ms, self._clock = make_client, points, budget_ms, clock
        self._local = threading.local()
        self._questions: queue.SimpleQueue[tuple[Future[dict[str, Any]], tuple[Any, ...]]] = (
            queue.SimpleQueue()
        )
        self._asking = self._threads = 0
        self._kept: OrderedDict[str, tuple[float, HookAnswer]] = OrderedDict()
        self._lock = threading.Lock()
        self._failures = 0
        self._closed_until = 0.0

    def checkout(
        self, *, fresh: bool = False, shopper: Shopper | None = None, attributes: Attributes | None = None
    ) -> Checkout:
        """Begin what one customer waits for, such as a request of the shop's pages."""
        about = _about(shopper, attributes)
        return Checkout(self, self._budget_ms, self._clock, fresh=fresh, about=about)

    def ask(
        self,
        point: Point,
        data: Mapping[str, Any],
        *,
        quote: str = "",
        fresh: bool = False,
        budget_ms: int | None = None,
        shopper: Shopper | None = None,
        attributes: Attributes | None = None,
    ) -> HookAnswer:
        """Ask the store's apps. ``data`` is as the hook catalog has it, with the shop's ids.

        The answer for the same data, shopper and attributes is kept for a minute; ``fresh`` asks again, as the last step of a checkout does. Never
        raises: without an answer in time it is the kept one, so that customers pay what they were shown, else the neutral
        one. But ``checkout.create_payment``, which is never kept, raises ``Unreachable`` or ``ApiError``: then ask for the
        payment, or tell the customer to choose again. ``budget_ms`` is at most that of all hooks.
        """
        budget = self._budget_ms if budget_ms is None else min(budget_ms, self._budget_ms)
        about = _about(shopper, attributes)
        if point == "checkout.create_payment":
            return _answered(self._timed(point, data, quote, budget, about))
        points = self._points()
        if points is not None and point not in points:
            return HookAnswer(_neutral(point, data), quote=quote)
        name = _name(point, data, about)
        kept = self._kept_answer(name)
        if not fresh and kept is not None:
            return kept
        try:
            answer = _answered(self._timed(point, data, quote, budget, about))
        except PlatformError:
            return kept or HookAnswer(_neutral(point, data), quote=quote)
        self._keep(name, answer)
        return answer

    # Kept answers

    def _kept_answer(self, name: str) -> HookAnswer | None:
        with self._lock:
            until, answer = self._kept.get(name, (0.0, None))
        return answer if answer is not None and self._clock() < until else None

    def _keep(self, name: str, answer: HookAnswer) -> None:
        with self._lock:
            self._kept[name] = (self._clock() + KEPT_FOR, answer)
            self._kept.move_to_end(name)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)

    # Asking

    def _timed(
        self, point: Point, data: Mapping[str, Any], quote: str, budget_ms: int, about: dict[str, Any]
    ) -> dict[str, Any]:
        """Raises PlatformError after the budget and 200 ms more, wherever the other thread is then."""
        if budget_ms < LEAST_MS:
            raise Unreachable("the checkout has no time left")
        if self._clock() < self._closed_until:
            raise Unreachable("the platform failed three times in a row, and is asked again in some seconds")
        timeout = (budget_ms + MORE_MS) / 1000
        asked = self._submit(point, data, quote, budget_ms, timeout, about)
        try:
            answer = asked.result(timeout)
        except TookTooLong:
            self._failed()
            raise Unreachable(f"no answer within {timeout:.1f} s") from None
        except ApiError as error:
            if error.may_pass:
                self._failed()
            raise
        except PlatformError:
            self._failed()
            raise
        self._failures = 0
        return answer

    def _submit(self, *question: Any) -> Future[dict[str, Any]]:
        """To a thread that ends with the process: one that waits for a slow answer keeps no shop from stopping."""
        with self._lock:
            if self._asking == THREADS:
                raise Unreachable("too many requests wait for the platform")
            self._asking += 1
            is_short = self._threads < self._asking
            self._threads += is_short
        if is_short:
            threading.Thread(target=self._work, name="extension-platform-hooks", daemon=True).start()
        asked: Future[dict[str, Any]] = Future()
        self._questions.put((asked, question))
        return asked

    def _work(self) -> None:
        while True:
            asked, question = self._questions.get()
            try:
                answer = self._ask(*question)
            except BaseException as error:  # raised where it is waited for
                self._free()
                asked.set_exception(error)
            else:
                self._free()
                asked.set_result(answer)

    def _free(self) -> None:
        with self._lock:
            self._asking -= 1

    def _ask(
        self,
        point: str,
        data: Mapping[str, Any],
        quote: str,
        budget_ms: int,
        timeout: float,
        about: dict[str, Any],
    ) -> dict[str, Any]:
        if not hasattr(self._local, "client"):
            self._local.client = self._make_client()
        client: Asks = self._local.client
        return client.ask(point, data, budget_ms=budget_ms, quote=quote or None, timeout=timeout, **about)

    def _failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._closed_until = self._clock() + RESTS


class Checkout:
    """What one customer waits for: all its hooks share one budget and one quote, and equal questions are asked once.

    With ``fresh`` it asks again what is kept: where the customer confirms. ``quote`` is the newest, for the order's mark.
    All questions have the same shopper and attributes.
    """

    def __init__(
        self,
        hooks: Hooks,
        budget_ms: int,
        clock: Callable[[], float],
        *,
        fresh: bool = False,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self._hooks, self._clock, self._fresh, self._about = hooks, clock, fresh, dict(about or {})
        self._left_ms = float(budget_ms + MORE_MS)
        self._answers: dict[str, HookAnswer] = {}
        self.quote = ""

    def ask(self, point: Point, data: Mapping[str, Any]) -> HookAnswer:
        """As ``Hooks.ask``, within what is left of the budget."""
        name = _name(point, data, self._about)
        if name not in self._answers:
            began = self._clock()
            answer = self._hooks.ask(
                point,
                data,
                quote=self.quote,
                fresh=self._fresh,
                budget_ms=max(0, int(self._left_ms) - MORE_MS),
                **self._about,
            )
            self._left_ms -= (self._clock() - began) * 1000
            self._answers[name] = answer
            self.quote = answer.quote or self.quote
        return self._answers[name]


def _answered(record: Mapping[str, Any]) -> HookAnswer:
    return HookAnswer(record["answer"], record["parts"], record.get("quote") or "", heard=True)


def _neutral(point: Point, data: Mapping[str, Any]) -> dict[str, Any]:
    match point:
        case "order.validate":
            return {"valid": True, "reason": None, "allHeard": False}
        case "order.calculate_discounts":
            return {"discount": 0, "reason": None}
        case "checkout.shipping_rates":
            return {"fee": data.get("builtInFee", 0)}
        case _:
            return {"methods": []}


def _about(shopper: Shopper | None, attributes: Attributes | None) -> dict[str, Any]:
    """The fields beside the data, without what the shopper hasn't typed yet."""
    known = {name: value for name, value in (shopper or {}).items() if value}
    return ({"shopper": known} if known else {}) | ({"attributes": attributes} if attributes else {})


def _name(point: str, data: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    return hashlib.sha256(to_json([point, data, about]).encode()).hexdigest()
