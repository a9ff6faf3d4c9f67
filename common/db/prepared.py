"""Statements that PostgreSQL plans once for each session.

For processes with sessions of their own: behind a pooler of transactions, the next transaction may be in another session.
"""

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
        self._prepare = f"PREPARE {name} ({', '.join(types.values())}) AS {text}"
        self._call = f"EXECUTE {name} ({', '.join(['%s'] * len(types))})"

    def execute(self, cursor: CursorWrapper, *, first: str = "", **values: Any) -> Any:
        """Leave the rows in the cursor. `first` is a query to run before it, in the same round trip and transaction, and
        with a snapshot of its own. Returns that query's row.
        """
        parameters = [values[parameter] for parameter in self._parameters]
        call = f"{first}; {self._call}" if first else self._call
        self._prepare_in(cursor)
        try:
            cursor.execute(call, parameters)
        except NotSupportedError:  # a migration has changed the type of a column that it reads
            cursor.execute(f"DEALLOCATE {self._name}")
            self._known().remove(self._name)
            self._prepare_in(cursor)
            cursor.execute(call, parameters)
        if not first:
            return None
        row = cursor.fetchone()
        cursor.nextset()
        return row

    def _known(self) -> set[str]:
        """The names of the statements that this session has."""
        return self._sessions.setdefault(connection.connection, set())

    def _prepare_in(self, cursor: CursorWrapper) -> None:
        if self._name not in self._known():
            cursor.execute(self._prepare)
            self._known().add(self._name)
