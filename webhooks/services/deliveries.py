"""What happens to deliveries besides being sent."""

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from webhooks.enums import WAITING, DeliveryStatus
from webhooks.models import Delivery, Webhook


@transaction.atomic
def cancel_waiting(*, webhooks: QuerySet[Webhook], now: datetime) -> int:
    """Turn what still waits for these webhooks into CANCELLED. Returns how many.

    A raised fence makes the result of an attempt under way come too late to change that.
    """
    waiting = Delivery.objects.filter(webhook__in=webhooks, status__in=WAITING)
    # Locked in the order of the dispatcher's own writes, so that the two can't wait for each other in a circle.
    list(waiting.order_by("id").select_for_update().values_list("id"))
    return waiting.update(
        status=DeliveryStatus.CANCELLED,
        due_at=None,
        lease_until=None,
        fence=F("fence") + 1,
        finished_at=now,
    )


@transaction.atomic
def follow_url(*, webhook: Webhook) -> int:
    """Take what waits along to the endpoint that the webhook has now. Part of a change of its URL."""
    waiting = Delivery.objects.filter(webhook=webhook, status__in=WAITING).exclude(endpoint=webhook.endpoint)
    ids = waiting.order_by("id").select_for_update().values_list("id", flat=True)
    return Delivery.objects.filter(id__in=list(ids)).update(endpoint=webhook.endpoint)
