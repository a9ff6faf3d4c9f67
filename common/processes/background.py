"""Enqueues background tasks."""

import logging
from typing import Any

from django.db import transaction
from django.utils.module_loading import import_string

log = logging.getLogger(__name__)


def enqueue_after_commit(task: str, *args: Any, expires: float | None = None) -> None:
    """Enqueue a task once the current transaction has committed, or now if there is none.

    `task` is a dotted path, because task modules import the services that enqueue their tasks. The message expires
    after `expires` seconds. An unreachable broker never fails the caller: it is logged, and a periodic task finds the work later.
    """
    # A function and not a `partial`, because Django logs the name of a callback that fails.
    transaction.on_commit(lambda: _enqueue(task, args, expires=expires), robust=True)


def _enqueue(path: str, args: tuple[Any, ...], *, expires: float | None) -> None:
    task = import_string(path)
    try:
        task.apply_async(args, expires=expires)
    except Exception as error:  # whatever the broker's library raises
        log.warning("%s could not be enqueued: %s", path, error)
