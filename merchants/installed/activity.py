"""What an installed app did in a store in the last seven days, in words for its owner."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from extensions.hooks.health import NEWEST
from installations.models import Installation
from merchants.installed.call_descriptions import deeds_of
from merchants.installed.hook_descriptions import AtCheckout
from webhooks.queries import MANY, delivery_health


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """One thing that the app did. `count` is None where it isn't counted; `problem` says what went wrong."""

    words: str
    count: int | None
    last: datetime | None
    is_cut: bool = False
    problem: str = ""


def done_by(installation: Installation, at_checkout: list[AtCheckout]) -> list[ActivityLine]:
    """Calls of the app, what checkout asked it, and updates that it received, latest first."""
    deeds, is_cut = deeds_of(installation)
    lines = [ActivityLine(each.words, each.count, each.last, is_cut) for each in deeds]
    lines += [_hook(each) for each in at_checkout if each.health.asked]
    health = delivery_health(installation, timezone.now())
    if health.last_at or health.given_up:
        many = "1,000 or more" if health.given_up >= MANY else f"{health.given_up:,}"
        missed = f"{many} missed" if health.given_up else ""
        lines.append(ActivityLine("Received updates from your store", None, health.last_at, problem=missed))
    return sorted(lines, key=lambda line: line.last.timestamp() if line.last else 0, reverse=True)


def _hook(part: AtCheckout) -> ActivityLine:
    health = part.health
    failed = f"{health.failed:,} failed" if health.failed else ""
    return ActivityLine(part.description.done, health.asked, health.last, health.asked >= NEWEST, failed)
