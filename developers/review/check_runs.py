"""Running the checks of a submission: in the background once it is submitted, and whenever a reviewer asks."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from common import strangers
from common.db.rows import for_each
from common.db.transactions import forbid_transaction
from common.errors import Conflict, ServiceError
from conformance.enums import Outcome
from conformance.queries import results_of
from conformance.services.runs import LONGEST, check_app
from developers.review import checks, risks
from developers.review.checks import CHECKS, Check, Evidence
from marketplace.models import Submission
from marketplace.services import findings

OVERDUE: Final = timedelta(
    seconds=10
)  # without a worker; then the page that waits for the results runs the checks

BEHAVIOR_IN_REQUEST: Final = timedelta(seconds=15)

log = logging.getLogger(__name__)


def run_checks(
    *,
    submission: Submission,
    by: User | None = None,
    lasts: timedelta = BEHAVIOR_IN_REQUEST,
    now: datetime | None = None,
) -> Submission:
    """Runs all checks and stores their results. `by` is who asked for them, None if they ran by themselves.

    The check of the app's behavior takes at most `lasts`: a page can't wait as long as a worker. Raises `Conflict` if
    the submission is already decided, and `strangers.NoPlace` before anything is tried.
    """
    forbid_transaction()
    strangers.require(submission.app_id)
    tried = (*CHECKS, Check("Behavior", partial(behavior, lasts=lasts)))
    results = [{"title": check.title, "evidence": _evidence_of(check, submission)} for check in tried]
    findings.record_checks(submission=submission, results=results, by=by, now=now)
    risks.assess(submission)
    return submission


def behavior(submission: Submission, *, lasts: timedelta) -> Iterator[Evidence]:
    """Each rule of `conformance` with what was seen."""
    try:
        run = check_app(app=submission.app, lasts=lasts)
    except ServiceError as error:
        yield Evidence(Outcome.SKIPPED, error.message)
        return
    for result in results_of(run):
        rule = result.rule
        for detail in result.details:
            yield Evidence(result.outcome, f"{rule.title}. {detail}", rule.id, rule.address)


def _evidence_of(check: Check, submission: Submission) -> list[dict[str, Any]]:
    """A bug in one check leaves the results of the others."""
    try:
        found = list(check.run(submission))
    except Exception:
        log.exception("The check %s of submission %s failed.", check.title, submission.pk)
        found = [
            Evidence(
                Outcome.SKIPPED, "This check failed because of a problem on our side. Run the checks again."
            )
        ]
    return [_stored(each) for each in found]


def _stored(evidence: Evidence) -> dict[str, Any]:
    line = {"outcome": evidence.outcome.value, "text": evidence.text}
    return line | ({"rule": evidence.rule, "address": evidence.address} if evidence.rule else {})


def run_due_checks(
    *,
    submission_id: UUID | str | None = None,
    lasts: timedelta = LONGEST,
    now: datetime | None = None,
) -> None:
    """Run the checks that are due, of one submission or of all, unless somebody else is running them."""
    due = findings.submissions_to_check(now=now) if submission_id is None else [submission_id]
    for_each(due, lambda pk: _run_due(pk, lasts, now), task="check_submissions")


def _run_due(submission_id: UUID | str, lasts: timedelta, now: datetime | None) -> None:
    submission = findings.claim_checks(submission_id=submission_id, now=now)
    if submission is None:
        return
    try:
        run_checks(submission=submission, lasts=lasts)
    except Conflict:
        log.info("Submission %s was decided before its checks ended.", submission.pk)


def are_overdue(submission: Submission, now: datetime | None = None) -> bool:
    """Whether no worker has taken them in time."""
    due = submission.checks_due_at
    return checks.are_running(submission) and due is not None and due <= (now or timezone.now()) - OVERDUE
