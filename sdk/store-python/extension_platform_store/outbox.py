"""What has changed and isn't pushed yet, in the shop's own database.

``mark`` adds one row in the transaction that changes the shop, so that none without the other is ever there. A mark says which
row changed, not how: the sender reads the shop when it pushes. So marks hold no data of customers, never block each other,
and many changes of one row are one push.

A version is made after its marks were taken and before the shop is read. So whichever version is the highest has what all
marks before it promised, however many senders there are, and wherever one is killed.
"""

from __future__ import annotations

import json
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from .shop import Resource

MOST = 500  # of values in one statement
NOTED_FOR = 3 * 24 * 3600  # seconds that an answered command is kept; the platform repeats one for a day


@dataclass(frozen=True, slots=True)
class Work:
    """A row to push, and the marks that ask for it."""

    resource: Resource
    id: str
    version: int
    quiet: bool
    force: bool
    quote: str
    marks: tuple[int, ...]
    made_at: float
    """When the newest mark was made, in Unix time."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many marks there are, and the seconds since the oldest was made."""

    marks: int
    oldest: float


class Outbox(ABC):
    """For one store. Call ``mark`` where the shop changes, and leave the rest to ``Sender`` and ``Commands``."""

    def __init__(self, store: str = "main", *, clock: Callable[[], float] = time.time) -> None:
        self.store = store
        self._clock = clock

    # A database

    @abstractmethod
    def atomic(self) -> AbstractContextManager[Any]:
        """A transaction, or a part of the one that runs."""

    @abstractmethod
    def _rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def _change(self, statement: str, values: Sequence[Any]) -> int: ...

    @abstractmethod
    def _change_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None: ...

    # For the shop

    def mark(
        self, resource: Resource, *ids: str, quiet: bool = False, force: bool = False, quote: str = ""
    ) -> None:
        """Note that rows were made, changed or deleted, in the transaction that runs.

        ``quiet`` publishes no event: for what is older than the connection. ``quote`` is that of the last hook that was asked
        for an order. ``force`` is for a shop that came back from a backup.
        """
        now = self._now()
        self._change_many(
            "INSERT INTO extension_platform_mark (store, resource, external_id, quiet, forced, quote, made_at, not_before)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
            [
                (self.store, resource, row_id, int(quiet), int(force), quote, now)
                for row_id in dict.fromkeys(ids)
            ],
        )

    def next_version(self, resource: Resource, row_id: str) -> int:
        """Make a version that is higher than those before: for the row in the answer to a command."""
        with self.atomic():
            return self._versions([(resource, row_id)])[resource, row_id]

    def waiting(self) -> Waiting:
        """For a page or an alert of yours."""
        [(count, oldest)] = self._rows(
            "SELECT count(*), min(made_at) FROM extension_platform_mark WHERE store = ?", [self.store]
        )
        return Waiting(count, max(0.0, (self._now() - oldest) / 1000) if count else 0.0)

    def refused(self) -> list[tuple[Resource, str, str]]:
        """The rows that the platform didn't take, with its reasons. They are tried again when they change."""
        return [
            (resource, row_id, reason)
            for resource, row_id, reason in self._rows(
                "SELECT resource, external_id, refused FROM extension_platform_row WHERE store = ? AND refused <> ''"
                " ORDER BY resource, external_id",
                [self.store],
            )
        ]

    # For the sender

    def take(self, limit: int) -> list[Work]:
        """The rows of the oldest marks that are due, each under a new version, with all marks of theirs."""
        with self.atomic():
            found = self._rows(
                "SELECT DISTINCT resource, external_id FROM (SELECT resource, external_id FROM extension_platform_mark"
                " WHERE store = ? AND not_before <= ? ORDER BY id LIMIT ?) AS oldest",
                [self.store, self._now(), limit],
            )
            rows = sorted((resource, row_id) for resource, row_id in found)
            marks = self._marks_of(rows)
            versions = self._versions(rows)
        return [
            Work(
                resource=resource,
                id=row_id,
                version=versions[resource, row_id],
                quiet=all(each[1] for each in marks[resource, row_id]),
                force=any(each[2] for each in marks[resource, row_id]),
                quote=next((each[3] for each in reversed(marks[resource, row_id]) if each[3]), ""),
                marks=tuple(each[0] for each in marks[resource, row_id]),
                made_at=max(each[4] for each in marks[resource, row_id]) / 1000,
            )
            for resource, row_id in rows
        ]

    def overtaken(self, works: Iterable[Work]) -> set[tuple[Resource, str]]:
        """Those that have a mark that isn't quiet since they were taken. Pushed quietly, its event would be lost."""
        quiet = [(work.resource, work.id) for work in works if work.quiet]
        marks = self._marks_of(quiet)
        return {row for row in quiet if not all(each[1] for each in marks[row])}

    def kept(self, work: Work, digest: str) -> None:
        """The platform has this version. ``digest`` is that of the content; empty for a row that it doesn't keep."""
        with self.atomic():
            self._drop(work)
            self._change(
                "UPDATE extension_platform_row SET kept = ?, digest = ?, refused = ''"
                " WHERE store = ? AND resource = ? AND external_id = ? AND kept < ?",
                [work.version if digest else -1, digest, self.store, work.resource, work.id, work.version],
            )

    def refuse(self, work: Work, reason: str) -> None:
        """The platform refused this row. It is tried again when it changes."""
        with self.atomic():
            self._drop(work)
            self._change(
                "UPDATE extension_platform_row SET refused = ? WHERE store = ? AND resource = ? AND external_id = ?",
                [reason[:1000], self.store, work.resource, work.id],
            )

    def postpone(self, work: Work, seconds: float) -> None:
        """Try again later, under another version."""
        self._change_many(
            "UPDATE extension_platform_mark SET not_before = ? WHERE id = ?",
            [(self._now() + int(seconds * 1000), mark) for mark in work.marks],
        )

    def versions(self, resource: Resource) -> list[tuple[str, int]]:
        """The ids that the platform keeps, sorted by code points, with their versions."""
        return sorted(
            (row_id, version)
            for row_id, version in self._rows(
                "SELECT external_id, kept FROM extension_platform_row WHERE store = ? AND resource = ? AND kept >= 0",
                [self.store, resource],
            )
        )

    def digests(self, resource: Resource, ids: Sequence[str]) -> dict[str, str]:
        """The digests of the contents that the platform keeps, of up to 500 ids."""
        return {
            row_id: str(digest)
            for row_id, digest in self._rows_of(
                "SELECT external_id, digest FROM extension_platform_row WHERE store = ? AND resource = ?"
                " AND external_id IN (IDS) AND kept >= 0",
                resource,
                ids,
            )
        }

    def is_kept(self, resource: Resource, ids: Sequence[str]) -> set[str]:
        """Which of up to 500 ids the platform keeps."""
        return set(self.digests(resource, ids)) if ids else set()

    def marked(self, resource: Resource) -> set[str]:
        """The ids that wait."""
        return {
            row_id
            for (row_id,) in self._rows(
                "SELECT DISTINCT external_id FROM extension_platform_mark WHERE store = ? AND resource = ?",
                [self.store, resource],
            )
        }

    def forget(self, resource: Resource) -> None:
        """The platform keeps none of these any more."""
        self._change(
            "UPDATE extension_platform_row SET kept = -1, digest = '' WHERE store = ? AND resource = ?",
            [self.store, resource],
        )

    def state(self, name: str) -> Any:
        """What ``note`` kept under this name, or None."""
        rows = self._rows(
            "SELECT value FROM extension_platform_state WHERE store = ? AND name = ?", [self.store, name]
        )
        return json.loads(rows[0][0]) if rows else None

    def note(self, name: str, value: Any) -> None:
        """Keep a JSON value under a name, such as what the platform's apps want."""
        with self.atomic():
            text = json.dumps(value)
            self._change(
                "INSERT INTO extension_platform_state (store, name, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [self.store, name, text],
            )
            self._change(
                "UPDATE extension_platform_state SET value = ? WHERE store = ? AND name = ?",
                [text, self.store, name],
            )

    # For commands

    def claim(self, command_id: str) -> tuple[int, dict[str, Any]] | None:
        """Take a command in the transaction that runs; or return the answer that was given to it.

        Of two at the same moment the second waits for the first to commit.
        """
        if self._change(
            "INSERT INTO extension_platform_command (store, command_id, status, answer, noted_at) VALUES (?, ?, 0, '', ?)"
            " ON CONFLICT DO NOTHING",
            [self.store, command_id, self._now()],
        ):
            return None
        [(status, answer)] = self._rows(
            "SELECT status, answer FROM extension_platform_command WHERE store = ? AND command_id = ?",
            [self.store, command_id],
        )
        return status, json.loads(answer)

    def answered(self, command_id: str, status: int, answer: dict[str, Any]) -> None:
        """Note the answer of a claimed command, in the same transaction."""
        self._change(
            "UPDATE extension_platform_command SET status = ?, answer = ? WHERE store = ? AND command_id = ?",
            [status, json.dumps(answer), self.store, command_id],
        )

    def clean(self) -> None:
        """Delete the notes of commands that aren't repeated any more."""
        self._change(
            "DELETE FROM extension_platform_command WHERE store = ? AND noted_at < ?",
            [self.store, self._now() - NOTED_FOR * 1000],
        )

    # Inside

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _rows_of(self, statement: str, resource: Resource, ids: Sequence[str]) -> list[tuple[Any, ...]]:
        """Of up to 500 ids, which the statement has as ``IDS``."""
        marks = ", ".join("?" * len(ids))
        return self._rows(statement.replace("IDS", marks), [self.store, resource, *ids])

    def _marks_of(
        self, rows: Sequence[tuple[Resource, str]]
    ) -> dict[tuple[Resource, str], list[tuple[int, bool, bool, str, int]]]:
        """By row: number, quiet, forced, quote, time, in their order."""
        found: dict[tuple[Resource, str], list[tuple[int, bool, bool, str, int]]] = {row: [] for row in rows}
        for resource, ids in _by_resource(rows):
            for mark, row_id, quiet, forced, quote, made_at in self._rows_of(
                "SELECT id, external_id, quiet, forced, quote, made_at FROM extension_platform_mark"
                " WHERE store = ? AND resource = ? AND external_id IN (IDS) ORDER BY id",
                resource,
                ids,
            ):
                found[resource, row_id].append((mark, bool(quiet), bool(forced), quote, made_at))
        return found

    def _versions(self, rows: Sequence[tuple[Resource, str]]) -> dict[tuple[Resource, str], int]:
        """Give rows a version each, in their order, so that two who do it wait for each other and not both."""
        now = self._now()
        self._change_many(
            "INSERT INTO extension_platform_row (store, resource, external_id, version, kept, digest, refused)"
            " VALUES (?, ?, ?, 0, -1, '', '') ON CONFLICT DO NOTHING",
            [(self.store, *row) for row in rows],
        )
        self._change_many(
            "UPDATE extension_platform_row SET version = CASE WHEN version >= ? THEN version + 1 ELSE ? END"
            " WHERE store = ? AND resource = ? AND external_id = ?",
            [(now, now, self.store, *row) for row in rows],
        )
        found: dict[tuple[Resource, str], int] = {}
        for resource, ids in _by_resource(rows):
            for row_id, version in self._rows_of(
                "SELECT external_id, version FROM extension_platform_row"
                " WHERE store = ? AND resource = ? AND external_id IN (IDS)",
                resource,
                ids,
            ):
                found[resource, row_id] = version
        return found

    def _drop(self, work: Work) -> None:
        self._change_many(
            "DELETE FROM extension_platform_mark WHERE id = ?", [(mark,) for mark in work.marks]
        )


def _by_resource(rows: Sequence[tuple[Resource, str]]) -> Iterator[tuple[Resource, list[str]]]:
    for resource in dict.fromkeys(resource for resource, _ in rows):
        ids = [row_id for each, row_id in rows if each == resource]
        for start in range(0, len(ids), MOST):
            yield resource, ids[start : start + MOST]


SQLITE_TABLES = """
CREATE TABLE IF NOT EXISTS extension_platform_mark (
    id INTEGER PRIMARY KEY AUTOINCREMENT, store TEXT NOT NULL, resource TEXT NOT NULL, external_id TEXT NOT NULL,
    quiet INTEGER NOT NULL, forced INTEGER NOT NULL, quote TEXT NOT NULL, made_at INTEGER NOT NULL, not_before INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS extension_platform_mark_row ON extension_platform_mark (store, resource, external_id);
CREATE TABLE IF NOT EXISTS extension_platform_row (
    store TEXT NOT NULL, resource TEXT NOT NULL, external_id TEXT NOT NULL, version INTEGER NOT NULL, kept INTEGER NOT NULL,
    digest TEXT NOT NULL, refused TEXT NOT NULL, PRIMARY KEY (store, resource, external_id));
CREATE TABLE IF NOT EXISTS extension_platform_command (
    store TEXT NOT NULL, command_id TEXT NOT NULL, status INTEGER NOT NULL, answer TEXT NOT NULL, noted_at INTEGER NOT NULL,
    PRIMARY KEY (store, command_id));
CREATE TABLE IF NOT EXISTS extension_platform_state (
    store TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (store, name));
"""


_WHOLE = ("BEGIN IMMEDIATE", "COMMIT", ["ROLLBACK"])
_PART = ("SAVEPOINT part", "RELEASE part", ["ROLLBACK TO part", "RELEASE part"])


class SqliteOutbox(Outbox):
    """In the SQLite database of the shop, on the connection with which it changes its rows.

    Marks are committed with the transaction that runs on it: change and mark within one, or ``with outbox.atomic()``. The sender has a connection of its own.
    """

    def __init__(
        self, connection: sqlite3.Connection, store: str = "main", *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(store, clock=clock)
        self._connection = connection

    def create_tables(self) -> None:
        """Make the tables that aren't there yet."""
        self._connection.executescript(SQLITE_TABLES)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        is_part = self._connection.in_transaction  # the one that began it ends it
        begin, end, undo = _PART if is_part else _WHOLE
        self._connection.execute(begin)
        try:
            yield
        except BaseException:
            for statement in undo:
                self._connection.execute(statement)
            raise
        self._connection.execute(end)

    def _rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def _change(self, statement: str, values: Sequence[Any]) -> int:
        with self._written():
            return self._connection.execute(statement, values).rowcount

    def _change_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        with self._written():
            self._connection.executemany(statement, values)

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Python begins a transaction at the first change; outside `atomic` and of the shop's own there is none to commit it."""
        if self._connection.in_transaction:
            yield
        else:
            with self.atomic():
                yield
