"""Checks that an app verifies signatures. It must answer 401 to an invalid or old signature, and 2xx to a valid one.

The Webhook URL receives `webhook.test` and each hook receives a sample request, all at once. The valid and the old
request are signed with a secret that the app knows: the one of the install on its developer's sandbox store. These
requests don't appear in the app's deliveries and hook calls.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from django.utils import timezone

from common import strangers
from common.http import transport
from common.ids import new_id
from common.secrets import new_webhook_secret
from common.times import iso
from extensions.addresses import hook_address
from extensions.definitions import Hook, hook
from extensions.enums import ExtensionType
from extensions.evidence import Evidence, Outcome
from extensions.models import Definition
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from stores.hookpoints import HookPoint
from webhooks import catalogue, message, payloads
from webhooks.diagnosis import in_short
from webhooks.models import Event, Webhook
from webhooks.signing import hook_signature_headers

OLD: Final = timedelta(minutes=10)  # receivers accept at most five

FOREIGN: Final = "signed with another secret"
VALID: Final = "signed correctly"
EXPIRED: Final = "signed correctly ten minutes ago"

_ITEMS: Final = [{"productId": str(new_id()), "quantity": 1}]
_SAMPLES: Final[dict[HookPoint, dict[str, Any]]] = {
    HookPoint.PAYMENT_METHODS: {},
    HookPoint.CREATE_PAYMENT: {
        "orderId": str(new_id()), "amount": "1250", "currency": "USD", "paymentMethodId": "sample",
        "description": "Signature check, not an order",
    },
    HookPoint.SHIPPING_RATES: {"deliveryMethod": "DELIVERY", "subtotal": 1250, "builtInFee": 500},
    HookPoint.VALIDATE: {"items": _ITEMS, "subtotal": 1250, "deliveryMethod": "PICKUP"},
    HookPoint.DISCOUNTS: {"items": _ITEMS, "subtotal": 1250, "promoDiscount": 0, "deliveryFee": 0},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Probe:
    """One request under way, described by how it is signed."""

    name: str
    exchange: transport.Coming
    is_valid: bool = False


def webhook_signatures(app: App) -> Iterator[Evidence]:
    if not app.webhook_url:
        yield Evidence(Outcome.SKIPPED, "The app has no Webhook URL.")
        return
    now = timezone.now()
    webhook = _known_webhook(app)
    probes = [Probe(_capitalized(FOREIGN), _send_test(app, webhook, new_webhook_secret(test=True), now))]
    if webhook is not None:
        valid = _send_test(app, webhook, webhook.secret, now)
        probes.insert(0, Probe(_capitalized(VALID), valid, is_valid=True))
        probes.append(Probe(_capitalized(EXPIRED), _send_test(app, webhook, webhook.secret, now - OLD)))
    yield from (_judge(app, each) for each in probes)
    if webhook is None:
        yield Evidence(
            Outcome.SKIPPED,
            "Valid and old signatures: the app isn't installed on its developer's sandbox store, so it has no secret yet.",
        )


def _known_webhook(app: App) -> Webhook | None:
    """The app-defined webhook on the developer's sandbox store. The app knows its secret."""
    installation = sandbox_installation(app=app, developer=app.developer)
    if installation is None:
        return None
    return Webhook.objects.kept().filter(installation=installation, is_app_defined=True).first()


def _send_test(app: App, webhook: Webhook | None, secret: str, at: datetime) -> transport.Coming:
    webhook = webhook or Webhook(url=app.webhook_url)
    event = Event(
        type=catalogue.WEBHOOK_TEST,
        business_id=webhook.installation.business_id if webhook.installation_id else new_id(),
        data=orjson.dumps(payloads.test_event(webhook)).decode(),
        occurred_at=at,
    )
    request = message.compose(
        event=event,
        delivery_id=new_id(),
        webhook_id=webhook.id,
        url=app.webhook_url,
        secret=secret,
        now=at,
    )
    return transport.submit(request.url, headers=request.headers, body=request.body)


def hook_signatures(app: App) -> Iterator[Evidence]:
    """Only invalid requests: a hook that answers 2xx to one of them would act on forged orders."""
    hooks = [hook(row) for row in Definition.objects.filter(app=app, type=ExtensionType.HOOK, is_active=True)]
    if not hooks:
        yield Evidence(Outcome.PASS, "The app has no hooks.")
        return
    if not app.webhook_url:
        yield Evidence(Outcome.SKIPPED, "The app has no Webhook URL.")
        return
    installation = sandbox_installation(app=app, developer=app.developer)
    probes = [probe for each in hooks for probe in _hook_probes(app, each, installation)]
    yield from (_judge(app, each) for each in probes)
    if installation is None:
        yield Evidence(
            Outcome.SKIPPED,
            "Old signatures: the app isn't installed on its developer's sandbox store, so it has no secret yet.",
        )


def _hook_probes(app: App, called: Hook, installation: Installation | None) -> Iterator[Probe]:
    now = timezone.now()
    business = str(installation.business_id) if installation else str(new_id())
    foreign = _call_hook(app, called, business, new_webhook_secret(test=True), now)
    yield Probe(f"{called.point}, {FOREIGN}", foreign)
    if installation is not None:
        expired = _call_hook(app, called, business, installation.webhook_secret, now - OLD)
        yield Probe(f"{called.point}, {EXPIRED}", expired)


def _call_hook(app: App, called: Hook, business: str, secret: str, at: datetime) -> transport.Coming:
    data = _SAMPLES[called.point]
    if called.point in (HookPoint.PAYMENT_METHODS, HookPoint.CREATE_PAYMENT):
        data = data | {"businessId": business}
    body = orjson.dumps(
        {"hookPoint": called.point.value, "businessId": business, "timestamp": iso(at), "data": data}
    )
    headers = hook_signature_headers(secret, int(at.timestamp()), body)
    url = hook_address(app.webhook_url, called.path)
    return transport.submit(url, headers=headers, body=body, timeout=called.timeout / 1000)


def _judge(app: App, probe: Probe) -> Evidence:
    """Waits for the response. A valid request must get 2xx, an invalid one 401."""
    exchange = strangers.result(probe.exchange, app.pk)
    if exchange.status is None:
        reason = in_short(None, exchange.error_class or "")
        return Evidence(Outcome.FAIL, f"{probe.name}: no response ({reason}).")
    answered = f"{probe.name}: answered {exchange.status} in {exchange.duration_ms} ms"
    expected = "2xx" if probe.is_valid else "401"
    if exchange.succeeded if probe.is_valid else exchange.status == 401:
        return Evidence(Outcome.PASS, f"{answered}.")
    if not probe.is_valid and exchange.error_class == "http_4xx":
        return Evidence(
            Outcome.WARN, f"{answered}. The request is refused, but with another status than 401."
        )
    return Evidence(Outcome.FAIL, f"{answered}, expected {expected}.")


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
