"""Checks of submissions: who runs them, and what is kept of them."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import User
from common.errors import Conflict
from marketplace.models import CheckRun, Submission
from marketplace.services import reviews
from marketplace.services.findings import (
    CHECKS_LEASE,
    CHECKS_TRIES,
    claim_checks,
    record_checks,
    record_risks,
    submissions_to_check,
)
from tests import factories

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
RESULTS = [{"title": "Listing", "evidence": []}]


@pytest.fixture
def other(dana: User) -> Submission:
    app = factories.app(dana, name="Order Bell", slug="order-bell")
    return reviews.submit(app=app, developer=dana, now=NOW + SECOND)


def test_claimed_checks_are_one_callers_until_the_lease_ends(
    submission: Submission, other: Submission
) -> None:
    now = NOW + SECOND
    assert submissions_to_check(now=now) == [submission.pk, other.pk]
    assert claim_checks(submission_id=submission.pk, now=now) == submission
    assert claim_checks(submission_id=submission.pk, now=now + CHECKS_LEASE - SECOND) is None
    assert submissions_to_check(now=now) == [other.pk], "Only one was claimed."
    assert claim_checks(submission_id=submission.pk, now=now + CHECKS_LEASE) == submission


def test_checks_whose_callers_die_are_tried_five_times(submission: Submission) -> None:
    moments = [NOW + number * CHECKS_LEASE for number in range(CHECKS_TRIES + 1)]
    claims = [claim_checks(submission_id=submission.pk, now=moment) for moment in moments]
    assert claims == [submission] * CHECKS_TRIES + [None]
    record_checks(submission=submission, results=RESULTS, now=moments[-1])
    Submission.objects.update(checks_due_at=moments[-1])  # another run is asked for
    claims = [
        claim_checks(submission_id=submission.pk, now=moments[-1] + number * CHECKS_LEASE)
        for number in range(6)
    ]
    assert claims == [submission] * CHECKS_TRIES + [None]


def test_decided_round_keeps_its_checks(submission: Submission, other: Submission, dana: User) -> None:
    reviews.withdraw(app=submission.app, developer=dana, now=NOW)
    assert submissions_to_check(now=NOW + SECOND) == [other.pk]
    assert claim_checks(submission_id=submission.pk, now=NOW) is None
    with pytest.raises(Conflict, match="no longer in review"):
        record_checks(submission=submission, results=RESULTS, now=NOW)
    assert not CheckRun.objects.exists()


def test_recorded_checks_are_of_one_submission(submission: Submission, other: Submission, rita: User) -> None:
    made = record_checks(submission=submission, results=RESULTS, by=rita, now=NOW)
    expected = {"at": "2026-11-20T12:00:00.000Z", "results": RESULTS}
    assert (made.checks, made.checks_due_at) == (expected, None)
    submission.refresh_from_db()
    assert (submission.checks, submission.checks_due_at) == (expected, None)
    other.refresh_from_db()
    assert (other.checks, other.checks_due_at) == ({}, NOW + SECOND)
    run = CheckRun.objects.get()
    assert (run.submission, run.at, run.by, run.results) == (submission, NOW, rita, RESULTS)


def test_risks_are_of_one_submission_with_their_sum(submission: Submission, other: Submission) -> None:
    reasons = [{"text": "2 checks failed", "weight": 3}, {"text": "First submission", "weight": 1}]
    record_risks(submission=submission, reasons=reasons)
    assert (submission.risk, submission.risk_reasons) == (4, reasons)
    submission.refresh_from_db()
    assert (submission.risk, submission.risk_reasons) == (4, reasons)
    other.refresh_from_db()
    assert other.risk_reasons != reasons
