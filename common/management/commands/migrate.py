"""`manage.py migrate`, beside requests: no statement of theirs waits long for a migration.

A change of a table needs a lock that waits for every statement on it, and behind which every later one queues. So the
migration waits 0.4 s at most, shorter than PostgreSQL takes to look for a deadlock. Then it is rolled back, which lets all
others pass, and is tried again. A migration locks two tables at most (`tests/upgrades/test_locks.py`), so others wait for
less than a second.

One at a time: two on a new database would create the same tables. A second one waits for the first, and finds nothing to do.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any, Final

from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

LOCK_TIMEOUT: Final = "400ms"
GIVE_UP: Final = 600.0  # seconds in all
LOCK: Final = 0x6D696772617465  # an advisory lock of this database: "migrate"
WAIT: Final = 0.5  # seconds between two looks whether it is free
PAUSE: Final = (0.3, 1.5)  # seconds between two tries
BUSY: Final = frozenset({"55P03", "40P01"})  # lock_not_available, deadlock_detected


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> Any:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql" or options["plan"] or options["check_unapplied"]:
            return super().handle(*args, **options)
        with self._alone(connection):
            return self._migrate(connection, *args, **options)

    @contextmanager
    def _alone(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Hold the lock in a session of its own, since one of the migrations may be given up with its session.

        It asks again and again: an index that is built concurrently waits for every statement that is under way.
        """
        holder = connection.copy()
        try:
            if not _try_lock(holder):
                self.stdout.write("Another migrate is running. This one waits for it.")
                while not _try_lock(holder):
                    sleep(WAIT)
            yield
        finally:
            holder.close()

    def _migrate(self, connection: BaseDatabaseWrapper, *args: Any, **options: Any) -> Any:
        end = monotonic() + GIVE_UP
        while True:
            _set(connection, LOCK_TIMEOUT)
            try:
                done = super().handle(*args, **options)
            except OperationalError as error:
                # A statement that fails at the end of a migration leaves a transaction open, so only a new session will do.
                connection.close()
                connection.connect()
                if getattr(error.__cause__, "sqlstate", None) not in BUSY or monotonic() > end:
                    raise
                self.stdout.write("\n  A table is busy. The migration was rolled back and is tried again.")
            else:
                _set(connection, "0")
                return done
            sleep(random.uniform(*PAUSE))  # noqa: S311


def _try_lock(holder: BaseDatabaseWrapper) -> bool:
    with holder.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        ((taken,),) = cursor.fetchall()
    return bool(taken)


def _set(connection: BaseDatabaseWrapper, timeout: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [timeout])
