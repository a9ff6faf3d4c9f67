"""Work of the marketplace that happens behind a request."""

from celery import shared_task


@shared_task
def mail_decision(submission_id: str) -> None:
    from marketplace.services import telling  # which asks for this task

    telling.mail_decision(submission_id=submission_id)
