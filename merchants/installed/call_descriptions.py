"""What an app did by API calls, in words for the owner of a store."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from activity.summaries import Summary

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
REFUSED: Final = "Tried something it has no permission for"


@dataclass(frozen=True, slots=True)
class Deed:
    words: str
    count: int
    last: datetime
    is_refused: bool = False


def deeds_of(calls: Summary) -> list[Deed]:
    """Latest first. Housekeeping is left out."""
    deeds: dict[str, Deed] = {}
    for each in calls.done:
        words = REFUSED if each.is_refused else ACTS.get((each.method, each.route)) or READS.get(each.scope)
        if words:
            earlier = deeds.get(words, Deed(words, 0, each.last))
            deeds[words] = Deed(
                words, earlier.count + each.count, max(earlier.last, each.last), each.is_refused
            )
    return sorted(deeds.values(), key=lambda deed: deed.last, reverse=True)
