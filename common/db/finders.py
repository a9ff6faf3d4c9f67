"""Finds one row or raises NotFound."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from common.errors import NotFound
from common.ids import parse_id

Row = TypeVar("Row", bound=Model)


def get_or_not_found(rows: QuerySet[Row], row_id: object, message: str) -> Row:
    """The row with this id, which may be text from a URL. Raises `NotFound(message)`, also if the text is not an id."""
    known_id = parse_id(row_id)
    return first_or_not_found(rows.filter(pk=known_id) if known_id else rows.none(), message)


def first_or_not_found(rows: QuerySet[Row], message: str) -> Row:
    """The first row. Raises `NotFound(message)` if there is none."""
    row = rows.first()
    if row is None:
        raise NotFound(message)
    return row
