"""Products and pages of a shop."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import count
from typing import Any, Final
from uuid import UUID

from django.db.models import CharField
from django.db.models.functions import Cast

from accounts.models import Business
from common.lengths import NAME
from stores import signals
from stores.connected.changes import RowChange, RowEvent, Totals, assign
from stores.connected.mirror import KnownRows, write_again
from stores.enums import ProductStatus, StockCrossing
from stores.models import Product, SitePage
from stores.records import ProductRecord
from stores.services.catalogue.products import SILENT_FIELDS, WIRE_NAMES
from stores.services.catalogue.stock import stock_crossing
from stores.services.slugs import base_of

MANY: Final = 2**62  # what isn't tracked is more than any number
NAMES: Final = WIRE_NAMES | {"status": "status", "group_id": "groupId", "created_at": "createdAt"}
PRODUCT: Final = (
    "name", "slug", "description", "price", "category", "is_available", "image", "stock", "low_stock_threshold", "status", "group_id",
    "created_at", "updated_at",
)  # fmt: skip
PAGE: Final = ("slug", "title", "url", "content", "is_framable", "framing_looked_at", "updated_at")


def write_products(
    business: Business, changes: Sequence[RowChange], known: KnownRows, totals: Totals, now: datetime
) -> None:
    rows = _locked(Product, business, changes)
    before = {pk: (row.stock, row.status) for pk, row in rows.items()}
    changed: dict[UUID, set[str]] = {}
    for change in changes:
        if change.values is None:
            continue
        if change.is_new:
            rows[change.id] = _new(Product, business, change, now)
        columns = {name: value for name, value in change.values.items() if name != "slug"}
        if columns["created_at"] is None:
            columns["created_at"] = rows[change.id].created_at
        changed[change.id] = assign(
            rows[change.id], columns, now, silent=() if change.is_new else ["low_stock_threshold"]
        )
    displaced = _Slugs(Product, business, rows, lambda row: row.name).settle(changes, changed, now)
    _save(Product, rows, changes, displaced, PRODUCT)
    for change in changes:
        row = rows[change.id]
        was_listed = not change.is_new and before[change.id][1] == ProductStatus.ACTIVE
        is_listed = change.values is not None and row.status == ProductStatus.ACTIVE
        if is_listed and not was_listed:
            totals.add("products", is_below_others=not change.is_new or known.was_mentioned(row.pk))
        if was_listed and not is_listed:
            totals.remove("products")
        change.events += _events(
            change, row, before.get(change.id, (None, ""))[0], changed.get(change.id, set()), now
        )
    for change, other in displaced:
        change.others += [_updated({"product": _record(other), "now": now}, {"slug"})]


def _events(
    change: RowChange, row: Product, stock: int | None, changed: set[str], now: datetime
) -> Iterator[RowEvent]:
    """`stock` is that of before."""
    about = {"product": _record(row), "now": now}
    if change.values is None:
        yield RowEvent(["product.deleted"], signals.product_deleted, Product, about)
    elif change.is_new:
        yield RowEvent(["product.created"], signals.product_created, Product, about)
    elif changed - SILENT_FIELDS:
        yield _updated(about, changed - SILENT_FIELDS)
        if crossing := crossed(stock, row.stock, row.low_stock_threshold):
            yield RowEvent(
                [f"product.{crossing.value}"], signals.stock_crossed, Product, about | {"crossing": crossing}
            )


def _updated(about: dict[str, Any], changed: set[str]) -> RowEvent:
    fields = sorted(NAMES[column] for column in changed)
    return RowEvent(["product.updated"], signals.product_updated, Product, about | {"changed_fields": fields})


def _record(row: Product) -> ProductRecord:
    return ProductRecord.of(row, row.business.currency)


def crossed(before: int | None, after: int | None, threshold: int | None) -> StockCrossing | None:
    """As in own stores, but what isn't tracked counts as more than any number."""
    return stock_crossing(MANY if before is None else before, MANY if after is None else after, threshold)


def write_pages(
    business: Business, changes: Sequence[RowChange], known: KnownRows, totals: Totals, now: datetime
) -> None:
    rows = _locked(SitePage, business, changes)
    changed: dict[UUID, set[str]] = {}
    for change in changes:
        if change.values is None:
            continue
        if change.is_new:
            rows[change.id] = _new(SitePage, business, change, now)
        columns = {name: value for name, value in change.values.items() if name != "slug"}
        changed[change.id] = assign(rows[change.id], columns, now)
        if "url" in changed[change.id]:
            rows[change.id].is_framable, rows[change.id].framing_looked_at = False, None
    displaced = _Slugs(SitePage, business, rows, lambda row: row.title).settle(changes, changed, now)
    _save(SitePage, rows, changes, displaced, PAGE)


def _new(model: Any, business: Business, change: RowChange, now: datetime) -> Any:
    return model(
        id=change.id,
        business=business,
        external_id=change.mirrored.external_id,
        created_at=now,
        updated_at=now,
    )


def _locked(model: Any, business: Business, changes: Sequence[RowChange]) -> dict[UUID, Any]:
    """The rows that are there, by id, with their business."""
    ids = [change.id for change in changes if not change.is_new]
    found = (
        model.objects.filter(business=business, pk__in=ids).order_by("pk").select_for_update(no_key=True)
        if ids
        else ()
    )
    rows = {row.pk: row for row in found}
    for row in rows.values():
        row.business = business
    return rows


def _save(
    model: Any,
    rows: dict[UUID, Any],
    changes: Sequence[RowChange],
    displaced: Sequence[tuple[RowChange, Any]],
    columns: Sequence[str],
) -> None:
    """Others have given up their slugs before."""
    gone = [change.id for change in changes if change.values is None]
    if gone:
        _delete(model.objects.filter(pk__in=gone))
    write_again([row for _, row in displaced], ["slug", "updated_at"])
    write_again(
        [rows[change.id] for change in changes if change.values is not None and not change.is_new], columns
    )
    model.objects.bulk_create([rows[change.id] for change in changes if change.is_new])


def _delete(rows: Any) -> None:
    """Reviews of a product that is gone stay. Blocks of a page go with it, also one that is added at this moment: the lock waits for it."""
    if rows.model is Product:
        rows._raw_delete("default")  # noqa: SLF001
    else:
        list(rows.select_for_update().values_list("pk"))
        rows.delete()


class _Slugs:
    """Gives rows their slugs. Of two with the same one the newest has it; the other, and one that names none, gets one that is free."""

    def __init__(
        self, model: Any, business: Business, rows: dict[UUID, Any], name_of: Callable[[Any], str]
    ) -> None:
        self._model, self._business, self._rows, self._name_of = model, business, rows, name_of
        self._owners: dict[str, Any] = {}  # by slug
        self._next: dict[str, Iterator[int]] = {}  # by the beginning of a slug

    def settle(
        self, changes: Sequence[RowChange], changed: dict[UUID, set[str]], now: datetime
    ) -> list[tuple[RowChange, Any]]:
        """Set the slugs of the changed rows, and note it in `changed`. Returns other rows that had to give up theirs, and for whom."""
        asked = [(change, self._asked(change)) for change in changes if change.values is not None]
        before = {change.id: self._rows[change.id].slug for change, _ in asked}
        self._read([slug for _, slug in asked] + [slug for slug in before.values() if slug])
        for change in changes:
            if change.values is None:
                self._owners.pop(self._rows[change.id].slug, None)
        displaced: dict[UUID, tuple[RowChange, Any]] = {}
        for change, slug in asked:
            is_named = bool((change.values or {})["slug"])
            row: Any = self._rows[change.id]
            owner: Any = self._owners.get(slug)
            has_it = owner is not None and owner.pk == row.pk
            if has_it or (not is_named and self._is_variant(row.slug, slug)):
                continue
            if owner is not None and not is_named:
                slug = self._free(slug)
            former: Any = self._owners.get(row.slug)
            if former is not None and former.pk == row.pk:
                del self._owners[row.slug]
            row.slug = slug
            self._owners[slug] = row
            if owner is not None and is_named:
                owner.slug = self._free(slug)
                self._owners[owner.slug] = owner
                if owner.pk not in before:
                    owner.updated_at = now
                    displaced[owner.pk] = (change, owner)
        self._release(before, displaced)
        for pk, slug in before.items():
            if self._rows[pk].slug != slug:
                changed[pk].add("slug")
                if hasattr(self._rows[pk], "updated_at"):
                    self._rows[pk].updated_at = now
        return list(displaced.values())

    def _asked(self, change: RowChange) -> str:
        """The slug that the shop names, or the one that its name makes."""
        assert change.values is not None
        return change.values["slug"] or base_of(self._name_of(self._rows[change.id]), NAME)

    def _is_variant(self, slug: str, of: str) -> bool:
        """Whether a slug was derived from the same text, so that a row keeps it."""
        begins, _, number = slug.rpartition("-")
        is_cut = len(slug) == NAME and of.startswith(begins)
        return slug == of or (number.isdecimal() and (begins == of or is_cut))

    def _read(self, slugs: Sequence[str]) -> None:
        """Which rows have these slugs now, but for those that are being changed."""
        for row in self._model.objects.filter(business=self._business, slug__in=set(slugs)).select_for_update(
            no_key=True
        ):
            row.business = self._business
            self._owners[row.slug] = self._rows.get(row.pk, row)

    def _free(self, slug: str) -> str:
        """One that begins alike, and that is free."""
        if slug not in self._next:
            self._next[slug] = count(2)
            self._read_slugs(slug)
        candidates = (slug[: NAME - len(f"-{number}")] + f"-{number}" for number in self._next[slug])
        return next(each for each in candidates if each not in self._owners)

    def _read_slugs(self, slug: str) -> None:
        rows = self._model.objects.filter(business=self._business, slug__startswith=f"{slug[: NAME - 8]}")
        taken = set(rows.values_list("slug", flat=True))
        for each in taken - self._owners.keys():
            self._owners[each] = None

    def _release(self, before: dict[UUID, str], displaced: dict[UUID, tuple[RowChange, Any]]) -> None:
        """Rows whose slug another one gets let go of it first: the database compares row by row."""
        moving = [pk for pk, slug in before.items() if slug and self._rows[pk].slug != slug]
        moving += displaced
        if moving:
            self._model.objects.filter(pk__in=moving).update(slug=Cast("id", CharField()))
