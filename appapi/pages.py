"""Answering one page of a list with as few statements as it takes."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet, Subquery

from common.pages import PageRequest, page_body
from stores.models import StoreTotals
from stores.queries import Listing

Record = Callable[[Any], dict[str, Any]]


def page_of(
    listing: Listing[Any], request: PageRequest, record: Record, columns: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The page `request` of a listing, each row turned into its wire shape by `record`.

    With `columns` the rows are light tuples of these. The total of an unfiltered list comes along with the
    rows, so that the page is one statement.
    """
    rows: QuerySet[Any] = listing.rows
    if listing.counter is not None:
        rows = rows.annotate(counted=_counted(listing, listing.counter))
        columns = (*columns, "counted") if columns else ()
    if columns:
        rows = rows.values_list(*columns, named=True)
    page = list(rows[request.window])
    total = page[0].counted if page and listing.counter else listing.total
    return page_body([record(row) for row in page], total=total, request=request)


def _counted(listing: Listing[Any], counter: str) -> Subquery:
    return Subquery(StoreTotals.objects.filter(business=listing.business).values(counter))
