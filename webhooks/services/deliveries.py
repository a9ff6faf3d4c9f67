"""What happens to deliveries besides being sent."""

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from webhooks.catalogue import DATA_ERASURE
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.models import Delivery, Webhook


@transaction.atomic
def cancel_waiting(*, webhooks: QuerySet[Webhook], now: datetime) -> int:
    """Turn what still waits for these webhooks into CANCELLED, a data erasure excepted. Returns how many."""
    deliveries = Delivery.objects.filter(webhook__in=webhooks).exclude(event__type=DATA_ERASURE)
    return cancel(deliveries=deliveries, now=now)


@transaction.atomic
def cancel(*, deliveries: QuerySet[Delivery], now: datetime) -> int:
    """Turn those of the deliveries that still wait into CANCELLED. Returns how many.

    A raised fence makes the result of an attempt under way come too late to change that.
    """
    waiting = deliveries.filter(status__in=WAITING)
    # Locked in the order of the dispatcher's own writes, so that the two can't wait for each other in a circle.
    list(waiting.order_by("id").select_for_update(of=("self",)).values_list("id"))
    return waiting.update(
        status=DeliveryStatus.CANCELLED,
        due_at=None,
        lease_until=None,
        fence=F("fence") + 1,
        finished_at=now,
    )
