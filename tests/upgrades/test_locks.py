"""What the migrations since the newest release lock, each while it runs. They meet tables that are full and in use.

A lock waits 0.4 s at most (`common.management.commands.migrate`), and what waits behind it as long. Two locks in one transaction
make that 0.8 s; what takes long, such as a statement that reads a full table, has to hold none.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, migrations, models, transaction
from django.db.migrations.state import ModelState, StateApps
from pytest_django.plugin import DjangoDbBlocker

from common.db.operations import AddIndexConcurrently
from common.db.partitions import existing, make_ahead
from stores.models import Order
from tests.sessions import another_session
from tests.upgrades.databases import scratch_database
from tools.record_release import RELEASES
from webhooks.models import Delivery

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

TABLES = """
SELECT oid, relfilenode FROM pg_class
WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'django_%'
"""
HELD = """
SELECT coalesce(pg_partition_root(relation), relation)::regclass::text, mode FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation = ANY(%s)
"""
READERS_WAIT, WRITERS_WAIT = "AccessExclusiveLock", ("ShareRowExclusiveLock", "ExclusiveLock")


@dataclass
class Watch:
    """Asks after each statement what its transaction has locked of the tables that were there before."""

    problems: list[str] = field(default_factory=list)
    files: dict[int, int] = field(default_factory=dict)
    locked: set[str] = field(default_factory=set)
    last: str = ""

    def __enter__(self) -> "Watch":
        connection.ensure_connection()
        self.files = _files()
        self._stack = ExitStack()
        self._stack.enter_context(connection.execute_wrapper(self._execute))
        original = ModelState.render

        def render(state: ModelState, apps: Any) -> Any:
            if connection.in_atomic_block and self.locked:
                self.problems.append(
                    f"makes the model {state.name} while {self.locked} is locked: {self.last}"
                )
            return original(state, apps)

        self._stack.enter_context(pytest.MonkeyPatch.context()).setattr(ModelState, "render", render)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _execute(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        self.last = sql
        done = execute(sql, params, many, context)
        if connection.in_atomic_block and not context["cursor"].description:
            with connection.connection.cursor() as cursor:
                held = set(cursor.execute(HELD, [list(self.files)]).fetchall())
            self.locked = {table for table, mode in held if mode in (READERS_WAIT, *WRITERS_WAIT)}
            transaction.on_commit(self.locked.clear)
            self.problems += [f"{problem}: {sql}" for problem in _problems(held, sql)]
            self.problems += [
                f"table {oid} was rewritten: {sql}"
                for oid, file in _files().items()
                if self.files.get(oid, file) != file
            ]
        return done


def _files() -> dict[int, int]:
    """The file of each table."""
    with connection.connection.cursor() as cursor:
        return dict(cursor.execute(TABLES).fetchall())


def _problems(held: set[tuple[str, str]], sql: str) -> Iterator[str]:
    altered = {table for table, mode in held if mode == READERS_WAIT}
    locked = altered | {table for table, mode in held if mode in WRITERS_WAIT}
    most = 2 if "DROP CONSTRAINT" in sql else 1  # a foreign key is dropped from both of its tables
    if len(altered) > most:
        yield f"alters more than one table ({', '.join(sorted(altered))}) in one transaction"
    if len(locked) > 2:
        yield f"locks more than two tables ({', '.join(sorted(locked))}) in one transaction"
    for table, mode in held:
        if mode == "ShareLock" and table not in altered:
            yield f"keeps others from writing to {table} while it builds an index"
        if mode == "RowExclusiveLock" and table in altered:
            yield f"changes rows of {table} while reads of it wait"


@contextmanager
def database_of_newest_release() -> Iterator[None]:
    newest = max(RELEASES.glob("*.sql"))
    with scratch_database():
        with connection.cursor() as cursor:
            cursor.execute(newest.read_text())
        connection.close()  # pg_dump's settings end with the session
        make_ahead()  # as in an installation that runs; `migrate` would do it
        connection.ensure_connection()
        yield


@pytest.fixture(scope="module")
def problems(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[list[str]]:
    """Of the migrations from the newest release, whose database is at the newest version then."""
    with django_db_blocker.unblock(), database_of_newest_release():
        with Watch() as watch:
            call_command("migrate", verbosity=0)
        yield watch.problems


@pytest.mark.long
def test_no_migration_since_the_release_holds_up_full_tables(problems: list[str]) -> None:
    assert problems == [], "\n".join(problems)


def _index(editor: Any, state: Any) -> None:
    index = models.Index(fields=["customer_name"], name="tried")
    migrations.AddIndex("order", index).database_forwards("stores", editor, state, state)


def _two_tables(editor: Any, state: Any) -> None:
    for table in ("stores_order", "stores_product"):
        editor.execute(f"ALTER TABLE {table} ADD COLUMN tried integer NULL")


def _references(editor: Any, state: Any) -> None:
    columns = ", ".join(
        f"a{number} uuid REFERENCES {table}"
        for number, table in enumerate(("stores_order", "stores_product", "accounts_business"))
    )
    editor.execute(f"CREATE TABLE tried ({columns})")


def _rows(editor: Any, state: Any) -> None:
    editor.execute("ALTER TABLE stores_order ADD COLUMN tried integer NULL")
    editor.execute("UPDATE stores_order SET tried = 1")


def _model_between(editor: Any, state: Any) -> None:
    editor.execute("ALTER TABLE stores_order ADD COLUMN tried integer NULL")
    ModelState("stores", "Tried", []).render(StateApps([], {}))


def _another_type(editor: Any, state: Any) -> None:
    editor.execute("ALTER TABLE stores_order ALTER COLUMN number TYPE varchar(90) USING number || ''")


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_index, "while it builds an index"),
        (_two_tables, "alters more than one table"),
        (_references, "locks more than two tables"),
        (_rows, "while reads of it wait"),
        (_another_type, "was rewritten"),
        (_model_between, "makes the model Tried"),
    ],
)
@pytest.mark.usefixtures("problems")
def test_change_that_would_hold_them_up_is_found(change: Callable[[Any, Any], None], problem: str) -> None:
    with Watch() as watch, transaction.atomic():
        with connection.schema_editor() as editor:
            change(editor, _StateOfModels())
        transaction.set_rollback(True)
    assert any(problem in each for each in watch.problems), watch.problems


class _StateOfModels:
    """Today's models, as a migration's operations ask for them."""

    class apps:  # noqa: N801
        @staticmethod
        def get_model(app: str, name: str) -> type[models.Model]:
            return {"order": Order, "delivery": Delivery}[name]


@pytest.mark.usefixtures("problems")
def test_index_is_built_while_others_write_and_again_after_a_failed_try() -> None:
    index = models.Index(fields=["customer_name"], name="tried_again")
    operation = AddIndexConcurrently("order", index)
    for _ in range(2):
        with Watch() as watch, connection.schema_editor(atomic=False) as editor:
            operation.database_forwards("stores", editor, _StateOfModels(), _StateOfModels())
        assert watch.problems == [], "\n".join(watch.problems)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid, current_setting('lock_timeout') FROM pg_index WHERE indexrelid = 'tried_again'::regclass"
        )
        assert cursor.fetchall() == [(True, "0")]


PARTS = """
SELECT indrelid::regclass::text, indisvalid FROM pg_index
WHERE indexrelid = 'tried_in_parts'::regclass
    OR indexrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'tried_in_parts'::regclass)
"""


@pytest.mark.long
@pytest.mark.usefixtures("problems")
def test_index_of_partitions_is_built_one_by_one_and_goes_on_after_a_failed_try() -> None:
    operation = AddIndexConcurrently("delivery", models.Index(fields=["finished_at"], name="tried_in_parts"))
    partitions = {each.table for each in existing(Delivery)} | {"webhooks_delivery_default"}

    def build() -> dict[str, bool]:
        """By table, whether its index is valid."""
        with Watch() as watch, connection.schema_editor(atomic=False) as editor:
            operation.database_forwards("webhooks", editor, _StateOfModels(), _StateOfModels())
        assert watch.problems == [], "\n".join(watch.problems)
        with connection.cursor() as cursor:
            cursor.execute(PARTS)
            return dict(cursor.fetchall())

    with another_session() as writer, connection.cursor() as cursor:
        # As one that has written rows there.
        writer.execute(f'LOCK TABLE "{max(partitions)}" IN ROW EXCLUSIVE MODE')
        cursor.execute("SET statement_timeout = '0.5s'")
        with pytest.raises(OperationalError, match="timeout"):
            build()
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(PARTS)
        assert ("webhooks_delivery", False) in cursor.fetchall()
        writer.rollback()
    valid = dict.fromkeys({*partitions, "webhooks_delivery"}, True)
    assert build() == valid
    assert build() == valid, "There is nothing left to do."
