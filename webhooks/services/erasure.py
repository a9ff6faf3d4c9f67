"""Asks the app of an ended installation to erase the business's data (contract, section 5).

An uninstall writes the erasure, its event and the deliveries, due 48 hours later. The dispatcher sends them like any
others. `update_states` sets each erasure's state from its deliveries, and notifies operators when an app hasn't
confirmed. Locks are acquired in the order erasure, webhook, delivery.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, QuerySet, Subquery, Value, When
from django.utils import timezone

from accounts.models import Business
from common.db.rows import for_each
from common.errors import Conflict
from common.observability.objectives import ERASURES
from common.times import iso
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import history
from marketplace.models import App
from webhooks.catalogue import DATA_ERASURE
from webhooks.enums import OPEN_ERASURES, WAITING, DeliveryStatus, ErasureState
from webhooks.feed import Horizon, Position
from webhooks.messages import payloads
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook
from webhooks.services import deliveries, erasure_mails
from webhooks.services.deliveries import cancel_erasure as cancel_deliveries
from webhooks.signals import erasure_begun

log = logging.getLogger(__name__)

BATCH: Final = 500

KIND_OF_STATE: Final = {
    ErasureState.SENT: HistoryKind.ERASURE_SENT,
    ErasureState.CONFIRMED: HistoryKind.ERASURE_CONFIRMED,
    ErasureState.OVERDUE: HistoryKind.ERASURE_OVERDUE,
    ErasureState.CANCELLED: HistoryKind.ERASURE_CANCELLED,
    ErasureState.UNADDRESSED: HistoryKind.ERASURE_UNADDRESSED,
}

# An uninstall schedules it, a re-install cancels it


@transaction.atomic
def schedule(*, installation: Installation, now: datetime) -> Erasure:
    """Write the erasure of an installation that has just ended, in the transaction of the uninstall.

    It is always addressed to the app-defined webhook, which is created if the app has had no Webhook URL: the app may
    get one within the 48 hours. The URL is read when the request is sent. On a copy of a store it is due at once.
    """
    due_at = now if installation.business.copy_of_id else installation.data_erasure_at
    erasure = Erasure(installation=installation, due_at=due_at)
    erasure.event = _write_event(installation, due_at=erasure.due_at, now=now)
    erasure.save(force_insert=True)
    return erasure


@transaction.atomic(savepoint=False)
def cancel(*, app: App, business: Business, now: datetime) -> None:
    """Cancel erasures that are not confirmed yet, in the transaction of the new install."""
    owed = Erasure.objects.of_businesses().filter(
        installation__app=app, installation__business=business, state__in=OPEN_ERASURES
    )
    for erasure in _locked(owed):
        if erasure.event_id:
            cancel_deliveries(event_id=erasure.event_id, now=now)
        _move(erasure, ErasureState.CANCELLED, now)


@transaction.atomic
def bring_forward(*, erasure: Erasure, now: datetime | None = None) -> None:
    """Make an erasure on a sandbox store of the app's own developer due now, so that they needn't wait 48 hours. It makes
    no difference whether an approval has converted the install.

    Raises `Conflict` for any other store, and if the erasure is not waiting for its time.
    """
    now = now or timezone.now()
    locked = _locked(Erasure.objects.filter(pk=erasure.pk)).get()
    if locked.installation.own_sandbox_id is None:
        raise Conflict("Only the erasure of your own sandbox store can be sent early.")
    if locked.state != ErasureState.DUE or locked.due_at <= now:
        raise Conflict(
            f"This erasure isn't waiting for its time. It is: {locked.get_state_display()}.",
            code="erasure_not_waiting",
        )
    locked.due_at = now
    locked.save(update_fields=["due_at"])
    assert locked.event_id is not None  # events of waiting erasures are kept
    Event.objects.filter(pk=locked.event_id).update(occurred_at=now)
    waiting = Delivery.objects.filter(event=locked.event_id, status=DeliveryStatus.PENDING)
    waiting.update(due_at=now)


def _locked(erasures: QuerySet[Erasure]) -> QuerySet[Erasure]:
    return _with_names(erasures).select_for_update(of=("self",), no_key=True)


def _with_names(erasures: QuerySet[Erasure]) -> QuerySet[Erasure]:
    """Read the app and the business too, but not the secret: one that can't be decrypted must not stop the others."""
    names = erasures.select_related("installation__app", "installation__business")
    return names.defer("installation__webhook_secret")


def _write_event(installation: Installation, *, due_at: datetime, now: datetime) -> Event:
    event = Event(business_id=installation.business_id, type=DATA_ERASURE, occurred_at=due_at)
    webhooks = addressees(installation, now, naming=DATA_ERASURE)
    write_to(webhooks, event, payloads.data_erasure(installation), installation, now)
    return event


def write_to(
    webhooks: Iterable[Webhook], event: Event, data: payloads.Data, installation: Installation, now: datetime
) -> int:
    """Save the event, with a delivery to each of these webhooks of the installation at its time. Returns how many."""
    event.data, event.position, event.horizon = orjson.dumps(data).decode(), Position(), Horizon()
    event.save()
    made = Delivery.objects.bulk_create(
        Delivery(
            event=event,
            webhook=webhook,
            app_id=installation.app_id,
            business_id=installation.business_id,
            due_at=event.occurred_at,
            created_at=now,
        )
        for webhook in webhooks
    )
    return len(made)


def addressees(installation: Installation, now: datetime, *, naming: str) -> list[Webhook]:
    """The app-defined webhook, and each other one that lists the event `naming` and was not deleted."""
    others = Webhook.objects.kept().filter(installation=installation, is_app_defined=False)
    named = [webhook for webhook in others.defer("secret") if naming in webhook.events]
    return [_app_defined(installation, now), *named]


def _app_defined(installation: Installation, now: datetime) -> Webhook:
    kept = Webhook.objects.filter(installation=installation, is_app_defined=True).defer("secret").first()
    return kept or Webhook.objects.create(
        installation=installation,
        url=installation.webhook_url,
        secret=installation.webhook_secret,
        is_app_defined=True,
        is_active=False,
        lacks_url=not installation.webhook_url,
        created_at=now,
    )


# Following its deliveries


def update_states(*, now: datetime | None = None) -> int:
    """Set the states of erasures from their deliveries, then notify operators. Returns how many changed.

    Run by beat. Safe to repeat, and to run at the same time as another run or a re-install.
    """
    now = now or timezone.now()
    moved = for_each(_to_move(now), lambda pk: _settle(pk), task="follow_erasures")
    _alarm(now)
    return moved


def _to_move(now: datetime) -> list[UUID]:
    """The erasures whose state differs from that of their deliveries."""
    due = Erasure.objects.of_businesses().filter(state__in=OPEN_ERASURES, due_at__lte=now)
    moving = with_outcome(due).exclude(state=F("outcome")).order_by("due_at")
    return list(moving.values_list("id", flat=True)[:BATCH])


def with_outcome(erasures: QuerySet[Erasure]) -> QuerySet[Erasure]:
    """Annotate the state that follows from the deliveries. Erasures whose deliveries are deleted are left out."""
    sending = Delivery.objects.filter(event=OuterRef("event"))
    waiting = Exists(sending.filter(status__in=WAITING))
    tried = Exists(sending.filter(attempt_count__gt=0))
    followed = Case(
        When(waiting & tried, then=Value(ErasureState.SENT)),
        When(waiting, then=Value(ErasureState.DUE)),
        When(Exists(sending.filter(status=DeliveryStatus.EXHAUSTED)), then=Value(ErasureState.OVERDUE)),
        When(Exists(sending.filter(status=DeliveryStatus.SUCCEEDED)), then=Value(ErasureState.CONFIRMED)),
        default=Value(ErasureState.UNADDRESSED),
    )
    return erasures.filter(event__isnull=False).annotate(outcome=followed)


@transaction.atomic
def _settle(erasure_id: UUID) -> bool:
    """Update one erasure under its lock. False if its state was already right."""
    erasure = _locked(Erasure.objects.filter(id=erasure_id, state__in=OPEN_ERASURES)).first()
    seen = outcome(erasure_id)
    if erasure is None or seen is None or seen == erasure.state:
        return False
    attempts = list(
        Attempt.objects.filter(delivery__event=erasure.event_id).order_by("attempted_at", "number")
    )
    if attempts and erasure.sent_at is None:
        erasure.sent_at = attempts[0].attempted_at
        _move(erasure, ErasureState.SENT, erasure.sent_at)
    if seen != erasure.state:
        _move_on(erasure, seen, attempts)
    return True


def outcome(erasure_id: UUID) -> ErasureState | None:
    found = with_outcome(Erasure.objects.filter(id=erasure_id)).first()
    return ErasureState(found.outcome) if found else None  # type: ignore[attr-defined]


def _move_on(erasure: Erasure, state: ErasureState, attempts: Sequence[Attempt]) -> None:
    """Move it to `state`, with the time and the response of the deciding attempt."""
    confirmed = state == ErasureState.CONFIRMED
    deciding = [each for each in attempts if is_success(each.http_status) == confirmed]
    at, note = (deciding[-1].attempted_at, answer_of(deciding[-1])) if deciding else (erasure.due_at, "")
    if confirmed:
        erasure.confirmed_at = at
    _move(erasure, state, at, note)
    count_outcome(state)
    if state in erasure_mails.NEWS:
        erasure_mails.mail_merchant(erasure.pk)
    if state == ErasureState.OVERDUE:
        log.error("%s, due %s, was not confirmed by any attempt. %s.", erasure, iso(erasure.due_at), note)


def count_outcome(state: ErasureState) -> None:
    """For the service's objectives, after the commit. A request that was resent has a second outcome."""
    if state in (ErasureState.CONFIRMED, ErasureState.OVERDUE):
        confirmed = state == ErasureState.CONFIRMED
        transaction.on_commit(partial(ERASURES.count, good=int(confirmed), bad=int(not confirmed)))


def is_success(http_status: int | None) -> bool:
    return http_status is not None and 200 <= http_status < 300


def answer_of(attempt: Attempt) -> str:
    """The app's response in words, kept as proof."""
    if attempt.http_status is None:
        return f"No response ({attempt.error_class})"
    return f"Answered with {attempt.http_status}"


def _move(erasure: Erasure, state: ErasureState, at: datetime, note: str = "") -> None:
    if erasure.state == ErasureState.DUE and state != ErasureState.CANCELLED:
        erasure_begun.send(Erasure, installation=erasure.installation, now=at)
    erasure.state = state
    erasure.alarmed_at = None
    erasure.save(update_fields=["state", "sent_at", "confirmed_at", "alarmed_at"])
    if state in KIND_OF_STATE:
        history.record(installation=erasure.installation, kind=KIND_OF_STATE[state], at=at, note=note)


# Operators


@transaction.atomic
def _alarm(now: datetime) -> None:
    overdue = Erasure.objects.filter(state=ErasureState.OVERDUE, alarmed_at=None)
    news = list(_with_names(overdue)[:BATCH])
    if news and overdue.filter(id__in=[erasure.pk for erasure in news]).update(alarmed_at=now):
        erasure_mails.alarm(news)


@transaction.atomic
def resend(*, erasure: Erasure, now: datetime | None = None) -> None:
    """Restart the schedule of an overdue erasure, with the same delivery ids.

    The ids are new if the deliveries have been deleted, after 30 days. Raises Conflict if it is not overdue.
    """
    now = now or timezone.now()
    locked = _locked(Erasure.objects.filter(pk=erasure.pk)).get()
    if locked.customer_id is not None:
        raise Conflict("A customer's erasure can't be resent: nothing is kept of the person.")
    if locked.state != ErasureState.OVERDUE:
        raise Conflict(f"Only an overdue erasure can be resent. This one is: {locked.get_state_display()}.")
    if locked.event_id is None:
        locked.event = _write_event(locked.installation, due_at=now, now=now)
        locked.save(update_fields=["event"])
        _move(locked, ErasureState.DUE, now)
    else:
        _update_url(locked.installation)
        _restart(locked.event_id, now)
        _move(locked, ErasureState.SENT, now, "Resent by an operator")


def _update_url(installation: Installation) -> None:
    """The app's Webhook URL may have changed since the uninstall. Without one, the webhook keeps its last."""
    webhooks = Webhook.objects.filter(installation=installation, is_app_defined=True)
    if url := installation.webhook_url:
        for webhook in webhooks.defer("secret"):
            webhook.url = url
            webhook.save(update_fields=["url", "endpoint"])


def _restart(event_id: UUID, now: datetime) -> None:
    webhook = Webhook.objects.filter(pk=OuterRef("webhook"))
    Delivery.objects.filter(event=event_id, status=DeliveryStatus.EXHAUSTED).update(
        due_at=now, endpoint=Subquery(webhook.values("endpoint")), **deliveries.RESTARTED
    )
