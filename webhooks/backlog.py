"""How much waits to be sent, for operators. Read by the index of what is due: cheap, however much there is."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from webhooks.models import Delivery

COUNTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Backlog:
    due: int  # that nobody is sending; counted up to `COUNTED`
    oldest: float  # seconds since the first of them became due; 0 where there is none


def backlog(now: datetime) -> Backlog:
    due = Delivery.objects.filter(due_at__lte=now, lease_until=None)
    first = due.order_by("due_at").values_list("due_at", flat=True).first()
    age = (now - first).total_seconds() if first else 0.0
    return Backlog(due.order_by()[:COUNTED].count(), age)
