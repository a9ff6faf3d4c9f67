"""What the portal says about hooks and their calls."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from extensions.addresses import hook_address
from extensions.definitions import Hook
from extensions.definitions import hook as read_hook
from extensions.enums import CallOutcome
from extensions.hooks import health
from extensions.hooks.health import Health
from extensions.models import Breaker, Definition, HookCall
from marketplace.models import App
from stores.hookpoints import HookPoint

# What the shop does where the hook fails.
FALLBACKS: Final = {
    HookPoint.PAYMENT_METHODS: "Your methods are left out of the checkout.",
    HookPoint.CREATE_PAYMENT: "The order stands, its payment failed; the buyer may choose again.",
    HookPoint.SHIPPING_RATES: "The fee so far stands: the store's own, or that of an app before yours.",
    HookPoint.VALIDATE: "The order is accepted, marked as not validated. A merchant may have it refused instead.",
    HookPoint.DISCOUNTS: "No discount from you.",
}

OUTCOMES: Final = {
    CallOutcome.ANSWERED: ("ok", "check", "Answered"),
    CallOutcome.TIMEOUT: ("bad", "clock", "Too late"),
    CallOutcome.UNREACHABLE: ("bad", "plug", "Not reached"),
    CallOutcome.HTTP_ERROR: ("bad", "circle-x", "Error"),
    CallOutcome.NOT_JSON: ("bad", "braces", "Not JSON"),
    CallOutcome.UNEXPECTED: ("bad", "braces", "Wrong shape"),
    CallOutcome.BREAKER_OPEN: ("neutral", "pause", "Skipped"),
    CallOutcome.NO_TIME_LEFT: ("neutral", "clock", "No time left"),
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A hook with how it does. `url` is that of the working copy, empty without a Webhook URL."""

    definition: Definition
    hook: Hook
    url: str
    health: Health
    breakers: list["Skipping"]
    fallback: str

    @property
    def pill(self) -> tuple[str, str, str]:
        if not self.definition.is_active:
            return "neutral", "minus", "Not in the manifest"
        if any(each.breaker.open_until for each in self.breakers):
            return "bad", "pause", "Skipped for some"
        if not self.health.asked:
            return "neutral", "minus", "Not called yet"
        return ("warn", "triangle-alert", "Failing") if self.breakers else ("ok", "check", "Working")


@dataclass(frozen=True, slots=True)
class Skipping:
    """A breaker that is open, or counts failures."""

    breaker: Breaker
    words: str


def standing(app: App, definition: Definition, now: datetime | None = None) -> Standing:
    now = now or timezone.now()
    hook = read_hook(definition)
    return Standing(
        definition=definition,
        hook=hook,
        url=hook_address(app.webhook_url, hook.path) if app.webhook_url else "",
        health=health.health_of(HookCall.objects.filter(definition=definition), now=now),
        breakers=[Skipping(each, _state(each, now)) for each in health.troubled([definition])],
        fallback=FALLBACKS[hook.point],
    )


def _state(breaker: Breaker, now: datetime) -> str:
    if breaker.open_until is None:
        return f"Called. {breaker.failures} of 5 failures in a row."
    if health.is_paused(breaker, now):
        return "Skipped"
    return "The next call is a trial."
