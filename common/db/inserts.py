"""Inserts whose SQL is written once, for hot paths. See `common.db.compiled`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connections
from django.db.models import Func, Model
from django.db.models.sql import Query

from common.db.prepared import BoundStatement, rows_of_each


@dataclass(frozen=True, slots=True)
class Insertion:
    """A statement that inserts rows of one model, with its parameters. `settle` the rows with what it returned."""

    rows: Sequence[Model]
    sql: str
    values: Sequence[Any]

    @property
    def statement(self) -> BoundStatement:
        return BoundStatement(self.sql, self.values)

    def settle(self, returned: Sequence[tuple[Any]]) -> None:
        """Set the ids that the database gave. The rows are known as saved."""
        if automatic := type(self.rows[0])._meta.auto_field:
            for row, (value,) in zip(self.rows, returned, strict=True):
                setattr(row, automatic.attname, value)
        for row in self.rows:
            row._state.adding, row._state.db = False, "default"  # noqa: SLF001


@dataclass(frozen=True, slots=True)
class Replacing:
    """What becomes of a row that has the same values in these columns: it gets the new values in those."""

    same: tuple[str, ...]
    updated: tuple[str, ...]

    def __str__(self) -> str:
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in self.updated)
        return f" ON CONFLICT ({', '.join(self.same)}) DO UPDATE SET {changes}"


def insert(*rows: Model) -> None:
    """Insert new rows of one model in one statement, and set the ids that the database gives.

    As with `bulk_create` there are no signals, and `save` isn't called. A value may be a `Func` without arguments.
    """
    if rows:
        insert_each(insertion(rows))


def insert_each(*insertions: Insertion) -> None:
    """Execute them in this order, on PostgreSQL in one round trip; nothing if there are none."""
    if not insertions:
        return
    returned = rows_of_each(*(each.statement for each in insertions))
    for each, rows in zip(insertions, returned, strict=True):
        each.settle(rows)


def insertion(rows: Sequence[Model], replacing: Replacing | None = None) -> Insertion:
    """Of new rows of one model, of which there is at least one. With `replacing` no ids are set."""
    connection = connections["default"]
    fields = _fields(type(rows[0]))
    values = [[field.pre_save(row, add=True) for field in fields] for row in rows]
    functions = tuple(value if isinstance(value, Func) else None for value in values[0])
    sql = _sql(type(rows[0]), connection.vendor, len(rows), tuple(map(type, functions)), replacing)
    prepared = [
        field.get_db_prep_save(value, connection)
        for row in values
        for field, value in zip(fields, row, strict=True)
        if not isinstance(value, Func)
    ]
    return Insertion(rows, sql, prepared)


@cache
def _fields(model: type[Model]) -> Sequence[Any]:
    return [field for field in model._meta.concrete_fields if field is not model._meta.auto_field]


@cache
def _sql(
    model: type[Model], vendor: str, count: int, functions: Sequence[type[Any]], replacing: Replacing | None
) -> str:
    """The statement for `count` rows, with the `Func` of each column that has one."""
    connection = connections["default"]
    name = connection.ops.quote_name
    compiler = Query(model).get_compiler(connection=connection)
    row = ", ".join(compiler.compile(each())[0] if issubclass(each, Func) else "%s" for each in functions)
    columns = ", ".join(name(field.column) for field in _fields(model))
    sql = f"INSERT INTO {name(model._meta.db_table)} ({columns}) VALUES {', '.join([f'({row})'] * count)}"  # noqa: S608
    sql += str(replacing or "")
    automatic: Any = model._meta.auto_field
    return f"{sql} RETURNING {name(automatic.column)}" if automatic else sql
