"""Tables that grow for ever, split by time on PostgreSQL (docs/decisions/0036). On SQLite they are plain tables.

A model declares it, and a migration of its app applies it once the table exists:

    class ApiCall(models.Model):
        id = models.UUIDField(primary_key=True, default=new_id, editable=False)
        partitions = Partitions(days=1)

    operations = [migrations.CreateModel("ApiCall", ...), PartitionByTime("ApiCall")]

A table is split by an id that begins with its time (`common.ids`), so the primary key stays a single column and is
unique. `make_ahead` runs after each `migrate` and every hour. A row for whose time there is no partition, such as
one written by a wrong clock, or while the scheduler was down for days, goes into the table's DEFAULT partition: no
insert ever fails. A partition that is made later takes these rows over.

No foreign key may lead into such a table (`db_constraint=False`): dropping a partition would check each of its rows.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections, models, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.backends.utils import CursorWrapper
from django.db.migrations.operations.base import Operation, OperationCategory
from django.utils import timezone

from common.ids import first_id_at, moment_of

log = logging.getLogger(__name__)

AHEAD: Final = timedelta(days=3)
# Less than PostgreSQL's `deadlock_timeout`, so that this always gives way to others. It tries again every hour.
LOCK_TIMEOUT: Final = "500ms"
BATCH: Final = 5000
BATCHES_PER_RUN: Final = 200


@dataclass(frozen=True)
class Partitions:
    """How a model's table is split. `storage` holds settings that PostgreSQL keeps for each partition."""

    days: int = 1  # that one partition covers; 7 begins on Mondays
    by: str = "id"  # the column: a UUID that begins with its time
    storage: Mapping[str, str] = field(default_factory=dict)

    def start(self, moment: datetime) -> datetime:
        """When the partition begins to which this moment belongs."""
        midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=(midnight.toordinal() - 1) % self.days)


@dataclass(frozen=True, order=True)
class Partition:
    """An existing partition, without the DEFAULT one."""

    start: datetime
    end: datetime
    table: str


def partitioned_models() -> list[type[models.Model]]:
    """The models that declare `partitions`."""
    return [
        model for model in apps.get_models() if isinstance(getattr(model, "partitions", None), Partitions)
    ]


def is_split(model: type[models.Model], *, using: str = DEFAULT_DB_ALIAS) -> bool:
    """Whether the table really has partitions: never on SQLite, and not before its migration."""
    connection = connections[using]
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_partitioned_table WHERE partrelid = to_regclass(%s))",
            [model._meta.db_table],
        )
        return bool(cursor.fetchone()[0])


_BOUNDS: Final = re.compile(r"FOR VALUES FROM \('([0-9a-f-]+)'\) TO \('([0-9a-f-]+)'\)")


def existing(model: type[models.Model], *, using: str = DEFAULT_DB_ALIAS) -> list[Partition]:
    """The partitions of a table, oldest first."""
    with connections[using].cursor() as cursor:
        cursor.execute(
            """
            SELECT pg_get_expr(part.relpartbound, part.oid), part.relname
            FROM pg_inherits JOIN pg_class AS part ON part.oid = inhrelid
            WHERE inhparent = to_regclass(%s)
            """,
            [model._meta.db_table],
        )
        found = [(_BOUNDS.fullmatch(bounds), name) for bounds, name in cursor.fetchall()]
    return sorted(
        Partition(moment_of(UUID(bounds[1])), moment_of(UUID(bounds[2])), name)
        for bounds, name in found
        if bounds
    )


# Making


def make_ahead(
    *tables: type[models.Model], now: datetime | None = None, using: str = DEFAULT_DB_ALIAS
) -> list[str]:
    """Make the missing partitions of these tables, or of all, from today to `AHEAD`. Returns their names.

    Where another transaction holds the table for longer than `LOCK_TIMEOUT`, the next run tries again.
    """
    now = now or timezone.now()
    made = []
    for model in tables or partitioned_models():
        if is_split(model, using=using):
            try:
                made += _make_missing(model, now, using)
            except OperationalError as error:
                log.warning("No partition of %s was made: %s", model._meta.db_table, error)
    return made


def _make_missing(model: type[models.Model], now: datetime, using: str) -> list[str]:
    split = _declared(model)
    there = existing(model, using=using)
    made, moment = [], now
    while moment <= now + AHEAD:
        start, end = split.start(moment), split.start(moment) + timedelta(days=split.days)
        covering = next((each for each in there if each.start <= moment < each.end), None)
        if covering is None:
            # After a change of `days` the old partitions stay, and new ones fill the gaps.
            start = max([start, *(each.end for each in there if each.end <= moment)])
            end = min([end, *(each.start for each in there if each.start > moment)])
            made.append(make(model, start, end, using=using))
        moment = covering.end if covering else end
    return made


def make(model: type[models.Model], start: datetime, end: datetime, *, using: str = DEFAULT_DB_ALIAS) -> str:
    """Make one partition, and move the rows there that have come into the DEFAULT partition."""
    split = _declared(model)
    table, name = model._meta.db_table, f"{model._meta.db_table}_{start:%Y%m%d}"
    storage = ", ".join(f"{key} = {value}" for key, value in split.storage.items())
    bounds = [str(first_id_at(start)), str(first_id_at(end))]
    with changing(model, using=using) as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [name])
        if cursor.fetchone()[0]:  # another process was quicker
            return name
        cursor.execute(f'LOCK TABLE ONLY "{table}_default" IN ACCESS EXCLUSIVE MODE')
        cursor.execute(
            f'CREATE TABLE "{name}" (LIKE "{table}" INCLUDING ALL EXCLUDING INDEXES EXCLUDING IDENTITY)'
            + (f" WITH ({storage})" if storage else "")
        )
        cursor.execute(
            f"""
            WITH moved AS (
                DELETE FROM "{table}_default" WHERE "{split.by}" >= %s::uuid AND "{split.by}" < %s::uuid RETURNING *
            ) INSERT INTO "{name}" SELECT * FROM moved
            """,  # noqa: S608
            bounds,
        )
        if cursor.rowcount:
            log.info("%s rows of %s moved from the DEFAULT partition to %s.", cursor.rowcount, table, name)
        cursor.execute(
            f"ALTER TABLE \"{table}\" ATTACH PARTITION \"{name}\" FOR VALUES FROM ('{bounds[0]}') TO ('{bounds[1]}')"
        )
    return name


@contextmanager
def changing(*tables: type[models.Model], using: str = DEFAULT_DB_ALIAS) -> Iterator[CursorWrapper]:
    """Open a transaction that changes partitions. One at a time does, and none waits long for a table."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        for model in tables:
            name = f"partitions of {model._meta.db_table}"
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [name])
        yield cursor


def _declared(model: type[models.Model]) -> Partitions:
    split: Partitions = model.partitions  # type: ignore[attr-defined]
    return split


# Removing


def drop_before(moment: datetime, *tables: type[models.Model]) -> None:
    """Drop the partitions that end before the moment."""
    for model in tables:
        for past in existing(model):
            if past.end > moment:
                continue
            try:
                with changing(model) as cursor:
                    cursor.execute(f'DROP TABLE IF EXISTS "{past.table}"')
            except OperationalError as error:
                log.warning("Partition %s was not dropped: %s", past.table, error)


def remove_before(model: type[models.Model], moment: datetime, *, batch: int = BATCH) -> int:
    """Remove the rows of all days (or weeks) that end before the moment, whatever they hold.

    Drops partitions. Rows outside of them (the DEFAULT partition; all rows on SQLite) are deleted in batches, each a
    short statement, and a limited number per run; the next run continues. Returns how many these were.
    """
    if is_split(model):
        drop_before(moment, model)
    split, rows = _declared(model), model._default_manager  # noqa: SLF001
    past = rows.filter(**{f"{split.by}__lt": first_id_at(split.start(moment))}).order_by(split.by)
    removed = 0
    for _ in range(BATCHES_PER_RUN):
        keys = list(past.values_list("pk", flat=True)[:batch])
        rows.filter(pk__in=keys).delete()
        removed += len(keys)
        if len(keys) < batch:
            break
    return removed


def rows_without_partition(model: type[models.Model]) -> int:
    """How many rows of recent times are in the DEFAULT partition, since there was none for them.

    Normally none: a clock is wrong, or the scheduler doesn't run. Rows that are older than all partitions don't count. All count
    where there is no partition any more: none was made for so long that the last one was dropped.
    """
    if not is_split(model):
        return 0
    table, column = model._meta.db_table, _declared(model).by
    there = existing(model)
    since = first_id_at(there[0].start) if there else UUID(int=0)
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT count(*) FROM "{table}_default" WHERE "{column}" >= %s', [since])  # noqa: S608
        return int(cursor.fetchone()[0])


# Migrating


class PartitionByTime(Operation):
    """Split the table of a model by time, with its rows. Nothing happens on SQLite.

    The rows go into the DEFAULT partition; `make_ahead`, which follows each `migrate`, takes out those of today. A table
    that already has rows is rewritten, so this waits for and blocks all others.
    """

    reversible = True
    reduces_to_sql = True
    category = OperationCategory.ALTERATION

    def __init__(self, model_name: str, by: str = "id") -> None:
        self.model_name = model_name
        self.by = by

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Django's picture of the model stays the same."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        self._rewrite(schema_editor, to_state.apps.get_model(app_label, self.model_name), is_split=True)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        self._rewrite(schema_editor, to_state.apps.get_model(app_label, self.model_name), is_split=False)

    def describe(self) -> str:
        return f"Partition the table of {self.model_name} by time"

    @property
    def migration_name_fragment(self) -> str:
        return f"partition_{self.model_name.lower()}"

    def _rewrite(
        self, editor: BaseDatabaseSchemaEditor, model: type[models.Model], *, is_split: bool
    ) -> None:
        if editor.connection.vendor != "postgresql":
            return
        table = model._meta.db_table
        # What `CreateModel` has left for the end of this migration is added again below.
        editor.deferred_sql[:] = [
            each
            for each in editor.deferred_sql
            if not (isinstance(each, Statement) and each.references_table(table))
        ]
        editor.execute(f'ALTER TABLE "{table}" RENAME TO "{table}_before"')
        free_names(editor, f"{table}_before")
        if is_split:
            plain = editor.sql_create_table
            editor.sql_create_table = f'{plain} PARTITION BY RANGE ("{self.by}")'
            try:
                editor.create_model(model)
            finally:
                editor.sql_create_table = plain
            editor.execute(f'CREATE TABLE "{table}_default" PARTITION OF "{table}" DEFAULT')
        else:
            editor.create_model(model)
        columns = ", ".join(f'"{each.column}"' for each in model._meta.local_concrete_fields)
        editor.execute(f'INSERT INTO "{table}" ({columns}) SELECT {columns} FROM "{table}_before"')  # noqa: S608
        editor.execute(f'DROP TABLE "{table}_before"')


def free_names(editor: BaseDatabaseSchemaEditor, table: str) -> None:
    """Drop the indexes and checks of a table that another one replaces and takes the names from."""
    with editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('p', 'u', 'x', 'c')",
            [table],
        )
        _drop(editor, f'ALTER TABLE "{table}" DROP CONSTRAINT', cursor.fetchall())
        cursor.execute("SELECT indexrelid::regclass FROM pg_index WHERE indrelid = %s::regclass", [table])
        _drop(editor, "DROP INDEX", cursor.fetchall())


def _drop(editor: BaseDatabaseSchemaEditor, command: str, names: Sequence[tuple[str]]) -> None:
    for (name,) in names:
        editor.execute(f'{command} "{name}"')
