"""What an installed app did in a store in the last seven days, in words for its owner."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from activity.summaries import done_in
from extensions.hooks.health import NEWEST
from installations.models import Installation
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


READS: Final = {
    "read_products": "Read your products",
    "read_orders": "Read your orders and customers",
    "read_reviews": "Read your reviews",
    "read_analytics": "Read your sales figures",
    "read_business": "Read your store’s details",
    "read_pages": "Read your pages",
}
ACTS: Final = {
    ("POST", "/app-api/orders"): "Placed orders",
    ("PATCH", "/app-api/orders/{order_id}/status"): "Changed the status of orders",
    ("PATCH", "/app-api/orders/{order_id}/payment"): "Reported payments",
    ("GET", "/app-api/payment-methods"): "Asked for your payment methods",
    ("GET", "/app-api/events"): "Read what happened in your store",
    ("POST", "/app-api/exports"): "Exported records",
}
REFUSED: Final = "Was refused what it isn’t allowed to do"


@dataclass(frozen=True, slots=True)
class Deed:
    words: str
    count: int
    last: datetime
    is_refused: bool = False


def deeds_of(installation: Installation) -> tuple[list[Deed], bool]:
    """The last seven days, latest first; and whether there was more than is counted. Housekeeping is left out."""
    done, is_cut = done_in(installation)
    deeds: dict[str, Deed] = {}
    for each in done:
        words = REFUSED if each.is_refused else ACTS.get((each.method, each.route)) or READS.get(each.scope)
        if words:
            earlier = deeds.get(words, Deed(words, 0, each.last))
            deeds[words] = Deed(
                words, earlier.count + each.count, max(earlier.last, each.last), each.is_refused
            )
    return sorted(deeds.values(), key=lambda deed: deed.last, reverse=True), is_cut
