"""Background tasks of the review pages."""

from celery import shared_task

from developers.review import check_runs


@shared_task
def check_submission(submission_id: str) -> None:
    """Run the checks of a new submission, if they are still due."""
    check_runs.run_due_checks(submission_id=submission_id)


@shared_task
def check_submissions() -> None:
    """Run checks whose message got lost, or whose worker died. May run twice at once."""
    check_runs.run_due_checks()
