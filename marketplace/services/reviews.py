"""The one door for an app's status (specification, "App status"; wire contract, sections 2 and 9).

    DRAFT --submit--> PENDING_REVIEW --approve--> APPROVED
      ^                     |                        |
      +---reject, withdraw--+                        |
      +--------------an edit (`reopen`)--------------+

Each act locks the app's row first, then the submission's, and is written into the review log. What the state
of things forbids is a `Conflict`. Nobody decides on an app of their own, whatever rights they have.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from accounts.models import User
from common.errors import Conflict, ErrorDetail, Invalid, NotFound
from marketplace import rules
from marketplace.enums import AppStatus, ReviewKind, SubmissionStatus
from marketplace.models import FROZEN_FIELDS, App, AppVersion, ReviewEntry, Submission
from marketplace.scopes import in_order
from marketplace.services import telling
from marketplace.services.locks import lock_app
from marketplace.signals import app_approved, app_reinstated, app_suspended

Check = Callable[[App], Iterable[ErrorDetail]]
"""What a floor above knows to be missing from a submission. Runs with the app's row locked: reads, no waiting."""

Findings = dict[str, dict[str, str]]
"""By `Criterion`: `{"security": {"verdict": "FAIL", "note": "..."}}`."""

_REFUSED_SUBMIT: Final = {
    AppStatus.PENDING_REVIEW: "The app is in review already.",
    AppStatus.APPROVED: "The app is approved as it is. Change it before you submit it again.",
}
_DECIDED: Final = {
    SubmissionStatus.APPROVED: "This submission has been approved already.",
    SubmissionStatus.REJECTED: "This submission has been rejected already.",
    SubmissionStatus.WITHDRAWN: "The developer has withdrawn this submission.",
}


def submit(
    *,
    app: App,
    developer: User,
    how_to_test: str = "",
    scope_reason: str = "",
    checks: Iterable[Check] = (),
    now: datetime | None = None,
) -> Submission:
    """Ask for a review of the working copy, which can't be edited until that is decided.

    `scope_reason` is kept only where the app asks for more than was approved: merchants read it as why.
    `checks` add what floors above find missing. Raises `Invalid` with everything that is missing, `Conflict`
    unless the app is a DRAFT, `NotFound` for an app that is not the developer's.
    """
    now = now or timezone.now()
    remarks = {"how_to_test": how_to_test.strip(), "scope_reason": scope_reason.strip()}
    rules.check(remarks)
    # Outside of the transaction, since looking a name up takes time. An edit meanwhile looks up its own.
    unreachable = rules.unreachable(app) if app.status == AppStatus.DRAFT else []
    with transaction.atomic():
        locked = lock_app(app)
        if locked.developer_id != developer.pk:
            raise NotFound("App not found")
        if locked.status != AppStatus.DRAFT:
            raise Conflict(_REFUSED_SUBMIT[AppStatus(locked.status)])
        if found := missing(locked, checks, unreachable):
            sentences = " ".join(problem["message"] for problem in found)
            raise Invalid(f"The app can't be submitted yet. {sentences}", found)
        changes = scope_changes(locked)
        if not changes["added_scopes"]:
            remarks["scope_reason"] = ""
        submission = Submission.objects.create(
            app=locked, version=locked.version, submitted_at=now, **remarks, **changes
        )
        _set_status(locked, AppStatus.PENDING_REVIEW)
        _record(submission, ReviewKind.SUBMITTED, developer, now)
    return submission


@transaction.atomic
def withdraw(*, app: App, now: datetime | None = None) -> Submission:
    """The developer takes the submission back; the app is a DRAFT again.

    Raises `Conflict` where nothing is in review, and as soon as a reviewer holds it.
    """
    locked = lock_app(app)
    submission = _pending(locked)
    if submission is None:
        raise Conflict("The app is not in review.")
    if submission.reviewer_id is not None:
        raise Conflict("A reviewer has begun to review the app, so it can't be withdrawn any more.")
    _set_status(locked, AppStatus.DRAFT)
    _close(submission, SubmissionStatus.WITHDRAWN, locked.developer, now or timezone.now())
    return submission


@transaction.atomic
def take(*, submission: Submission, reviewer: User, now: datetime | None = None) -> Submission:
    """A reviewer holds the submission from now on: no other can decide it, nor the developer withdraw it.

    Taking what one holds already changes nothing. Raises `Conflict` where another reviewer holds it or the app is
    the reviewer's own.
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
    """The reviewer puts the submission back into the queue.

    Putting back what nobody holds changes nothing. Raises `Conflict` where another reviewer holds it; only an
    administrator may end another's hold, so that no app waits for somebody who is away.
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
    findings: Findings | None = None,
    now: datetime | None = None,
) -> AppVersion:
    """Freeze the working copy as the newest approved version, which merchants see from the commit on.

    `findings`, where given, replace the submission's. Raises `Conflict` where it is decided already,
    another reviewer holds it or the app is the reviewer's own.
    """
    notes = _remark("notes", notes)
    app, locked = _lock(submission)
    now = now or timezone.now()  # after whoever held the lock: what they wrote down came before this
    _require_reviewable(locked, reviewer)
    version = _freeze(app, locked, now)
    app.approved_version = version
    _set_status(app, AppStatus.APPROVED, "approved_version")
    locked.approved_version = version
    _decide(locked, SubmissionStatus.APPROVED, reviewer, notes, findings, now)
    app_approved.send(App, app=app, version=version, now=now)
    telling.tell_of_decision(submission=locked)
    return version


@transaction.atomic
def reject(
    *,
    submission: Submission,
    reviewer: User,
    notes: str,
    findings: Findings | None = None,
    now: datetime | None = None,
) -> Submission:
    """Send the app back to its developer, with what has to change. It is a DRAFT again.

    Raises `Invalid` without notes, `Conflict` where it is decided already, another reviewer holds it or the app is the
    reviewer's own.
    """
    notes = _remark("notes", notes, missing="Say what has to change.")
    app, locked = _lock(submission)
    _require_reviewable(locked, reviewer)
    _set_status(app, AppStatus.DRAFT)
    _decide(locked, SubmissionStatus.REJECTED, reviewer, notes, findings, now or timezone.now())
    telling.tell_of_decision(submission=locked)
    return locked


@transaction.atomic
def suspend(*, app: App, reviewer: User, reason: str, now: datetime | None = None) -> App:
    """Take an app off the marketplace and switch its extensions off, whatever its status is.

    Raises `Invalid` without a reason, `Conflict` where it is suspended already.
    """
    reason = _remark("reason", reason, missing="Say why the app is suspended.")
    locked = lock_app(app)
    now = now or timezone.now()
    if locked.suspended_at is not None:
        raise Conflict("The app is suspended already.")
    locked.suspended_at, locked.suspension_reason = now, reason
    locked.save(update_fields=["suspended_at", "suspension_reason"])
    _record_of_app(locked, ReviewKind.SUSPENDED, reviewer, now, reason)
    app_suspended.send(App, app=locked, now=now)
    return locked


@transaction.atomic
def reinstate(*, app: App, reviewer: User, now: datetime | None = None) -> App:
    """Lift a suspension: the newest approved version is listed again.

    Raises `Conflict` where there is none, or the app is the reviewer's own.
    """
    locked = lock_app(app)
    now = now or timezone.now()
    _require_another(locked, reviewer)
    if locked.suspended_at is None:
        raise Conflict("The app is not suspended.")
    locked.suspended_at, locked.suspension_reason = None, ""
    locked.save(update_fields=["suspended_at", "suspension_reason"])
    _record_of_app(locked, ReviewKind.REINSTATED, reviewer, now)
    app_reinstated.send(App, app=locked, now=now)
    return locked


def missing(app: App, checks: Iterable[Check], unreachable: Iterable[ErrorDetail]) -> list[ErrorDetail]:
    """What keeps the app from being submitted; `unreachable` is what `rules.unreachable` found a moment ago."""
    found = rules.incomplete(app)
    found += [problem for problem in unreachable if problem not in found]
    return found + [problem for check in checks for problem in check(app)]


def require_editable(app: App) -> None:
    """For `services.apps`, with the row locked. Raises `Conflict` while the app is in review."""
    if app.status == AppStatus.PENDING_REVIEW:
        raise Conflict("The app is in review and can't be edited until that is decided.")


def reopen(app: App) -> None:
    """For `services.apps`, which saves the row: what the approval froze was edited, so this is a DRAFT."""
    if app.status == AppStatus.APPROVED:
        app.status = AppStatus.DRAFT


def close_deleted(app: App, now: datetime) -> None:
    """For `services.apps`, with the row locked: an app that is deleted in review leaves the queue, held or not."""
    submission = _pending(app)
    if submission is not None:
        _set_status(app, AppStatus.DRAFT)
        _close(submission, SubmissionStatus.WITHDRAWN, app.developer, now, "The app was deleted.")


def scope_changes(app: App) -> dict[str, list[str]]:
    """What the working copy asks for and what it gives up, against the newest approved version."""
    wanted, approved = set(app.scopes), set(app.approved_scopes)
    return {"added_scopes": in_order(wanted - approved), "removed_scopes": in_order(approved - wanted)}


def _lock(submission: Submission) -> tuple[App, Submission]:
    """The app and the round as they are now. Raises `Conflict` for a round that is decided."""
    app = lock_app(submission.app)
    locked = _locked_rounds(app).get(pk=submission.pk)
    locked.app = app
    if locked.status != SubmissionStatus.PENDING_REVIEW:
        raise Conflict(_DECIDED[SubmissionStatus(locked.status)])
    return app, locked


def _pending(app: App) -> Submission | None:
    submission = _locked_rounds(app).filter(status=SubmissionStatus.PENDING_REVIEW).first()
    if submission is not None:
        submission.app = app
    return submission


def _locked_rounds(app: App) -> QuerySet[Submission]:
    return app.submissions.select_for_update(of=("self",), no_key=True).select_related("reviewer")


def _require_reviewable(submission: Submission, reviewer: User) -> None:
    _require_another(submission.app, reviewer)
    _require_free(submission, reviewer)


def _require_another(app: App, reviewer: User) -> None:
    if app.developer_id == reviewer.pk:
        raise Conflict("This app is your own. Somebody else has to decide on it.")


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
    findings: Findings | None,
    now: datetime,
) -> None:
    submission.reviewer, submission.notes = reviewer, notes
    if findings is not None:
        submission.findings = findings
    _close(submission, status, reviewer, now, notes)


def _close(
    submission: Submission, status: SubmissionStatus, actor: User, now: datetime, note: str = ""
) -> None:
    submission.status, submission.decided_at = status, now
    submission.save(
        update_fields=["status", "decided_at", "reviewer", "notes", "findings", "approved_version"]
    )
    _record(submission, ReviewKind(status.value), actor, now, note)


def _remark(field: str, text: str, *, missing: str = "") -> str:
    """Trimmed. Raises `Invalid`, with `missing` where there must be one and there is none."""
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
