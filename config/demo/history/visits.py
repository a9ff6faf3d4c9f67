"""The visits that came with the bakery's orders of the month."""

import random
from collections import Counter
from typing import Final
from zoneinfo import ZoneInfo

from accounts.models import Business
from config.demo.history.story import SEED
from stores.models import Order, StoreVisits

VISITS: Final = (9, 17)  # for each order


def bring_visitors(*, business: Business) -> None:
    """On each day with orders, so many more visits."""
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    zone = ZoneInfo(business.timezone)
    ordered = Order.objects.filter(business=business).values_list("created_at", flat=True)
    days = Counter(at.astimezone(zone).date() for at in ordered)
    StoreVisits.objects.bulk_create(
        StoreVisits(business=business, day=day, visits=sum(chance.randint(*VISITS) for _ in range(orders)))
        for day, orders in sorted(days.items())
    )
