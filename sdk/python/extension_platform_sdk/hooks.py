"""From the HTTP request of a hook call to its handler.

The platform waits for the answer and uses it at once. As with webhooks, no web framework is assumed::

    router = HookRouter()

    @router.on("checkout.shipping_rates")
    def rate(call: HookCall[CheckoutShippingRatesData]) -> CheckoutShippingRatesAnswer:
        return {"fee": 0 if call.data["subtotal"] >= 5000 else call.data["builtInFee"]}

    response = router.handle(request.headers, request.body, secret_of_business)
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .envelope import TRACEPARENT_HEADER, HookCall, read_traceparent
from .events import REQUEST_ID_HEADER, Headers
from .signatures import SIGNATURE_HEADER, TIMESTAMP_HEADER, TOLERANCE, InvalidSignature, verify

if TYPE_CHECKING:
    from .types import OnHook

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HookResponse:
    """What to answer the platform: ``status``, and ``body`` as JSON.

    The rest is for the app's own log: ``reason`` in plain words for every status but 200, and the ``call`` once it was
    verified and read.
    """

    status: int
    body: bytes
    reason: str | None = None
    call: HookCall[Any] | None = None


HookHandler = Callable[[HookCall[Any]], Mapping[str, object]]
SecretOfBusiness = Callable[[str], str | None]


class HookRouter:
    """One handler per hook point, behind the signature check.

    A handler returns the answer's JSON object. A shopper waits for it, so be quick: after the hook's timeout, or
    when the handler raises, the store carries on without the app.
    """

    def __init__(self, *, tolerance: float = TOLERANCE) -> None:
        self._handlers: dict[str, HookHandler] = {}
        self._tolerance = tolerance

    @property
    def on(self) -> OnHook:
        """``on(*hook_points)``: make the decorated function the handler of these hook points.

        Type checkers hold the handler of a single point to its data and answer. Raises ``ValueError`` where a hook point
        has its handler already.
        """
        return self._on

    def _on(self, *hook_points: str) -> Callable[[Any], Any]:
        def register(handler: HookHandler) -> HookHandler:
            for point in hook_points:
                if point in self._handlers:
                    raise ValueError(f"{point} has a handler already")
                self._handlers[point] = handler
            return handler

        return register

    def handle(
        self, headers: Headers, body: bytes, secret: str | SecretOfBusiness, *, now: float | None = None
    ) -> HookResponse:
        """Verify one call, run its handler, and say what to answer.

        ``secret`` is the installation's webhook secret, or for an app on several stores a function that is given the
        body's ``businessId`` and returns that installation's secret, ``None`` for an unknown one.

        ======  =========================================================================
        status  when
        ======  =========================================================================
        200     answered: the body is what the handler returned
        400     correctly signed, but not the envelope of a hook call
        401     no, malformed, wrong or stale signature; unknown business
        404     no handler for this hook point
        500     the handler raised, or returned what is not JSON
        ======  =========================================================================
        """
        values = {name.lower(): value for name, value in headers.items()}
        try:
            verify(
                secret=_find_secret(secret, body),
                timestamp=values.get(TIMESTAMP_HEADER.lower()),
                signature=values.get(SIGNATURE_HEADER.lower()),
                body=body,
                tolerance=self._tolerance,
                now=now,
            )
        except InvalidSignature as error:
            return _refuse(401, str(error))
        try:
            call = replace(
                HookCall.from_body(body),
                request_id=values.get(REQUEST_ID_HEADER.lower()),
                traceparent=read_traceparent(values.get(TRACEPARENT_HEADER)),
            )
        except ValueError as error:
            return _refuse(400, str(error))
        return self._answer(call)

    def _answer(self, call: HookCall[Any]) -> HookResponse:
        handler = self._handlers.get(call.hook_point)
        if handler is None:
            return _refuse(404, f"there is no handler for {call.hook_point}", call)
        try:
            answer = json.dumps(dict(handler(call)), allow_nan=False).encode()
        except Exception:
            logger.exception("The handler of %s failed", call.hook_point)
            return _refuse(500, "the handler failed", call)
        return HookResponse(200, answer, call=call)


def _find_secret(secret: str | SecretOfBusiness, body: bytes) -> str:
    """The body names the business before anything is verified: that only chooses the key to verify with."""
    if isinstance(secret, str):
        return secret
    try:
        business_id = HookCall.from_body(body).business_id
    except ValueError as error:
        raise InvalidSignature(f"no business can be read: {error}") from None
    found = secret(business_id)
    if not found:
        raise InvalidSignature("businessId names no business known here")
    return found


def _refuse(status: int, reason: str, call: HookCall[Any] | None = None) -> HookResponse:
    return HookResponse(status, json.dumps({"message": reason}).encode(), reason=reason, call=call)
