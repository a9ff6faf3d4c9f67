"""Makes all rows of an installation older. Nothing may be under way, and the load rests.

Each time goes back, but for those of `STAYS`. Ids stay, since apps know them: so do the partitions of the rows of this run, which a week
doesn't end. The partitions of a month before the run, which `add_past` makes with some rows, become older with their ids.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg.errors import LockNotAvailable

from common.ids import first_id_at, moment_of

# Whose time is one of processes that run, and releases, whose steps the soak itself moves.
STAYS: Final = ("webhooks_dispatcherslot", "marketplace_release", "django_migrations")
KEPT: Final = {"activity_apicall": timedelta(days=7)}  # docs/contract.md
KEPT_OF_OTHERS: Final = timedelta(days=30)
LOCKED_WITHIN: Final = 60.0  # seconds
SAMPLES: Final = 3  # rows of each partition
TIMES: Final = """
SELECT c.table_name, array_agg(c.column_name::text)
FROM information_schema.columns c JOIN pg_class t ON t.oid = c.table_name::regclass
WHERE c.table_schema = 'public' AND c.data_type = 'timestamp with time zone' AND c.column_name <> 'lease_until'
AND t.relkind IN ('r', 'p') AND NOT t.relispartition AND c.table_name <> ALL(%s) GROUP BY 1 ORDER BY 1
"""
SPLIT: Final = """
SELECT parent.relname, part.relname, pg_get_expr(part.relpartbound, part.oid)
FROM pg_inherits JOIN pg_class part ON part.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent
WHERE parent.relkind = 'p' AND part.relkind = 'r' ORDER BY 1, 2
"""
COLUMNS: Final = """
SELECT column_name::text, data_type FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = %s AND is_identity = 'NO' AND is_generated = 'NEVER'
"""
# Columns with ids of rows in split tables, by table: the first one is what the table is split by.
IDS: Final = {
    "activity_apicall": ("id",),
    "extensions_hookcall": ("id",),
    "webhooks_event": ("id",),
    "webhooks_delivery": ("id", "event_id"),
    "webhooks_attempt": ("delivery_id",),
}
OVER: Final = {  # which rows may be copied into the past
    "webhooks_event": "type <> 'business.data_erasure'",
    "webhooks_delivery": "status = 'SUCCEEDED'",
}
_BOUNDS: Final = re.compile(r"FOR VALUES FROM \('([0-9a-f-]+)'\) TO \('([0-9a-f-]+)'\)")
Session = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A partition."""

    table: str
    name: str
    start: datetime
    end: datetime

    @property
    def kept_until(self) -> datetime:
        """From then on the retention has to drop it."""
        return self.end + KEPT.get(self.table, KEPT_OF_OTHERS)


def parts(session: Session) -> list[Part]:
    found = []
    for table, name, bounds in session.execute(SPLIT):
        if match := _BOUNDS.fullmatch(bounds):
            found.append(Part(table, name, *(moment_of(UUID(bound)) for bound in match.groups())))
    return sorted(found, key=lambda each: (each.table, each.start))


def add_past(session: Session) -> list[Part]:
    """Partitions as an older installation has them, each with a few rows that are copies of the run's."""
    now, made = datetime.now(UTC), []
    firsts = {each.table: each for each in reversed(parts(session))}
    with session.transaction():
        for table, first in firsts.items():
            start, length = first.start, first.end - first.start
            while start > now - KEPT.get(table, KEPT_OF_OTHERS):
                start -= length
                made.append(Part(table, f"{table}_{start:%Y%m%d}", start, start + length))
                _attach(session, made[-1], is_new=True)
                _copy(session, table, since=first.start, ago=first.start - start)
    return made


def _copy(session: Session, table: str, *, since: datetime, ago: timedelta) -> None:
    chosen = {}
    for name, kind in session.execute(COLUMNS, [table]):
        value = f'"{name}"'
        if name in IDS[table]:
            value = _older_id(name, ago)
        elif kind == "timestamp with time zone":
            value += f" - interval '{ago.total_seconds()} s'"
        chosen[f'"{name}"'] = value
    key = IDS[table][0]
    session.execute(
        f"INSERT INTO {table} ({', '.join(chosen)}) SELECT {', '.join(chosen.values())} FROM {table}"  # noqa: S608
        f" WHERE {key} >= '{first_id_at(since)}' AND {OVER.get(table, 'true')} ORDER BY {key} LIMIT {SAMPLES}"
    )


def make_older(session: Session, seconds: float, past: Collection[str]) -> None:
    """All in one transaction, which has all tables for itself. `past` are the names of the partitions that `add_past` made.

    A wait for a table ends before PostgreSQL takes it for a deadlock, and is tried again for a minute.
    """
    times = session.execute(TIMES, [list(STAYS)]).fetchall()
    end = monotonic() + LOCKED_WITHIN
    while True:
        try:
            with session.transaction():
                session.execute("SET LOCAL lock_timeout = '300ms'")
                session.execute(f"LOCK TABLE {', '.join(table for table, _ in times)}")
                _make_older(session, times, timedelta(seconds=seconds), past)
        except LockNotAvailable:
            if monotonic() > end:
                raise
        else:
            return


def _make_older(session: Session, times: list[Any], by: timedelta, past: Collection[str]) -> None:
    session.execute("SET LOCAL session_replication_role = replica")  # no foreign key is touched
    for table, columns in times:
        older = ", ".join(f'"{name}" = "{name}" - interval \'{by.total_seconds()} s\'' for name in columns)
        session.execute(f"UPDATE {table} SET {older}")  # noqa: S608
    moved = [each for each in parts(session) if each.name in past]
    for part in moved:
        session.execute(f"ALTER TABLE {part.table} DETACH PARTITION {part.name}")
        older = ", ".join(f"{name} = {_older_id(name, by)}" for name in IDS[part.table])
        session.execute(f"UPDATE {part.name} SET {older}")  # noqa: S608
    for part in moved:
        _attach(session, Part(part.table, part.name, part.start - by, part.end - by))


def take_furthest(session: Session) -> list[str]:
    """Drop the last partition of each table, if none of its time has come: after a day, another one is missing."""
    last = {each.table: each for each in parts(session)}
    furthest = [each.name for each in last.values() if each.start > datetime.now(UTC)]
    for name in furthest:
        session.execute(f"DROP TABLE {name}")
    return furthest


def _attach(session: Session, part: Part, *, is_new: bool = False) -> None:
    bounds = f"FOR VALUES FROM ('{first_id_at(part.start)}') TO ('{first_id_at(part.end)}')"
    if is_new:
        session.execute(f"CREATE TABLE {part.name} PARTITION OF {part.table} {bounds}")
    else:
        session.execute(f"ALTER TABLE {part.table} ATTACH PARTITION {part.name} {bounds}")


def _older_id(name: str, by: timedelta) -> str:
    """An expression: the id as it would have been so much earlier. Its first 48 bits are milliseconds."""
    digits = f"replace({name}::text, '-', '')"
    moment = f"('x' || left({digits}, 12))::bit(48)::bigint - {round(by.total_seconds() * 1000)}"
    return f"(lpad(to_hex({moment}), 12, '0') || substr({digits}, 13))::uuid"
