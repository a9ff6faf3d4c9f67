"""Finds one row or raises NotFound; and one row that can't be worked on stops no other (contract, section 15, "Mails to strangers").

Every task that goes through many people's things does it by `for_each`.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from common.db.outages import is_of_one_statement, is_outage
from common.errors import NotFound
from common.ids import parse_id
from common.observability.metrics import ROWS_FAILED

log = logging.getLogger(__name__)

Row = TypeVar("Row")


class EndsTheRun(Exception):
    """Something that all rows need is away, so that trying the others would be in vain. The next run tries again."""


def for_each(rows: Iterable[Row], work: Callable[[Row], int | None], *, task: str) -> int:
    """Do the work for each row, and go on after one that fails. Returns the sum of what the work returned.

    The work opens its own transaction, so that a row that fails stays as it was, for the next run; what must not be tried
    again at once, the work puts off before it lets the error through. `task` names the work in the log and in the metric: the
    same for all rows. Raises `EndsTheRun`, the database's error if the database is away, and whatever reading the rows raises.
    """
    done = 0
    for row in rows:
        try:
            done += work(row) or 0
        except EndsTheRun:
            raise
        except Exception as error:
            if is_outage(error) and not is_of_one_statement(error):
                raise
            ROWS_FAILED.labels(task).inc()
            log.error("%s failed for %s; the others go on.", task, _named(row), exc_info=without_text(error))
    return done


def without_text(error: BaseException) -> Exception:
    """An error of the same name with the same stack. Messages of mail servers and databases repeat what people typed."""
    named = type(type(error).__name__, (Exception,), {"__module__": type(error).__module__})
    return named().with_traceback(error.__traceback__)


def _named(row: Any) -> str:
    """Ids are no personal data; other values may be."""
    if isinstance(row, Model):
        return f"{row._meta.verbose_name} {row.pk}"
    return str(row) if isinstance(row, UUID | int) else f"a {type(row).__name__}"


Found = TypeVar("Found", bound=Model)


def get_or_not_found(rows: QuerySet[Found], row_id: object, message: str) -> Found:
    """The row with this id, which may be text from a URL. Raises `NotFound(message)`, also if the text is not an id."""
    known_id = parse_id(row_id)
    return first_or_not_found(rows.filter(pk=known_id) if known_id else rows.none(), message)


def first_or_not_found(rows: QuerySet[Found], message: str) -> Found:
    """The first row. Raises `NotFound(message)` if there is none."""
    row = rows.first()
    if row is None:
        raise NotFound(message)
    return row
