"""The check that hooks verify signatures: each is called with a foreign one and with a stale one, and answers 401.

What is sent is what the platform sends at checkout, with the sample data of the hook point; a hook that answers
2xx to either would take orders from anybody.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from django.utils import timezone

from common.ids import new_id
from common.secrets import new_webhook_secret
from common.times import iso
from developers.review.evidence import Evidence, Outcome
from extensions.addresses import hook_address
from extensions.definitions import Hook, hook
from extensions.enums import ExtensionType
from extensions.models import Definition
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from stores.hookpoints import HookPoint
from webhooks import transport
from webhooks.diagnosis import in_short
from webhooks.signing import hook_signature_headers
from webhooks.transport import Exchange

STALE: Final = timedelta(minutes=10)  # receivers allow five
REFUSED: Final = 401

_ITEMS: Final = [{"productId": str(new_id()), "quantity": 1}]
_SAMPLES: Final[dict[HookPoint, dict[str, Any]]] = {
    HookPoint.PAYMENT_METHODS: {},
    HookPoint.CREATE_PAYMENT: {
        "orderId": str(new_id()), "amount": "1250", "currency": "USD", "paymentMethodId": "sample",
        "description": "A signature check, no order",
    },
    HookPoint.SHIPPING_RATES: {"deliveryMethod": "DELIVERY", "subtotal": 1250, "builtInFee": 500},
    HookPoint.VALIDATE: {"items": _ITEMS, "subtotal": 1250, "deliveryMethod": "PICKUP"},
    HookPoint.DISCOUNTS: {"items": _ITEMS, "subtotal": 1250, "promoDiscount": 0, "deliveryFee": 0},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Probe:
    hook: Hook
    signed: str
    exchange: "Future[Exchange]"


def hook_signatures(app: App) -> Iterator[Evidence]:
    rows = Definition.objects.filter(app=app, type=ExtensionType.HOOK, is_active=True)
    hooks = [hook(row) for row in rows]
    if not hooks:
        yield Evidence(Outcome.PASS, "There are none: the app has no hooks.")
        return
    if not app.webhook_url:
        yield Evidence(Outcome.SKIPPED, "The app has no Webhook URL to call.")
        return
    installation = sandbox_installation(app=app, developer=app.developer)
    probes = [probe for each in hooks for probe in _probes(app, each, installation)]
    for each in probes:
        yield _judged(each, each.exchange.result())
    if installation is None:
        yield Evidence(
            Outcome.SKIPPED,
            "Stale signatures: the app is not installed on its developer's sandbox, so it has no secret yet.",
        )


def _probes(app: App, called: Hook, installation: Installation | None) -> Iterator[Probe]:
    now = timezone.now()
    business = str(installation.business_id) if installation else str(new_id())
    foreign = _sent(app, called, business, new_webhook_secret(test=True), now)
    yield Probe(called, "signed with another secret", foreign)
    if installation is not None:
        stale = _sent(app, called, business, installation.webhook_secret, now - STALE)
        yield Probe(called, "signed rightly, but ten minutes ago", stale)


def _sent(app: App, called: Hook, business: str, secret: str, at: datetime) -> "Future[Exchange]":
    data = _SAMPLES[called.point]
    if called.point in (HookPoint.PAYMENT_METHODS, HookPoint.CREATE_PAYMENT):
        data = data | {"businessId": business}
    body = orjson.dumps(
        {"hookPoint": called.point.value, "businessId": business, "timestamp": iso(at), "data": data}
    )
    headers = hook_signature_headers(secret, int(at.timestamp()), body)
    url = hook_address(app.webhook_url, called.path)
    return transport.submit(url, headers=headers, body=body, timeout=called.timeout / 1000)


def _judged(probe: Probe, exchange: Exchange) -> Evidence:
    what = f"{probe.hook.point}, {probe.signed}:"
    if exchange.status is None:
        return Evidence(Outcome.FAIL, f"{what} no answer ({in_short(None, exchange.error_class or '')}).")
    answered = f"{what} answered {exchange.status} in {exchange.duration_ms} ms"
    if exchange.status == REFUSED:
        return Evidence(Outcome.PASS, f"{answered}.")
    if exchange.error_class == "http_4xx":
        return Evidence(Outcome.WARN, f"{answered}. That refuses it, but 401 is right.")
    return Evidence(Outcome.FAIL, f"{answered}, where 401 is right.")
