"""Looking at the rows, beside what a request was answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
