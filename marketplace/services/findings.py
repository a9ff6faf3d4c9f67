"""Saves what a review finds before the decision: the reviewer's verdicts and the automatic checks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from common.errors import Conflict
from common.times import iso
from marketplace.enums import SubmissionStatus
from marketplace.models import Submission
from marketplace.services import reviews


@transaction.atomic
def record_findings(
    *,
    submission: Submission,
    reviewer: User,
    findings: Mapping[str, Mapping[str, str]],
    now: datetime | None = None,
) -> Submission:
    """Save the verdicts so far, in the form of `Submission.findings`. The reviewer holds the round from then on.

    Raises `Conflict` if it is already decided or another reviewer holds it.
    """
    held = reviews.take(submission=submission, reviewer=reviewer, now=now)
    held.findings = {criterion: dict(finding) for criterion, finding in findings.items()}
    held.save(update_fields=["findings"])
    return held


def record_checks(
    *, submission: Submission, results: Sequence[Mapping[str, Any]], now: datetime | None = None
) -> Submission:
    """Save the results of the automatic checks, replacing earlier ones.

    Raises `Conflict` for a decided round, whose results are kept as evidence.
    """
    checks = {"at": iso(now or timezone.now()), "results": list(results)}
    open_rounds = Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW)
    if not open_rounds.filter(pk=submission.pk).update(checks=checks):
        raise Conflict("This submission is no longer in review, so its checks can't change.")
    submission.checks = checks
    return submission
