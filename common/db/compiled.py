"""Queries whose SQL is generated only once.

Django's ORM generates the SQL of a query each time, which costs several times as much as sending it. A `Compiled` query
keeps the SQL for hot paths and only fills in the values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from django.db import connections
from django.db.models import BooleanField, Field, Func, Model, QuerySet, UUIDField, prefetch_related_objects
from django.db.models.expressions import Expression
from django.db.models.query import ModelIterable, get_related_populators

Row = TypeVar("Row")


class Param(Expression):
    """A placeholder in a query, whose value is given when the query runs."""

    def __init__(self, name: str, field: "Field[Any, Any]") -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        return "%s", (self,)


class _IdsField(UUIDField):
    """Many ids as one value: an array, or a JSON list on SQLite."""

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        ids = [super(_IdsField, self).get_db_prep_value(each, connection, prepared) for each in value]
        return ids if connection.vendor == "postgresql" else orjson.dumps(ids).decode()


class AmongIds(Func):
    """A condition: the column's id is among those given as `name` when the query runs, however many they are."""

    template = "%(expressions)s::uuid[])"
    arg_joiner = " = ANY("
    output_field = BooleanField()

    def __init__(self, column: str, name: str) -> None:
        super().__init__(column, Param(name, _IdsField()))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template, joiner = "%(expressions)s))", " IN (SELECT value FROM json_each("
        return self.as_sql(compiler, connection, template=template, arg_joiner=joiner, **context)


@dataclass(frozen=True, slots=True)
class _Text:
    """A query as the ORM has compiled it for one database vendor."""

    sql: str
    params: Sequence[Any]  # fixed values, and a Param for each placeholder
    converters: Sequence[tuple[int, Sequence[Callable[..., Any]], Any]]  # by column
    instance: Callable[[Sequence[Any]], Any] | None  # makes an instance of a row; None for tuples
    prefetched: Sequence[Any]  # the lookups of `prefetch_related`

    def filled(self, values: dict[str, Any], connection: Any) -> list[Any]:
        return [
            param.output_field.get_db_prep_value(values[param.name], connection)
            if isinstance(param, Param)
            else param
            for param in self.params
        ]

    def converted(self, row: Sequence[Any], connection: Any) -> Sequence[Any]:
        if not self.converters:
            return row
        columns = list(row)
        for position, converters, expression in self.converters:
            for convert in converters:
                columns[position] = convert(columns[position], expression, connection)
        return columns


class Compiled(Generic[Row]):
    """A query that runs with different values each time.

    `build` returns the queryset, with a `Param` for each value and `AmongIds` for many ids. It is called at the first use.
    The queryset may select model instances (with `select_related`, `prefetch_related`, `only` or annotations), or plain
    tuples by `values_list`. It must not be sliced.
    """

    def __init__(self, build: "Callable[[], QuerySet[Any, Row]]") -> None:
        self._build = build
        self._texts: dict[str, _Text] = {}  # by the database's vendor

    def rows(self, *, limit: int | None = None, offset: int = 0, **values: Any) -> list[Row]:
        """The rows for these values, which have the names of their `Param`s."""
        connection = connections["default"]
        text = self._texts.get(connection.vendor) or self._written(connection)
        sql, params = text.sql, text.filled(values, connection)
        if limit is not None:
            sql = f"{sql} LIMIT {limit:d} OFFSET {offset:d}"
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            found: list[Any] = cursor.fetchall()
        if text.converters:
            found = [text.converted(row, connection) for row in found]
        if text.instance:
            found = [text.instance(row) for row in found]
        if found and text.prefetched:
            prefetch_related_objects(found, *text.prefetched)
        return found

    def first(self, **values: Any) -> Row | None:
        return next(iter(self.rows(limit=1, **values)), None)

    def _written(self, connection: Any) -> _Text:
        query = self._build()
        compiler = query.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        columns = [expression for expression, _, _ in compiler.select]
        makes_instances = issubclass(query._iterable_class, ModelIterable)  # noqa: SLF001
        text = _Text(
            sql=sql,
            params=params,
            converters=[
                (position, converters, expression)
                for position, (converters, expression) in compiler.get_converters(columns).items()
            ],
            instance=_maker_of_instances(compiler) if makes_instances else None,
            prefetched=query._prefetch_related_lookups,  # type: ignore[attr-defined]  # noqa: SLF001
        )
        self._texts[connection.vendor] = text
        return text


def _maker_of_instances(compiler: Any) -> Callable[[Sequence[Any]], Model]:
    """A function that does what `ModelIterable` (django.db.models.query) does with each row."""
    info, annotations = compiler.klass_info, compiler.annotation_col_map or {}
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in compiler.select[start:end]]
    related = get_related_populators(info, compiler.select, "default")  # type: ignore[call-arg]  # stubs of Django 6
    model: type[Model] = info["model"]

    def instance(row: Sequence[Any]) -> Model:
        made = model.from_db("default", names, row[start:end])
        for each in related:
            each.populate(row, made)
        for name, position in annotations.items():
            setattr(made, name, row[position])
        return made

    return instance
