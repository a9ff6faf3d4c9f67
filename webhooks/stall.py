"""Noticing that nobody sends.

Told from the rows, and not from what processes say of themselves: a worker may look alive and take on nothing.
"""

from datetime import datetime, timedelta
from typing import Final

from webhooks.enums import WAITING
from webhooks.models import Attempt, Delivery

STALLED_AFTER: Final = timedelta(seconds=60)


def deliveries_stall(now: datetime) -> bool:
    """Whether something has been due for a minute in which nothing was claimed or attempted.

    What waits only because its endpoint is slow is no sign, since that endpoint has a lease or an attempt.
    """
    long_ago = now - STALLED_AFTER
    if not Delivery.objects.filter(status__in=WAITING, lease_until=None, due_at__lt=long_ago).exists():
        return False
    if Delivery.objects.filter(status__in=WAITING, lease_until__gt=now).exists():
        return False
    last = Attempt.objects.order_by("-id").values_list("attempted_at", flat=True).first()
    return last is None or last < long_ago
