"""What the month counts for the service's objectives: a busy day, a quiet night, and an hour that was bad for all."""

import random
from datetime import datetime, timedelta
from typing import Final

from common.models import ObjectiveCount
from common.observability.objectives import (
    API,
    CHECKOUT,
    ERASURES,
    FIRST_ATTEMPTS,
    PORTAL,
    WINDOW,
    begin_of_step,
)
from config.demo.history.story import SEED, bad_hour

HOUR: Final = timedelta(hours=1)
# Events of an hour of the day, of which so many in 100,000 are bad, and so many in 100 of the bad hour.
TRAFFIC: Final = (
    (FIRST_ATTEMPTS, 240, 60, 35),
    (API, 900, 30, 4),
    (CHECKOUT, 60, 150, 60),
    (PORTAL, 80, 140, 3),
    (ERASURES, 1, 300, 0),
)


def count_objectives(*, now: datetime) -> None:
    """One row for each hour, as if all of it had come in its first five minutes."""
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    rush = bad_hour(now)
    begins = [begin_of_step(now - HOUR - ago * HOUR) for ago in range(WINDOW // HOUR - 1)]
    rows = []
    for at in begins:
        for objective, events, rare, often in TRAFFIC:
            made = round(events * (1 if 6 <= at.hour < 22 else 0.25) * chance.uniform(0.7, 1.3))
            share = often / 100 if rush.begin <= at < rush.end else rare / 100_000
            bad = sum(chance.random() < share for _ in range(made))
            rows.append(ObjectiveCount(objective=objective.name, at=at, good=made - bad, bad=bad))
    ObjectiveCount.objects.bulk_create(rows, batch_size=500)
