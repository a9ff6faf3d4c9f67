"""Listeners: the command `listen`, with which a developer receives an app's requests on their own machine.

A listener is for one app on the sandbox and test stores of one of its developers, and each app has one at most. A test store may
have one of its own, so that tests that run side by side don't end each other's (docs/decisions/0106).
A listener has a slot with a heartbeat like a dispatcher, but claims nothing: dispatchers claim its deliveries by their usual rules, and
hand the leases over. So a listener that dies loses nothing: its leases are freed as those of a dead dispatcher (docs/decisions/0044).
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from accounts.models import Business, User
from common.errors import Coded, TooManyRequests
from common.processes import wakeups
from installations.models import Installation
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


class Own(NamedTuple):
    """Where an installation on a developer's own sandbox or test store is, and whose it is."""

    app: UUID
    person: UUID
    store: UUID


Key = TypeVar("Key")


def find(wanted: Mapping[Key, Own]) -> dict[Key, int]:
    """The slots of the listeners that are there now, of the store where it has one, else of the app. One statement at most."""
    if not wanted:
        return {}
    apps, stores = {own.app for own in wanted.values()}, {own.store for own in wanted.values()}
    rows = slots.alive().filter(Q(app__in=apps) | Q(store__in=stores), person__isnull=False)
    by_app: dict[tuple[UUID | None, UUID | None], int] = {}
    by_store: dict[UUID, int] = {}
    for slot in rows:
        if slot.store_id:
            by_store[slot.store_id] = slot.pk
        else:
            by_app[slot.app_id, slot.person_id] = slot.pk
    found = {key: by_store.get(own.store) or by_app.get((own.app, own.person)) for key, own in wanted.items()}
    return {key: slot for key, slot in found.items() if slot}


def own(installation: Installation) -> Own:
    return Own(installation.app_id, installation.installed_by_id, installation.business_id)


@transaction.atomic
def attach(*, app: App, person: User, store: Business | None = None) -> int:
    """The slot of a listener for what an app gets on this person's stores, or on one test store alone. It replaces the one
    before it, and takes its leases over.

    Raises `TooManyRequests` while `settings.LISTENERS` are there, or the developer has `MOST_OF_DEVELOPER` for other apps.
    Those of test stores don't count there: a developer has few test stores at once.
    """
    User.objects.select_for_update(no_key=True).get(pk=person.pk)  # so that two at once are counted
    App.objects.select_for_update(no_key=True).get(pk=app.pk)  # two at once replace each other in turn
    place = Q(store=store) if store else Q(app=app)
    others = slots.alive().filter(person__isnull=False).exclude(place)
    if not store and others.filter(person=person, store=None).count() >= MOST_OF_DEVELOPER:
        raise TooManyRequests(OWN_FULL, retry_after=60)
    if others.count() >= settings.LISTENERS:
        raise TooManyRequests(FULL, retry_after=60)
    before = list(DispatcherSlot.objects.filter(place).values_list("pk", flat=True))
    DispatcherSlot.objects.filter(pk__in=before).delete()
    slot = DispatcherSlot.objects.create(
        app=None if store else app,
        store=store,
        person=person,
        process="listener",
        seen_at=Now(),
        is_claiming=False,
    )
    _leases(before).update(leased_by=slot.pk, lease_until=Now() + LEASE, fence=F("fence") + 1)
    return slot.pk


def beat(slot: int, *, app: App) -> bool:
    """Update the heartbeat. False if the slot is gone: replaced, detached, or silent for a minute."""
    return bool(_of_app(slot, app).update(seen_at=Now()))


@transaction.atomic
def detach(slot: int, *, app: App) -> bool:
    """End a listener, and free its leases at once. False if it was gone already."""
    removed, _ = _of_app(slot, app).delete()
    _leases([slot]).update(lease_until=None, leased_by=None)
    return bool(removed)


def detach_person(person: User, *, app: App) -> None:
    """End the listeners of somebody who may no longer develop the app."""
    for slot in DispatcherSlot.objects.filter(_for(app), person=person.pk):
        detach(slot.pk, app=app)


def is_replaced(app: App, store: UUID | None) -> bool:
    """Whether the test store, or without one the app, has another listener now. To be asked when `beat` is False."""
    place = Q(store=store) if store else Q(app=app.pk)
    return slots.alive().filter(_for(app), place).exists()


def store_of(slot: int) -> UUID | None:
    """The only test store that a listener is for; None for an app's."""
    return DispatcherSlot.objects.filter(pk=slot).values_list("store_id", flat=True).first()


def with_own() -> QuerySet[DispatcherSlot, UUID]:
    """The test stores that have a listener of their own now."""
    return slots.alive().filter(store__isnull=False).values_list("store_id", flat=True)


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


def _of_app(slot: int, app: App) -> QuerySet[DispatcherSlot]:
    return DispatcherSlot.objects.filter(_for(app), pk=slot)


def _for(app: App) -> Q:
    stores = Installation.objects.filter(app=app.pk).values("business")
    return Q(app=app.pk) | Q(store__in=stores)


def _leases(held_by: Sequence[int]) -> QuerySet[Delivery]:
    return Delivery.objects.filter(lease_until__isnull=False, leased_by__in=held_by)
