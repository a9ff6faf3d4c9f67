"""Writes what apps put into orders (`attributes`). Carts have theirs by `stores.services.carts`."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Func, JSONField, Q, Value
from django.utils import timezone

from common.db.rows import get_or_not_found
from common.errors import Invalid
from stores.buyers.attributes import ByOwner, merged, with_those_of
from stores.models import LINES, Cart, Order, Quote

FIELD: Final = "attributes"


class WithoutKey(Func):
    """A JSON object without one of its keys."""

    output_field = JSONField()
    arg_joiner = " - "
    template = "(%(expressions)s)"

    def __init__(self, column: str, key: str) -> None:
        super().__init__(column, Value(key))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = """json_remove(%(expressions)s || '"')"""
        return self.as_sql(compiler, connection, template=template, arg_joiner=""", '$."' || """, **context)


@transaction.atomic
def change_attributes(
    *,
    order: Order,
    owner: str,
    changes: Mapping[str, Any],
    on_saved: Callable[[Order], None] | None = None,
    now: datetime | None = None,
) -> Order:
    """Merge an app's changes into its attributes of an order. `owner` identifies the app. No event follows.

    Raises `Invalid` with every problem, and nothing is saved. `on_saved` is called in the transaction.
    """
    rows = Order.objects.select_related("business", "payment").prefetch_related(LINES)
    rows = rows.select_for_update(no_key=True, of=("self",))
    order = get_or_not_found(rows, order.pk, "Order not found")
    before = (order.attributes or {}).get(owner, {})
    own, problems = merged(before, changes)
    if problems:
        raise Invalid.fields(
            [{"field": f"{FIELD}.{key}", "message": problem} for key, problem in problems.items()]
        )
    if own != before:
        order.attributes = with_those_of(order.attributes, owner, own)
        order.updated_at = now or timezone.now()
        order.save(update_fields=["attributes", "updated_at"])
    if on_saved:
        on_saved(order)
    return order


def give(*, given: Mapping[UUID, ByOwner], now: datetime) -> None:
    """Attributes that came with orders of a shop, by our ids of the orders. In the transaction that has locked them."""
    for order in Order.objects.filter(pk__in=given).only("attributes"):
        after = order.attributes
        for owner, own in given[order.pk].items():
            after = with_those_of(after, owner, {**(after or {}).get(owner, {}), **own})
        if after != order.attributes:
            Order.objects.filter(pk=order.pk).update(attributes=after, updated_at=now)


def forget_app(*, business_id: UUID, owner: str) -> None:
    """Empty an app's attributes in a store: it is asked to erase the store's data. Other apps keep theirs."""
    for model in (Order, Quote, Cart):
        rows: Any = model._base_manager.filter(
            Q(attributes__has_key=owner, attributes__isnull=False), business=business_id
        )
        rows.update(attributes=WithoutKey("attributes", owner))
