"""Mails reviewers' decisions to developers."""

from typing import Final

from django.conf import settings

from accounts.enums import MailKind
from accounts.models import User
from accounts.services.outbox import post_each
from common.mails.letters import Letter, letter
from marketplace.access import people_to_notify
from marketplace.enums import Criterion, SubmissionStatus, Verdict
from marketplace.models import Submission

_SUBJECTS: Final = {
    SubmissionStatus.APPROVED: "{app} {version} is approved",
    SubmissionStatus.REJECTED: "{app} {version} needs changes",
}


def mail_decision(*, submission: Submission) -> None:
    """Mail the decision on a submission, in its transaction. The portal shows the same."""
    if submission.status in _SUBJECTS:
        post_each(
            people_to_notify(submission.app),
            lambda person: decision_letter(submission, person),
            kind=MailKind.REVIEW_DECISIONS,
        )


def decision_letter(submission: Submission, person: User | None = None) -> Letter:
    """The mail about a decision, to the owner or another person. Reviewers preview it before they decide."""
    app = submission.app
    person = person or app.developer
    approved = submission.status == SubmissionStatus.APPROVED
    listed = app.suspended_at is None and (approved or app.approved_version_id is not None)
    context = {
        "app": app,
        "person": person,
        "submission": submission,
        "approved": approved,
        "listed": listed,
        "listing": f"{settings.BASE_URL}/marketplace/{app.slug}/" if approved and listed else "",
        "failed": failed_criteria(submission),
        "review_page": f"{settings.BASE_URL}/portal/apps/{app.slug}/review/",
    }
    subject = _SUBJECTS[SubmissionStatus(submission.status)].format(app=app.name, version=submission.version)
    return letter(subject=subject, to=person.email, template="marketplace/mail/decision.txt", context=context)


def failed_criteria(submission: Submission) -> list[tuple[str, str]]:
    """The failed criteria in order, each with its label and the reviewer's note."""
    return [
        (str(criterion.label), submission.findings[criterion]["note"])
        for criterion in Criterion
        if submission.findings.get(criterion, {}).get("verdict") == Verdict.FAIL
    ]


def criteria_notes(submission: Submission) -> list[str]:
    """The notes on failed criteria: "Security: Verify the signature."."""
    return [f"{label}: {note}" for label, note in failed_criteria(submission) if note.strip()]


def notes_of(submission: Submission) -> str:
    """All of the reviewer's notes to the developer as one text. Empty until the decision."""
    if submission.status not in _SUBJECTS:
        return ""
    return "\n\n".join(filter(None, [*criteria_notes(submission), submission.notes]))
