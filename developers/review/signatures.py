"""The check that an app verifies signatures, by sending its Webhook URL `webhook.test` three ways at once.

Specification, "Errors": "respond 401 for an invalid signature or stale timestamp, 2xx to acknowledge". The
secret is the one of the test install on the developer's sandbox. Nothing of this stands in the app's deliveries,
since it is the platform that is asking.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import orjson
from django.utils import timezone

from common.ids import new_id
from common.secrets import new_webhook_secret
from developers.review.evidence import Evidence, Outcome
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks import catalogue, message, payloads, transport
from webhooks.diagnosis import in_short
from webhooks.models import Event, Webhook
from webhooks.transport import Exchange

STALE: Final = timedelta(minutes=10)  # receivers allow five
REFUSED: Final = 401


@dataclass(frozen=True, slots=True)
class Probe:
    """One request: how it is signed, in words, and whether the app should accept it."""

    signed: str
    secret: str
    at: datetime
    genuine: bool


def signatures(app: App) -> Iterator[Evidence]:
    if not app.webhook_url:
        yield Evidence(Outcome.SKIPPED, "The app has no Webhook URL to send to.")
        return
    now = timezone.now()
    webhook = _known_webhook(app)
    foreign = Probe("Signed with another secret", new_webhook_secret(test=True), now, genuine=False)
    if webhook is None:
        yield _judged(foreign, _sent(foreign, app, None).result())
        yield Evidence(
            Outcome.SKIPPED,
            "Right and stale signatures: the app is not installed on its developer's sandbox, so it has no secret yet.",
        )
        return
    probes = (
        Probe("Signed rightly", webhook.secret, now, genuine=True),
        foreign,
        Probe("Signed rightly, but ten minutes ago", webhook.secret, now - STALE, genuine=False),
    )
    under_way = [(probe, _sent(probe, app, webhook)) for probe in probes]
    for probe, exchange in under_way:
        yield _judged(probe, exchange.result())


def _known_webhook(app: App) -> Webhook | None:
    """The app-defined webhook of the developer's own test install: the app knows its secret."""
    installation = sandbox_installation(app=app, developer=app.developer)
    if installation is None:
        return None
    return Webhook.objects.kept().filter(installation=installation, is_app_defined=True).first()


def _sent(probe: Probe, app: App, webhook: Webhook | None) -> "Future[Exchange]":
    webhook = webhook or Webhook(url=app.webhook_url)
    event = Event(
        type=catalogue.WEBHOOK_TEST,
        business_id=webhook.installation.business_id if webhook.installation_id else new_id(),
        data=orjson.dumps(payloads.test_event(webhook)).decode(),
        occurred_at=probe.at,
    )
    request = message.compose(
        event=event,
        delivery_id=new_id(),
        webhook_id=webhook.id,
        url=app.webhook_url,
        secret=probe.secret,
        now=probe.at,
    )
    return transport.submit(request.url, headers=request.headers, body=request.body)


def _judged(probe: Probe, exchange: Exchange) -> Evidence:
    if exchange.status is None:
        reason = in_short(None, exchange.error_class or "")
        return Evidence(Outcome.FAIL, f"{probe.signed}: no answer ({reason}).")
    answered = f"{probe.signed}: answered {exchange.status} in {exchange.duration_ms} ms"
    if probe.genuine:
        outcome = Outcome.PASS if exchange.succeeded else Outcome.FAIL
        return Evidence(outcome, f"{answered}." if exchange.succeeded else f"{answered}, where 2xx is right.")
    if exchange.status == REFUSED:
        return Evidence(Outcome.PASS, f"{answered}.")
    if exchange.error_class == "http_4xx":
        return Evidence(Outcome.WARN, f"{answered}. That refuses it, but 401 is right.")
    return Evidence(Outcome.FAIL, f"{answered}, where 401 is right.")
