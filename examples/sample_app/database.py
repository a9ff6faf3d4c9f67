"""What the app keeps, in one SQLite file. With many stores, take the database that you have for the rest."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

SCHEMA = (Path(__file__).parent / "schema.sql").read_text()


class Database:
    """Safe to use from several threads. The file holds tokens and secrets, so only its owner may read it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT, 0o600))
        self._path = path
        with self.transaction() as connection:
            connection.executescript(SCHEMA)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of its statements take effect, or none."""
        connection = sqlite3.connect(self._path, timeout=10)
        connection.row_factory = sqlite3.Row
        try:
            with connection:
                connection.execute("PRAGMA secure_delete = ON")  # what is deleted is gone from the file, too
                yield connection
        finally:
            connection.close()

    def run(self, statement: str, *values: object) -> list[sqlite3.Row]:
        """The rows of one statement."""
        with self.transaction() as connection:
            return connection.execute(statement, values).fetchall()

    def use_once(self, key: str) -> bool:
        """Remember a key, and say whether it is new."""
        return bool(self.run("INSERT INTO used (key) VALUES (?) ON CONFLICT DO NOTHING RETURNING key", key))


def time_text(moment: datetime) -> str:
    """As the platform writes it: ``2026-11-20T15:04:05.123Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_text() -> str:
    return time_text(datetime.now(UTC))
