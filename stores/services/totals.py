"""The counts in `StoreTotals`. Every function here locks the business's row, which all its changes share: call
it last in a transaction, after all other locks.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, F, QuerySet

from accounts.models import Business
from common.db.compiled import Compiled, Param
from common.db.prepared import BoundStatement, rows_of_each
from stores.enums import ProductStatus
from stores.models import Order, Product, Review, StoreTotals

AT_ONCE: Final = 1_000  # stores that are looked at together


def move_totals(business: Business, **by: int) -> None:
    """Add to the named columns: `move_totals(business, reviews=-1)`. Removing a row also changes the ranks in its list."""
    if any(difference < 0 for difference in by.values()):
        by["rank_changes"] = 1
    changes = {column: F(column) + difference for column, difference in by.items() if difference}
    if changes:
        StoreTotals.objects.filter(business=business).update(**changes)


# Without the ORM, which compiled two statements for each order.
_COUNT_ORDER = """
UPDATE stores_storetotals SET orders = orders + 1, last_order_number = last_order_number + 1
WHERE business_id = %s RETURNING last_order_number
"""


def count_order(business: Business, currency: str) -> str | None:
    """Count one more order and hand out its number. The lock keeps two orders from getting the same.

    None if the store has another currency. That is final: a change of the currency needs the lock, so it is read after it.
    """
    counted = BoundStatement(_COUNT_ORDER, [StoreTotals._meta.pk.get_db_prep_value(business.pk, connection)])
    in_currency = BoundStatement(*_IN_CURRENCY.sql(business=business.pk, currency=currency))
    ((number,),), found = rows_of_each(counted, in_currency)
    return str(number) if found else None


_IN_CURRENCY = Compiled(
    lambda: Business.objects.filter(
        pk=Param("business", Business._meta.pk),
        currency=Param("currency", Business._meta.get_field("currency")),
    ).values_list("pk")
)


def has_currency(business: Business, currency: str) -> bool:
    """Whether the store has this currency. Final once `StoreTotals` is locked, which a change of the currency needs."""
    return bool(_IN_CURRENCY.rows(business=business.pk, currency=currency))


@transaction.atomic
def drifted() -> Iterator[StoreTotals]:
    """The rows that differ from what the tables have now. Three statements for `AT_ONCE` stores, however little there is to mend."""
    last = UUID(int=0)
    while rows := list(StoreTotals.objects.filter(pk__gt=last).order_by("pk")[:AT_ONCE]):
        last = rows[-1].pk
        stores = [each.business_id for each in rows]
        counted = [_counted(each, stores) for each in (_shown(), Order.objects.all(), Review.objects.all())]
        for row in rows:
            if (row.products, row.orders, row.reviews) != tuple(of.get(row.business_id, 0) for of in counted):
                yield row


def _shown() -> QuerySet[Product]:
    return Product.objects.filter(status=ProductStatus.ACTIVE)


def _counted(rows: QuerySet[Any], stores: Sequence[UUID]) -> dict[UUID, int]:
    found = rows.filter(business__in=stores).order_by().values_list("business")
    return dict(found.annotate(number=Count("pk")))


def recount(*, business: Business) -> None:
    """Recount from the tables, in case rows were changed without the services."""
    totals = StoreTotals.objects.select_for_update().get(business=business)
    totals.products = _shown().filter(business=business).count()
    totals.orders = Order.objects.filter(business=business).count()
    totals.reviews = Review.objects.filter(business=business).count()
    totals.rank_changes += 1
    totals.save(update_fields=["products", "orders", "reviews", "rank_changes"])
