"""What a merchant reads about an app's hooks: what it is asked, how that goes, and what buyers saw when it failed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from extensions.hooks import health
from extensions.hooks.health import Health
from extensions.models import Breaker, Definition, HookCall
from installations.models import Installation
from stores.hookpoints import HookPoint


@dataclass(frozen=True, slots=True)
class Words:
    title: str
    asked: str  # what the app is asked, and when
    instead: str  # what happened where it failed, after a semicolon


WORDS: Final = {
    HookPoint.PAYMENT_METHODS: Words(
        "Ways to pay", "It offers ways to pay at the checkout.", "buyers did not see its ways to pay"
    ),
    HookPoint.VALIDATE: Words(
        "Checking orders", "It is asked about each order before that is placed.", "those orders went through unchecked"
    ),
    HookPoint.DISCOUNTS: Words(
        "Discounts", "It may take something off each order.", "buyers saw the normal price"
    ),
    HookPoint.SHIPPING_RATES: Words(
        "Delivery fee", "It may set the fee of each delivery.", "buyers saw the normal delivery fee"
    ),
    HookPoint.CREATE_PAYMENT: Words(
        "Taking payments", "It takes the payment where a buyer chose its way to pay.",
        "those payments failed, and the buyers could choose another way to pay",
    ),
}  # fmt: skip
REFUSED: Final = "those orders were refused, as you wish"


@dataclass(frozen=True, slots=True)
class AtCheckout:
    """One thing that the app does at the checkout, and how that went lately."""

    definition: Definition
    words: Words
    health: Health
    summary: str
    breaker: Breaker | None
    is_paused: bool

    @property
    def validates(self) -> bool:
        return self.definition.key == HookPoint.VALIDATE

    @property
    def is_open(self) -> bool:
        return self.breaker is not None and self.breaker.open_until is not None


def at_checkout(
    installation: Installation, *, refuses: bool = False, now: datetime | None = None
) -> list[AtCheckout]:
    """All that the app does there, as a checkout meets it."""
    now = now or timezone.now()
    definitions = health.hooks_of(installation.app)
    breakers = {each.definition_id: each for each in health.troubled(definitions, installation)}
    return [_one(installation, each, breakers.get(each.pk), refuses, now) for each in definitions]


def _one(
    installation: Installation, definition: Definition, breaker: Breaker | None, refuses: bool, now: datetime
) -> AtCheckout:
    words = WORDS[HookPoint(definition.key)]
    calls = HookCall.objects.filter(installation=installation, definition=definition)
    found = health.health_of(calls, now=now)
    instead = REFUSED if refuses and definition.key == HookPoint.VALIDATE else words.instead
    return AtCheckout(
        definition=definition,
        words=words,
        health=found,
        summary=_summary(found, instead),
        breaker=breaker,
        is_paused=breaker is not None and health.is_paused(breaker, now),
    )


def _summary(found: Health, instead: str) -> str:
    if not found.asked:
        return "It was not asked in the last 7 days."
    asked = f"It was asked {_times(found.asked)} in the last 7 days"
    if not found.failed:
        return f"{asked} and always answered, as a rule within {_seconds(found.p50 or 0)}."
    waited = (
        f"Checkout waited up to {_seconds(found.worst)} for this app"
        if found.worst
        else "Checkout did not wait"
    )
    return (
        f"{asked}. {_times(found.failed).capitalize()} it did not answer as it should. {waited}; {instead}."
    )


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _seconds(milliseconds: int) -> str:
    return f"{max(0.1, milliseconds / 1000):.1f} s"
