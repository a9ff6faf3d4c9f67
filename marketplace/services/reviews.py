"""Changes the status of apps, by reviews (contract, sections 2 and 9). No other code does.

    DRAFT --submit--> PENDING_REVIEW --approve--> APPROVED
      ^                     |                        |
      +---reject, withdraw--+                        |
      +--------------an edit (`reopen`)--------------+

A manifest that waits for the next version is submitted from APPROVED; `versions` puts an earlier version back.

Each function locks the app's row first, then the submission's, and writes an entry to the review log. It raises
`Conflict` if the current state doesn't allow the step. Reviewers can't decide on their own apps, whatever their rights.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import User
from accounts.services import security_log
from accounts.services.confirmation import require_confirmed
from common.errors import Coded, Conflict, ErrorDetail, Invalid
from marketplace import rules
from marketplace.access import require_not_a_member, require_role
from marketplace.enums import AppStatus, ReleaseMode, ReviewKind, SubmissionStatus
from marketplace.models import FROZEN_FIELDS, App, AppVersion, ReviewEntry, Submission
from marketplace.queries import scope_changes
from marketplace.services import releases, review_messages
from marketplace.services.locks import lock_app
from marketplace.signals import app_approved, app_reinstated, app_submitted, app_suspended, submission_closed

Check = Callable[[App], Iterable[ErrorDetail]]
"""A check by a higher-level app for what a submission lacks. It runs with the app's row locked, so it must be fast."""

NOTES_MISSING: Final = "Explain what has to change, here or in the note on a failed criterion."

SECURITY_KINDS: Final = {
    ReviewKind.SUBMITTED: SecurityEventKind.APP_SUBMITTED,
    ReviewKind.APPROVED: SecurityEventKind.APP_APPROVED,
    ReviewKind.REJECTED: SecurityEventKind.APP_REJECTED,
    ReviewKind.SUSPENDED: SecurityEventKind.APP_SUSPENDED,
    ReviewKind.REINSTATED: SecurityEventKind.APP_REINSTATED,
}

_REFUSED_SUBMIT: Final = {
    AppStatus.PENDING_REVIEW: Coded("The app is already in review.", code="already_in_review"),
    AppStatus.APPROVED: Coded(
        "This version is already approved. Change the app before you submit it again.",
        code="already_approved",
    ),
}
_DECIDED: Final = {
    SubmissionStatus.APPROVED: "This submission has already been approved.",
    SubmissionStatus.REJECTED: "This submission has already been rejected.",
    SubmissionStatus.WITHDRAWN: "The developer has withdrawn this submission.",
}


def _is_draft(app: App) -> bool:
    return app.status == AppStatus.DRAFT


def submit(
    *,
    app: App,
    developer: User,
    version: str = "",
    how_to_test: str = "",
    scope_reason: str = "",
    checks: Iterable[Check] = (),
    may_submit: Callable[[App], bool] = _is_draft,
    release: ReleaseMode = ReleaseMode.ALL,
    now: datetime | None = None,
) -> Submission:
    """Submit the working copy for review, as `version` unless that is empty. It can't be edited until the decision.

    `scope_reason` is shown to merchants, and only kept if the app asks for more scopes than were approved. `checks` add problems
    that higher-level apps find; `may_submit` may allow more than drafts; `release` is that of `Submission`.
    Raises `Invalid` with all problems, `Conflict` for another status, `NotFound` for another developer's app, and `NotAllowed` until
    the developer has confirmed the e-mail address.
    """
    require_confirmed(developer)
    now = now or timezone.now()
    remarks = {"how_to_test": how_to_test.strip(), "scope_reason": scope_reason.strip()}
    rules.check(remarks | ({"version": version} if version else {}))
    # Outside of the transaction, because a name lookup takes time. A concurrent edit checks its own URL.
    unreachable = rules.unreachable(app)
    with transaction.atomic():
        locked = lock_app(app)
        require_role(locked, developer)
        releases.require_closed(locked)
        if not may_submit(locked):
            raise Conflict(_REFUSED_SUBMIT[AppStatus(locked.status)])
        _require_complete(missing(locked, checks, unreachable))
        locked.version = version or locked.version
        if not (changes := scope_changes(locked))["added_scopes"]:
            remarks["scope_reason"] = ""
        submission = Submission.objects.create(
            app=locked,
            version=locked.version,
            developer_name=locked.developer.name,
            submitted_at=now,
            checks_due_at=now,
            release=release,
            **(remarks | changes),
        )
        _set_status(locked, AppStatus.PENDING_REVIEW, "version")
        _record(submission, ReviewKind.SUBMITTED, developer, now)
        app_submitted.send(Submission, submission=submission, now=now)
    return submission


def _require_complete(problems: list[ErrorDetail]) -> None:
    if problems:
        sentences = " ".join(problem["message"] for problem in problems)
        raise Invalid(f"The app can't be submitted yet. {sentences}", problems, code="app_incomplete")


@transaction.atomic
def withdraw(*, app: App, developer: User, now: datetime | None = None) -> Submission:
    """A developer of the app withdraws the submission. The app is a DRAFT again.

    Raises `Conflict` if the app is not in review, or a reviewer holds the submission.
    """
    locked = lock_app(app)
    require_role(locked, developer)
    submission = _pending(locked)
    if submission is None:
        raise Conflict("The app is not in review.", code="not_in_review")
    if submission.reviewer_id is not None:
        raise Conflict(
            "A reviewer has started on the submission, so it can no longer be withdrawn.",
            code="review_started",
        )
    _set_status(locked, AppStatus.DRAFT)
    _close(submission, SubmissionStatus.WITHDRAWN, developer, now or timezone.now())
    return submission


@transaction.atomic
def take(*, submission: Submission, reviewer: User, now: datetime | None = None) -> Submission:
    """A reviewer takes the submission: no other one can decide on it, and the developer can't withdraw it.

    Repeating it changes nothing. Raises `Conflict` if another reviewer holds it, or the app is the reviewer's own.
    """
    _, locked = _lock(submission)
    _require_reviewable(locked, reviewer)
    if locked.reviewer_id is None:
        now = now or timezone.now()
        locked.reviewer, locked.held_since = reviewer, now
        locked.save(update_fields=["reviewer", "held_since"])
        _record(locked, ReviewKind.TAKEN, reviewer, now)
    return locked


@transaction.atomic
def release(*, submission: Submission, reviewer: User, now: datetime | None = None) -> Submission:
    """The reviewer returns the submission to the queue.

    Changes nothing if no reviewer holds it. Raises `Conflict` if another reviewer does; only an administrator may
    return another reviewer's submission, for instance of one who is away.
    """
    _, locked = _lock(submission)
    if not reviewer.is_superuser:
        _require_free(locked, reviewer)
    if locked.reviewer_id is not None:
        locked.reviewer = locked.held_since = None
        locked.save(update_fields=["reviewer", "held_since"])
        _record(locked, ReviewKind.RELEASED, reviewer, now or timezone.now())
    return locked


@transaction.atomic
def approve(
    *,
    submission: Submission,
    reviewer: User,
    notes: str = "",
    objections: str = "",
    now: datetime | None = None,
) -> AppVersion:
    """Freeze the working copy as the newest approved version, which merchants see from the commit on.

    `objections` is what spoke against the approval, for the review log: "Approved although 2 checks had failed: …".
    Raises `Conflict` if it is already decided, another reviewer holds it, or the app is the reviewer's own.
    """
    notes = _remark("notes", notes)
    app, locked = _lock(submission)
    now = now or timezone.now()  # under the lock, so later than everything written before
    _require_reviewable(locked, reviewer)
    earlier, version = app.approved_version, _freeze(app, locked, now)
    app.approved_version = version
    _set_status(app, AppStatus.APPROVED, "approved_version")
    releases.begin(app=app, version=version, earlier=earlier, mode=locked.release, now=now)
    locked.approved_version = version
    _decide(locked, SubmissionStatus.APPROVED, reviewer, notes, now, objections)
    app_approved.send(App, app=app, version=version, now=now)
    review_messages.mail_decision(submission=locked)
    return version


@transaction.atomic
def reject(
    *,
    submission: Submission,
    reviewer: User,
    notes: str,
    now: datetime | None = None,
) -> Submission:
    """Return the app to its developer with the required changes. It is a DRAFT again.

    `notes` may be empty if a failed criterion has a note: the mail to the developer has both. Raises `Invalid` if both
    are missing, and `Conflict` if it is already decided, another reviewer holds it, or the app is the reviewer's own.
    """
    notes = _remark("notes", notes)
    app, locked = _lock(submission)
    _require_reviewable(locked, reviewer)
    if not notes and not review_messages.criteria_notes(locked):
        raise Invalid.field("notes", NOTES_MISSING)
    _set_status(app, AppStatus.DRAFT)
    _decide(locked, SubmissionStatus.REJECTED, reviewer, notes, now or timezone.now())
    review_messages.mail_decision(submission=locked)
    return locked


@transaction.atomic
def suspend(*, app: App, reviewer: User, reason: str, now: datetime | None = None) -> App:
    """Remove an app from the marketplace and switch its extensions off, in any status.

    Raises `Invalid` without a reason, and `Conflict` if it is already suspended.
    """
    reason = _remark("reason", reason, missing="Give a reason for the suspension.")
    locked = lock_app(app)
    now = now or timezone.now()
    if locked.suspended_at is not None:
        raise Conflict("The app is already suspended.")
    locked.suspended_at, locked.suspension_reason = now, reason
    locked.save(update_fields=["suspended_at", "suspension_reason"])
    _record_of_app(locked, ReviewKind.SUSPENDED, reviewer, now, reason)
    releases.halt_suspended(app=locked, reviewer=reviewer, now=now)
    app_suspended.send(App, app=locked, now=now)
    return locked


@transaction.atomic
def reinstate(*, app: App, reviewer: User, now: datetime | None = None) -> App:
    """Lift a suspension, so that the newest approved version is listed again.

    Raises `Conflict` if the app is not suspended, or is the reviewer's own.
    """
    locked = lock_app(app)
    now = now or timezone.now()
    require_not_a_member(locked, reviewer)
    if locked.suspended_at is None:
        raise Conflict("The app is not suspended.")
    locked.suspended_at, locked.suspension_reason = None, ""
    locked.save(update_fields=["suspended_at", "suspension_reason"])
    _record_of_app(locked, ReviewKind.REINSTATED, reviewer, now)
    app_reinstated.send(App, app=locked, now=now)
    return locked


def missing(app: App, checks: Iterable[Check], unreachable: Iterable[ErrorDetail]) -> list[ErrorDetail]:
    """The problems that block a submission. `unreachable` is the result of `rules.unreachable`."""
    found = rules.incomplete(app)
    found += [problem for problem in unreachable if problem not in found]
    return found + [problem for check in checks for problem in check(app)]


def require_editable(app: App) -> None:
    """For `services.apps`, with the row locked. Raises `Conflict` while the app is in review."""
    if app.status == AppStatus.PENDING_REVIEW:
        raise Conflict(
            "The app is in review and can't be edited until the review is decided.", code="app_in_review"
        )


def reopen(app: App) -> None:
    """For `services.apps`, which saves the row: a frozen field was edited, so the app is a DRAFT again."""
    app.status = AppStatus.DRAFT


def close_deleted(app: App, now: datetime) -> None:
    """For `services.apps`, with the row locked: an app that is deleted leaves the review queue."""
    submission = _pending(app)
    if submission is not None:
        _set_status(app, AppStatus.DRAFT)
        _close(submission, SubmissionStatus.WITHDRAWN, app.developer, now, "The app was deleted.")


def _lock(submission: Submission) -> tuple[App, Submission]:
    """The current app and round, locked. Raises `Conflict` if the round is decided."""
    app = lock_app(submission.app)
    locked = _locked_rounds(app).get(pk=submission.pk)
    if locked.status != SubmissionStatus.PENDING_REVIEW:
        raise Conflict(_DECIDED[SubmissionStatus(locked.status)])
    return app, locked


def _pending(app: App) -> Submission | None:
    return _locked_rounds(app).filter(status=SubmissionStatus.PENDING_REVIEW).first()


def _locked_rounds(app: App) -> QuerySet[Submission]:
    """Their `app` is this one, as for all that a related manager finds."""
    return app.submissions.select_for_update(of=("self",), no_key=True).select_related("reviewer")


def _require_reviewable(submission: Submission, reviewer: User) -> None:
    require_not_a_member(submission.app, reviewer)
    _require_free(submission, reviewer)


def _require_free(submission: Submission, reviewer: User) -> None:
    holder = submission.reviewer
    if holder is not None and holder != reviewer:
        raise Conflict(f"{holder.name} is reviewing this submission.")


def _freeze(app: App, submission: Submission, now: datetime) -> AppVersion:
    newest = app.versions.aggregate(number=Max("number"))["number"] or 0
    return AppVersion.objects.create(
        app=app,
        number=newest + 1,
        approved_at=now,
        scope_reason=submission.scope_reason,
        developer_name=submission.shown_developer,
        **{name: getattr(app, name) for name in FROZEN_FIELDS},
    )


def _set_status(app: App, status: AppStatus, *also_changed: str) -> None:
    app.status = status
    app.save(update_fields=["status", *also_changed])


def _decide(
    submission: Submission,
    status: SubmissionStatus,
    reviewer: User,
    notes: str,
    now: datetime,
    objections: str = "",
) -> None:
    submission.reviewer, submission.notes = reviewer, notes
    _close(submission, status, reviewer, now, "\n\n".join(filter(None, [notes, objections])))


def _close(
    submission: Submission, status: SubmissionStatus, actor: User, now: datetime, note: str = ""
) -> None:
    submission.status, submission.decided_at = status, now
    submission.save(update_fields=["status", "decided_at", "reviewer", "notes", "approved_version"])
    _record(submission, ReviewKind(status.value), actor, now, note)
    submission_closed.send(Submission, submission=submission, now=now)


def _remark(field: str, text: str, *, missing: str = "") -> str:
    """The trimmed text. Raises `Invalid`; an empty text is invalid if `missing` has a message for it."""
    text = text.strip()
    if missing and not text:
        raise Invalid.field(field, missing)
    rules.check({field: text})
    return text


def _record(submission: Submission, kind: ReviewKind, actor: User, now: datetime, note: str = "") -> None:
    _record_of_app(submission.app, kind, actor, now, note, submission)


def _record_of_app(
    app: App,
    kind: ReviewKind,
    actor: User,
    now: datetime,
    note: str = "",
    submission: Submission | None = None,
) -> None:
    ReviewEntry.objects.create(app=app, submission=submission, kind=kind, actor=actor, at=now, note=note)
    if security_kind := SECURITY_KINDS.get(kind):
        security_log.record(user_id=app.developer_id, kind=security_kind, about=app.name, actor=actor)
