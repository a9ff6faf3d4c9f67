"""Celery's part: hints to look for work now. They may be lost, repeated or late (docs/decisions/0004)."""

from celery import shared_task

from extensions.hooks import retention


@shared_task
def remove_old_hook_calls() -> None:
    """Remove what is older than 30 days. May run twice at once."""
    retention.remove_old()
