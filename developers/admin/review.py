"""The page of a submission, and what a reviewer does there: take, judge, check, approve, reject."""

from collections.abc import Iterable
from copy import copy
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import Conflict
from developers.admin.access import context, current_user, find_submission, submission_page
from developers.admin.forms import DecisionForm, FindingsForm, RejectionForm
from developers.review import checks, consequences, criteria, queue
from developers.review.reviewers import MAY_REVIEW
from developers.review.subject import asked_scopes, manifests_of, subject_of
from marketplace.enums import SubmissionStatus, Verdict
from marketplace.models import Submission
from marketplace.services import reviews
from marketplace.services.findings import record_findings
from marketplace.services.telling import Mail, decision_mail

UNPROCESSABLE = 422
PAGE = "admin:marketplace_submission_change"


def show(request: HttpRequest, object_id: str) -> HttpResponse:
    """Opening it changes nothing. For all who may see submissions; what to press is for reviewers."""
    user = current_user(request)
    if not (user.has_perm("marketplace.view_submission") or user.has_perm(MAY_REVIEW)):
        raise PermissionDenied("Your account may not see submissions. An administrator can let you.")
    submission = find_submission(object_id)
    return _page(request, submission, FindingsForm(submission=submission))


@submission_page
@require_POST
def take(request: HttpRequest, submission: Submission) -> HttpResponse:
    reviews.take(submission=submission, reviewer=current_user(request))
    return redirect(PAGE, submission.pk)


@submission_page
@require_POST
def release(request: HttpRequest, submission: Submission) -> HttpResponse:
    reviews.release(submission=submission, reviewer=current_user(request))
    messages.success(request, f"{submission.app.name} is back in the queue.")
    return redirect(PAGE, submission.pk)


@submission_page
@require_POST
def findings(request: HttpRequest, submission: Submission) -> HttpResponse:
    """Every button of the page saves what stands in the form; the one that was pressed says where to go on."""
    form = FindingsForm(request.POST, submission=submission)
    if not form.is_valid():
        return _page(request, submission, form, status=UNPROCESSABLE)
    record_findings(submission=submission, reviewer=current_user(request), findings=form.findings())
    return _go_on(request, submission)


def _go_on(request: HttpRequest, submission: Submission) -> HttpResponse:
    pressed: QueryDict = request.POST
    if "approve" in pressed or "reject" in pressed:
        act = "approve" if "approve" in pressed else "reject"
        return redirect(f"admin:marketplace_submission_{act}", submission.pk)
    if "check" in pressed:
        checks.run_checks(submission=submission)
        messages.success(request, f"The checks have run: {checks.in_short(submission).lower()}.")
    else:
        messages.success(request, "Your findings are saved.")
    return redirect(PAGE, submission.pk)


@submission_page
@require_http_methods(["GET", "HEAD", "POST"])
def approve(request: HttpRequest, submission: Submission) -> HttpResponse:
    """Says what will follow and asks. POST with `preview` shows the mail with the notes so far."""
    _require_open(request, submission)
    form = DecisionForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid() and "preview" not in request.POST:
        reviews.approve(
            submission=submission, reviewer=current_user(request), notes=form.cleaned_data["notes"]
        )
        messages.success(request, f"{submission} is approved.")
        return redirect(PAGE, submission.pk)
    notes = form.cleaned_data.get("notes", "") if form.is_bound else ""
    return _confirm(
        request,
        "Approve",
        submission,
        form,
        follows=consequences.of_approval(submission),
        failing=criteria.judged(submission, Verdict.FAIL),
        unjudged=criteria.judged(submission, ""),
        mail=_mail(submission, SubmissionStatus.APPROVED, notes),
    )


@submission_page
@require_http_methods(["GET", "HEAD", "POST"])
def reject(request: HttpRequest, submission: Submission) -> HttpResponse:
    """As `approve`; what is ticked of the usual reasons goes into the notes."""
    _require_open(request, submission)
    preview = "preview" in request.POST
    form = RejectionForm(request.POST if request.method == "POST" else None, notes_required=not preview)
    notes = ""
    if form.is_bound and form.is_valid():
        notes = form.cleaned_data["notes"]
        if not preview:
            reviews.reject(submission=submission, reviewer=current_user(request), notes=notes)
            messages.success(request, f"{submission} is rejected.")
            return redirect(PAGE, submission.pk)
        form = RejectionForm(initial={"notes": notes})  # the reasons have become part of the notes
    return _confirm(
        request,
        "Reject",
        submission,
        form,
        follows=consequences.of_rejection(submission),
        mail=_mail(submission, SubmissionStatus.REJECTED, notes),
    )


def _require_open(request: HttpRequest, submission: Submission) -> None:
    """Nobody is asked to confirm what can't be done: the services refuse it too."""
    if submission.status != SubmissionStatus.PENDING_REVIEW:
        raise Conflict(f"This submission is decided: {submission.get_status_display().lower()}.")
    if submission.reviewer is not None and submission.reviewer != request.user:
        raise Conflict(f"{submission.reviewer.name} holds this submission.")


def _confirm(
    request: HttpRequest,
    verb: str,
    submission: Submission,
    form: DecisionForm,
    *,
    follows: Iterable[str],
    **more: Any,
) -> HttpResponse:
    values = {
        "verb": verb,
        "submission": submission,
        "app": submission.app,
        "form": form,
        "follows": list(follows),
        **more,
    }
    return render(
        request,
        f"admin/review/{verb.lower()}.html",
        context(request, f"{verb} {submission}", **values),
        status=UNPROCESSABLE if form.is_bound and form.errors else 200,
    )


def _mail(submission: Submission, status: SubmissionStatus, notes: str) -> Mail:
    """What the developer would be told."""
    imagined = copy(submission)
    imagined.status, imagined.notes = status, notes
    return decision_mail(imagined)


def _page(
    request: HttpRequest, submission: Submission, form: FindingsForm, status: int = 200
) -> HttpResponse:
    user = current_user(request)
    app = submission.app
    is_open = submission.status == SubmissionStatus.PENDING_REVIEW
    may_review = user.has_perm(MAY_REVIEW)
    subject = subject_of(submission)
    others = app.submissions.exclude(pk=submission.pk).select_related("reviewer")
    values = {
        "submission": submission,
        "app": app,
        "form": form,
        "is_open": is_open,
        "holds": submission.reviewer_id == user.pk,
        "may_review": may_review,
        "may_judge": may_review and is_open and submission.reviewer_id in (None, user.pk),
        "may_release": may_review and is_open and (submission.reviewer_id == user.pk or user.is_superuser),
        "kind": queue.kind(queue.with_kind(Submission.objects.filter(pk=submission.pk)).get()),
        "subject": subject,
        "changes": subject.changes,
        "manifests": manifests_of(submission, subject),
        "scopes": asked_scopes(submission, subject.fields),
        "screenshots": subject.screenshot_paths,
        "results": checks.results_of(submission),
        "checked_at": checks.checked_at(submission),
        "earlier": others.filter(submitted_at__lt=submission.submitted_at).order_by("-submitted_at", "-id"),
        "log": app.review_log.select_related("actor", "submission").order_by("-at", "-id"),
        "next": queue.after(submission),
    }
    return render(
        request, "admin/review/page.html", context(request, str(submission), **values), status=status
    )
