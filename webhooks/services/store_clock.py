"""Moves the due times of one test store, so that its author needn't wait (contract, section 13). No clock is moved."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from accounts.models import Business
from webhooks.enums import WAITING, ErasureState, Pace
from webhooks.models import Attempt, Delivery, Endpoint, Erasure, Event, Webhook


@dataclass(frozen=True, slots=True)
class Became:
    """How many are due now. An erasure's deliveries count as the erasure."""

    deliveries: int
    erasures: int


@transaction.atomic
def bring_forward(*, business: Business, by: timedelta, now: datetime) -> Became:
    """Let everything that waits for its time in this store be due earlier by so much.

    An attempt that is under way stays one: its delivery's due time moves, from which the next attempt's wait is counted
    (`webhooks.engine.recording`).
    """
    _one_at_a_time(business)
    # Webhooks before deliveries: the same order as where a webhook is switched off (`disabling`, `registration`).
    webhooks = Webhook.objects.filter(installation__business=business)
    list(webhooks.order_by("id").select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    deliveries = Delivery.objects.filter(business_id=business.pk)
    waiting = deliveries.filter(status__in=WAITING, due_at__isnull=False)
    # Locked in the order of the engine.
    ids = list(waiting.order_by("id").select_for_update().values_list("pk", flat=True))
    Delivery.objects.filter(pk__in=ids).update(due_at=F("due_at") - by)
    made = Attempt.objects.filter(delivery__in=deliveries.values("pk"), due_at__isnull=False)
    made.update(due_at=F("due_at") - by)
    webhooks.filter(failing_since__isnull=False).update(failing_since=F("failing_since") - by)
    erasures = _erasures(business, by, now)
    due = Delivery.objects.filter(pk__in=ids, due_at__lte=now, lease_until=None).exclude(
        event__in=erasures.values("event")
    )
    return Became(due.count(), erasures.count())


def _erasures(business: Business, by: timedelta, now: datetime) -> QuerySet[Erasure]:
    """Move those that wait, and return those that are due now. Their event happens now: a body keeps real time.

    One that was sent is DUE until `services.erasure.update_states` has read its deliveries.
    """
    waiting = Erasure.objects.of_businesses().filter(installation__business=business, state=ErasureState.DUE)
    waiting.update(due_at=F("due_at") - by)
    unsent = Delivery.objects.filter(
        event=OuterRef("event"), status__in=WAITING, attempt_count=0, lease_until=None
    )
    due = waiting.filter(Exists(unsent), due_at__lte=now)
    Event.objects.filter(pk__in=due.values("event"), occurred_at__gt=now).update(occurred_at=now)
    return due


def _one_at_a_time(business: Business) -> None:
    """Due deliveries come in their order at each of the store's endpoints. The engine gives a silent one a single attempt at once."""
    endpoints = (
        Webhook.objects.kept().filter(installation__business=business).values_list("endpoint", flat=True)
    )
    Endpoint.objects.bulk_create(
        (Endpoint(id=endpoint, pace=Pace.SILENT) for endpoint in sorted(set(endpoints))),
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["pace"],
    )
