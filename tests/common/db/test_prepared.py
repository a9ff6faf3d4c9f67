"""Statements that PostgreSQL plans once for each session."""

from collections.abc import Iterator

import pytest
from django.db import DataError, connection
from pytest_django import DjangoAssertNumQueries

from common.db.prepared import MOST_LIMITS, BoundStatement, Prepared, rows_of_each
from common.db.transactions import of_one_moment

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
            assert statement.rows(after="B") == [("Ceylon",)]


def test_reads_of_one_moment_begin_again_after_a_migration_changed_a_column(tea: None) -> None:
    statement = Prepared("tea_at_once", "SELECT name FROM tea WHERE name > %(after)s", after="text")
    calls = []

    def read() -> list[tuple[str]]:
        calls.append("")
        return statement.rows(after="B") + statement.rows(after="C")

    assert of_one_moment(read) == [("Ceylon",), ("Ceylon",)]
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tea ALTER name TYPE varchar(20)")
    assert of_one_moment(read) == [("Ceylon",), ("Ceylon",)]
    assert len(calls) == 3


def test_statement_has_a_plan_for_a_few_limits_alone(tea: None) -> None:
    """Where a page takes its limit from an address, each session would keep a hundred."""
    names = Prepared("first_names", "SELECT name FROM tea ORDER BY name")
    limited = [names.limited_to(number) for number in range(MOST_LIMITS + 1)]
    assert [each and each.rows() for each in limited][1:3] == [[("Assam",)], [("Assam",), ("Ceylon",)]]
    assert (limited[-1], names.limited_to(None), names.limited_to(1)) == (None, names, limited[1])


def test_statements_of_one_round_trip_see_what_those_before_them_wrote(
    tea: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    add = Prepared("add", "INSERT INTO tea VALUES (%(tea)s) RETURNING name", tea="text")
    names = Prepared("names", "SELECT name FROM tea ORDER BY name")
    rows_of_each(add.call(tea="Java"), names.call())  # prepares them
    with django_assert_num_queries(1):
        found = rows_of_each(BoundStatement("SELECT 5"), add.call(tea="Darjeeling"), names.call())
    assert found == [[(5,)], [("Darjeeling",)], [("Assam",), ("Ceylon",), ("Darjeeling",), ("Java",)]]


def test_none_of_the_statements_counts_if_a_later_one_fails(tea: None) -> None:
    with pytest.raises(DataError):
        rows_of_each(
            BoundStatement("INSERT INTO tea VALUES ('Java') RETURNING name"), BoundStatement("SELECT 1 / 0")
        )
    assert rows_of_each(BoundStatement("SELECT count(*) FROM tea")) == [[(2,)]]
