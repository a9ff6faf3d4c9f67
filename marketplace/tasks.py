"""What processes of the version before send, during an upgrade."""

from celery import shared_task

from marketplace.models import Membership, Submission
from marketplace.services import review_messages
from marketplace.services.members import MEMBERS


@shared_task
def mail_decision(submission_id: str) -> None:
    for submission in Submission.objects.select_related("app__developer").filter(pk=submission_id):
        review_messages.mail_decision(submission=submission)


@shared_task
def mail_invitation(membership_id: str) -> None:
    for row in Membership.objects.filter(pk=membership_id, user=None):
        MEMBERS.mail_invitation(row)


@shared_task
def mail_review_message(message_id: str) -> None:
    for message in review_messages.with_app().filter(pk=message_id):
        review_messages.mail_message(message)
