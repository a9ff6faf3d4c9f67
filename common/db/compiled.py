"""Queries whose SQL is generated only once.

Django's ORM generates the SQL of a query each time, which costs several times as much as sending it. A `Compiled` query
keeps the SQL for hot paths and only fills in the values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, ClassVar, Final, Generic, TypeVar

import orjson
from django.conf import settings
from django.db import connections
from django.db.models import BooleanField, Field, Func, Model, QuerySet, UUIDField, prefetch_related_objects
from django.db.models.expressions import Expression
from django.db.models.query import ModelIterable, get_related_populators

from common.db import prepared as prepared_statements
from common.db.prepared import BoundStatement, Prepared
from common.db.transactions import is_repeatable

Row = TypeVar("Row")

REMEMBERED_FOR: Final = 60.0  # seconds after the last use, and at most as long again


class Param(Expression):
    """A placeholder in a query, whose value is given when the query runs."""

    def __init__(self, name: str, field: "Field[Any, Any]") -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        return "%s", (self,)


class _IdsField(UUIDField):
    """Many ids as one value: the text of an array, which psycopg would take longer to write, or a JSON list on SQLite."""

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if connection.vendor == "postgresql":
            return f"{{{','.join(map(str, value))}}}"
        ids = [super(_IdsField, self).get_db_prep_value(each, connection, prepared) for each in value]
        return orjson.dumps(ids).decode()


class AmongIds(Func):
    """A condition: the column's id is among those given as `name` when the query runs, however many they are."""

    template = "%(expressions)s::uuid[])"
    arg_joiner = " = ANY("
    output_field = BooleanField()
    kind: Any = _IdsField  # of the field that writes the value

    def __init__(self, column: str, name: str) -> None:
        super().__init__(column, Param(name, self.kind()))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template, joiner = "%(expressions)s))", " IN (SELECT value FROM json_each("
        return self.as_sql(compiler, connection, template=template, arg_joiner=joiner, **context)


class EachOfIds(AmongIds):
    """The same for a table with partitions, whose own id is given: each row is looked up in its partition alone.

    For `= ANY`, PostgreSQL looks for all ids in each partition. It makes a plan for each array whose length it sees, which is what the
    inner SELECT hides.
    """

    template = "%(expressions)s::uuid[])))"
    arg_joiner = " IN (SELECT unnest((SELECT "


class _TextsField(_IdsField):
    """Many texts as one value."""

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return list(value) if connection.vendor == "postgresql" else orjson.dumps(list(value)).decode()


class AmongTexts(AmongIds):
    """`AmongIds` for texts, such as URLs."""

    template = "%(expressions)s::text[])"
    kind = _TextsField


# By column: what Django applies to its values, in order.
_Converters = dict[int, tuple[Sequence[Callable[..., Any]], Any]]


@dataclass(frozen=True, slots=True)
class _Text:
    """A query as the ORM has compiled it for one database vendor."""

    sql: str
    params: Sequence[Any]  # fixed values, and a Param for each placeholder
    converters: _Converters
    instances: "_Instances | None"  # None for tuples
    prefetched: Sequence[Any]  # the lookups of `prefetch_related`
    prepared: Prepared | None

    def filled(self, values: dict[str, Any], connection: Any) -> list[Any]:
        return [
            param.output_field.get_db_prep_value(values[param.name], connection)
            if isinstance(param, Param)
            else param
            for param in self.params
        ]

    def given(self, values: dict[str, Any], connection: Any) -> dict[str, Any]:
        """By the names of the prepared statement, which has the fixed values in its text."""
        filled = zip(self.params, self.filled(values, connection), strict=True)
        given = [value for param, value in filled if isinstance(param, Param)]
        return {f"p{number}": value for number, value in enumerate(given)}


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The columns of a row that belong together: those of one model, or all of a tuple."""

    start: int
    end: int
    converters: _Converters

    def values(self, row: Sequence[Any], connection: Any) -> Sequence[Any]:
        if not self.converters:
            return row[self.start : self.end]
        values = list(row[self.start : self.end])
        for position, (converters, expression) in self.converters.items():
            for convert in converters:
                values[position - self.start] = convert(values[position - self.start], expression, connection)
        return values


@dataclass(frozen=True, slots=True, eq=False)
class _Related:
    """An instance of `select_related`, and those that it is related to in turn."""

    part: _Part
    populator: Any  # Django's, of which only the attributes are used
    related: "Sequence[_Related]"
    kind: Any  # equal where a row gives the same instance

    def populate(self, row: Sequence[Any], owner: Model, made: dict[Any, Model], connection: Any) -> None:
        """Set it on its owner. Rows that are related to the same one share its instance."""
        populator = self.populator
        key = row[self.part.start + populator.pk_idx]
        instance = made.get((self.kind, key))
        if instance is None and key is not None:
            values = self.part.values(row, connection)
            instance = made[self.kind, key] = populator.model_cls.from_db(
                "default", populator.init_list, values
            )
            for each in self.related:
                each.populate(row, instance, made, connection)
        populator.local_setter(owner, instance)
        if instance is not None:
            populator.remote_setter(instance, owner)


class _Remembered:
    """Instances by the values of their rows. When there are `most`, and after a minute, those go that were not used again."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._newer: dict[Sequence[Any], Model] = {}
        self._older: dict[Sequence[Any], Model] = {}
        self._turns_at = 0.0

    def of(self, rows: Sequence[Sequence[Any]], make: Callable[[Sequence[Any]], Model]) -> list[Model]:
        if len(self._newer) >= self._half or monotonic() >= self._turns_at:
            self._newer, self._older = {}, self._newer
            self._turns_at = monotonic() + REMEMBERED_FOR
        newer, older, found = self._newer, self._older, []
        for row in rows:
            instance = newer.get(row)
            if instance is None:
                instance = newer[row] = older.get(row) or make(row)
            found.append(instance)
        return found


class _Instances:
    """Makes instances of rows, as `ModelIterable` (django.db.models.query) does. Remembers `remembered` of them."""

    def __init__(self, compiler: Any, converters: _Converters, remembered: int) -> None:
        info = compiler.klass_info
        start, end = info["select_fields"][0], info["select_fields"][-1] + 1
        self._model: type[Model] = info["model"]
        self._names = [column[0].target.attname for column in compiler.select[start:end]]
        self._part = _part(start, end, converters)
        populators = get_related_populators(info, compiler.select, "default")  # type: ignore[call-arg]  # stubs of Django 6
        self._related = [_related(each, converters) for each in populators]
        annotations = (compiler.annotation_col_map or {}).items()
        self._annotations = [
            (name, _part(position, position + 1, converters)) for name, position in annotations
        ]
        self._known = _Remembered(remembered) if remembered else None

    def of(self, rows: Sequence[Sequence[Any]], connection: Any) -> list[Model]:
        related: dict[Any, Model] = {}

        def made(row: Sequence[Any]) -> Model:
            return self._made(row, related, connection)

        return self._known.of(rows, made) if self._known else [made(row) for row in rows]

    def _made(self, row: Sequence[Any], related: dict[Any, Model], connection: Any) -> Model:
        made = self._model.from_db("default", self._names, self._part.values(row, connection))
        for each in self._related:
            each.populate(row, made, related, connection)
        for name, part in self._annotations:
            setattr(made, name, part.values(row, connection)[0])
        return made


def _part(start: int, end: int, converters: _Converters) -> _Part:
    return _Part(
        start, end, {column: converters[column] for column in range(start, end) if column in converters}
    )


def _related(populator: Any, converters: _Converters) -> _Related:
    part = _part(populator.cols_start, populator.cols_end, converters)
    related = [_related(each, converters) for each in populator.related_populators]
    # Two relations may lead to the same row, as to the version that a store runs and the approved one.
    kind = object() if related else (populator.model_cls, *populator.init_list)
    return _Related(part, populator, related, kind)


class Compiled(Generic[Row]):
    """A query that runs with different values each time.

    `build` returns the queryset, with a `Param` for each value and `AmongIds` for many ids. It is called at the first use.
    The queryset may select model instances (with `select_related`, `prefetch_related`, `only` or annotations), or plain
    tuples by `values_list`. It must not be sliced.

    `remembered`: a row with the same values as one of so many in the last minute gives the same instance, which costs a
    fifth of a new one. So callers may not change such instances.

    `prepared_as`: a name. PostgreSQL then plans the query once for each session (`common.db.prepared`), which for a query of several
    tables costs more than its rows. For queries by a key, whose plan doesn't depend on the values; with a limit, one for each limit.
    Within a transaction that writes it is planned each time, since after a migration a prepared one may fail, and with it the transaction.
    """

    named: "ClassVar[dict[str, Compiled[Any]]]" = {}

    def __init__(
        self, build: "Callable[[], QuerySet[Any, Row]]", *, remembered: int = 0, prepared_as: str = ""
    ) -> None:
        if prepared_as:
            assert prepared_as not in self.named, f"{prepared_as} is another query's name"
            self.named[prepared_as] = self
        self._build = build
        self._remembered = remembered
        self._prepared_as = prepared_as
        self._texts: dict[str, _Text] = {}  # by the database's vendor

    def rows(
        self, *, limit: int | None = None, offset: int = 0, shared: bool = False, **values: Any
    ) -> list[Row]:
        """The rows for these values, which have the names of their `Param`s.

        `shared`: locked until the end of the transaction, so that others may lock them in the same way, but not change them.
        On SQLite a transaction keeps all others from writing anyway.
        """
        connection = connections["default"]
        text = self._text(connection)
        if text.prepared and not offset and not shared and keeps_statements():
            statement = text.prepared.limited_to(limit)
            if statement:
                return self.made_of(statement.rows(**text.given(values, connection)))
        sql, params = text.sql, text.filled(values, connection)
        if limit is not None:
            sql = f"{sql} LIMIT {limit:d} OFFSET {offset:d}"
        if shared and connection.features.has_select_for_update:
            sql = f"{sql} FOR SHARE"
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            return self.made_of(cursor.fetchall())

    def call(self, *, limit: int | None = None, **values: Any) -> BoundStatement:
        """The query for these values, as a prepared statement. `made_of` turns its rows into what the query selects.

        `limit` is one of a few that the code names: each session keeps a plan for each.
        """
        connection = connections["default"]
        text = self._text(connection)
        assert text.prepared, "`prepared_as` is missing, or the database isn't PostgreSQL"
        statement = text.prepared.limited_to(limit)
        assert statement, "too many limits"
        return statement.call(**text.given(values, connection))

    def made_of(self, rows: list[Any]) -> list[Row]:
        """The instances, or the tuples with converted values."""
        connection = connections["default"]
        text = self._text(connection)
        if text.instances:
            rows = text.instances.of(rows, connection)
        elif text.converters and rows:
            whole = _Part(0, len(rows[0]), text.converters)
            rows = [whole.values(row, connection) for row in rows]
        if rows and text.prefetched:
            prefetch_related_objects(rows, *text.prefetched)
        return rows

    def first(self, **values: Any) -> Row | None:
        return next(iter(self.rows(limit=1, **values)), None)

    def sql(self, **values: Any) -> tuple[str, list[Any]]:
        """The SQL and its parameters for these values, as a part of another statement."""
        connection = connections["default"]
        text = self._text(connection)
        return text.sql, text.filled(values, connection)

    def _text(self, connection: Any) -> _Text:
        return self._texts.get(connection.vendor) or self._written(connection)

    def _written(self, connection: Any) -> _Text:
        query = self._build()
        compiler = query.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([expression for expression, _, _ in compiler.select])
        makes_instances = issubclass(query._iterable_class, ModelIterable)  # noqa: SLF001
        prefetched = query._prefetch_related_lookups  # type: ignore[attr-defined]  # noqa: SLF001
        assert not (self._remembered and prefetched), "what is prefetched would not be read again"
        text = _Text(
            sql=sql,
            params=params,
            converters=converters,
            instances=_Instances(compiler, converters, self._remembered) if makes_instances else None,
            prefetched=prefetched,
            prepared=self._prepared(sql, params, connection) if connection.vendor == "postgresql" else None,
        )
        self._texts[connection.vendor] = text
        return text

    def _prepared(self, sql: str, params: Sequence[Any], connection: Any) -> Prepared | None:
        """Fixed values become part of the text, so that they have their type, and the plan may use what holds for them."""
        if not self._prepared_as:
            return None
        types: dict[str, str] = {}
        written = []
        for param in params:
            if isinstance(param, Param):
                name = f"p{len(types)}"
                types[name] = "unknown"  # PostgreSQL infers it
                written.append(f"%({name})s")
            else:
                written.append(connection.ops.compose_sql("%s", [param]).replace("%", "%%"))
        return Prepared(self._prepared_as, sql.replace("%%", "%%%%") % tuple(written), **types)


def keeps_statements() -> bool:
    """Whether the next statement has a session of this process's own, and no transaction would be lost with it."""
    connection = connections["default"]
    return settings.DATABASE_POOLER != "transaction" and (not connection.in_atomic_block or is_repeatable())


def rows_of_each(*queries: tuple[Compiled[Any], dict[str, Any]], prepared: bool) -> list[list[Any]]:
    """The rows of these queries for their values, among which may be a `limit`.

    `prepared`: on PostgreSQL in one round trip, each planned once for this session (`common.db.prepared`). All need a name.
    """
    if not prepared or connections["default"].vendor != "postgresql":
        return [query.rows(**values) for query, values in queries]
    found = prepared_statements.rows_of_each(*(query.call(**values) for query, values in queries))
    return [query.made_of(rows) for (query, _), rows in zip(queries, found, strict=True)]
