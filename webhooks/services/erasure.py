"""Having the app of an ended installation erase the business's data (interface, "Data erasure").

An uninstall writes the erasure, its event and the deliveries, due 48 hours later; the dispatcher sends them like
all others. `follow` reads from the deliveries how far each erasure has come, and tells operators where an app does
not answer. Locks are taken in the order erasure, delivery.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson
from django.conf import settings
from django.core.mail import mail_admins
from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, QuerySet, Value, When
from django.utils import timezone

from accounts.models import Business
from common.errors import Conflict
from common.times import iso
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import history
from marketplace.models import App
from webhooks import payloads
from webhooks.catalogue import DATA_ERASURE
from webhooks.enums import OPEN_ERASURES, WAITING, DeliveryStatus, ErasureState
from webhooks.kick import kick
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook
from webhooks.services import deliveries

log = logging.getLogger(__name__)

FOLLOWED_AT_ONCE: Final = 500

KIND_OF_STATE: Final = {
    ErasureState.SENT: HistoryKind.ERASURE_SENT,
    ErasureState.CONFIRMED: HistoryKind.ERASURE_CONFIRMED,
    ErasureState.OVERDUE: HistoryKind.ERASURE_OVERDUE,
    ErasureState.CANCELLED: HistoryKind.ERASURE_CANCELLED,
    ErasureState.UNADDRESSED: HistoryKind.ERASURE_UNADDRESSED,
}

# What an uninstall begins and a re-install ends


@transaction.atomic
def owe(*, installation: Installation, now: datetime) -> Erasure:
    """Write the erasure of an installation that has just ended, in the transaction of the uninstall.

    It is addressed now to the app-defined webhook, which is made where the app had no Webhook URL so far: one
    that it gets before the 48 hours are over counts. Where the request goes is seen when it is sent.
    """
    assert installation.data_erasure_at is not None
    erasure = Erasure(installation=installation, due_at=installation.data_erasure_at)
    erasure.event = _write_event(installation, due_at=erasure.due_at, now=now)
    erasure.save(force_insert=True)
    return erasure


@transaction.atomic(savepoint=False)
def cancel(*, app: App, business: Business, now: datetime) -> None:
    """Take back what is not confirmed yet, in the transaction of the install that makes it unwanted."""
    owed = Erasure.objects.filter(
        installation__app=app, installation__business=business, state__in=OPEN_ERASURES
    )
    for erasure in _locked(owed):
        if erasure.event_id:
            deliveries.cancel_erasure(event_id=erasure.event_id, now=now)
        _move(erasure, ErasureState.CANCELLED, now)


def _locked(erasures: QuerySet[Erasure]) -> QuerySet[Erasure]:
    return _with_names(erasures).select_for_update(of=("self",), no_key=True)


def _with_names(erasures: QuerySet[Erasure]) -> QuerySet[Erasure]:
    """With whom they concern, but not the secret: one that can't be decrypted must not stop the others."""
    names = erasures.select_related("installation__app", "installation__business")
    return names.defer("installation__webhook_secret")


def _write_event(installation: Installation, *, due_at: datetime, now: datetime) -> Event:
    event = Event.objects.create(
        business_id=installation.business_id,
        type=DATA_ERASURE,
        data=orjson.dumps(payloads.data_erasure(installation)).decode(),
        occurred_at=due_at,
    )
    Delivery.objects.bulk_create(
        Delivery(event=event, webhook=webhook, due_at=due_at, created_at=now)
        for webhook in _addressees(installation, now)
    )
    return event


def _addressees(installation: Installation, now: datetime) -> list[Webhook]:
    """The app-defined webhook, and each other that named the event and was not deleted."""
    others = Webhook.objects.kept().filter(installation=installation, is_app_defined=False)
    named = [webhook for webhook in others.defer("secret") if DATA_ERASURE in webhook.events]
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


# How far they have come


def follow(*, now: datetime | None = None) -> int:
    """Move each erasure to where its deliveries are, then tell operators what is overdue. Returns how many moved.

    Run by beat. Safe to repeat, and against others that run or re-install at the same time.
    """
    now = now or timezone.now()
    moved = [erasure_id for erasure_id in _to_move(now) if _settle(erasure_id)]
    _alarm(now)
    return len(moved)


def _to_move(now: datetime) -> list[UUID]:
    """The erasures whose state is not what their deliveries say."""
    due = Erasure.objects.filter(state__in=OPEN_ERASURES, due_at__lte=now)
    moving = _with_outcome(due).exclude(state=F("outcome")).order_by("due_at")
    return list(moving.values_list("id", flat=True)[:FOLLOWED_AT_ONCE])


def _with_outcome(erasures: QuerySet[Erasure]) -> QuerySet[Erasure]:
    """Annotated with the state that the deliveries make it; those whose deliveries are gone are left out."""
    sending = Delivery.objects.filter(event=OuterRef("event"))
    waiting = Exists(sending.filter(status__in=WAITING))
    tried = Exists(sending.filter(attempt_count__gt=0))
    outcome = Case(
        When(waiting & tried, then=Value(ErasureState.SENT)),
        When(waiting, then=Value(ErasureState.DUE)),
        When(Exists(sending.filter(status=DeliveryStatus.EXHAUSTED)), then=Value(ErasureState.OVERDUE)),
        When(Exists(sending.filter(status=DeliveryStatus.SUCCEEDED)), then=Value(ErasureState.CONFIRMED)),
        default=Value(ErasureState.UNADDRESSED),
    )
    return erasures.filter(event__isnull=False).annotate(outcome=outcome)


@transaction.atomic
def _settle(erasure_id: UUID) -> bool:
    """Move one erasure; whether there was anything to move, now that nobody else can."""
    erasure = _locked(Erasure.objects.filter(id=erasure_id, state__in=OPEN_ERASURES)).first()
    seen = _outcome(erasure_id)
    if erasure is None or seen is None or seen == erasure.state:
        return False
    attempts = list(Attempt.objects.filter(delivery__event=erasure.event_id).order_by("attempted_at", "id"))
    if attempts and erasure.sent_at is None:
        erasure.sent_at = attempts[0].attempted_at
        _move(erasure, ErasureState.SENT, erasure.sent_at)
    if seen != erasure.state:
        _move_on(erasure, seen, attempts)
    return True


def _outcome(erasure_id: UUID) -> ErasureState | None:
    found = _with_outcome(Erasure.objects.filter(id=erasure_id)).first()
    return ErasureState(found.outcome) if found else None  # type: ignore[attr-defined]


def _move_on(erasure: Erasure, state: ErasureState, attempts: Sequence[Attempt]) -> None:
    """Move it to `state`, at the time and with the answer of the attempt that decided that."""
    confirmed = state == ErasureState.CONFIRMED
    deciding = [each for each in attempts if is_success(each.http_status) == confirmed]
    at, note = (deciding[-1].attempted_at, _answer(deciding[-1])) if deciding else (erasure.due_at, "")
    if confirmed:
        erasure.confirmed_at = at
    _move(erasure, state, at, note)
    if state == ErasureState.OVERDUE:
        log.error("%s, due %s, is confirmed by no attempt. %s.", erasure, iso(erasure.due_at), note)


def is_success(http_status: int | None) -> bool:
    return http_status is not None and 200 <= http_status < 300


def _answer(attempt: Attempt) -> str:
    """What the app answered, in words that are kept as proof."""
    if attempt.http_status is None:
        return f"No answer ({attempt.error_class})"
    return f"Answered with {attempt.http_status}"


def _move(erasure: Erasure, state: ErasureState, at: datetime, note: str = "") -> None:
    erasure.state = state
    erasure.alarmed_at = None
    erasure.save(update_fields=["state", "sent_at", "confirmed_at", "alarmed_at"])
    if state in KIND_OF_STATE:
        history.record(installation=erasure.installation, kind=KIND_OF_STATE[state], at=at, note=note)


# What operators do


def _alarm(now: datetime) -> None:
    """Mail the administrators what is overdue and not told yet. A mail that fails is tried again next time."""
    overdue = Erasure.objects.filter(state=ErasureState.OVERDUE, alarmed_at=None)
    untold = list(_with_names(overdue)[:FOLLOWED_AT_ONCE])
    if not untold:
        return
    try:
        mail_admins(f"{len(untold)} data erasures are not confirmed", _letter(untold))
    except OSError as error:  # of which smtplib's errors are
        log.warning("Administrators could not be told of overdue data erasures: %s", error)
        return
    overdue.filter(id__in=[erasure.pk for erasure in untold]).update(alarmed_at=now)


def _letter(overdue: Iterable[Erasure]) -> str:
    lines = [
        f"- {erasure.installation.app.slug} for {erasure.installation.business.slug}, due {iso(erasure.due_at)}"
        for erasure in overdue
    ]
    address = f"{settings.BASE_URL}/admin/webhooks/erasure/?state__exact={ErasureState.OVERDUE}"
    return "\n".join(
        ["These apps have been told to erase a business's data and have not confirmed it:", "", *lines, "",
         "Ask their developers, then send it again:", address]
    )  # fmt: skip


@transaction.atomic
def send_again(*, erasure: Erasure, now: datetime | None = None) -> None:
    """Start the schedule of an overdue erasure anew, under the same ids.

    Raises Conflict for one that is not overdue. Once the deliveries are removed, after 30 days, it goes out
    under new ids.
    """
    now = now or timezone.now()
    locked = _locked(Erasure.objects.filter(pk=erasure.pk)).get()
    if locked.state != ErasureState.OVERDUE:
        raise Conflict(f"Only an overdue erasure is sent again. This one: {locked.get_state_display()}.")
    if locked.event_id is None:
        locked.event = _write_event(locked.installation, due_at=now, now=now)
        locked.save(update_fields=["event"])
        _move(locked, ErasureState.DUE, now)
    else:
        _begin_anew(locked.event_id, now)
        _move(locked, ErasureState.SENT, now, "Sent again by an operator")
    transaction.on_commit(kick, robust=True)


def _begin_anew(event_id: UUID, now: datetime) -> None:
    Delivery.objects.filter(event=event_id, status=DeliveryStatus.EXHAUSTED).update(
        status=DeliveryStatus.PENDING,
        due_at=now,
        finished_at=None,
        attempts_made=0,
        fence=F("fence") + 1,
    )
