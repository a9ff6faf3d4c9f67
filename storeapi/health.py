"""How the mirror of each connected store is, and the results of commands to its shop: for the operator's pages, the metrics and the alert (contract, section 17)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.models import ConnectedStore, ShopSystem
from common.ids import first_id_at
from extensions.enums import CallOutcome, CommandOutcome
from extensions.hooks.calling import NO_PLACE
from extensions.models import HookCall, ShopCommand
from installations.models import Installation
from stores.models import MirrorState

# A shop without sales pushes no rows, but compares itself by a snapshot each night.
SILENT_AFTER: Final = timedelta(hours=26)
SHOWN_COMMANDS: Final = 20

SKIPPED_WITHIN: Final = timedelta(hours=24)

_WITH_APPS: Final = Exists(Installation.objects.active().filter(business=OuterRef("business")))
DIFFERENCES: Final = ("missing", "outdated", "ahead", "unknown")


@dataclass(frozen=True, slots=True)
class Compared:
    """What the last snapshot of a resource found, in numbers."""

    resource: str
    at: datetime | None
    found: list[tuple[str, int]]  # what differs, without zeros
    deleted: int


@dataclass(frozen=True, slots=True)
class CommandHealth:
    """Of a connection: the results of the last day's commands, by the labels of `CommandOutcome`, and the newest that failed of any day."""

    counts: list[tuple[str, int]]
    failed: list[ShopCommand]


@dataclass(frozen=True, slots=True)
class StoreHealth:
    store: ConnectedStore
    apps: int
    is_silent: bool
    mirror: MirrorState | None
    hooks_skipped: int  # for want of places, lately

    @property
    def refused(self) -> Sequence[dict[str, Any]]:
        rows = self.mirror.refused if self.mirror else []
        return [each | {"at": parse_datetime(each["at"])} for each in rows]

    @property
    def compared(self) -> list[Compared]:
        snapshots = self.mirror.snapshots if self.mirror else {}
        return [
            Compared(
                resource,
                parse_datetime(each["at"]) if each.get("at") else None,
                [(name, each[name]) for name in DIFFERENCES if each.get(name)],
                each.get("deleted", 0),
            )
            for resource, each in sorted(snapshots.items())
        ]


def connections() -> "QuerySet[ShopSystem]":
    """All, with `stores_now` of each; those that have ended last."""
    standing = Count("stores", filter=Q(stores__ending_since=None))
    return ShopSystem.objects.annotate(stores_now=standing).order_by(
        F("ended_at").asc(nulls_first=True), "name"
    )


def stores_of(system: ShopSystem, now: datetime | None = None) -> list[StoreHealth]:
    """The stores of a connection, the silent ones first."""
    installed = Count("business__installations", filter=Q(business__installations__uninstalled_at=None))
    rows = ConnectedStore.objects.filter(system=system).select_related("business__mirror")
    now = now or timezone.now()
    silent = set(silent_stores(now).filter(system=system).values_list("pk", flat=True))
    skipped = _skipped_hooks(system, now - SKIPPED_WITHIN)
    found = [
        StoreHealth(
            row, row.apps, row.pk in silent, getattr(row.business, "mirror", None), skipped.get(row.pk, 0)
        )
        for row in rows.annotate(apps=installed).order_by("business__name", "pk")
    ]
    return sorted(found, key=lambda each: not each.is_silent)


def commands_of(system: ShopSystem, now: datetime | None = None) -> CommandHealth:
    rows = ShopCommand.objects.filter(business__connected__system=system)
    of_a_day = rows.filter(sent_at__gt=(now or timezone.now()) - timedelta(days=1))
    counts = dict(of_a_day.values_list("outcome").annotate(Count("pk")).order_by())
    failed = rows.exclude(outcome=CommandOutcome.DONE).select_related("business", "installation__app")
    return CommandHealth(
        [(each.label, counts[each]) for each in CommandOutcome if each in counts],
        list(failed.order_by("-sent_at")[:SHOWN_COMMANDS]),
    )


def _skipped_hooks(system: ShopSystem, since: datetime) -> dict[UUID, int]:
    """How many hooks of each store were skipped because too many requests waited for apps."""
    calls = HookCall.objects.filter(
        installation__business__connected__system=system, called_at__gte=since, id__gte=first_id_at(since),
        outcome=CallOutcome.NO_TIME_LEFT, problem=NO_PLACE,
    )  # fmt: skip
    counted = calls.values_list("installation__business").annotate(Count("pk")).order_by()
    return dict(counted)


def silent_stores(now: datetime) -> "QuerySet[ConnectedStore]":
    """Those with apps whose shop has sent neither a row nor a snapshot for a while."""
    since = now - SILENT_AFTER
    heard = Q(business__mirror__last_row_at__gt=since) | Q(business__mirror__last_snapshot_at__gt=since)
    return (
        ConnectedStore.objects.standing().filter(_WITH_APPS, business__created_at__lte=since).exclude(heard)
    )
