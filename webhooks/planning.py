"""How PostgreSQL plans the statements of a dispatcher: once, and by index, whatever its statistics make it believe.

What waits changes from nothing to a hundred thousand rows and back between two analyses of the table. Going by the
statistics of a quiet moment, a claim would read the whole table, or sort all that is due to take the first few. And
planning it costs as much as a claim of a few rows itself.
"""

from typing import Any
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.backends.utils import CursorWrapper

# Whatever is planned so looks expensive, and would be compiled each time.
_WANTED = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}
_BY_INDEX = "; ".join(f"SET {name} = {value}" for name, value in _WANTED.items())
_AS_USUAL = "; ".join(f"RESET {name}" for name in _WANTED)


def by_index() -> None:
    """For all that this thread's session does from now on."""
    _execute(_BY_INDEX)


def as_usual() -> None:
    """For whoever has the session next."""
    _execute(_AS_USUAL)


def _execute(statements: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statements)


class Prepared:
    """A statement that each session plans once. `types` are those of its parameters, `%(name)s` in the text."""

    _sessions: "WeakKeyDictionary[Any, set[str]]" = WeakKeyDictionary()

    def __init__(self, name: str, statement: str, **types: str) -> None:
        self._name, self._parameters = name, tuple(types)
        text = statement % {parameter: f"${number}" for number, parameter in enumerate(types, 1)}
        self._prepare = f"PREPARE {name} ({', '.join(types.values())}) AS {text}"
        self._call = f"EXECUTE {name} ({', '.join(['%s'] * len(types))})"

    def execute(self, cursor: CursorWrapper, **values: Any) -> None:
        prepared = self._sessions.setdefault(connection.connection, set())
        if self._name not in prepared:
            cursor.execute(self._prepare)
            prepared.add(self._name)
        cursor.execute(self._call, [values[parameter] for parameter in self._parameters])
