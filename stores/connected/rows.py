"""Takes rows that a shop pushes: decides for each by its version and content, and writes those that change (contract, section 17).

Fifty rows share a transaction and its statements, and each has a result of its own. Events follow in that transaction, by the signals
that changes of own stores send.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Business, ConnectedStore
from common.db.outages import is_outage
from common.db.rows import without_text
from common.errors import Conflict, NotFound, ServiceError, Unavailable
from stores.buyers.attributes import ByOwner
from stores.buyers.writing import give
from stores.connected.catalogue import write_pages, write_products
from stores.connected.changes import RowChange, Totals
from stores.connected.mirror import KnownRows, digest_of, locked, note_refused
from stores.connected.quotes import Quotes
from stores.connected.sales import write_orders, write_reviews
from stores.connected.wanted import WantedRows
from stores.enums import QuoteResult, Resource
from stores.models import MirroredRow, MirrorState, Order
from stores.services.totals import has_currency, move_totals

log = logging.getLogger(__name__)

AT_ONCE: Final = 50  # rows of one transaction: others of the store wait for it
NO_DIGESTS: Final = {"digest": None, "digest_key": None, "sent_digest": None, "attributes_digest": None}
WRITERS: Final = {
    Resource.PRODUCTS: write_products,
    Resource.PAGES: write_pages,
    Resource.ORDERS: write_orders,
    Resource.REVIEWS: write_reviews,
}


class Result(models.TextChoices):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    STALE = "stale"
    UNWANTED = "unwanted"
    DELETED = "deleted"


WITH_ORDER: Final = (
    Result.CREATED,
    Result.UPDATED,
    Result.UNCHANGED,
    Result.STALE,
)  # the order's row is there


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedRow:
    """A row as the shop has it: `values` are its columns, whole, with times and minor units; None: the shop has deleted it.

    `attributes` are those of an order, by apps: as the shop has them by slugs in `values`, and here by their ids once `owned` knows them. A
    forced one is taken whatever its version. `not_since`: nothing happens if the row came again later than that. `quote` came with an
    order, and is no content of it. `sent` are the fields as they came, without it.
    """

    resource: Resource
    external_id: str
    version: int
    values: dict[str, Any] | None
    is_forced: bool = False
    not_since: datetime | None = None
    quote: str = ""
    attributes: Mapping[str, Any] | None = None
    sent: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOutcome:
    """What became of a row. `events` are the names of those that it published, and `quote` what became of its quote. An `error` has none."""

    row: PushedRow
    result: Result | None = None
    row_id: UUID | None = None
    events: list[str] = field(default_factory=list)
    error: ServiceError | None = None
    quote: QuoteResult | None = None


def take(
    *,
    store: ConnectedStore,
    rows: Sequence[PushedRow],
    wanted: WantedRows,
    quiet: bool = False,
    now: datetime | None = None,
) -> list[RowOutcome]:
    """Take rows, each for itself, in their order. With `quiet` nothing is published. Raises `NotFound` for a store that is ending."""
    outcomes: list[RowOutcome] = []
    for part in _parts(rows):
        outcomes += _take_apart(store, part, wanted, quiet, now or timezone.now())
    return outcomes


def _parts(rows: Sequence[PushedRow]) -> Iterator[Sequence[PushedRow]]:
    """Of at most `AT_ONCE` rows, none twice in one."""
    part: dict[tuple[str, str], PushedRow] = {}
    for row in rows:
        key = (row.resource, row.external_id)
        if key in part or len(part) == AT_ONCE:
            yield list(part.values())
            part = {}
        part[key] = row
    if part:
        yield list(part.values())


def _take_apart(
    store: ConnectedStore, rows: Sequence[PushedRow], wanted: WantedRows, quiet: bool, now: datetime
) -> list[RowOutcome]:
    """Where one of the rows can't be taken by a fault of ours, each is taken in a transaction of its own, so that the others stay."""
    try:
        return _take(store, rows, wanted, quiet, now)
    except (NotFound, Unavailable):  # of the store
        raise
    except Exception as error:
        if is_outage(error):
            raise
        if len(rows) > 1:
            return [each for row in rows for each in _take_apart(store, [row], wanted, quiet, now)]
        return [_failed(store, rows[0], error, now)]


@transaction.atomic
def _failed(store: ConnectedStore, row: PushedRow, error: Exception, now: datetime) -> RowOutcome:
    log.error(
        "%s while a row of %s was taken", type(error).__name__, row.resource, exc_info=without_text(error)
    )
    outcome = RowOutcome(
        row=row, error=ServiceError(_("Something went wrong on our side. It has been recorded."))
    )
    _note(locked(store), [outcome], now)
    return outcome


@transaction.atomic
def _take(
    store: ConnectedStore, rows: Sequence[PushedRow], wanted: WantedRows, quiet: bool, now: datetime
) -> list[RowOutcome]:
    state, business = locked(store), store.business
    if not has_currency(business, business.currency):  # the amounts were read in the one of before
        raise Unavailable(
            "The currency of the store has just changed. Try again.", retry_after=1, code="locked"
        )
    known = KnownRows(business, [key for row in rows for key in _keys(row)], now)
    decided = [_decide(row, known.of(row.resource, row.external_id), wanted) for row in rows]
    changes = {
        number: RowChange(
            mirrored=known.of(row.resource, row.external_id),
            values=row.values,
            is_new=result == Result.CREATED,
        )
        for number, (row, result) in enumerate(zip(rows, decided, strict=True))
        if result in (Result.CREATED, Result.UPDATED, Result.DELETED)
    }
    totals, quotes = Totals(), _Offered(business, rows, now)
    for change in changes.values():
        if change.is_new and change.mirrored.is_deleted:
            known.change(change.mirrored, row_id=None)  # it comes back under another id
        if change.values is not None:
            known.mention(Resource(change.mirrored.resource), change.mirrored.external_id)
    quotes.take(decided, known, changes)
    changed_attributes = {
        number for number in changes if _brings_others(rows[number], changes[number].mirrored)
    }
    for resource, writer in WRITERS.items():
        if of_resource := [each for each in changes.values() if each.mirrored.resource == resource]:
            writer(business, of_resource, known, totals, now)
    if wanted.orders:
        _note_too_old(
            known, [row for row, result in zip(rows, decided, strict=True) if result == Result.UNWANTED]
        )
    outcomes = [
        _outcome(row, result, known, changes.get(number), quotes.results.get(number), quiet, now)
        for number, (row, result) in enumerate(zip(rows, decided, strict=True))
    ]
    known.save()
    quotes.save(known)
    _give_attributes(rows, decided, outcomes, changed_attributes, quotes.attributes, known, now)
    _note(state, outcomes, now)
    if moved := totals.moved:
        move_totals(business, **moved)
    return outcomes


def _brings_others(row: PushedRow, kept: MirroredRow) -> bool:
    """Whether a row has other attributes than the one before: what apps have written here meanwhile stays."""
    if not row.values or "attributes" not in row.values:
        return False
    if kept.attributes_digest is None or kept.digest_key is None:
        return True
    return digest_of(row.values["attributes"], bytes(kept.digest_key)) != bytes(kept.attributes_digest)


def _give_attributes(
    rows: Sequence[PushedRow],
    decided: Sequence[Result | None],
    outcomes: Sequence[RowOutcome],
    brought: set[int],
    quoted: Mapping[int, ByOwner],
    known: KnownRows,
    now: datetime,
) -> None:
    """To orders that are written: those of the row, else those of the quote that it brought. Not where the customer was erased."""
    given = {
        outcome.row_id: (row.attributes if number in brought else quoted.get(number)) or {}
        for number, (row, outcome) in enumerate(zip(rows, outcomes, strict=True))
        if decided[number] in WITH_ORDER and outcome.row_id and (number in brought or number in quoted)
    }
    if given:
        erased = known.erased()
        give(given={order: own for order, own in given.items() if order not in erased}, now=now)


class _Offered:
    """The quotes that came with rows of orders, and what became of each, by the row's number."""

    def __init__(self, business: Business, rows: Sequence[PushedRow], now: datetime) -> None:
        self.results: dict[int, QuoteResult] = {}
        self.attributes: dict[int, ByOwner] = {}  # of the quotes that orders have taken now
        self._rows = {number: row for number, row in enumerate(rows) if row.quote}
        self._quotes = Quotes(business, [row.quote for row in self._rows.values()], now)
        self._now = now

    def take(
        self, decided: Sequence[Result | None], known: KnownRows, changes: Mapping[int, RowChange]
    ) -> None:
        """Before orders are written. The row that brings a quote may be an old one: it is still the order's."""
        for number, row in self._rows.items():
            kept, taken = known.of(row.resource, row.external_id), None
            order_id = kept.row_id if decided[number] in WITH_ORDER else None
            if order_id and row.values is not None:
                taken = self._quotes.take(row.quote, order_id, row.values)
            self.results[number] = taken.result if taken else QuoteResult.IGNORED
            if order_id is None or taken is None or not taken.is_new:
                continue
            if taken.quote.attributes:
                self.attributes[number] = taken.quote.attributes
            if number in changes:
                changes[number].validation = taken.validation
            else:
                others = Order.objects.filter(pk=order_id).exclude(validation=taken.validation)
                others.update(validation=taken.validation, updated_at=self._now)

    def save(self, known: KnownRows) -> None:
        """Once the orders are written."""
        if self._rows:
            self._quotes.save(known.erased())


def _keys(row: PushedRow) -> Iterator[tuple[str, str]]:
    """Its own id, and those that it mentions."""
    yield row.resource, row.external_id
    if row.values and row.resource == Resource.REVIEWS:
        yield Resource.PRODUCTS, row.values["product"]
    if row.values and row.resource == Resource.ORDERS:
        yield from ((Resource.PRODUCTS, item["product"]) for item in row.values["items"] if item["product"])


def _decide(row: PushedRow, kept: MirroredRow, wanted: WantedRows) -> Result | None:
    """None for the kept version with other content."""
    version = kept.version
    if row.not_since and kept.received_at and kept.received_at > row.not_since:
        return Result.UNCHANGED
    if version is None or kept.is_deleted:
        if row.values is None:
            return Result.UNCHANGED
        if version is not None and row.version <= version and not row.is_forced:
            return Result.STALE
        return Result.CREATED if _is_wanted(row, wanted) else Result.UNWANTED
    if row.resource == Resource.REVIEWS and row.values is not None and not wanted.reviews:
        return Result.UNWANTED
    if row.version < version and not row.is_forced:
        return Result.STALE
    if row.values is None:
        return Result.DELETED
    if _is_equal(row.values, kept):
        return Result.UNCHANGED
    return None if row.version == version and not row.is_forced else Result.UPDATED


def _is_equal(values: dict[str, Any], kept: MirroredRow) -> bool:
    if kept.digest is None or kept.digest_key is None:
        return False
    return digest_of(values, bytes(kept.digest_key)) == bytes(kept.digest)


def _is_wanted(row: PushedRow, wanted: WantedRows) -> bool:
    """Of a row that isn't kept. An order that is kept stays wanted."""
    if row.resource == Resource.REVIEWS:
        return wanted.reviews
    if row.resource != Resource.ORDERS or row.values is None:
        return True
    placed, since = row.values["created_at"], wanted.orders_since
    return wanted.orders and (since is None or placed >= since)


def _outcome(
    row: PushedRow,
    result: Result | None,
    known: KnownRows,
    change: RowChange | None,
    quote: QuoteResult | None,
    quiet: bool,
    now: datetime,
) -> RowOutcome:
    """Note what is known of the row from now on, and publish its events."""
    kept = known.of(row.resource, row.external_id)
    if result is None:
        error = Conflict(
            f"Version {row.version} of this row came before, with other content. Send it with a higher version.",
            code="version_taken",
        )
        return RowOutcome(row=row, error=error)
    if result == Result.UNWANTED:
        return RowOutcome(row=row, result=result, quote=quote)
    if change and row.values is not None:
        known.keep(kept, row.version, row.values, row.sent)
    elif result == Result.DELETED:
        known.change(kept, version=row.version, is_deleted=True, **NO_DIGESTS)
    elif result == Result.UNCHANGED and row.not_since is None:
        _note_version(row, known, kept)
    if result != Result.STALE and row.not_since is None:
        known.receive(kept)
    events: list[str] = []
    if change and not quiet:
        for event in change.events:
            event.publish()
            events += event.names
        for event in change.others:
            event.publish()
    return RowOutcome(row=row, result=result, row_id=kept.row_id, events=events, quote=quote)


def _note_version(row: PushedRow, known: KnownRows, kept: MirroredRow) -> None:
    """Of a row that stays: its version may be higher, or forced. One that is gone leaves the highest behind."""
    if row.values is not None:
        known.change(kept, version=row.version)
        if row.sent is not None and kept.digest_key is not None:
            known.change(kept, sent_digest=digest_of(row.sent, bytes(kept.digest_key)))
    elif kept.version is None or row.version > kept.version:
        known.change(kept, version=row.version, is_deleted=True)


def _note_too_old(known: KnownRows, rows: Sequence[PushedRow]) -> None:
    """Of an order that is too old, when it was placed, so that no snapshot says that it is missing. Nothing else is kept."""
    for row in rows:
        if row.resource == Resource.ORDERS and row.values is not None:
            known.change(known.of(row.resource, row.external_id), placed_at=row.values["created_at"])


def _note(state: MirrorState, outcomes: Sequence[RowOutcome], now: datetime) -> None:
    refused = [
        {
            "resource": each.row.resource,
            "externalId": each.row.external_id,
            "code": each.error.code,
            "message": each.error.message,
        }
        for each in outcomes
        if each.error
    ]
    state.last_row_at = now
    note_refused(state, refused, now)
    state.save(update_fields=["last_row_at", "refused"])
