"""Statements that PostgreSQL plans once for each session.

For processes with sessions of their own: behind a pooler of transactions, the next transaction may be in another session.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from django.db import NotSupportedError, connection
from django.db.backends.utils import CursorWrapper

MOST_LIMITS: Final = 5  # of a statement


class Prepared:
    """A statement that each session plans once. `types` maps its parameters, `%(name)s` in the text, to SQL types."""

    _sessions: "WeakKeyDictionary[Any, set[str]]" = WeakKeyDictionary()

    def __init__(self, name: str, statement: str, **types: str) -> None:
        self._name, self._statement, self._types = name, statement, types
        self._parameters, self._limited = tuple(types), dict[int, Prepared]()
        text = statement % {parameter: f"${number}" for number, parameter in enumerate(types, 1)}
        self._prepare = f"PREPARE {name} {_in_brackets(types.values())} AS {text}"
        self._execute = f"EXECUTE {name} {_in_brackets(['%s'] * len(types))}"

    def limited_to(self, rows: int | None) -> "Prepared | None":
        """The statement for the first so many rows. PostgreSQL has to know how many, or it would plan for a tenth of all.

        None where people choose how many: each session keeps a plan for each number.
        """
        if rows is None:
            return self
        if rows not in self._limited and len(self._limited) < MOST_LIMITS:
            statement = f"{self._statement} LIMIT {rows:d}"
            self._limited[rows] = Prepared(f"{self._name}_{rows}", statement, **self._types)
        return self._limited.get(rows)

    def call(self, **values: Any) -> "BoundStatement":
        """One execution, for `rows_of_each`."""
        return BoundStatement(self._execute, [values[parameter] for parameter in self._parameters], self)

    def rows(self, **values: Any) -> list[Any]:
        return rows_of_each(self.call(**values))[0]

    def prepare(self, cursor: CursorWrapper) -> None:
        """In this session, unless it has been prepared there."""
        known = self._sessions.setdefault(connection.connection, set())
        if self._name not in known:
            cursor.execute(self._prepare)
            known.add(self._name)

    @classmethod
    def forget_all(cls) -> None:
        """In this session."""
        with connection.cursor() as cursor:
            cursor.execute("DEALLOCATE ALL")
        cls._sessions.pop(connection.connection, None)


def _in_brackets(parts: Collection[str]) -> str:
    return f"({', '.join(parts)})" if parts else ""


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A statement with its values. `prepared` is None for one that isn't prepared."""

    text: str
    values: Sequence[Any] = ()
    prepared: Prepared | None = None


def rows_of_each(*calls: BoundStatement) -> list[list[Any]]:
    """Execute the statements, and return the rows of each. On PostgreSQL that is one round trip and one transaction, and each has a
    snapshot of its own.
    """
    try:
        return _executed(calls)
    except NotSupportedError:  # a migration has changed the type of a column that one of them reads
        if connection.in_atomic_block:
            raise
        Prepared.forget_all()
        return _executed(calls)


def _executed(calls: Sequence[BoundStatement]) -> list[list[Any]]:
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            return [cursor.execute(call.text, call.values).fetchall() for call in calls]
        for call in calls:
            if call.prepared:
                call.prepared.prepare(cursor)
        values = [value for call in calls for value in call.values]
        cursor.execute("; ".join(call.text for call in calls), values)
        rows = []
        while True:
            # Not `description`, which makes an object of each column.
            rows.append(cursor.fetchall() if cursor.pgresult.nfields else [])
            if not cursor.nextset():
                return rows
