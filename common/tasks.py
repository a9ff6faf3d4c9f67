"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from common.db import partitions


@shared_task
def make_partitions() -> None:
    """Make the partitions of the next days. Safe to run twice at once."""
    partitions.make_ahead()
