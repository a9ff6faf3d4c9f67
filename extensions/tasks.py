"""Scheduled tasks (`CELERY_BEAT_SCHEDULE`)."""

from celery import shared_task

from extensions.hooks import retention


@shared_task
def remove_old_hook_calls() -> None:
    """Delete hook calls older than 30 days. Safe to run twice at once."""
    retention.remove_old()
