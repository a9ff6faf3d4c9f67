"""Listeners: the command `listen`, with which a developer receives an app's requests on their own machine.

A listener is for one app on the sandbox and test stores of one of its developers, and each app has one at most. It has a slot with a heartbeat
like a dispatcher, but claims nothing: dispatchers claim its deliveries by their usual rules, and hand the leases over.
So a listener that dies loses nothing: its leases are freed as those of a dead dispatcher (docs/decisions/0044).
"""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from accounts.models import User
from common.errors import Coded, TooManyRequests
from common.processes import wakeups
from marketplace.models import App
from webhooks.engine import slots
from webhooks.engine.claim_selection import LEASE
from webhooks.engine.claims import Claim, held
from webhooks.models import Delivery, DispatcherSlot

MOST_OF_DEVELOPER: Final = 3  # apps that one developer listens for at once
OWN_FULL: Final = Coded(
    f"You listen for {MOST_OF_DEVELOPER} apps already. Stop one of the listeners first.",
    code="too_many_own_listeners",
)
FULL: Final = Coded(
    "Too many developers are listening at the moment. Try again in a minute.", code="too_many_listeners"
)


def of_apps(apps: Iterable[UUID]) -> dict[tuple[UUID, UUID], int]:
    """The slots of the listeners that are there now, by app and person. One statement."""
    rows = slots.alive().filter(app__in=apps, person__isnull=False).values_list("app_id", "person_id", "pk")
    return {(app, person): slot for app, person, slot in rows if app and person}


@transaction.atomic
def attach(*, app: App, person: User) -> int:
    """The slot of a listener for what an app gets on this person's stores. It replaces the app's listener before it, and takes its leases over.

    Raises `TooManyRequests` while the developer has `MOST_OF_DEVELOPER` for other apps, or `settings.LISTENERS` are there.
    """
    User.objects.select_for_update(no_key=True).get(pk=person.pk)  # so that two at once are counted
    App.objects.select_for_update(no_key=True).get(pk=app.pk)  # two at once replace each other in turn
    others = slots.alive().filter(app__isnull=False).exclude(app=app.pk)
    if others.filter(person=person).count() >= MOST_OF_DEVELOPER:
        raise TooManyRequests(OWN_FULL, retry_after=60)
    if others.count() >= settings.LISTENERS:
        raise TooManyRequests(FULL, retry_after=60)
    before = list(DispatcherSlot.objects.filter(app=app.pk).values_list("pk", flat=True))
    DispatcherSlot.objects.filter(pk__in=before).delete()
    slot = DispatcherSlot.objects.create(
        app=app, person=person, process="listener", seen_at=Now(), is_claiming=False
    )
    _leases(before).update(leased_by=slot.pk, lease_until=Now() + LEASE, fence=F("fence") + 1)
    return slot.pk


def beat(slot: int, *, app: App) -> bool:
    """Update the heartbeat. False if the slot is gone: replaced, detached, or silent for a minute."""
    return bool(DispatcherSlot.objects.filter(pk=slot, app=app.pk).update(seen_at=Now()))


@transaction.atomic
def detach(slot: int, *, app: App) -> bool:
    """End a listener, and free its leases at once. False if it was gone already."""
    removed, _ = DispatcherSlot.objects.filter(pk=slot, app=app.pk).delete()
    _leases([slot]).update(lease_until=None, leased_by=None)
    return bool(removed)


def detach_person(person: User, *, app: App) -> None:
    """End the listener of somebody who may no longer develop the app."""
    for slot in DispatcherSlot.objects.filter(app=app.pk, person=person.pk):
        detach(slot.pk, app=app)


def is_replaced(app: App) -> bool:
    """Whether the app has another listener now. To be asked when `beat` is False."""
    return slots.alive().filter(app=app.pk).exists()


def hand_over(listened: Sequence[tuple[int, Claim]]) -> None:
    """Let listeners have these leases of a dispatcher, and wake them."""
    with transaction.atomic():
        still_held = held([claim for _, claim in listened])
        for slot in {slot for slot, _ in listened}:
            own = [claim.delivery_id for each, claim in listened if each == slot]
            Delivery.objects.filter(pk__in=still_held.keys() & set(own)).update(leased_by=slot)
    for slot in {slot for slot, _ in listened}:
        wakeups.wake(wakeup(slot))


def wakeup(slot: int) -> str:
    """The name under which this listener waits."""
    return f"listener:{slot}"


def _leases(held_by: Sequence[int]) -> QuerySet[Delivery]:
    return Delivery.objects.filter(lease_until__isnull=False, leased_by__in=held_by)
