"""Messages between the developer of an app and its reviewers, about a submission; and mails about reviewers' decisions."""

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.enums import MailKind
from accounts.models import User
from accounts.services.outbox import post_each
from common.errors import Conflict
from common.mails.letters import MailDraft
from marketplace import rules
from marketplace.access import people_to_notify, role_of
from marketplace.enums import Criterion, SubmissionStatus, Verdict
from marketplace.models import App, ReviewMessage, Submission
from marketplace.queries import latest_submission
from marketplace.services.locks import lock_app

MOST_PER_HOUR: Final = 20  # of one person, about one app


@transaction.atomic
def send_message(
    *, submission: Submission, author: User, text: str, now: datetime | None = None
) -> ReviewMessage:
    """Add a message of the app's developer, or of a reviewer, and mail it to the other side.

    The caller checks that the author may do so. Raises `Invalid` for a text that is empty or too long, and `Conflict` for
    an earlier or withdrawn submission, and for too many messages.
    """
    now = now or timezone.now()
    text = text.strip()
    rules.check({"text": text})
    app = lock_app(submission.app)
    newest = latest_submission(app)
    if not may_write(submission, newest):
        raise Conflict("This submission is closed for messages. Write about the newest one.")
    lately = ReviewMessage.objects.filter(submission__app=app, author=author, at__gt=now - timedelta(hours=1))
    if lately.count() >= MOST_PER_HOUR:
        raise Conflict(f"You have sent {MOST_PER_HOUR} messages within an hour. Try again later.")
    message = ReviewMessage.objects.create(
        submission=submission, author=author, from_reviewer=role_of(app, author) is None, at=now, text=text
    )
    mail_message(with_app().get(pk=message.pk))
    return message


def may_write(submission: Submission | None, newest: Submission | None) -> bool:
    """Whether `send_message` accepts messages about this submission."""
    return (
        submission is not None
        and newest is not None
        and submission.pk == newest.pk
        and newest.status != SubmissionStatus.WITHDRAWN
    )


def with_app() -> "QuerySet[ReviewMessage]":
    return ReviewMessage.objects.select_related(
        "submission__app__developer", "submission__reviewer", "author"
    )


def mail_message(message: ReviewMessage) -> None:
    """Mail a message to the other side: the developer, or the reviewers who deal with the app.

    Those are who holds or decided the submission, and who has written about the app before. Without any, the queue shows
    the message.
    """
    submission, app = message.submission, message.submission.app
    if message.from_reviewer:
        people = people_to_notify(app)
        page = f"{settings.BASE_URL}/portal/apps/{app.slug}/review/#messages"
    else:
        people = _reviewers_of(app, submission)
        page = f"{settings.BASE_URL}/admin/marketplace/submission/{submission.pk}/change/#conversation"

    subject = f"{app.name} {submission.version}: message about the review"
    facts = {"app": app, "message": message, "page": page}
    draft = MailDraft(subject, "marketplace/mail/review_message.txt", facts)
    post_each(people, draft, kind=MailKind.REVIEW_DECISIONS)


def _reviewers_of(app: App, submission: Submission) -> list[User]:
    found = {submission.reviewer.pk: submission.reviewer} if submission.reviewer else {}
    earlier = ReviewMessage.objects.filter(submission__app=app, from_reviewer=True)
    for person in User.objects.filter(pk__in=earlier.values("author")):
        found.setdefault(person.pk, person)
    return [person for person in found.values() if person.is_active]


# --- Mails about decisions ---------------------------------------------------------------------------

_SUBJECTS: Final = {
    SubmissionStatus.APPROVED: "{app} {version} is approved",
    SubmissionStatus.REJECTED: "{app} {version} needs changes",
}


def mail_decision(*, submission: Submission) -> None:
    """Mail the decision on a submission, in its transaction. The portal shows the same."""
    if submission.status in _SUBJECTS:
        people = people_to_notify(submission.app)
        post_each(people, decision_draft(submission), kind=MailKind.REVIEW_DECISIONS)


def decision_draft(submission: Submission) -> MailDraft:
    """The mail about a decision. Reviewers preview it before they decide."""
    app = submission.app
    approved = submission.status == SubmissionStatus.APPROVED
    listed = app.suspended_at is None and (approved or app.approved_version_id is not None)
    context = {
        "app": app,
        "submission": submission,
        "approved": approved,
        "listed": listed,
        "listing": f"{settings.BASE_URL}/marketplace/{app.slug}/" if approved and listed else "",
        "failed": failed_criteria(submission),
        "review_page": f"{settings.BASE_URL}/portal/apps/{app.slug}/review/",
    }
    subject = _SUBJECTS[SubmissionStatus(submission.status)].format(app=app.name, version=submission.version)
    return MailDraft(subject, "marketplace/mail/decision.txt", context)


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
