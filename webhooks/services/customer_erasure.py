"""Asks apps to erase one customer's data (contract, section 12), and blanks what events and deliveries hold of the person.

Each app that could read the person's orders or reviews gets an event of its own, since what it may know differs. It is
due at once. Responses of endpoints, and bodies in inboxes, are blanked with each delivery's end. All deliveries share the
event's data, so of one that has ended the data is shown without the customer (`messages.message`), and with the last one the row
itself is blanked.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accounts.models import Business
from common.db.rows import for_each
from common.times import iso
from installations.models import Installation
from installations.queries import scopes_since
from stores.customers import Copies, Person, blank
from stores.models import CustomerErasure
from webhooks import catalogue
from webhooks.enums import WAITING, ErasureState
from webhooks.messages import message, payloads
from webhooks.models import Attempt, Delivery, Erasure, Event, InboxEntry, Webhook
from webhooks.queries import destination
from webhooks.services import erasure as of_businesses

log = logging.getLogger(__name__)

BATCH: Final = 500
READ_ORDERS: Final = {"read_orders", "write_orders"}  # an answer to a write has the order, too
READ_REVIEWS: Final = {"read_reviews"}
GOING_ON: Final = (ErasureState.DUE, ErasureState.SENT)
NAMED: Final = '"customer":{'  # in what was sent, and null once it is blank
WITH_ALL: Final = "Erased with all data of the store"
# Those in which a person may be named: by a review's words, by what an app calls a payment, or by the reason of a refund.
WITH_TEXTS: Final = tuple(
    name for name in catalogue.EVENTS if name.startswith(("review.", "payment.", "order.refunded"))
)


def ask_apps(
    *, erasure: CustomerErasure, person: Person, copies: Copies, since: datetime, now: datetime
) -> None:
    """Write an event with its deliveries, and a row that follows it, for each app. Part of the erasure's transaction."""
    for installation, scopes in _readers(erasure.business, since):
        reads_orders, reads_reviews = bool(scopes & READ_ORDERS), bool(scopes & READ_REVIEWS)
        if not reads_orders and not reads_reviews:
            continue
        data = payloads.customer_erased(
            installation,
            person=person if reads_orders else None,
            order_ids=copies.order_ids if reads_orders else (),
            review_ids=copies.review_ids if reads_reviews else (),
            now=now,
        )
        event, sent = write_event(installation=installation, data=data, now=now)
        Erasure.objects.create(
            installation=installation,
            customer=erasure,
            event=event,
            due_at=now,
            state=ErasureState.DUE if sent else ErasureState.UNADDRESSED,
        )
        if not sent:
            _blank_event(event.pk)


def _readers(business: Business, since: datetime) -> list[tuple[Installation, set[str]]]:
    """Of each app the newest installation, with all scopes that it and earlier ones have had from `since` on.

    Data that the app has erased with all data of the store isn't asked for again. An app that was installed again is asked with the secret
    that it has now.
    """
    rows = Installation.objects.with_app().filter(business=business).defer("webhook_secret")
    by_app: dict[UUID, list[Installation]] = defaultdict(list)
    for each in rows.annotate(has_erased=Exists(_of_whole_store(OuterRef("pk")))).order_by(
        "installed_at", "id"
    ):
        if each.has_erased:
            by_app[each.app_id].clear()
        else:
            by_app[each.app_id].append(each)
    scopes = scopes_since([each for those in by_app.values() for each in those], since)
    return [
        (those[-1], set().union(*(scopes[each.pk] for each in those))) for those in by_app.values() if those
    ]


def write_event(*, installation: Installation, data: payloads.Data, now: datetime) -> tuple[Event, int]:
    """An event that this installation alone sees, due now at each of its addresses. Returns it and their number."""
    event = Event(
        business_id=installation.business_id,
        installation=installation,
        type=catalogue.CUSTOMER_ERASURE,
        occurred_at=now,
    )
    return event, of_businesses.write_to(_addresses(installation, now), event, data, installation, now)


def _addresses(installation: Installation, now: datetime) -> list[Webhook]:
    """The Webhook URL, if the app has one, and each other webhook that names the event and was not deleted; inactive ones too.

    On a test store, a listener takes the place of a URL that the app doesn't have.
    """
    addressed = of_businesses.addressees(installation, now, naming=catalogue.CUSTOMER_ERASURE)
    for each in addressed:
        each.installation = installation
    return [each for each in addressed if destination(each)]


# Following the deliveries


def update_states(*, now: datetime) -> int:
    """Set the states of these erasures, and blank what has ended. Returns how many changed.

    Run by beat. Safe to repeat, and to run twice at once. Each is tried, whatever becomes of another.
    """
    return for_each(_to_settle(now), lambda pk: _settle(pk, now), task="follow_erasures")


def _to_settle(now: datetime) -> list[UUID]:
    """Those whose deliveries say something new, or of which a delivery has ended and left a copy of the customer."""
    going_on = Erasure.objects.of_customers().filter(state__in=GOING_ON, due_at__lte=now)
    ended = Delivery.objects.filter(event=OuterRef(OuterRef("event"))).exclude(status__in=WAITING)
    answered = Attempt.objects.filter(delivery__in=ended.values("pk")).exclude(response_excerpt="")
    received = InboxEntry.objects.filter(
        delivery_id__in=ended.values("pk"),
        inbox__app=OuterRef("installation__app"),
        event_type=catalogue.CUSTOMER_ERASURE,
        body__contains=NAMED,
    )
    is_new = (
        ~Q(state=F("outcome"))
        | Exists(_of_whole_store(OuterRef("installation")))
        | Exists(answered)
        | Exists(received)
    )
    moving = of_businesses.with_outcome(going_on).filter(is_new).order_by("due_at")
    return list(moving.values_list("id", flat=True)[:BATCH])


def _of_whole_store(installation: Any) -> QuerySet[Erasure]:
    """An app that has confirmed the erasure of all the store's data needn't be asked any more."""
    return Erasure.objects.of_businesses().filter(installation=installation, state=ErasureState.CONFIRMED)


@transaction.atomic
def _settle(erasure_id: UUID, now: datetime) -> bool:
    rows = Erasure.objects.filter(id=erasure_id, state__in=GOING_ON)
    erasure = rows.select_for_update(of=("self",), no_key=True, skip_locked=True).first()
    if erasure is None or erasure.event_id is None:
        return False
    before = erasure.state
    _stop_if_all_is_erased(erasure, now)
    state = of_businesses.outcome(erasure_id)
    attempts = list(
        Attempt.objects.filter(delivery__event=erasure.event_id).order_by("attempted_at", "number")
    )
    if attempts:
        erasure.sent_at = attempts[0].attempted_at
    if state is not None and erasure.state == before:
        erasure.state = state
        _keep_answer(erasure, attempts)
    _blank_ended(erasure.event_id)
    if erasure.state == before:
        return False
    erasure.save(update_fields=["state", "sent_at", "confirmed_at", "answer"])
    of_businesses.count_outcome(ErasureState(erasure.state))
    if erasure.state not in GOING_ON:
        _blank_event(erasure.event_id)
    return True


def _stop_if_all_is_erased(erasure: Erasure, now: datetime) -> None:
    if confirmed := _of_whole_store(erasure.installation_id).first():
        assert erasure.event_id is not None
        of_businesses.cancel_deliveries(event_id=erasure.event_id, now=now)
        erasure.state, erasure.answer = ErasureState.CONFIRMED, WITH_ALL
        erasure.confirmed_at = confirmed.confirmed_at


def _keep_answer(erasure: Erasure, attempts: Sequence[Attempt]) -> None:
    confirmed = erasure.state == ErasureState.CONFIRMED
    deciding = [each for each in attempts if of_businesses.is_success(each.http_status) == confirmed]
    if deciding:
        erasure.answer = of_businesses.answer_of(deciding[-1])
    if confirmed:
        erasure.confirmed_at = deciding[-1].attempted_at if deciding else erasure.due_at
    if erasure.state == ErasureState.OVERDUE:
        log.error("%s, asked %s, was not confirmed. %s.", erasure, iso(erasure.due_at), erasure.answer)


# What is stored of the person


def _blank_event(event_id: UUID) -> None:
    """All of its deliveries have ended."""
    blank(Event.objects.filter(pk=event_id), lambda event: {"data": message.blanked(event.data)})


def _blank_ended(event_id: UUID) -> None:
    """Each delivery that has ended: what the endpoint answered may repeat what it was sent."""
    ended = Delivery.objects.filter(event=event_id).exclude(status__in=WAITING)
    ids = list(ended.values_list("pk", flat=True))
    Attempt.objects.filter(delivery__in=ids).exclude(response_excerpt="").update(response_excerpt="")
    blank(InboxEntry.objects.filter(delivery_id__in=ids), lambda entry: {"body": _received(entry.body)})


def erase_copies(copies: Copies) -> None:
    """Blank a customer in events, in what endpoints answered, and in what inboxes have received."""
    events = Event.objects.filter(business=copies.business, type__in=WITH_TEXTS).only("data")
    blank(
        events,
        lambda event: {"data": _blanked(event.data, copies)} if copies.are_of_records(event.data) else {},
    )
    webhooks = Webhook.objects.filter(installation__business=copies.business)
    sent = Delivery.objects.filter(webhook__in=list(webhooks.values_list("pk", flat=True)))
    answered = Attempt.objects.filter(delivery__in=sent.exclude(attempt_count=0).values("pk"))
    blank(
        answered.exclude(response_excerpt="").only("response_excerpt"),
        lambda attempt: {"response_excerpt": ""} if copies.name(attempt.response_excerpt) else {},
    )
    apps = list(Installation.objects.filter(business=copies.business).values_list("app_id", flat=True))
    known = Delivery.objects.filter(pk=OuterRef("delivery_id"), business_id=copies.business.pk)
    received = InboxEntry.objects.filter(Exists(known), inbox__app__in=apps)
    theirs = received.exclude(event_type=catalogue.CUSTOMER_ERASURE).only("body")
    blank(
        theirs,
        lambda entry: {"body": _received(entry.body, copies)} if copies.are_of_records(entry.body) else {},
    )


def _blanked(data_text: str, copies: Copies) -> str:
    """The data of an event about a record of the person."""
    data = payloads.without_person(orjson.loads(data_text))
    if copies.words.are_in(data.get("invoiceId") or ""):
        data["invoiceId"] = None
    return orjson.dumps(data).decode()


def _received(body: str, copies: Copies | None = None) -> str:
    """What an inbox has received, without the person."""
    try:
        received = orjson.loads(body)
        text = orjson.dumps(received["data"]).decode()
        received["data"] = orjson.loads(_blanked(text, copies) if copies else message.blanked(text))
        return orjson.dumps(received).decode()
    except (ValueError, KeyError, TypeError):
        return ""
