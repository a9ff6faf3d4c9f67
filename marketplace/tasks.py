"""Background tasks of the marketplace."""

from celery import shared_task

from marketplace.services import members, notifications, review_messages


@shared_task
def mail_decision(submission_id: str) -> None:
    notifications.mail_decision(submission_id=submission_id)


@shared_task
def mail_invitation(membership_id: str) -> None:
    members.mail_invitation(membership_id=membership_id)


@shared_task
def mail_review_message(message_id: str) -> None:
    review_messages.mail_message(message_id=message_id)
