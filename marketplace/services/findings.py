"""Saves what a review finds before the decision: the reviewer's verdicts and the automatic checks."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.models import User
from common.db.leases import take
from common.errors import Conflict
from common.times import iso
from marketplace.enums import SubmissionStatus
from marketplace.models import CheckRun, Submission
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


CHECKS_LEASE: Final = timedelta(minutes=3)  # longer than a run takes
CHECKS_TRIES: Final = 5


def claim_checks(*, submission_id: UUID | str, now: datetime | None = None) -> Submission | None:
    """The submission whose checks are due, for the caller to run them. None if they aren't, or somebody else does.

    If the caller dies, they are due again after `CHECKS_LEASE`.
    """
    now = now or timezone.now()
    due = _with_due_checks(now).filter(pk=submission_id)
    if not take(due, lasts=CHECKS_LEASE, now=now, checks_tries=F("checks_tries") + 1):
        return None
    return Submission.objects.select_related("app__developer", "app__icon").get(pk=submission_id)


def submissions_to_check(*, now: datetime | None = None) -> list[UUID]:
    """The submissions whose checks are due, longest first."""
    due = _with_due_checks(now or timezone.now()).order_by("checks_due_at")
    return list(due.values_list("pk", flat=True))


def _with_due_checks(now: datetime) -> "QuerySet[Submission]":
    return Submission.objects.filter(
        status=SubmissionStatus.PENDING_REVIEW, checks_due_at__lte=now, checks_tries__lt=CHECKS_TRIES
    )


@transaction.atomic
def record_checks(
    *,
    submission: Submission,
    results: Sequence[Mapping[str, Any]],
    by: User | None = None,
    now: datetime | None = None,
) -> Submission:
    """Save the results of a run of the automatic checks, which are the submission's from then on.

    Earlier runs are kept. `by` is who asked for the run, None if it came by itself. Raises `Conflict` for a decided
    round, whose results are evidence.
    """
    now = now or timezone.now()
    checks = {"at": iso(now), "results": list(results)}
    open_rounds = Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW)
    if not open_rounds.filter(pk=submission.pk).update(checks=checks, checks_due_at=None, checks_tries=0):
        raise Conflict("This submission is no longer in review, so its checks can't change.")
    CheckRun.objects.create(submission=submission, at=now, by=by, results=checks["results"])
    submission.checks, submission.checks_due_at = checks, None
    return submission


def record_risks(*, submission: Submission, reasons: Sequence[Mapping[str, Any]]) -> None:
    """Save why a submission deserves attention (`Submission.risk_reasons`), which decides its place in the queue."""
    submission.risk_reasons = [dict(reason) for reason in reasons]
    submission.risk = sum(int(reason["weight"]) for reason in reasons)
    Submission.objects.filter(pk=submission.pk).update(
        risk=submission.risk, risk_reasons=submission.risk_reasons
    )
