"""Exports: all records of a list in one file, as they were at one moment (contract, section 5).

1. `request_export` writes a pending row. There is one at a time for an installation.
2. A worker takes a lease of the oldest pending row (`make_exports`) and writes the file from a single snapshot of the database. The
   feed's horizon is read in the same snapshot: the feed goes on from there without a gap.
3. The file is kept for `EXPORTS_KEPT`, then `delete_expired` removes it with its row.

A worker that dies leaves its lease behind, and another takes over when it has ended. On a full disk an export is put off, for
a day at most. The transaction that reads writes nothing and so doesn't hold the feed back.
"""

import gzip
import hashlib
import logging
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import IO, Any, Final

import orjson
from django.core.files import File
from django.core.files.storage import Storage, storages
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from appapi.models import Export, ExportResource, ExportStatus
from appapi.serializers import own_parts
from common.db.leases import held, take_first
from common.db.rows import for_each, get_or_not_found
from common.db.transactions import read_one_moment
from common.errors import Conflict, NotAllowed
from common.files import disks
from common.observability.metrics import EXPORTS
from common.processes.background import enqueue_after_commit
from installations.authentication import refusal
from installations.limits import EXPORTS_KEPT
from installations.models import Installation
from stores import queries
from stores.customers import Copies
from stores.records import OrderRecord
from stores.serializers import PRODUCT_COLUMNS, order_payload, product_payload
from webhooks.feed import Cursor, current_horizon

log = logging.getLogger(__name__)

# Ten times what a million products take. A try that takes longer fails.
LEASE: Final = timedelta(minutes=20)
PUT_OFF: Final = timedelta(minutes=1)  # while there is no room for a file
CHUNK: Final = 2000
UNDER_WAY: Final = timedelta(seconds=30)  # what the transaction of an erasure takes at most
SCOPES: Final = {ExportResource.PRODUCTS: "read_products", ExportResource.ORDERS: "read_orders"}


def files() -> Storage:
    """Where the files of exports are."""
    return storages["exports"]


def request_export(*, installation: Installation, resource: ExportResource) -> Export:
    """Raises `NotAllowed` without the scope of the list, `Conflict` while another export is being made."""
    _require_scope(installation, resource)
    try:
        with transaction.atomic():
            export = Export.objects.create(installation=installation, resource=resource)
            enqueue_after_commit("appapi.tasks.make_exports")
    except IntegrityError as error:
        raise Conflict(
            "Another export of this installation is being made. Wait until it is READY.",
            code="export_running",
        ) from error
    return export


def export_of(installation: Installation, export_id: str, *, now: datetime) -> Export:
    """Raises `NotFound` for another installation's or an expired one, `NotAllowed` without the scope of the list."""
    kept = Export.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), installation=installation)
    export = get_or_not_found(kept, export_id, "Export not found")
    _require_scope(installation, ExportResource(export.resource))
    return export


def make_exports() -> int:
    """Make the files of all pending exports. Returns the number of those that are ready."""
    pending = Export.objects.filter(status=ExportStatus.PENDING).order_by("id")
    taken = iter(lambda: take_first(pending, lasts=LEASE, now=timezone.now()), None)
    return for_each(taken, _make, task="make_exports")


def delete_expired(*, now: datetime | None = None) -> int:
    expired = Export.objects.filter(expires_at__lte=now or timezone.now()).order_by("expires_at")
    return for_each(expired.iterator(), _delete, task="delete_expired_exports")


def _delete(export: Export) -> int:
    files().delete(export.file_name)
    export.delete()
    return 1


def erase_customer(copies: Copies, *, now: datetime) -> None:
    """Delete every file of orders of the store, and let those fail that are being written: whenever it was asked for, it may
    hold the customer who is erased.

    Called in the transaction of the erasure. One that waits can't be leased until that has ended.
    """
    _erase(_of_orders(copies), now)


def erase_late(copies: Copies, *, now: datetime) -> None:
    """The same for those that were asked for, or whose file was saved, while the transaction went on."""
    late = Q(created_at__range=(copies.at, copies.at + UNDER_WAY)) | Q(erased_at__gte=copies.at)
    with transaction.atomic():
        _erase(_of_orders(copies).filter(late), now)


def _of_orders(copies: Copies) -> QuerySet[Export]:
    return Export.objects.filter(installation__business=copies.business, resource=ExportResource.ORDERS)


def _erase(rows: QuerySet[Export], now: datetime) -> None:
    written = []
    for export in rows.select_for_update(of=("self",)).order_by("pk"):
        if export.status == ExportStatus.PENDING and export.lease_until is None:
            continue
        written.append(export.file_name)
        export.status = ExportStatus.FAILED if export.status == ExportStatus.PENDING else export.status
        export.lease_until, export.erased_at = None, export.erased_at or now
        export.expires_at = export.expires_at or now + EXPORTS_KEPT
        export.save(update_fields=["status", "lease_until", "erased_at", "expires_at"])
    transaction.on_commit(partial(_delete_files, written))


def _delete_files(names: Sequence[str]) -> None:
    """If this process dies before, the worker does it (`erase_late`)."""
    for name in names:
        files().delete(name)


def _require_scope(installation: Installation, resource: ExportResource) -> None:
    scope = SCOPES[resource]
    if scope not in installation.effective_scopes:
        raise NotAllowed(refusal(installation, scope))


def _make(export: Export) -> bool:
    """Write the file, then record it. A crash in between leaves a file that the next try replaces. Whether it is ready."""
    try:
        with tempfile.TemporaryFile() as file:
            rows, cursor = _write(export, file)
            file.seek(0)
            etag = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            if not _mine(export).exists():
                return False
            files().delete(export.file_name)
            files().save(export.file_name, File(file))
    except Exception as error:
        if disks.is_full(error) and timezone.now() < export.created_at + EXPORTS_KEPT:
            log.error("Export %s has to wait: %s", export.pk, error)
            _mine(export).update(lease_until=timezone.now() + PUT_OFF)
            return False
        _finish(export, status=ExportStatus.FAILED)
        EXPORTS.labels("failed").inc()
        raise
    _finish(export, status=ExportStatus.READY, rows=rows, etag=etag, feed_cursor=cursor)
    EXPORTS.labels("ready").inc()
    return True


def _finish(export: Export, **changes: Any) -> None:
    _mine(export).update(expires_at=timezone.now() + EXPORTS_KEPT, **changes)


def _mine(export: Export) -> QuerySet[Export]:
    """Empty once another worker has taken it."""
    return held(Export.objects.filter(pk=export.pk), export.lease_until)


def _write(export: Export, file: IO[bytes]) -> tuple[int, str]:
    """The number of rows, and the cursor at which the feed goes on."""
    assert export.lease_until
    count = 0
    with (
        transaction.atomic(durable=True),
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed,
    ):
        read_one_moment()
        begun = timezone.now()
        horizon = current_horizon()
        for record in _records(export):
            packed.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            count += 1
            if count % CHUNK == 0 and timezone.now() > export.lease_until:
                raise TimeoutError(f"{count} rows were written in {LEASE}.")
    return count, str(Cursor.before(horizon, begun))


def _records(export: Export) -> Iterator[dict[str, Any]]:
    """The records of the list, newest first."""
    business = export.installation.business
    if export.resource == ExportResource.ORDERS:
        rows = queries.orders(business).rows.iterator(chunk_size=CHUNK)
        while orders := list(islice(rows, CHUNK)):
            for order, own in zip(orders, own_parts(export.installation, orders), strict=True):
                yield order_payload(OrderRecord.of(order), own)
        return
    products = queries.listed_products(business).rows.values_list(*PRODUCT_COLUMNS, named=True)
    for product in products.iterator(chunk_size=CHUNK):
        yield product_payload(product, business.currency)
