"""How an app performs in all stores, as measured by us, for its listing."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from extensions.enums import ExtensionType
from extensions.hooks.health import health_of
from extensions.in_store.capabilities import Capability
from extensions.models import HookCall
from marketplace.models import App
from webhooks.insight.analytics import thirty_days

ENOUGH: Final = 100  # calls or deliveries; of fewer, a page claims nothing


@dataclass(frozen=True, slots=True)
class Fact:
    """`share` is like "99.2%"; `detail` completes the sentence: of which answers, and how long they took."""

    name: str
    share: str
    detail: str


def measured_facts(app: App, capabilities: Iterable[Capability]) -> list[Fact]:
    """Checkout calls of the last 7 days and webhooks of the last 30, of production installs. At most two statements."""
    hooks = [ident for each in capabilities if each.type == ExtensionType.HOOK for ident in each.definitions]
    return [*_at_checkout(hooks), *_updates(app)]


def _at_checkout(hooks: list[UUID]) -> Iterable[Fact]:
    if not hooks:
        return
    calls = HookCall.objects.filter(
        definition__in=hooks, installation__is_test=False, installation__business__is_sandbox=False
    )
    health = health_of(calls)
    if health.asked >= ENOUGH:
        usual = f", usually within {_seconds(health.p50)}" if health.p50 is not None else ""
        detail = f"of its calls at checkout answered in the last 7 days{usual}"
        yield Fact("Checkout", _percent(1 - health.share_failed), detail)


def _updates(app: App) -> Iterable[Fact]:
    figures = thirty_days(app)
    if figures.success_rate is not None and figures.successful + figures.failed >= ENOUGH:
        average = figures.average_latency_ms
        time = f", in {_seconds(average)} on average" if average is not None else ""
        detail = f"of updates from stores received in the last 30 days{time}"
        yield Fact("Updates", _percent(figures.success_rate), detail)


def _percent(share: float) -> str:
    """Rounded down, so that only all of them are 100%."""
    tenths = math.floor(share * 1000) / 10
    return f"{tenths:g}%"


def _seconds(milliseconds: float) -> str:
    return f"{max(0.1, milliseconds / 1000):.1f} s"
