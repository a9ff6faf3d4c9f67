"""The mirror of one store: its lock, the shop's ids and ours, and what is known of each row (contract, section 17).

All changes of a mirror follow each other: they begin with `locked`. So of two versions of a row the higher one remains, and rows that
take each other's slugs can't block each other.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final, TypeVar
from uuid import UUID

import orjson
from django.db import connection, transaction
from django.db.models import Exists, Model, OuterRef, Q
from django.utils import timezone

from accounts.models import Business, ConnectedStore
from common.errors import NotFound
from common.ids import new_id
from common.times import iso
from stores.connected.stores import hold
from stores.customers import Person
from stores.enums import Resource
from stores.models import CustomerErasure, MirroredRow, MirrorState, ShopPayment
from stores.services.customer_erasure import erase

KEPT_REFUSALS: Final = 20
MENTIONS_KEPT: Final = timedelta(days=90)
BATCH: Final = 5_000
KEY: Final = 16  # bytes
CHANGING: Final = (
    "row_id", "version", "digest", "digest_key", "sent_digest", "attributes_digest", "is_deleted", "placed_at",
    "received_at",
)  # fmt: skip

Key = tuple[str, str]  # resource, the shop's id
Row = TypeVar("Row", bound=Model)


def locked(store: ConnectedStore) -> MirrorState:
    """The state of a mirror, which no other transaction changes before the transaction ends. Raises `NotFound` for a store that is ending."""
    hold(store.pk)
    rows = MirrorState.objects.select_for_update(no_key=True)
    state = rows.filter(pk=store.pk).first()
    if state is None:
        MirrorState.objects.bulk_create([MirrorState(business_id=store.pk)], ignore_conflicts=True)
        state = rows.get(pk=store.pk)
    return state


@transaction.atomic
def erase_customer(*, store: ConnectedStore, person: Person, now: datetime | None = None) -> CustomerErasure:
    """Erase one customer, as their shop asks (contract, section 17, "Customers"), also where an order is open: the shop goes on with it.

    Later rows of what was erased are taken without the person. For a person of whom nothing is stored it is an erasure of nothing, so
    that the result doesn't tell. Raises `NotFound` for a store that is ending.
    """
    locked(store)
    try:
        done = erase(business=store.business, person=person, now=now)
    except NotFound:
        now = now or timezone.now()
        return CustomerErasure.objects.create(business=store.business, at=now, swept_at=now)
    erased = MirroredRow.objects.filter(row_id__in=[*done.order_ids, *done.review_ids])
    erased.update(erased_at=done.at)
    return done


def note_refused(state: MirrorState, refused: Sequence[dict[str, Any]], now: datetime) -> None:
    """Keep the newest for the operator. They hold no words of the row."""
    newest = [{"at": iso(now), **each} for each in reversed(refused)]
    state.refused = [*newest, *state.refused][:KEPT_REFUSALS]


def digest_of(values: Mapping[str, Any], key: bytes) -> bytes:
    """Of what the shop sent, with all defaults. Without the key, which goes with the row, no one can guess its content."""
    return blake2b(orjson.dumps(values, option=orjson.OPT_SORT_KEYS), key=key, digest_size=32).digest()


class KnownRows:
    """The rows with some of a shop's ids, read at once. A mention of another id makes it; `save` writes what has changed."""

    def __init__(self, business: Business, keys: Iterable[Key], now: datetime) -> None:
        self._business, self._now = business, now
        self._changed: dict[Key, MirroredRow] = {}
        self._received: dict[Key, MirroredRow] = {}
        self._rows = {
            (each.resource, each.external_id): each
            for each in MirroredRow.objects.filter(_among(set(keys)), business=business)
        }
        self._mentioned_before = {each.row_id for each in self._rows.values() if each.row_id}

    def of(self, resource: Resource, external_id: str) -> MirroredRow:
        """That row; a new one that isn't saved, for an id that was never seen."""
        key = (resource, external_id)
        if key not in self._rows:
            self._rows[key] = MirroredRow(
                business=self._business, resource=resource, external_id=external_id, made_at=self._now
            )
        return self._rows[key]

    def seen(self, resource: Resource, external_id: str) -> MirroredRow | None:
        return self._rows.get((resource, external_id))

    def mention(self, resource: Resource, external_id: str) -> UUID:
        """Our id of a row that another one names."""
        row = self.of(resource, external_id)
        if row.row_id is None:
            self.change(row, row_id=new_id())
        assert row.row_id
        return row.row_id

    def change(self, row: MirroredRow, **values: Any) -> None:
        if row.pk is None or any(getattr(row, name) != value for name, value in values.items()):
            self._changed[row.resource, row.external_id] = row
        for name, value in values.items():
            setattr(row, name, value)

    def receive(self, row: MirroredRow) -> None:
        """Note that it came. Of a row that is as it was, nothing else is written."""
        row.received_at = self._now
        self._received[row.resource, row.external_id] = row

    def keep(
        self, row: MirroredRow, version: int, values: dict[str, Any], sent: Mapping[str, Any] | None
    ) -> None:
        """A version that is taken, with the content that it has, and as it came."""
        key, attributes = secrets.token_bytes(KEY), values.get("attributes")
        self.change(
            row,
            version=version,
            digest=digest_of(values, key),
            digest_key=key,
            sent_digest=None if sent is None else digest_of(sent, key),
            attributes_digest=digest_of(attributes, key) if attributes else None,
            is_deleted=False,
            placed_at=None,
        )

    def was_mentioned(self, row_id: UUID) -> bool:
        """Whether an id was there before these rows came, so that newer ones are in the lists already."""
        return row_id in self._mentioned_before

    def erased(self) -> set[UUID]:
        """Our ids of those whose customer was erased, as it is now: an erasure that held the rows may just have ended."""
        named = (Resource.ORDERS, Resource.REVIEWS)
        ids = [
            each.row_id for each in self._rows.values() if each.pk and each.row_id and each.resource in named
        ]
        found = MirroredRow.objects.filter(row_id__in=ids, erased_at__isnull=False)
        return {row_id for (row_id,) in found.values_list("row_id") if row_id} if ids else set()

    def save(self) -> None:
        changed = list(self._changed.values())
        write_again([row for row in changed if row.pk is not None], CHANGING)
        MirroredRow.objects.bulk_create([row for row in changed if row.pk is None])
        as_they_were = [row.pk for key, row in self._received.items() if key not in self._changed]
        if as_they_were:
            MirroredRow.objects.filter(pk__in=as_they_were).update(received_at=self._now)


def _among(keys: set[Key]) -> Q:
    found = Q(pk=None)
    for resource in {name for name, _ in keys}:
        ids = [external_id for name, external_id in keys if name == resource]
        found |= Q(resource=resource, external_id__in=ids)
    return found


def write_again(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Write some columns of rows that exist and are locked, in one statement. `bulk_update` takes ten times as long in Python."""
    if not rows:
        return
    manager: Any = type(rows[0])._base_manager
    if connection.vendor == "postgresql":
        manager.bulk_create(rows, update_conflicts=True, unique_fields=["pk"], update_fields=columns)
    else:
        manager.bulk_update(rows, columns)


def mention(store: ConnectedStore, resource: Resource, external_ids: Iterable[str]) -> dict[str, UUID]:
    """Our ids of these rows, made for those that were never mentioned before. Raises `NotFound` for a store that is ending.

    Most are known: the mirror is locked only where one is not.
    """
    wanted = set(external_ids)
    rows = MirroredRow.objects.filter(
        business=store.pk, resource=resource, external_id__in=wanted, row_id__isnull=False
    )
    found = {
        external_id: row_id for external_id, row_id in rows.values_list("external_id", "row_id") if row_id
    }
    if missing := sorted(wanted - found.keys()):
        with transaction.atomic():
            locked(store)
            known = KnownRows(store.business, [(resource, each) for each in missing], timezone.now())
            found |= {each: known.mention(resource, each) for each in missing}
            known.save()
    return found


def remove_old_mentions(*, now: datetime | None = None) -> int:
    """Forget ids that never got a row. Returns how many. Those of orders that were too old stay, so that they are never missing, and
    those that an app made a payment for.
    """
    ended = (now or timezone.now()) - MENTIONS_KEPT
    paid = Exists(ShopPayment.objects.filter(order_id=OuterRef("row_id")))
    old = MirroredRow.objects.filter(~paid, version=None, placed_at=None, made_at__lt=ended)
    removed = 0
    while ids := list(old.order_by("made_at").values_list("pk", flat=True)[:BATCH]):
        removed += MirroredRow.objects.filter(pk__in=ids, version=None).delete()[0]
    return removed
