"""Inserts whose SQL is written once, for hot paths. See `common.db.compiled`."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connections
from django.db.models import Func, Model
from django.db.models.sql import Query


def insert(*rows: Model) -> None:
    """Insert new rows of one model in one statement, and set the ids that the database gives.

    As with `bulk_create` there are no signals, and `save` isn't called. A value may be a `Func` without arguments.
    """
    if not rows:
        return
    connection = connections["default"]
    fields = _fields(type(rows[0]))
    values = [[field.pre_save(row, add=True) for field in fields] for row in rows]
    functions = tuple(value if isinstance(value, Func) else None for value in values[0])
    with connection.cursor() as cursor:
        cursor.execute(
            _sql(type(rows[0]), connection.vendor, len(rows), tuple(map(type, functions))),
            [
                field.get_db_prep_save(value, connection)
                for row in values
                for field, value in zip(fields, row, strict=True)
                if not isinstance(value, Func)
            ],
        )
        if automatic := type(rows[0])._meta.auto_field:
            for row, (value,) in zip(rows, cursor.fetchall(), strict=True):
                setattr(row, automatic.attname, value)
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias  # noqa: SLF001


@cache
def _fields(model: type[Model]) -> Sequence[Any]:
    return [field for field in model._meta.concrete_fields if field is not model._meta.auto_field]


@cache
def _sql(model: type[Model], vendor: str, count: int, functions: Sequence[type[Any]]) -> str:
    """The statement for `count` rows, with the `Func` of each column that has one."""
    connection = connections["default"]
    name = connection.ops.quote_name
    compiler = Query(model).get_compiler(connection=connection)
    row = ", ".join(compiler.compile(each())[0] if issubclass(each, Func) else "%s" for each in functions)
    columns = ", ".join(name(field.column) for field in _fields(model))
    sql = f"INSERT INTO {name(model._meta.db_table)} ({columns}) VALUES {', '.join([f'({row})'] * count)}"  # noqa: S608
    automatic: Any = model._meta.auto_field
    return f"{sql} RETURNING {name(automatic.column)}" if automatic else sql
