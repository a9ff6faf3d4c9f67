"""Hook calls at each point that the manifest declares."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from common.secrets import new_webhook_secret
from conformance.enums import Expected, Outcome
from conformance.probes import AppResponse, Finding, Probe, judged
from conformance.subject import NO_ANSWER, OLD, SIGNATURES, Answers, Step, Subject, skipped
from extensions.definitions import Hook
from extensions.hooks.answers import BadAnswer, parse, problems_of
from extensions.hooks.simulator import example_data
from stores.hookpoints import HookPoint
from stores.models import Order, Product

_ALL: Final = ("HK001", "HK002", "HK003", "HK004", "HK005", "HK006")


def data_of(point: HookPoint, subject: Subject) -> Iterator[tuple[str, dict[str, Any]]]:
    """Data for calls at a point, each with a name. A payment is not among them."""
    data = _sample(point, subject)
    if "deliveryMethod" in data:
        yield ", DELIVERY", data | {"deliveryMethod": "DELIVERY"}
        without_fee = {"builtInFee": 0} if "builtInFee" in data else {}
        yield ", PICKUP", data | {"deliveryMethod": "PICKUP"} | without_fee
    elif "items" in data:
        for pieces in (1, 20):
            yield f", {pieces} pieces", _sample(point, subject, pieces=pieces)
    elif point != HookPoint.CREATE_PAYMENT:
        yield "", data


def _sample(point: HookPoint, subject: Subject, *, pieces: int = 1) -> dict[str, Any]:
    """The schema's example, about the store's own product."""
    data = example_data(point, subject.signer)
    product = Product.objects.filter(business=subject.store, is_available=True).order_by("id").first()
    if "items" in data and product is not None:
        data |= {
            "items": [{"productId": str(product.pk), "quantity": pieces}],
            "subtotal": product.price * pieces,
        }
    return data


def payment_data(subject: Subject, method: str) -> dict[str, Any]:
    """About the store's own order."""
    data = example_data(HookPoint.CREATE_PAYMENT, subject.signer) | {
        "paymentMethodId": method,
        "description": "A check of your app, not a payment",
    }
    order = Order.objects.filter(business=subject.store).order_by("-id").first()
    if order is not None:
        data |= {"orderId": str(order.pk), "amount": str(order.amount), "currency": order.currency}
    return data


def any_data(point: HookPoint, subject: Subject) -> Mapping[str, Any]:
    found = [data for _, data in data_of(point, subject)]
    return found[0] if found else payment_data(subject, "check")


class Responses(Step):
    """Everything but payments, which need a method that the app offers."""

    needs_install = False

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        for hook in subject.hooks if subject.installation else ():
            for title, data in data_of(hook.point, subject):
                yield subject.hook_call(hook, rule="HK001", title=title, data=data)

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        if not subject.hooks:
            yield from skipped("The manifest declares no hooks, or the app has no Webhook URL.", *_ALL)
        for probe in probes:
            answer = answers.get(probe.name, NO_ANSWER)
            yield from _examined(probe, answer)
            if probe.about == HookPoint.PAYMENT_METHODS and answer.is_success:
                subject.state["method"] = _first_method(answer)


class PayByHook(Step):
    def prepare(self, subject: Subject) -> Iterable[Probe]:
        method = subject.state.get("method", "")
        for hook in subject.hooks:
            if hook.point == HookPoint.CREATE_PAYMENT and method:
                yield subject.hook_call(hook, rule="HK001", title="", data=payment_data(subject, method))

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        for probe in probes:
            yield from _examined(probe, answers.get(probe.name, NO_ANSWER))
        points = {hook.point for hook in subject.hooks}
        if HookPoint.CREATE_PAYMENT in points and not probes:
            text = f"{HookPoint.CREATE_PAYMENT} wasn't called, because the app offered no payment method."
            yield Finding("HK001", Outcome.PASS, text)


class HookSignatures(Step):
    """Forged calls. Where the app couldn't be installed, of its test install."""

    needs_install = False

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        for hook in subject.hooks if subject.signer else ():
            yield from _forged(subject, hook)


def _forged(subject: Subject, hook: Hook) -> Iterator[Probe]:
    common: dict[str, Any] = {"data": any_data(hook.point, subject), "expected": Expected.REFUSED}
    foreign = new_webhook_secret(test=True)
    yield _patient(
        subject.hook_call(hook, rule="HK003", title=", signed with another secret", secret=foreign, **common)
    )
    unsigned = subject.hook_call(hook, rule="HK004", title=", without a signature", **common)
    kept = {name: value for name, value in unsigned.headers.items() if name not in SIGNATURES}
    yield _patient(replace(unsigned, headers=kept))
    sent_at = subject.now - OLD
    yield _patient(
        subject.hook_call(hook, rule="HK005", title=", sent ten minutes ago", sent_at=sent_at, **common)
    )
    changed = subject.hook_call(hook, rule="HK006", title=", with a changed body", **common)
    yield _patient(replace(changed, body=changed.body.replace("{", '{"injected":true,', 1)))


def _patient(probe: Probe) -> Probe:
    """How fast a forged call is refused doesn't matter."""
    return replace(probe, seconds=10.0)


def _examined(probe: Probe, answer: AppResponse) -> Iterator[Finding]:
    finding = judged(probe, answer)
    yield finding
    if finding.outcome == Outcome.FAIL:
        return
    point = HookPoint(probe.about)
    try:
        problems = list(problems_of(point, parse(answer.body.encode())))
    except BadAnswer as failure:
        yield Finding("HK002", Outcome.FAIL, f"{probe.title}: {failure.problem}")
        return
    for problem in problems[:5]:
        yield Finding("HK002", Outcome.FAIL, f"{probe.title}: {problem}")
    if not problems:
        yield Finding("HK002", Outcome.PASS, f"{probe.title}: the response is what the hook point expects.")


def _first_method(answer: AppResponse) -> str:
    try:
        methods = parse(answer.body.encode())["methods"]
        return str(methods[0]["id"])
    except (BadAnswer, LookupError, TypeError):
        return ""
