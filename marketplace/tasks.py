"""Background tasks of the marketplace."""

from celery import shared_task

from marketplace.services import notifications


@shared_task
def mail_decision(submission_id: str) -> None:
    notifications.mail_decision(submission_id=submission_id)
