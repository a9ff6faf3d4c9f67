"""Statements that PostgreSQL plans once for each session."""

from collections.abc import Iterator

import pytest
from django.db import connection

from common.db.prepared import Prepared

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.fixture
def tea() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE tea (name varchar(10)); INSERT INTO tea VALUES ('Assam'), ('Ceylon')")
        yield
        cursor.execute("DROP TABLE tea")


def test_statement_is_prepared_again_after_a_migration_changed_a_column(tea: None) -> None:
    """Workers of the version before go on sending until they are restarted."""
    statement = Prepared("tea", "SELECT name FROM tea WHERE name > %(after)s", after="text")
    with connection.cursor() as cursor:
        for change in (
            "SELECT",
            "ALTER TABLE tea ALTER name TYPE varchar(20)",
            "ALTER TABLE tea ADD price int",
        ):
            cursor.execute(change)
            statement.execute(cursor, after="B")
            assert cursor.fetchall() == [("Ceylon",)]
            assert statement.execute(cursor, first="SELECT 5", after="B") == (5,)
            assert cursor.fetchall() == [("Ceylon",)]
