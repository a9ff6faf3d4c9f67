"""Answering one page of a list with as few statements as it takes, however long the list is.

A page near the top is cut off by its offset. One further down starts at a row that an earlier page was seen to
begin or end with (`common.places`); where none is known, the database walks there along the index alone.
"""

from collections import namedtuple
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet, Subquery, UUIDField

from common.compiled import Compiled, Param
from common.pages import PageRequest, page_body
from common.places import Places
from stores.models import StoreTotals
from stores.queries import AnyList, WholeList, counted

Record = Callable[[Any], dict[str, Any]]
Columns = tuple[str, ...]

NEAR_TOP: Final = 2_000  # rows that are quicker passed over than asked about

_places = Places()


def page_of(
    listing: AnyList[Any], request: PageRequest, record: Record, columns: Columns = ()
) -> dict[str, Any]:
    """The page `request` of a listing, each row turned into its wire shape by `record`.

    With `columns`, `id` among them, the rows are light tuples of these; else they are model instances.
    """
    cut = _near_top if request.offset <= NEAR_TOP else _far_down
    rows, total = cut(listing, request, columns)
    return page_body([record(row) for row in rows], total=total, request=request)


def _near_top(listing: AnyList[Any], request: PageRequest, columns: Columns) -> tuple[Sequence[Any], int]:
    """The total of an unfiltered list comes along with the rows: that is one statement."""
    rows = _rows(listing, columns, request.limit, request.offset, counter=listing.counter)
    total = rows[0].counted if rows and listing.counter else listing.total
    return rows, total


def _far_down(listing: AnyList[Any], request: PageRequest, columns: Columns) -> tuple[Sequence[Any], int]:
    """The total comes first, since places are remembered by it. Rows that are walked to bring it along again: had one
    come on top since, they would be remembered for a rank that is not theirs."""
    total, rank_changes = _total(listing)
    rank = total - request.offset
    if rank <= 0:
        return [], total
    key = _key(listing, total, rank_changes)
    since, above = _places.nearest(key, rank) or (None, request.offset)
    counter = None if since else listing.counter
    rows = _rows(listing, columns, request.limit, above, since=since, counter=counter)
    if rows:
        if counter:
            total = rows[0].counted
            rank = total - request.offset
        _places.remember(key, {rank: rows[0].id, rank - len(rows) + 1: rows[-1].id})
    return rows, total


def _total(listing: AnyList[Any]) -> tuple[int, int]:
    """How many rows there are, and how often ranks have changed, which nobody counts for a filtered list."""
    if listing.counter is None:
        return listing.total, 0
    return counted(listing.business, listing.counter)


def _key(listing: AnyList[Any], total: int, rank_changes: int) -> Hashable:
    """Another one as soon as a row may have another rank. A filtered list that loses one row and gains another
    keeps it, for as long as places are remembered."""
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
    """`limit` rows after the first `offset`, of those from the id `since` on. With `counter`, each has it as
    `counted`."""
    business_id = listing.business.pk
    if offset <= NEAR_TOP and isinstance(listing, WholeList):
        query = _compiled(listing.of, columns, counter, since is not None)
        found = query.rows(limit=limit, offset=offset, business=business_id, since=since)
    else:
        rows = listing.rows if since is None else listing.rows.filter(pk__lte=since)
        window = slice(offset, offset + limit)
        if offset > NEAR_TOP:  # the index has the ids, and only the rows of this page are read
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
        rows = rows.annotate(counted=Subquery(totals.values(counter)))
    return rows.values_list(*_names(columns, counter)) if columns else rows


@lru_cache(maxsize=100)
def _row_type(columns: Columns, counter: str | None) -> Any:
    return namedtuple("Row", _names(columns, counter))


def _names(columns: Columns, counter: str | None) -> Columns:
    return (*columns, "counted") if counter else columns
