"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from activity.services import retention


@shared_task
def remove_old_calls() -> None:
    """Delete API calls older than seven days. Safe to run twice at once."""
    retention.remove_old()
