"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from common.db import partitions
from common.observability import objectives


@shared_task
def make_partitions() -> None:
    """Make the partitions of the next days. Safe to run twice at once."""
    partitions.make_ahead()


@shared_task
def remove_old_objective_counts() -> None:
    """Delete those that no window reaches any more."""
    objectives.remove_old()
