"""Receivers of lower-level apps' signals, in the transaction of the change. Connected by `ReviewConfig`."""

from typing import Any

from django.dispatch import receiver

from common.processes.background import enqueue_after_commit
from developers.review import risks
from marketplace.models import Submission
from marketplace.signals import app_submitted


@receiver(app_submitted)
def prepare_the_review(sender: Any, *, submission: Submission, **kwargs: Any) -> None:
    """Its place in the queue at once; the checks, which wait for the app's server, once the submission is committed.

    Beat repeats a lost message within a minute.
    """
    risks.assess(submission)
    enqueue_after_commit("developers.review.tasks.check_submission", str(submission.pk))
