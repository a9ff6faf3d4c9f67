"""Statements that PostgreSQL plans once for each session.

For processes with sessions of their own: behind a pooler of transactions, the next transaction may be in another session.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from django.db import NotSupportedError, connection
from django.db.backends.utils import CursorWrapper


class Prepared:
    """A statement that each session plans once. `types` maps its parameters, `%(name)s` in the text, to SQL types."""

    _sessions: "WeakKeyDictionary[Any, set[str]]" = WeakKeyDictionary()

    def __init__(self, name: str, statement: str, **types: str) -> None:
        self._name, self._parameters = name, tuple(types)
        text = statement % {parameter: f"${number}" for number, parameter in enumerate(types, 1)}
        self._prepare = f"PREPARE {name} {_in_brackets(types.values())} AS {text}"
        self._execute = f"EXECUTE {name} {_in_brackets(['%s'] * len(types))}"

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

    def prepare_again(self, cursor: CursorWrapper) -> None:
        cursor.execute(f"DEALLOCATE {self._name}")
        self._sessions[connection.connection].remove(self._name)
        self.prepare(cursor)


def _in_brackets(parts: Collection[str]) -> str:
    return f"({', '.join(parts)})" if parts else ""


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A statement with its values. `prepared` is None for one that isn't prepared."""

    text: str
    values: Sequence[Any] = ()
    prepared: Prepared | None = None


def rows_of_each(*calls: BoundStatement) -> list[list[Any]]:
    """Execute the statements in one round trip and one transaction, and each with a snapshot of its own. Returns the rows of
    each.
    """
    prepared = [call.prepared for call in calls if call.prepared]
    with connection.cursor() as cursor:
        for each in prepared:
            each.prepare(cursor)
        try:
            return _executed(cursor, calls)
        except NotSupportedError:  # a migration has changed the type of a column that one of them reads
            for each in prepared:
                each.prepare_again(cursor)
            return _executed(cursor, calls)


def _executed(cursor: CursorWrapper, calls: Sequence[BoundStatement]) -> list[list[Any]]:
    cursor.execute("; ".join(call.text for call in calls), [value for call in calls for value in call.values])
    rows = []
    while True:
        rows.append(cursor.fetchall() if cursor.description else [])
        if not cursor.nextset():
            return rows
