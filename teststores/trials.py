"""Trials: an app on a copy of a merchant's own store, for a day (contract, section 21; docs/decisions/0142).

A press writes the trial, a worker makes the copy, and the merchant installs the app there as everywhere. At the end the copy is
uninstalled and expires like any throwaway store; only what its erasure needs stays until the app has answered.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from accounts.access import require_role
from accounts.models import Business, BusinessQuerySet, ConnectedStore, User
from accounts.services.businesses import open_copy
from common.db.rows import for_each
from common.errors import Conflict, Unavailable
from common.processes.background import enqueue_after_commit
from extensions.models import ApprovedManifest
from extensions.queries import settings_schema_in, settings_schema_of
from extensions.services.extension_states import taken_over
from installations.models import Installation, Trial
from installations.models.trials import PATIENCE
from installations.queries import businesses_to_install_on, installs_listed_apps
from installations.services import lifecycle
from marketplace.models import App, AppVersion
from stores.models import Product, StoreTotals
from stores.samples.copies import fill_copy, read
from stores.services.customer_erasure import empty_store

log = logging.getLogger(__name__)

LASTS: Final = timedelta(hours=24)
MOST: Final = 50  # at once, on the platform
MAKE: Final = "teststores.tasks.make_copies"  # a lost message is made up for by the scheduler
KEPT: Final = timedelta(days=1)  # those whose copy was never made


class NoRoom(Unavailable):
    """503: as many copies as the platform has at once."""

    def __init__(self) -> None:
        super().__init__(
            "Many merchants are trying apps at the moment. Try again in a few minutes.",
            retry_after=300,
        )


def stores_to_try_on(app: App, person: User) -> BusinessQuerySet:
    """The stores for which the app's listing offers a trial: those that the person owns or manages, with a product, without the app."""
    installed = Installation.objects.active().filter(app=app, business=OuterRef("pk"))
    return businesses_to_install_on(person).filter(
        Q(is_sandbox=False) | Q(is_connected=True),
        Exists(Product.objects.filter(business=OuterRef("pk"))),
        ~Exists(installed),
    )


def _is_installed(app: App, store: Business) -> bool:
    return Installation.objects.active().filter(app=app, business=store).exists()


def open_trial_of(store: Business) -> Trial | None:
    """The one that hasn't ended, with its app."""
    return Trial.objects.open().select_related("app__approved_version").filter(store=store).first()


def trials_by_state() -> dict[str, int]:
    """How many are `waiting` for their copy, and how many are `open`. Those that have ended don't count."""
    waiting = Count("pk", filter=Q(copy=None))
    found: dict[str, int] = Trial.objects.open().aggregate(waiting=waiting, open=Count("copy"))
    return found


@transaction.atomic
def start(*, app: App, store: Business, person: User, now: datetime | None = None) -> Trial:
    """Ask for a copy of the store.

    Raises `Conflict` while another one is tried, where the app is installed or there is nothing to copy, `NoRoom`, and `NotAllowed` for
    a person who doesn't manage the store.
    """
    now = now or timezone.now()
    require_role(store, person, to="try apps")
    if app.suspended_at is not None or app.approved_version_id is None or not installs_listed_apps(person):
        raise Conflict("This app can't be tried now.")
    if store.is_sandbox and not store.is_connected:
        raise Conflict("A sandbox needs no copy. Install the app there.")
    if not Product.objects.filter(business=store).exists():
        raise Conflict("There is nothing to copy: the store has no product.")
    if _is_installed(app, store):
        raise Conflict("The app is installed in this store already.")
    if Trial.objects.open().count() >= MOST:
        raise NoRoom
    try:
        with transaction.atomic():
            trial = Trial.objects.create(app=app, store=store, asked_by=person, asked_at=now)
    except IntegrityError:
        raise Conflict(
            "You are trying an app on a copy of this store already. End that trial first."
        ) from None
    enqueue_after_commit(MAKE, expires=PATIENCE.total_seconds())
    return trial


def make_copies(*, now: datetime | None = None) -> int:
    """Make the copies that somebody waits for, and those that are asked for meanwhile. Returns how many.

    Safe to run twice at once, but both read all stores.
    """
    return for_each(_waiting(), lambda pk: _make(pk, now), task="make_copies")


def _waiting() -> Iterator[UUID]:
    """Those without a copy, the longest waiting first, each once."""
    tried: set[UUID] = set()
    waiting = Trial.objects.open().filter(copy=None).order_by("asked_at").values_list("pk", flat=True)
    while (trial_id := waiting.exclude(pk__in=tried).first()) is not None:
        tried.add(trial_id)
        yield trial_id


def _make(trial_id: UUID, now: datetime | None) -> int:
    trial = Trial.objects.open().select_related("store").filter(pk=trial_id, copy=None).first()
    if trial is None:
        return 0
    contents = read(trial.store)
    with transaction.atomic():
        waiting = Trial.objects.open().filter(pk=trial_id, copy=None)
        locked = (
            waiting.select_for_update(skip_locked=True, of=("self",)).select_related("app", "store").first()
        )
        if locked is None:
            return 0
        moment = now or timezone.now()
        if not locked.waits(moment) or _is_installed(locked.app, locked.store):
            locked.ended_at = moment
            locked.save(update_fields=["ended_at"])
            return 0
        locked.copy = open_copy(store=locked.store, expires_at=moment + LASTS, now=moment)
        fill_copy(copy=locked.copy, contents=contents, now=moment)
        locked.save(update_fields=["copy"])
    return 1


@transaction.atomic
def want_settings(*, app: App, store: Business, wanted: bool) -> None:
    """What the merchant chose about the settings of the trial, when they agreed to install the app in the store."""
    Trial.objects.open().filter(app=app, store=store).update(takes_settings=wanted)


def refused_settings(trial: Trial, version: AppVersion) -> list[str] | None:
    """The names of the trial's settings that this version doesn't take; None if the trial has no settings to take over."""
    tried = Installation.objects.active().filter(business=trial.copy_id).first() if trial.copy_id else None
    if tried is None or not tried.settings:
        return None
    approved = ApprovedManifest.objects.filter(version=version).first()
    return taken_over(tried.settings, settings_schema_in(approved.document) if approved else None).refused


def end(trial: Trial, *, now: datetime | None = None) -> None:
    """End it, if it hasn't. The app is uninstalled from the copy and asked at once to erase what it has of it."""
    now = now or timezone.now()
    with transaction.atomic():
        installed = (
            Installation.objects.active().with_app().filter(business=trial.copy_id).first()
            if trial.copy_id
            else None
        )
        if installed is not None:
            lifecycle.uninstall(installation=installed, now=now)  # `ended_with` does the rest
        else:
            close(trial_id=trial.pk, now=now)


def close(*, trial_id: UUID, now: datetime) -> None:
    """From now on the copy is in no dashboard, and a worker removes it."""
    if Trial.objects.open().filter(pk=trial_id).update(ended_at=now):
        Business.objects.filter(trial__pk=trial_id).update(expires_at=now)


def installed_for_real(installation: Installation, now: datetime) -> None:
    """The app that was tried is in the store now, with the settings of the trial if the merchant wanted them."""
    trial = Trial.objects.open().filter(app=installation.app_id, store=installation.business_id).first()
    if trial is None:
        return
    tried = Installation.objects.active().filter(business=trial.copy_id).first() if trial.copy_id else None
    if tried is not None and trial.takes_settings:
        installation.settings = taken_over(tried.settings, settings_schema_of(installation)).values
        installation.save(update_fields=["settings"])
    end(trial, now=now)


def end_due(*, now: datetime | None = None) -> int:
    """End trials whose day is over, whose app is suspended or gone, or whose store is; empty copies that have ended. Returns how many ended."""
    now = now or timezone.now()
    going = ConnectedStore.objects.filter(business=OuterRef("store"), ending_since__isnull=False)
    over = Q(copy__expires_at__lte=now) | Q(copy=None, asked_at__lt=now - PATIENCE)
    gone = (
        Q(app__suspended_at__isnull=False)
        | Q(app__deleted_at__isnull=False)
        | Q(store__owner__deleted_at__isnull=False)
    )
    due = Trial.objects.open().filter(over | gone | Exists(going))
    ended = for_each(list(due), lambda trial: _ended(trial, now), task="end_trials")
    full = StoreTotals.objects.filter(business__trial__ended_at__isnull=False)
    for_each(list(full.values_list("business_id", flat=True)), empty_store, task="empty_copies")
    Trial.objects.filter(copy=None, ended_at__lt=now - KEPT).delete()
    return ended


def _ended(trial: Trial, now: datetime) -> int:
    end(trial, now=now)
    return 1
