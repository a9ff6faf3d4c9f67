"""Celery tasks. Each looks for work in the database, so it may be lost, repeated or late (docs/decisions/0004)."""

from celery import shared_task

from installations.services import approval, notifications, retention


@shared_task
def follow_approvals() -> None:
    """Update installations after approvals. May run twice at once."""
    approval.follow_all()


@shared_task
def notify_merchants() -> None:
    """Mail merchants whose apps ask for more since an approval. May run twice at once."""
    notifications.notify_merchants()


@shared_task
def remove_old_grants() -> None:
    """Remove authorization codes that are no longer needed. May run twice at once."""
    retention.remove_old_grants()
