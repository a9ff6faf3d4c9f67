"""Whether the database has every migration of this release."""

import logging
import threading
from typing import Final

from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connection, connections
from django.db.migrations.executor import MigrationExecutor

log = logging.getLogger(__name__)

_complete: Final = threading.Event()


def unapplied(using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """The migrations that it lacks, in their order, such as "stores.0001_initial"."""
    executor = MigrationExecutor(connections[using])
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def is_complete() -> bool:
    """Looks until it is. From then on the answer costs nothing."""
    if not _complete.is_set() and not unapplied():
        _complete.set()
    return _complete.is_set()


def require_migrations() -> None:
    """Raise `CommandError` if some are missing. A database that can't be reached is no reason: it may come back. The log has why."""
    try:
        lacking = unapplied()
    except (OperationalError, InterfaceError) as error:
        log.error("The database can't be reached: %s", " ".join(str(error).split()))
        return
    finally:
        connection.close()
    if lacking:
        raise CommandError(
            f"The database lacks {len(lacking)} of this release's migrations, first {lacking[0]}. "
            "Run `manage.py migrate` first."
        )
