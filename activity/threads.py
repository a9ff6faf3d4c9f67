"""Everything that one request caused, as far as one developer may see it: calls, commands to shops, events, deliveries, hook calls, in order.

A thread is found by its trace. Its rows carry the id of the request that caused them, and the trace only where the caller
brought one. Events, hook calls and commands have no index on the request id, which would cost every order: an id tells when its request
was, and what a request causes is written within `WITHIN`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.access import is_own_sandbox
from accounts.models import Business, User
from activity.models import ApiCall
from common.ids import first_id_at, moment_of
from extensions.models import HookCall, ShopCommand
from marketplace.models import App
from stores.models import OrderHookPart
from webhooks.models import Attempt, Delivery, Event

WITHIN: Final = timedelta(minutes=2)  # a request takes at most half of it
MOST: Final = 100  # calls, events and deliveries of each kind

_YEAR_6429: Final = 1 << 47  # milliseconds; dates end at 9999, but ids don't


class StepKind(IntEnum):
    """Steps of the same time are in this order."""

    REQUEST, API, HOOK, COMMAND, EVENT, DELIVERY, ATTEMPT = range(7)


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """`row` is an `ApiCall`, a `HookCall`, a `ShopCommand`, an `Event`, a `Delivery` that waits, an `Attempt`; None for a request that is
    not the developer's to see."""

    kind: StepKind
    at: datetime
    row: Any
    store: Business | None
    part: OrderHookPart | None = None  # of a hook call, in an order that has no page here
    request_id: UUID | None = None  # of a request that is not the developer's to see


@dataclass(frozen=True, slots=True)
class Thread:
    trace_id: UUID
    steps: list[ThreadEntry]


def thread_of(developer: User, any_id: UUID) -> Thread | None:
    """The thread with this trace id, or with a request or event of this id. None where the developer may see nothing of it."""
    call = ApiCall.objects.filter(pk=any_id, app__in=App.objects.of(developer)).only("trace_id").first()
    thread = _read(developer, (call and call.trace_id) or any_id, any_id)
    brought = {event.trace_id for event in _rows(thread, StepKind.EVENT) if event.trace_id} - {
        thread.trace_id
    }
    if brought:  # a page's request that named a trace
        thread = _read(developer, brought.pop(), any_id)
    return thread if any(step.row for step in thread.steps) else None


def _rows(thread: Thread, kind: StepKind) -> list[Any]:
    return [step.row for step in thread.steps if step.kind == kind]


def _read(developer: User, trace_id: UUID, named: UUID) -> Thread:
    calls = ApiCall.objects.filter(Q(pk=trace_id) | Q(trace_id=trace_id), app__in=App.objects.of(developer))
    of_calls = calls.select_related("app", "installation__business").defer(
        "request_body", "response_body", "installation__webhook_secret"
    )
    found = list(of_calls.order_by("at")[:MOST])
    requests = {trace_id, named, *(call.pk for call in found)}
    events = _events(trace_id, requests)
    deliveries = _deliveries(developer, events)
    theirs = {each.event_id for each in deliveries}
    shown = [each for each in events if each.pk in theirs or _is_seen(each, developer)]
    requests |= {each.request_id for each in shown if each.request_id}
    hooks = _hook_calls(developer, requests)
    commands = _commands(developer, requests)
    steps = [
        *(ThreadEntry(StepKind.API, call.at, call, call.installation.business) for call in found),
        *_asked(hooks),
        *(ThreadEntry(StepKind.COMMAND, each.sent_at, each, each.installation.business) for each in commands),
        *(ThreadEntry(StepKind.EVENT, event.occurred_at, event, event.business) for event in shown),
        *_sent(deliveries),
    ]
    steps += _unseen(found, shown, hooks)
    return Thread(trace_id, sorted(steps, key=lambda step: (step.at, step.kind)))


def _events(trace_id: UUID, requests: set[UUID]) -> list[Event]:
    """Also those that the developer may not see, which deliveries decide."""
    near = Q()
    for request_id in requests:
        begin, end = _span(request_id)
        near |= Q(pk__gte=first_id_at(begin), pk__lt=first_id_at(end))
    caused = Q(request_id__in=requests) | Q(trace_id=trace_id)
    rows = Event.objects.filter(Q(pk__in=requests) | (near & caused)).select_related(
        "business", "installation"
    )
    lean = rows.defer("data", "installation__webhook_secret")
    return list(lean.order_by("id")[: 10 * MOST])


def _is_seen(event: Event, developer: User) -> bool:
    """Of an event that the developer's webhooks didn't get: on their sandbox store, except what another developer's app alone may see."""
    if event.installation and not App.objects.of(developer).filter(pk=event.installation.app_id).exists():
        return False
    return is_own_sandbox(event.business, developer)


def _span(request_id: UUID) -> tuple[datetime, datetime]:
    """When a request with this id can have caused something."""
    is_ours = request_id.version == 7 and request_id.int >> 80 < _YEAR_6429
    at = (
        moment_of(request_id) if is_ours else datetime(2000, 1, 1, tzinfo=UTC)
    )  # an id that the caller made up
    return at - timedelta(seconds=1), at + WITHIN


def _deliveries(developer: User, events: Iterable[Event]) -> list[Delivery]:
    rows = Delivery.objects.filter(
        event__in=[each.pk for each in events], webhook__installation__app__in=App.objects.of(developer)
    )
    around = rows.select_related("event", "webhook__installation__business", "webhook__installation__app")
    lean = around.defer("event__data", "webhook__secret", "webhook__installation__webhook_secret")
    return list(lean.order_by("id")[:MOST])


def _sent(deliveries: Iterable[Delivery]) -> list[ThreadEntry]:
    by_id = {each.pk: each for each in deliveries}
    steps = []
    tried = set()
    for attempt in (
        Attempt.objects.filter(delivery__in=by_id).defer("response_excerpt").order_by("attempted_at")
    ):
        attempt.delivery = by_id[attempt.delivery_id]
        tried.add(attempt.delivery_id)
        steps.append(
            ThreadEntry(
                StepKind.ATTEMPT,
                attempt.attempted_at,
                attempt,
                attempt.delivery.webhook.installation.business,
            )
        )
    waiting = (each for each in by_id.values() if each.pk not in tried)
    return steps + [
        ThreadEntry(StepKind.DELIVERY, each.created_at, each, each.webhook.installation.business)
        for each in waiting
    ]


def commands_of(request_id: UUID) -> QuerySet[ShopCommand]:
    """What one request had shops asked, in order."""
    return ShopCommand.objects.filter(_near([request_id], "sent_at"), request_id=request_id).order_by(
        "sent_at"
    )


def _near(requests: Iterable[UUID], column: str) -> Q:
    near = Q()
    for request_id in requests:
        begin, end = _span(request_id)
        near |= Q((f"{column}__gte", begin), (f"{column}__lt", end))
    return near


def _commands(developer: User, requests: set[UUID]) -> list[ShopCommand]:
    rows = ShopCommand.objects.filter(
        _near(requests, "sent_at"),
        request_id__in=requests,
        installation__app__in=App.objects.of(developer),
    )
    around = rows.select_related("installation__business", "installation__app")
    lean = around.defer("request_body", "answer_excerpt", "installation__webhook_secret")
    return list(lean.order_by("sent_at")[:MOST])


def _hook_calls(developer: User, requests: set[UUID]) -> list[HookCall]:
    near = _near(requests, "called_at")
    rows = HookCall.objects.filter(
        near, request_id__in=requests, installation__app__in=App.objects.of(developer)
    )
    around = rows.select_related("installation__business", "installation__app")
    return list(around.defer("answer_excerpt", "installation__webhook_secret").order_by("called_at")[:MOST])


def _asked(calls: Sequence[HookCall]) -> list[ThreadEntry]:
    """With the app's part in the order of a shop that brought a quote of it."""
    parts = OrderHookPart.objects.filter(
        order__in={call.order_id for call in calls if call.order_id}, order__external_id__isnull=False
    )
    found: dict[tuple[UUID | None, str, str], OrderHookPart] = {
        (part.order_id, part.point, part.provider): part for part in parts.select_related("order__business")
    }
    return [
        ThreadEntry(
            StepKind.HOOK,
            call.called_at,
            call,
            call.installation.business,
            found.get((call.order_id, call.hook_point, str(call.installation.app_id))),
        )
        for call in calls
    ]


def _unseen(
    calls: Iterable[ApiCall], events: Iterable[Event], hooks: Iterable[HookCall]
) -> list[ThreadEntry]:
    """The requests behind what is shown that are no calls of the developer's apps: pages, and calls of other apps."""
    own = {call.pk for call in calls}
    stores = {event.request_id: event.business for event in events if event.request_id}
    stores |= {call.request_id: call.installation.business for call in hooks if call.request_id}
    return [
        ThreadEntry(StepKind.REQUEST, moment_of(request_id), None, store, request_id=request_id)
        for request_id, store in stores.items()
        if request_id not in own
    ]
