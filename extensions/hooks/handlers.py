"""The five hook points, answered by asking apps: the combining rules of the contract, section 6, and the store's fallback
when an app fails. Registered by `ExtensionsConfig.ready()`.
"""

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from common.money import display
from common.times import parse_moment
from extensions.enums import SKIPPED
from extensions.hooks.asking import HookCalls
from extensions.hooks.calling import Call
from extensions.models import HookPreference
from stores import hookpoints
from stores.enums import HookOutcome
from stores.hookpoints import (
    Asked,
    Discount,
    HookPart,
    HookPoint,
    HookRequest,
    OrderVerdict,
    PaymentDetails,
    PaymentMethod,
    ShippingRate,
)

# Recorded as the store's fallback.
METHODS_LEFT_OUT: Final = "This app's payment methods were left out."
PAYMENT_FAILED: Final = (
    "The payment failed. The order was kept, and the buyer may choose another payment method."
)
STORES_FEE: Final = "The store's own fee was kept."
EARLIER_FEE: Final = "The previous app's fee was kept."
NOT_CHECKED: Final = "The order was accepted without this app's check."
REFUSED_UNCHECKED: Final = "The order was refused: the merchant chose that for orders this app can't check."
CAPPED: Final = (
    "The app asked for {asked} off and got {given}: the store lets it take off at most {percent}%."
)
LATER_FEE: Final = "The next app's fee was used."
NOT_MORE: Final = "Discounts can't be more than the order's value."
NO_DISCOUNT: Final = "This app gave no discount."

CANNOT_CHECK: Final = "This order can't be checked at the moment. Please try again in a few minutes."


def register() -> None:
    for point, handler in (
        (HookPoint.PAYMENT_METHODS, payment_methods),
        (HookPoint.CREATE_PAYMENT, create_payment),
        (HookPoint.SHIPPING_RATES, shipping_rate),
        (HookPoint.VALIDATE, verdict),
        (HookPoint.DISCOUNTS, discount),
    ):
        hookpoints.register(point, handler)


def _part(request: HookRequest, call: Call, *, amount: int | None = None, reason: str = "") -> HookPart:
    """The app's part in the order, for the order's history."""
    if call.answer is not None:
        outcome = HookOutcome.ANSWERED
    else:
        outcome = HookOutcome.SKIPPED if call.outcome in SKIPPED else HookOutcome.FAILED
    return HookPart(
        point=request.point,
        provider=str(call.hook.app_id),
        app_name=call.hook.name,
        outcome=outcome,
        amount=amount,
        reason=reason,
        instead=call.fallback,
        call_id=call.id,
    )


def payment_methods(request: HookRequest) -> Asked[list[PaymentMethod]]:
    """All methods, in order. An id that an app gives twice counts once."""
    found: dict[str, PaymentMethod] = {}
    parts: list[HookPart] = []
    with HookCalls(request, slug=_owner(request)) as hook_calls:
        for calls in hook_calls.groups():
            for call in calls:
                if call.answer is None:
                    call.fallback = METHODS_LEFT_OUT
                parts.append(_part(request, call))
                for each in call.answer["methods"] if call.answer else ():
                    method = _method(call, each)
                    found.setdefault(method.id, method)
    return Asked(list(found.values()), tuple(parts))


def _owner(request: HookRequest) -> str:
    return (request.method_id or "").partition(":")[0]


def _method(call: Call, given: dict[str, Any]) -> PaymentMethod:
    return PaymentMethod(
        id=f"{call.hook.slug}:{given['id']}",
        name=given["name"],
        provider=str(call.hook.app_id),
        description=given.get("description") or None,
        icon=given.get("icon") or None,
    )


def create_payment(request: HookRequest) -> Asked[PaymentDetails | None]:
    """Asks only the owner. None if it failed, was uninstalled, or has no such hook any more."""
    with HookCalls(request, slug=_owner(request)) as hook_calls:
        for (call,) in hook_calls.groups():
            if call.answer is None:
                call.fallback = PAYMENT_FAILED
            return Asked(None if call.answer is None else _details(call.answer), (_part(request, call),))
    return Asked(None)


def _details(answer: dict[str, Any]) -> PaymentDetails:
    until = answer.get("expiresAt")
    return PaymentDetails(
        payment_url=answer.get("paymentUrl") or "",
        qr_code=answer.get("qrCode") or "",
        invoice_id=answer.get("invoiceId") or "",
        expires_at=parse_moment(until) if until else None,
    )


def shipping_rate(request: HookRequest) -> Asked[ShippingRate | None]:
    """Each fee overrides the one before; a failure keeps the fee so far."""
    rate = None
    parts: list[HookPart] = []
    with HookCalls(request) as hook_calls:
        for calls in hook_calls.groups():
            for call in calls:
                if call.answer is None:
                    call.fallback = EARLIER_FEE if rate else STORES_FEE
                    parts.append(_part(request, call))
                    continue
                rate = ShippingRate(int(call.answer["fee"]))
                parts = [part if part.amount is None else replace(part, instead=LATER_FEE) for part in parts]
                parts.append(_part(request, call, amount=rate.fee))
    return Asked(rate, tuple(parts))


def verdict(request: HookRequest) -> Asked[OrderVerdict]:
    """The first refusal in order counts, and no later group is asked. A failing app counts as satisfied but left out, or
    refuses if the merchant chose that. The parts of a refusal have the reasons of those that refused.
    """
    all_heard = True
    parts: list[HookPart] = []
    with HookCalls(request) as hook_calls:
        for calls in hook_calls.groups():
            strict = _strict_among(calls)
            refusal = None
            for call in calls:
                if call.answer is None:
                    all_heard = False
                    refuses = call.hook.installation_id in strict
                    call.fallback = REFUSED_UNCHECKED if refuses else NOT_CHECKED
                    reason = CANNOT_CHECK
                else:
                    refuses, reason = not call.answer["valid"], call.answer.get("reason") or ""
                parts.append(_part(request, call, reason=reason.strip()[:300] if refuses else ""))
                if refuses and refusal is None:
                    refusal = OrderVerdict(valid=False, reason=reason.strip()[:300], all_heard=all_heard)
            if refusal:
                return Asked(refusal, tuple(parts))
    return Asked(OrderVerdict(all_heard=all_heard), tuple(parts))


def _strict_among(calls: list[Call]) -> set[UUID]:
    """Failed installations whose merchant chose to refuse the order then."""
    failed = [call.hook.installation_id for call in calls if call.answer is None]
    if not failed:
        return set()
    strict = HookPreference.objects.filter(installation__in=failed, refuse_unvalidated=True)
    return set(strict.values_list("installation_id", flat=True))


def discount(request: HookRequest) -> Asked[Discount]:
    """Discounts add up, to at most the subtotal minus the promo discount. Each app gets no more than the merchant's cap."""
    amount, reasons = 0, []
    parts: list[HookPart] = []
    currency, locale = request.business.currency, request.business.locale
    most = max(0, request.data["subtotal"] - request.data["promoDiscount"])
    with HookCalls(request) as hook_calls:
        for calls in hook_calls.groups():
            for call in calls:
                if call.answer is None:
                    call.fallback = NO_DISCOUNT
                    parts.append(_part(request, call))
                    continue
                asked = int(call.answer["discount"])
                given = min(asked, request.data["subtotal"] * call.hook.most_discount // 100)
                if given < asked:
                    call.fallback = CAPPED.format(
                        asked=display(asked, currency, locale),
                        given=display(given, currency, locale),
                        percent=call.hook.most_discount,
                    )
                reason = (call.answer.get("reason") or "").strip()
                counted = min(given, max(0, most - amount))
                part = _part(request, call, amount=counted, reason=reason)
                parts.append(replace(part, instead=NOT_MORE) if counted < given else part)
                if given:
                    amount += given
                    reasons.append(reason)
    return Asked(Discount(min(amount, most), "; ".join(filter(None, reasons))[:300]), tuple(parts))
