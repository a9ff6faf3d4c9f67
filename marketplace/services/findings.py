"""What is found out about a submission before it is decided: the reviewer's verdicts, the automatic checks."""

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
    """Keep the verdicts so far, in the shape that `Submission` tells. Who judges holds the round from then on.

    Raises `Conflict` where it is decided already or another reviewer holds it.
    """
    held = reviews.take(submission=submission, reviewer=reviewer, now=now)
    held.findings = {criterion: dict(finding) for criterion, finding in findings.items()}
    held.save(update_fields=["findings"])
    return held


def record_checks(
    *, submission: Submission, results: Sequence[Mapping[str, Any]], now: datetime | None = None
) -> Submission:
    """Keep what the automatic checks found, in place of what they found before.

    Raises `Conflict` for a round that is decided: what stood there when it was stays as the evidence.
    """
    checks = {"at": iso(now or timezone.now()), "results": list(results)}
    open_rounds = Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW)
    if not open_rounds.filter(pk=submission.pk).update(checks=checks):
        raise Conflict("This submission is not in review any more, so its checks stay as they were.")
    submission.checks = checks
    return submission
