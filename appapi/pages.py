"""Reads one page of a list in one or two statements, even from very long lists.

A page near the top uses its offset. A page further down starts from a bookmark: the first or last row of an earlier
page. Without a bookmark the database counts along the index, without reading the rows.
"""

import threading
import time
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models import DateTimeField, Field, QuerySet, Subquery, UUIDField

from common.db.compiled import Compiled, Param
from common.db.fields import IsoText
from common.web.pagination import PageRequest, page_body
from stores.models import StoreTotals
from stores.queries import AnyList, WholeList, counted

Payload = Callable[[Any], dict[str, Any]]
Columns = tuple[str, ...]

NEAR_TOP: Final = 2_000  # up to this offset, skipping rows is faster than using bookmarks

KEPT: Final = 60  # seconds
LISTS: Final = 256
PER_LIST: Final = 64


class PageBookmarks:
    """Rows of long lists, each known by its rank, counted from the oldest row.

    New rows are added on top, so they change no rank. When a row is removed, the caller uses another `key`. Each process
    has its own bookmarks, and losing them only costs time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # For each list its bookmarks, newest last: rank -> (id, expiry).
        self._lists: OrderedDict[Hashable, OrderedDict[int, tuple[UUID, float]]] = OrderedDict()

    def nearest(self, key: Hashable, rank: int) -> tuple[UUID, int] | None:
        """The row at `rank`, or the nearest known one above: its id, and how many rows above `rank` it is."""
        now = time.monotonic()
        with self._lock:
            bookmarks = self._lists.get(key) or OrderedDict()
            known = [each for each, (_, until) in bookmarks.items() if each >= rank and until > now]
            return (bookmarks[min(known)][0], min(known) - rank) if known else None

    def remember(self, key: Hashable, rows: Mapping[int, UUID]) -> None:
        """Remember rows, given as ids by rank."""
        until = time.monotonic() + KEPT
        with self._lock:
            bookmarks = self._lists.setdefault(key, OrderedDict())
            self._lists.move_to_end(key)
            for rank, row_id in rows.items():
                bookmarks[rank] = (row_id, until)
                bookmarks.move_to_end(rank)
            _shorten(bookmarks, PER_LIST)
            _shorten(self._lists, LISTS)


def _shorten(kept: OrderedDict[Any, Any], size: int) -> None:
    while len(kept) > size:
        kept.popitem(last=False)


_bookmarks = PageBookmarks()


def page_of(
    listing: AnyList[Any], request: PageRequest, payload: Payload, columns: Columns = ()
) -> dict[str, Any]:
    """The response body of a page, with each row built by `payload`.

    Rows are named tuples of `columns`, which must include `id`, or model instances without `columns`. In tuples, times are
    the text of the API.
    """
    rows, total = rows_of(listing, request, columns)
    return page_body([payload(row) for row in rows], total=total, request=request)


def rows_of(listing: AnyList[Any], request: PageRequest, columns: Columns = ()) -> tuple[Sequence[Any], int]:
    """The same rows without a payload, and the total."""
    read = _near_top if request.offset <= NEAR_TOP else _far_down
    return read(listing, request, columns)


def _near_top(listing: AnyList[Any], request: PageRequest, columns: Columns) -> tuple[Sequence[Any], int]:
    """One statement for an unfiltered list: each row brings the total."""
    rows = _rows(listing, columns, request.limit, request.offset, counter=listing.counter)
    total = rows[0].counted if rows and listing.counter else listing.total
    return rows, total


def _far_down(listing: AnyList[Any], request: PageRequest, columns: Columns) -> tuple[Sequence[Any], int]:
    """The total is read first, because bookmarks are found by a row's rank from the end of the list.

    Rows found without a bookmark bring the total again: a row added in between would give them another rank.
    """
    total, rank_changes = _total(listing)
    rank = total - request.offset
    if rank <= 0:
        return [], total
    key = _key(listing, total, rank_changes)
    since, above = _bookmarks.nearest(key, rank) or (None, request.offset)
    counter = None if since else listing.counter
    rows = _rows(listing, columns, request.limit, above, since=since, counter=counter)
    if rows:
        if counter:
            total = rows[0].counted
            rank = total - request.offset
        _bookmarks.remember(key, {rank: rows[0].id, rank - len(rows) + 1: rows[-1].id})
    return rows, total


def _total(listing: AnyList[Any]) -> tuple[int, int]:
    """The number of rows, and how often ranks have changed. Rank changes are not counted for a filtered list."""
    if listing.counter is None:
        return listing.total, 0
    return counted(listing.business, listing.counter)


def _key(listing: AnyList[Any], total: int, rank_changes: int) -> Hashable:
    """The key of the list's bookmarks. It changes when a row may have another rank.

    A filtered list that loses one row and gains another keeps its key until the bookmarks expire.
    """
    if listing.counter is None:
        return str(listing.rows.values("pk").query), total
    return listing.business.pk, listing.counter, rank_changes


def _rows(
    listing: AnyList[Any],
    columns: Columns,
    limit: int,
    offset: int,
    *,
    since: UUID | None = None,
    counter: str | None = None,
) -> list[Any]:
    """`limit` rows after skipping `offset`, starting at the id `since`. With `counter`, each row has it as `counted`."""
    business_id = listing.business.pk
    if offset <= NEAR_TOP and isinstance(listing, WholeList):
        query = _compiled(listing.of, columns, counter, since is not None)
        found = query.rows(limit=limit, offset=offset, business=business_id, since=since)
    else:
        rows = listing.rows if since is None else listing.rows.filter(pk__lte=since)
        window = slice(offset, offset + limit)
        if offset > NEAR_TOP:  # skip ids in the index, and read only the rows of this page
            rows, window = listing.rows.filter(pk__in=rows.values("pk")[window]), slice(limit)
        found = list(_selected(rows, business_id, columns, counter)[window])
    return list(map(_row_type(columns, counter)._make, found)) if columns else found


@lru_cache(maxsize=100)
def _compiled(
    of: Callable[[Any], QuerySet[Any]], columns: Columns, counter: str | None, since: bool
) -> Compiled[Any]:
    business = Param("business", UUIDField())

    def query() -> QuerySet[Any, Any]:
        rows = of(business)
        if since:
            rows = rows.filter(pk__lte=Param("since", UUIDField()))
        return _selected(rows, business, columns, counter)

    return Compiled(query)


def _selected(
    rows: QuerySet[Any], business_id: Any, columns: Columns, counter: str | None
) -> QuerySet[Any, Any]:
    if counter is not None:
        totals = StoreTotals.objects.filter(business=business_id)
        # Of no type, so as the driver gives it: Django would convert the same number again for each row.
        rows = rows.annotate(counted=Subquery(totals.values(counter), output_field=Field()))
    if not columns:
        return rows
    fields = {field.name for field in rows.model._meta.fields if isinstance(field, DateTimeField)}
    rows = rows.prefetch_related(None)  # a tuple has nothing to bring along
    return rows.values_list(*(IsoText(name) if name in fields else name for name in _names(columns, counter)))


@lru_cache(maxsize=100)
def _row_type(columns: Columns, counter: str | None) -> Any:
    return namedtuple("Row", _names(columns, counter))


def _names(columns: Columns, counter: str | None) -> Columns:
    return (*columns, "counted") if counter else columns
