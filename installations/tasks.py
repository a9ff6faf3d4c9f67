"""Celery tasks. Each looks for work in the database, so it may be lost, repeated or late (docs/decisions/0004)."""

from celery import shared_task

from installations.services import approval, authorization


@shared_task
def follow_approvals() -> None:
    """Update installations after approvals. May run twice at once."""
    approval.follow_all()


@shared_task
def remove_old_grants() -> None:
    """Remove authorization codes that are no longer needed. May run twice at once."""
    authorization.remove_old_grants()
