"""What a listener takes and answers: the deliveries that dispatchers have handed over to its slot.

A listener names each delivery by its lease, the delivery's id and the fence of the claim. It says which leases it is
still working on, and gets the others. So nothing notes what was handed out: what gets lost on the way is handed out again.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import User
from common.http.exchanges import Exchange
from common.ids import parse_id
from marketplace.models import App
from webhooks.engine import planning, preparation, recording
from webhooks.engine.claim_selection import LEASE
from webhooks.engine.claims import COLUMNS, Claim, claim_of
from webhooks.engine.judging import result_of
from webhooks.enums import WAITING, Pace
from webhooks.messages.message import Message
from webhooks.models import Delivery

RENEWED_BELOW: Final = LEASE / 2


@dataclass(frozen=True, slots=True)
class RelayedAttempt:
    """A listener's answer to a delivery."""

    lease: str
    exchange: Exchange


def lease_of(claim: Claim) -> str:
    return f"{claim.delivery_id}:{claim.fence}"


def take(slot: int, *, busy: Collection[str], most: int) -> list[tuple[Claim, Message]]:
    """The requests of this slot's deliveries that are not in `busy`, earliest due first, signed just now."""
    # By the database's clock, as `listeners.attach` gives them.
    own = Delivery.objects.filter(
        lease_until__isnull=False, lease_until__gt=Now(), leased_by=slot, status__in=WAITING
    )
    ends_soon = ExpressionWrapper(Q(lease_until__lt=Now() + RENEWED_BELOW), BooleanField())
    with planning.by_index_here():
        rows = list(own.order_by("due_at", "id").values_list(*COLUMNS, ends_soon))
    chosen = [
        (claim, ends) for *row, ends in rows if lease_of(claim := claim_of(row, Pace.UNKNOWN)) not in busy
    ][:most]
    ending = [claim.delivery_id for claim, ends in chosen if ends]
    if ending:
        own.filter(pk__in=ending).update(lease_until=Now() + LEASE)
    if not chosen:
        return []
    prepared = preparation.prepare([claim for claim, _ in chosen], by_listener=True)
    prepared.set_aside(timezone.now())
    return prepared.messages


def answer(slot: int, outcomes: Sequence[RelayedAttempt], *, app: App, person: User) -> int:
    """Record the answers as attempts. Returns how many counted: not those of leases that have ended, nor for stores that aren't
    the person's own sandbox and test stores."""
    now = timezone.now()
    by_lease = {outcome.lease: outcome for outcome in outcomes}
    ids = [found for lease in by_lease if (found := parse_id(lease.partition(":")[0]))]
    rows = Delivery.objects.filter(
        pk__in=ids,
        leased_by=slot,
        app_id=app.pk,
        status__in=WAITING,
        webhook__installation__is_own=True,
        webhook__installation__installed_by=person,
    )
    on_test_stores = set(rows.filter(webhook__installation__is_review=True).values_list("pk", flat=True))
    claims = [
        replace(claim_of(row, Pace.UNKNOWN), by_store_clock=row[0] in on_test_stores)
        for row in rows.values_list(*COLUMNS)
    ]
    results = []
    for claim in claims:
        outcome = by_lease.get(lease_of(claim))
        if outcome is not None:
            began = now - timedelta(milliseconds=outcome.exchange.duration_ms)
            results.append(
                result_of(claim, outcome.exchange, attempted_at=began, ended_at=now, by_listener=True)
            )
    return recording.record(results, plainly=True)
