"""Migration operations that go on beside requests.

`CREATE INDEX` alone keeps everyone from writing to the table until it is done, so PostgreSQL is asked to build it `CONCURRENTLY`.
A migration with such an index has `atomic = False`, so it isn't rolled back: what a failed try left behind is removed by the
next one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class AddFields(Operation):
    """Several `AddField`s of one model, whose statements follow each other at once.

    Between two operations Django makes the models of that moment, which takes long while the table is locked.
    """

    def __init__(self, model_name: str, fields: "list[tuple[str, models.Field[Any, Any]]]") -> None:
        self.model_name = model_name
        self.fields = fields

    def _steps(
        self, app_label: str, before: ProjectState
    ) -> list[tuple[Operation, ProjectState, ProjectState]]:
        """Each operation, with the models before and after it, which are made here."""
        steps: list[tuple[Operation, ProjectState, ProjectState]] = []
        for name, field in self.fields:
            operation, after = migrations.AddField(self.model_name, name, field), before.clone()
            operation.state_forwards(app_label, after)
            assert before.apps
            assert after.apps
            steps.append((operation, before, after))
            before = after
        return steps

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        for name, field in self.fields:
            migrations.AddField(self.model_name, name, field).state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        for operation, before, after in self._steps(app_label, from_state):
            operation.database_forwards(app_label, schema_editor, before, after)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        for operation, before, after in reversed(self._steps(app_label, to_state)):
            operation.database_backwards(app_label, schema_editor, after, before)

    def describe(self) -> str:
        return f"Add fields {', '.join(name for name, _ in self.fields)} to {self.model_name}"


class AllowNull(migrations.AlterField):
    """`AlterField` of a foreign key that may be null from now on, and is the same otherwise.

    Django would make its constraint again, for which PostgreSQL locks both tables and reads the rows.
    """

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        self._alter("DROP", app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        self._alter("SET", app_label, schema_editor, from_state, to_state)

    def _alter(
        self, what: str, app_label: str, schema_editor: BaseDatabaseSchemaEditor, before: Any, after: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, before, after)
            return
        model = after.apps.get_model(app_label, self.model_name)
        quote, column = schema_editor.quote_name, model._meta.get_field(self.name).column
        schema_editor.execute(
            f"ALTER TABLE {quote(model._meta.db_table)} ALTER COLUMN {quote(column)} {what} NOT NULL"
        )


class AddIndexConcurrently(migrations.AddIndex):
    """`AddIndex` that lets others write meanwhile."""

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        statement = str(self.index.create_sql(model, schema_editor, concurrently=True))
        if _partitions(schema_editor, model._meta.db_table):
            build_index_of_partitions(schema_editor, self.index.name, statement, model._meta.db_table)
        else:
            build_index(schema_editor, self.index.name, statement)


class RemoveIndexConcurrently(migrations.RemoveIndex):
    """`RemoveIndex` that waits for open transactions without holding a lock."""

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        remove_index(schema_editor, self.name)


class AddUniqueConcurrently(migrations.AddConstraint):
    """`AddConstraint` of a `UniqueConstraint` with a condition, which is an index, that lets others write meanwhile."""

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        statement = str(self.constraint.create_sql(model, schema_editor))
        concurrently = statement.replace("CREATE UNIQUE INDEX", "CREATE UNIQUE INDEX CONCURRENTLY", 1)
        assert concurrently != statement, statement
        build_index(schema_editor, self.constraint.name, concurrently)


class AddCheckNotValid(migrations.AddConstraint):
    """`AddConstraint` of a check that holds for what is written from now on. `ValidateCheck` reads the rows that are there."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.execute(f"{self.constraint.create_sql(model, schema_editor)} NOT VALID", params=None)


class ValidateCheck(Operation):
    """Look through the rows of before. Others read and write meanwhile."""

    def __init__(self, model_name: str, name: str) -> None:
        self.model_name = model_name
        self.name = name

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Nothing."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor == "postgresql":
            model, quote = to_state.apps.get_model(app_label, self.model_name), schema_editor.quote_name
            schema_editor.execute(
                f"ALTER TABLE {quote(model._meta.db_table)} VALIDATE CONSTRAINT {quote(self.name)}"
            )

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        """Nothing."""

    def describe(self) -> str:
        return f"Validate {self.name} of {self.model_name}"


def build_index(schema_editor: BaseDatabaseSchemaEditor, name: str, statement: Any) -> None:
    """Execute a `CREATE INDEX CONCURRENTLY`. Raises `DatabaseError`s as they come."""
    assert not schema_editor.connection.in_atomic_block, "set atomic = False on the migration"
    with _patiently(schema_editor):
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(name)}")
        schema_editor.execute(statement, params=None)


def remove_index(schema_editor: BaseDatabaseSchemaEditor, name: str) -> None:
    """Execute a `DROP INDEX CONCURRENTLY`. Can run twice. Raises `DatabaseError`s as they come."""
    assert not schema_editor.connection.in_atomic_block, "set atomic = False on the migration"
    with _patiently(schema_editor):
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(name)}")


def build_index_of_partitions(
    schema_editor: BaseDatabaseSchemaEditor, name: str, statement: str, table: str
) -> None:
    """The same for a table with partitions, for which PostgreSQL has no such statement.

    An index of the table alone, which holds nothing, is made first, so that partitions attached from then on get theirs by
    themselves. It becomes valid with the index of the last partition.
    """
    quote = schema_editor.quote_name
    start = f"CREATE INDEX CONCURRENTLY {quote(name)} ON {quote(table)} "
    assert statement.startswith(start), statement
    rest = statement.removeprefix(start)
    schema_editor.execute(
        f"CREATE INDEX IF NOT EXISTS {quote(name)} ON ONLY {quote(table)} {rest}", params=None
    )
    for partition in _partitions(schema_editor, table):
        if _has_part_of(schema_editor, name, partition):
            continue
        part = f"{partition}_{name}"
        build_index(
            schema_editor, part, f"CREATE INDEX CONCURRENTLY {quote(part)} ON {quote(partition)} {rest}"
        )
        schema_editor.execute(f"ALTER INDEX {quote(name)} ATTACH PARTITION {quote(part)}", params=None)


def _partitions(schema_editor: BaseDatabaseSchemaEditor, table: str) -> list[str]:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = %s::regclass ORDER BY 1",
            [table],
        )
        return [row[0] for row in cursor.fetchall()]


def _has_part_of(schema_editor: BaseDatabaseSchemaEditor, index: str, partition: str) -> bool:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT EXISTS (
                SELECT FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
                WHERE inhparent = %s::regclass AND indrelid = %s::regclass
            )
            """,
            [index, partition],
        )
        return bool(cursor.fetchone()[0])


@contextmanager
def _patiently(schema_editor: BaseDatabaseSchemaEditor) -> Iterator[None]:
    """Without the lock timeout of `migrate`: a concurrent build waits for open transactions, and others don't wait for it."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        before = cursor.fetchone()[0]
        cursor.execute("SET lock_timeout = 0")
        try:
            yield
        finally:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])
