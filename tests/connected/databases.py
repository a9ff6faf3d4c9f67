"""Databases of other processes."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def rows_of(file: Path, statement: str, values: tuple[Any, ...]) -> list[Any]:
    """What a statement returns in a SQLite file that another process has open, too."""
    with closing(sqlite3.connect(file, timeout=20)) as connection:
        return connection.execute(statement, values).fetchall()
