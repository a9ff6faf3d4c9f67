"""The page of a submission and its actions: start a review, release, judge, check, try, write, approve, reject."""

from collections.abc import Iterable
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.mail import EmailMultiAlternatives
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.services.outbox import addressed
from common import strangers
from common.errors import Conflict
from common.strangers import NoPlace, may_wait_for_strangers
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, may_save, refusals_shown, saved, sent_again
from common.web.live import live_part, live_version
from common.web.methods import GET_OR_POST, require_safe
from conformance.enums import Outcome
from developers.review import check_runs, checks, decision_effects, risks, submissions
from developers.review.admin import forms
from developers.review.admin.access import context, current_user, find_submission, submission_page
from developers.review.admin.forms import DecisionForm, FindingsForm, RejectionForm, ReviewerMessageForm
from developers.review.reviewers import MAY_REVIEW, MAY_SUSPEND
from extensions.enums import ExtensionType
from extensions.queries import extensions_on
from installations.models import Installation
from installations.queries import review_installation
from installations.services.sandbox import review_install, review_uninstall
from marketplace.access import require_not_a_member
from marketplace.enums import SubmissionStatus, Verdict
from marketplace.listing import authorize_address
from marketplace.models import Submission
from marketplace.queries import conversation_about, latest_submission
from marketplace.services import reviews
from marketplace.services.findings import record_findings
from marketplace.services.review_messages import criteria_notes, decision_draft, may_write, send_message
from stores.addresses import store_url

NEWEST_SHOWN = 4  # turns of the conversation; earlier ones are folded
PAGE = "admin:marketplace_submission_change"


def show(request: HttpRequest, object_id: str) -> HttpResponse:
    """The page for everyone who may see submissions. Only reviewers see the actions. Opening it changes nothing."""
    user = current_user(request)
    if not (user.has_perm("marketplace.view_submission") or user.has_perm(MAY_REVIEW)):
        raise PermissionDenied(
            "Your account doesn't have permission to see submissions. Ask an administrator."
        )
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
@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
def findings(request: HttpRequest, submission: Submission) -> HttpResponse:
    """Every button of the page saves the form. The button's name decides which page follows."""
    if (data := typed(request)) is None:
        return redirect(PAGE, submission.pk)
    form = FindingsForm(data, submission=submission)
    if may_save(request, form):
        record_findings(submission=submission, reviewer=current_user(request), findings=form.findings())
        return _next_page(request, submission)
    return _page(request, submission, form)


@submission_page
@may_wait_for_strangers
@require_safe
def running_checks(request: HttpRequest, submission: Submission) -> HttpResponse:
    """The results of the checks, for the page's script, which asks again and again while they run.

    If no worker has taken them in time, this request runs them: a reviewer doesn't wait for a worker that isn't there.
    """
    if check_runs.are_overdue(submission):
        with suppress(strangers.NoPlace):  # the script asks again
            strangers.require(submission.app_id)
            check_runs.run_due_checks(submission_id=submission.pk, lasts=check_runs.BEHAVIOR_IN_REQUEST)
            submission = find_submission(str(submission.pk))
    return live_part(request, "developers/review/checks_results.html", _checks(submission))


def _checks(submission: Submission) -> dict[str, Any]:
    """What the card of the checks shows."""
    results = checks.results_of(submission)
    good = (Outcome.PASS, Outcome.SKIPPED)
    return {
        "submission": submission,
        "running": checks.are_running(submission),
        "results": results,
        "to_see": [result for result in results if result.outcome not in good],
        "passed": [result for result in results if result.outcome in good],
        "summary": checks.summary_of(submission),
        "checked_at": checks.checked_at(submission),
        "version": live_version(submission.checks.get("at"), checks.are_running(submission)),
    }


@submission_page
@require_http_methods(GET_OR_POST)
def message(request: HttpRequest, submission: Submission) -> HttpResponse:
    if (data := typed(request)) is None:
        return redirect(PAGE, submission.pk)
    form, place = ReviewerMessageForm(data), _at(submission, "conversation")

    def save() -> HttpResponse:
        send_message(submission=submission, author=current_user(request), text=form.cleaned_data["text"])
        return done(request, f"Message sent to {submission.app.developer.name}.", place)

    again = partial(sent_again, request, place)
    return saved(request, form, save, conflict="text", again=again) or _page(
        request, submission, FindingsForm(submission=submission), message_form=form
    )


@submission_page
@require_POST
def install(request: HttpRequest, submission: Submission) -> HttpResponse:
    """Install what was submitted on the reviewer's test store."""
    _require_open(request, submission)
    review_install(app=submission.app, reviewer=current_user(request))
    messages.success(request, f"{submission.app.name} is installed on your test store.")
    return redirect(_at(submission, "try"))


@submission_page
@require_POST
def uninstall(request: HttpRequest, submission: Submission) -> HttpResponse:
    review_uninstall(app=submission.app, reviewer=current_user(request))
    messages.success(request, f"{submission.app.name} is uninstalled from your test store.")
    return redirect(_at(submission, "try"))


def _at(submission: Submission, part: str) -> str:
    return f"{resolve_url(PAGE, submission.pk)}#{part}"


def _next_page(request: HttpRequest, submission: Submission) -> HttpResponse:
    pressed: QueryDict = request.POST
    if "approve" in pressed or "reject" in pressed:
        act = "approve" if "approve" in pressed else "reject"
        return redirect(f"admin:marketplace_submission_{act}", submission.pk)
    if "check" in pressed:
        _check(request, submission)
    else:
        messages.success(request, "Findings saved.")
    return redirect(PAGE, submission.pk)


def _check(request: HttpRequest, submission: Submission) -> None:
    with refusals_shown(request, NoPlace):
        check_runs.run_checks(submission=submission, by=current_user(request))
        messages.success(request, f"Checks finished: {checks.summary_of(submission).lower()}.")


@submission_page
@require_http_methods(GET_OR_POST)
def approve(request: HttpRequest, submission: Submission) -> HttpResponse:
    """Lists the effects and asks for confirmation. POST with `preview` shows the e-mail with the notes so far."""
    _require_open(request, submission)
    form = DecisionForm(typed(request))
    if _is_decided(request) and form.is_valid():
        reviews.approve(
            submission=submission,
            reviewer=current_user(request),
            notes=form.cleaned_data["notes"],
            objections=checks.objections(submission),
        )
        return done(request, f"{submission} is approved.", PAGE, submission.pk)
    notes = form.cleaned_data["notes"] if form.is_valid() else ""
    return _confirm(
        request,
        "Approve",
        submission,
        form,
        effects=decision_effects.of_approval(submission),
        failing=forms.judged(submission, Verdict.FAIL),
        unjudged=forms.judged(submission, ""),
        failed_checks=[each for each in checks.results_of(submission) if each.outcome == Outcome.FAIL],
        warned_checks=checks.titles(submission, Outcome.WARN),
        objections=checks.objections(submission),
        mail=_mail(submission, SubmissionStatus.APPROVED, notes),
    )


@submission_page
@require_http_methods(GET_OR_POST)
def reject(request: HttpRequest, submission: Submission) -> HttpResponse:
    """Like `approve`. Selected common reasons are added to the notes."""
    _require_open(request, submission)
    decided = _is_decided(request)
    needs_notes = decided and not criteria_notes(submission)
    form = RejectionForm(typed(request), notes_required=needs_notes)
    notes = ""
    if form.is_valid():
        notes = form.cleaned_data["notes"]
        if decided:
            reviews.reject(submission=submission, reviewer=current_user(request), notes=notes)
            return done(request, f"{submission} is rejected.", PAGE, submission.pk)
        form = RejectionForm(initial={"notes": notes})  # the notes now contain the reasons
    return _confirm(
        request,
        "Reject",
        submission,
        form,
        effects=decision_effects.of_rejection(submission),
        mail=_mail(submission, SubmissionStatus.REJECTED, notes),
    )


def _is_decided(request: HttpRequest) -> bool:
    return request.method == "POST" and "preview" not in request.POST


def _require_open(request: HttpRequest, submission: Submission) -> None:
    """Raises `Conflict` or `NotAllowed` before asking for a confirmation that the service would refuse."""
    require_not_a_member(submission.app, current_user(request))
    if submission.status != SubmissionStatus.PENDING_REVIEW:
        raise Conflict(
            f"This submission has already been decided: {submission.get_status_display().lower()}."
        )
    if submission.reviewer is not None and submission.reviewer != request.user:
        raise Conflict(f"{submission.reviewer.name} is reviewing this submission.")


def _confirm(
    request: HttpRequest,
    verb: str,
    submission: Submission,
    form: DecisionForm,
    *,
    effects: Iterable[str],
    **more: Any,
) -> HttpResponse:
    values = {
        "verb": verb,
        "submission": submission,
        "app": submission.app,
        "form": form,
        "effects": list(effects),
        **more,
    }
    values = context(request, f"{verb} {submission}", **values)
    return form_page(request, f"developers/review/{verb.lower()}.html", values)


def _mail(submission: Submission, status: SubmissionStatus, notes: str) -> EmailMultiAlternatives:
    """The e-mail that the owner would receive."""
    decided = copy(submission)
    decided.status, decided.notes = status, notes
    owner = decided.app.developer
    return addressed(decision_draft(decided), owner.email, owner).as_mail()


def _page(
    request: HttpRequest,
    submission: Submission,
    form: FindingsForm,
    message_form: ReviewerMessageForm | None = None,
) -> HttpResponse:
    user = current_user(request)
    app = submission.app
    is_open = submission.status == SubmissionStatus.PENDING_REVIEW
    may_review = user.has_perm(MAY_REVIEW)
    content = submissions.content_of(submission)
    others = app.submissions.exclude(pk=submission.pk).select_related("reviewer")
    installation = review_installation(app=app, reviewer=user) if is_open and may_review else None
    approved = submission.status == SubmissionStatus.APPROVED
    turns = conversation_about(app, for_reviewers=True)
    values = {
        "submission": submission,
        "app": app,
        "form": form,
        "message_form": message_form or ReviewerMessageForm(),
        "may_write": may_review and may_write(submission, latest_submission(app)),
        "is_open": is_open,
        "holds": submission.reviewer_id == user.pk,
        "may_review": may_review,
        "may_suspend": user.has_perm(MAY_SUSPEND),
        "may_judge": may_review and is_open and submission.reviewer_id in (None, user.pk),
        "may_release": may_review and is_open and (submission.reviewer_id == user.pk or user.is_superuser),
        "kind": submissions.kind(submissions.with_kind(Submission.objects.filter(pk=submission.pk)).get()),
        "content": content,
        "changes": content.changes,
        "manifests": submissions.manifests_of(submission, content),
        "scopes": submissions.requested_scopes(submission, content.fields),
        "unused": risks.unused_scopes(submission.app),
        "screenshots": content.screenshot_paths,
        "installation": installation,
        "trial": trial_links(installation) if installation else [],
        "objections": checks.objections(submission) if approved else "",
        "earlier": others.filter(submitted_at__lt=submission.submitted_at).order_by("-submitted_at", "-id"),
        "log": app.review_log.select_related("actor", "submission").order_by("-at", "-id"),
        "older_turns": turns[:-NEWEST_SHOWN],
        "newest_turns": turns[-NEWEST_SHOWN:],
        "next": submissions.next_after(submission),
        **_checks(submission),
    }
    values = context(request, str(submission), **values)
    return form_page(request, "developers/review/page.html", values, form=message_form or form)


# Where a reviewer tries an app: the pages of the test store on which it runs.


def trial_links(installation: Installation) -> list[tuple[str, str]]:
    """Labels and URLs, the app's own page first. Blocks are placed in the page editor, so pages are among them."""
    store = installation.business
    links = [
        (
            "Open the app through the consent page",
            authorize_address(installation.app, redirect_url=installation.app.redirect_url),
        ),
        ("Storefront", store_url(store.slug)),
        ("App in the dashboard", reverse("merchants:installation", args=[installation.pk])),
    ]
    if extensions_on(store, ExtensionType.BLOCK):
        links.append(("Page editor", reverse("merchants:pages")))
    pages = [
        each for each in extensions_on(store, ExtensionType.ADMIN_PAGE) if each.installation == installation
    ]
    links += [
        (
            str(each.definition.content.get("title", each.definition.key)),
            reverse("merchants:admin_page", args=[installation.pk, each.definition.key]),
        )
        for each in pages
    ]
    return links
