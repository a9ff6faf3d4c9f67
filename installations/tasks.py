"""Celery's part: hints to look for work now. They may be lost, repeated or late (docs/decisions/0004)."""

from celery import shared_task

from installations.services import approval, retention, telling


@shared_task
def follow_approvals() -> None:
    """Have installations follow what was approved. May run twice at once."""
    approval.follow_all()


@shared_task
def tell_merchants() -> None:
    """Mail the merchants whose apps ask for more since an approval. May run twice at once."""
    telling.tell_merchants()


@shared_task
def remove_old_grants() -> None:
    """Remove authorization codes that nothing depends on. May run twice at once."""
    retention.remove_old_grants()
