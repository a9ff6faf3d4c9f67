"""Descriptions of an app's hooks for merchants: what each does, how it performs, what buyers saw when it failed."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone

from extensions.hooks import health
from extensions.hooks.descriptions import DESCRIPTIONS, HookDescription
from extensions.hooks.health import Health
from extensions.models import Breaker, Definition, HookCall
from merchants.installed.app import InstalledApp
from stores.hookpoints import HookPoint

REFUSED: Final = "those orders were refused, as you chose"


@dataclass(frozen=True, slots=True)
class AtCheckout:
    """One thing that the app does at checkout, and how it performed lately."""

    definition: Definition
    description: HookDescription
    health: Health
    summary: str
    breaker: Breaker | None
    is_paused: bool
    is_on: bool

    @property
    def validates(self) -> bool:
        return self.definition.key == HookPoint.VALIDATE

    @property
    def usually(self) -> str:
        """The usual time of an answer."""
        return _seconds(self.health.p50 or 0)

    @property
    def is_open(self) -> bool:
        return self.breaker is not None and self.breaker.open_until is not None


def at_checkout(
    app: InstalledApp, off: Set[UUID], *, refuses: bool = False, now: datetime | None = None
) -> list[AtCheckout]:
    """Everything that the app does there, in the order of a checkout. `off` are the ids of what is switched off. One statement."""
    now = now or timezone.now()
    calls = HookCall.objects.filter(installation=app.installation)
    healths = health.healths_of(calls, app.hooks, now=now) if app.hooks else {}
    breakers = {each.definition_id: each for each in app.status.breakers}
    return [
        _one(each, healths[each.pk], breakers.get(each.pk), refuses, now, is_on=each.pk not in off)
        for each in app.hooks
    ]


def _one(
    definition: Definition,
    found: Health,
    breaker: Breaker | None,
    refuses: bool,
    now: datetime,
    *,
    is_on: bool,
) -> AtCheckout:
    description = DESCRIPTIONS[HookPoint(definition.key)]
    instead = REFUSED if refuses and definition.key == HookPoint.VALIDATE else description.buyers_saw
    return AtCheckout(
        definition=definition,
        description=description,
        health=found,
        summary=_summary(found, instead),
        breaker=breaker,
        is_paused=breaker is not None and health.is_paused(breaker, now),
        is_on=is_on,
    )


def _summary(found: Health, instead: str) -> str:
    if not found.asked:
        return "Not called in the last 7 days."
    called = f"Called {_times(found.asked)} in the last 7 days"
    if not found.failed:
        return f"{called}. It always responded, usually within {_seconds(found.p50 or 0)}."
    waited = (
        f"Checkout waited up to {_seconds(found.worst)} for this app"
        if found.worst
        else "Checkout didn't wait for it"
    )
    return f"{called}. {_times(found.failed).capitalize()} it didn't respond correctly. {waited}; {instead}."


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _seconds(milliseconds: int) -> str:
    return f"{max(0.1, milliseconds / 1000):.1f} s"
