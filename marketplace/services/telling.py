"""Telling a developer by e-mail what a reviewer has decided."""

import logging
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from kombu.exceptions import OperationalError

from marketplace import tasks
from marketplace.enums import Criterion, SubmissionStatus, Verdict
from marketplace.models import Submission

log = logging.getLogger(__name__)

_SUBJECTS: Final = {
    SubmissionStatus.APPROVED: "{app} {version} is approved",
    SubmissionStatus.REJECTED: "{app} {version} needs changes",
}


def tell_of_decision(*, submission: Submission) -> None:
    """Have the mail sent once the decision is committed. It never stands in the way of the decision."""
    transaction.on_commit(partial(_ask_a_worker, submission.pk))


def mail_decision(*, submission_id: UUID | str) -> None:
    """Mail the decision on a submission; nothing where there is none. The portal shows the same."""
    submission = Submission.objects.select_related("app__developer").filter(pk=submission_id).first()
    if submission is None or submission.status not in _SUBJECTS:
        return
    mail = decision_mail(submission)
    send_mail(mail.subject, mail.text, None, [submission.app.developer.email])


@dataclass(frozen=True, slots=True)
class Mail:
    subject: str
    text: str


def decision_mail(submission: Submission) -> Mail:
    """What the developer is told of a decision; also of one that is only being thought of."""
    app = submission.app
    approved = submission.status == SubmissionStatus.APPROVED
    context = {
        "app": app,
        "submission": submission,
        "approved": approved,
        "listed": app.suspended_at is None and (approved or app.approved_version_id is not None),
        "failed": failed_criteria(submission),
        "review_page": f"{settings.BASE_URL}/portal/apps/{app.slug}/review/",
    }
    subject = _SUBJECTS[SubmissionStatus(submission.status)].format(app=app.name, version=submission.version)
    return Mail(subject, render_to_string("marketplace/mail/decision.txt", context))


def failed_criteria(submission: Submission) -> list[tuple[str, str]]:
    """The criteria that a review found wanting, as (label, the reviewer's note), in their order."""
    return [
        (str(criterion.label), submission.findings[criterion].get("note", ""))
        for criterion in Criterion
        if submission.findings.get(criterion, {}).get("verdict") == Verdict.FAIL
    ]


def _ask_a_worker(submission_id: UUID) -> None:
    try:
        tasks.mail_decision.delay(str(submission_id))
    except OperationalError:
        log.warning("the broker does not answer: the mail is sent from here", exc_info=True)
        _mail_from_here(submission_id)


def _mail_from_here(submission_id: UUID) -> None:
    try:
        mail_decision(submission_id=submission_id)
    except Exception:
        log.exception("The developer could not be told of the decision on submission %s.", submission_id)
