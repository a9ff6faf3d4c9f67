"""Rows that a shop sends once more, unchanged (contract, section 17).

A shop that imports all it has once more sends little else. So these are found by a digest of what was sent, before anything of it is
read, which takes longer than all the rest.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import ConnectedStore
from common.db.transactions import do_not_wait_for_the_disk, is_open
from stores.connected.mirror import Key, KnownRows, digest_of, locked
from stores.connected.wanted import WantedRows
from stores.enums import Resource
from stores.models import MirroredRow


@dataclass(frozen=True, slots=True)
class SentRow:
    """A row of which only id and version were read. `fields` are without a quote."""

    resource: Resource
    external_id: str
    version: int
    fields: Mapping[str, Any]

    @property
    def key(self) -> Key:
        return self.resource, self.external_id


def take_repeated(
    *, store: ConnectedStore, rows: Mapping[int, SentRow], wanted: WantedRows, now: datetime | None = None
) -> dict[int, UUID]:
    """Of those that are kept as they came here, our ids by the rows' numbers. Their versions count, and that they came.

    Of a row that is sent twice at once neither is among them: these have an order. Raises `NotFound` for a store that is ending.
    """
    times = Counter(each.key for each in rows.values())
    single = {number: each for number, each in rows.items() if times[each.key] == 1}
    if not wanted.reviews:
        single = {number: each for number, each in single.items() if each.resource != Resource.REVIEWS}
    is_alone, now = not is_open(), now or timezone.now()
    found: dict[int, UUID] = {}
    with transaction.atomic():
        state, are_newer = locked(store), False
        known = KnownRows(store.business, [each.key for each in single.values()], now)
        for number, row in single.items():
            kept = known.seen(row.resource, row.external_id)
            if kept and kept.row_id and _is_repeated(row, kept):
                are_newer |= row.version != kept.version
                known.change(kept, version=row.version)
                known.receive(kept)
                found[number] = kept.row_id
        if not found:
            return found
        known.save()
        state.last_row_at = now
        state.save(update_fields=["last_row_at"])
        if is_alone and not are_newer:  # lost would be only that rows came which are as they were
            do_not_wait_for_the_disk()
    return found


def _is_repeated(row: SentRow, kept: MirroredRow) -> bool:
    if (
        kept.version is None
        or row.version < kept.version
        or kept.sent_digest is None
        or kept.digest_key is None
    ):
        return False
    return digest_of(row.fields, bytes(kept.digest_key)) == bytes(kept.sent_digest)
