"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from extensions.hooks import ledger, relaying
from extensions.services import costs, notices


@shared_task
def remove_old_hook_calls() -> None:
    """Delete hook calls and measurements of pages older than 30 days. Safe to run twice at once."""
    ledger.remove_old()
    relaying.remove_left_over()
    costs.remove_old()


@shared_task
def notify_merchants() -> None:
    """Mail merchants about apps that ask for more or keep failing. Safe to run twice at once."""
    notices.notify_merchants()
