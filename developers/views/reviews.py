"""An app's way through review: the checklist, submitting, waiting, withdrawing, and what came of it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from common.errors import Conflict, ServiceError
from common.pages import page_request
from developers.forms import SubmitForm, show_problems
from developers.readiness import readiness
from developers.submission import submit_app
from developers.views.access import app_page, current_developer
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from installations.queries import affected_by_approval
from marketplace.enums import AppStatus, SubmissionStatus
from marketplace.models import App, Submission
from marketplace.queries import in_review, latest_submission, place_in_queue, submissions_of
from marketplace.scopes import SCOPES, Scope
from marketplace.services import reviews
from marketplace.services.telling import failed_criteria

SUBMITTED = "Submitted for review. You are told by e-mail what a reviewer decides."
WITHDRAWN = "Withdrawn. The app is a draft again."


@require_safe
@app_page
def review(request: HttpRequest, app: App) -> HttpResponse:
    """Where the app stands: what to do before it can be submitted, how long it waits, what was decided."""
    wanted = page_request(request.GET, default=20, maximum=100)
    submissions = submissions_of(app)
    latest = latest_submission(app)
    context = {
        "app": app,
        "latest": latest,
        "submissions": submissions[wanted.window],
        "total": submissions.count(),
        "page_request": wanted,
        **_standing(app, latest),
    }
    return render(request, "developers/review.html", context)


def _standing(app: App, latest: Submission | None) -> dict[str, Any]:
    """What the page says on top, by the app's status."""
    if app.status == AppStatus.PENDING_REVIEW and latest:
        return {"place": place_in_queue(latest), "waiting": in_review().count()}
    if app.status == AppStatus.APPROVED:
        return {"scopes": sentences(app.approved_scopes)}
    rejected = latest and latest.status == SubmissionStatus.REJECTED
    return {
        "readiness": readiness(app),
        "rejected": latest if rejected else None,
        "failed": failed_criteria(latest) if latest and rejected else [],
    }


def sentences(names: list[str]) -> list[Scope]:
    return [SCOPES[name] for name in names]


@require_http_methods(GET_OR_POST)
@app_page
def submit(request: HttpRequest, app: App) -> HttpResponse:
    """Says what will be locked and what follows an approval, takes what goes along, and submits."""
    changes = reviews.scope_changes(app)
    scopes_grow = app.approved_version is not None and bool(changes["added_scopes"])
    form = SubmitForm(
        request.POST if request.method == "POST" else None,
        before=latest_submission(app),
        scopes_grow=scopes_grow,
    )
    if app.status != AppStatus.DRAFT or (form.is_bound and form.is_valid() and _submit(request, app, form)):
        return redirect("portal:review", app.slug)
    context = {
        "app": app,
        "form": form,
        "affected": affected_by_approval(app, changes["added_scopes"]),
        "added": sentences(changes["added_scopes"]),
        "removed": sentences(changes["removed_scopes"]),
    }
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/submit.html", context, status=status)


def _submit(request: HttpRequest, app: App, form: SubmitForm) -> bool:
    """Whether it is in review now; what stands against it is in the form."""
    try:
        submit_app(app=app, developer=current_developer(request), **form.cleaned_data)
    except ServiceError as error:
        show_problems(form, error)
        return False
    messages.success(request, SUBMITTED)
    return True


@require_http_methods(GET_OR_POST)
@app_page
def withdraw(request: HttpRequest, app: App) -> HttpResponse:
    """Asks first, since the place in the queue is lost."""
    if request.method == "POST":
        return _withdraw(request, app)
    latest = latest_submission(app)
    if app.status != AppStatus.PENDING_REVIEW or latest is None or latest.reviewer_id is not None:
        return redirect("portal:review", app.slug)
    context = {"app": app, "place": place_in_queue(latest), "waiting": in_review().count()}
    return render(request, "developers/withdraw.html", context)


def _withdraw(request: HttpRequest, app: App) -> HttpResponse:
    try:
        reviews.withdraw(app=app)
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, WITHDRAWN)
    return redirect("portal:review", app.slug)
