"""An app that follows the feed: `python -m benchmarks.feed_reader URL TOKEN FILE`.

It keeps each page and the cursor behind it in one transaction of a SQLite file, and goes on from there when it starts. So
it may be killed at any moment.
"""

import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from extension_platform_sdk import ApiError, AppClient, Unreachable

PAUSE = 1.0  # seconds between pages: the rate limit allows 60 in a minute
LIMIT = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS seen (number INTEGER PRIMARY KEY, event TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS page (number INTEGER PRIMARY KEY, cursor TEXT NOT NULL);
"""


class Notes:
    """What the app has read so far, and up to where."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, timeout=30)
        self._database.executescript(_SCHEMA)

    def cursor(self) -> str | None:
        row = self._database.execute("SELECT cursor FROM page ORDER BY number DESC LIMIT 1").fetchone()
        return row[0] if row else None

    def keep(self, events: Sequence[str], cursor: str) -> None:
        with self._database:
            self._database.executemany("INSERT INTO seen (event) VALUES (?)", [(each,) for each in events])
            self._database.execute("INSERT INTO page (cursor) VALUES (?)", [cursor])

    def seen(self) -> list[str]:
        return [event for (event,) in self._database.execute("SELECT event FROM seen ORDER BY number")]

    def pages(self) -> int:
        (count,) = self._database.execute("SELECT COUNT(*) FROM page").fetchone()
        return int(count)

    def close(self) -> None:
        self._database.close()


def follow(url: str, token: str, notes: Notes) -> None:
    """Read on for ever, however often the platform is away."""
    with AppClient(url, token, wait_on_rate_limit=True) as client:
        while True:
            try:
                page = client.events(after=notes.cursor(), limit=LIMIT)
            except Unreachable:
                time.sleep(0.1)
                continue
            except ApiError as error:
                if error.status_code < 500 and error.status_code != 429:
                    raise
                time.sleep(1)
                continue
            notes.keep([event["id"] for event in page["data"]], page["nextCursor"])
            time.sleep(PAUSE)


if __name__ == "__main__":
    with closing(Notes(Path(sys.argv[3]))) as kept:
        follow(sys.argv[1], sys.argv[2], kept)
