"""Looking at the rows, beside what a request was answered."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.models import Model

Rows = dict[str, list[dict[str, Any]]]


def rows_of(*models: type[Model]) -> Rows:
    """Every row of these models with all its columns, by the model's name."""
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in models}


@contextmanager
def unchanged(*models: type[Model]) -> Iterator[None]:
    """Assert that the block leaves the rows of these models as they were: no other number, no other value."""
    before = rows_of(*models)
    yield
    assert rows_of(*models) == before


def rows_read(work: Callable[[], object]) -> dict[str, int]:
    """By table: the rows that scans and indexes gave, in this transaction."""

    def until_now() -> dict[str, int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
            )
            return dict(cursor.fetchall())

    before = until_now()
    work()
    after = until_now()
    return {
        table: number - before.get(table, 0)
        for table, number in after.items()
        if number > before.get(table, 0)
    }
