"""An app's review: checklist, submission, waiting, withdrawal, decision; and its versions."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods

from common.db.rows import first_or_not_found
from common.errors import Conflict, NotFound
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, refusals_shown, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import PageRequest, page_request
from developers.portal.access import app_page, current_developer
from developers.portal.apps.details_form import field_url
from developers.portal.forms import MessageForm, SubmitForm
from developers.portal.release.progress import rollout
from developers.readiness import ChecklistItem, Readiness, readiness
from extensions.manifest.changes import manifest_differences
from extensions.models import ApprovedManifest
from extensions.queries import approved_manifest, manifest_document, waiting_in
from extensions.services.manifests import restore_version, why_not_restored
from extensions.submission import may_submit, submit_app, suggested_version
from installations.queries import affected_by_approval
from marketplace import queries
from marketplace.differences import Difference, differences
from marketplace.enums import AppStatus, SubmissionStatus
from marketplace.models import App, AppVersion, Submission
from marketplace.scopes import SCOPES, Scope
from marketplace.services import reviews
from marketplace.services.review_messages import failed_criteria, may_write, send_message

SUBMITTED = "Submitted for review. We'll e-mail you the decision."
MESSAGE_SENT = "Message sent."
WITHDRAWN = "Withdrawn. The app is a draft again."


@require_safe
@app_page
def review(request: HttpRequest, app: App) -> HttpResponse:
    """The review status: what to do before a submission, the place in the queue, or the decision."""
    return _page(request, app, MessageForm())


@require_http_methods(GET_OR_POST)
@app_page
def send(request: HttpRequest, app: App) -> HttpResponse:
    """Send a message to the app's reviewers, about its newest submission."""
    page = resolve_url("portal:review", app.slug)
    if (data := typed(request)) is None:
        return redirect(page)
    latest = queries.latest_submission(app)
    if latest is None:
        raise NotFound("The app has never been submitted.")
    form, author = MessageForm(data), current_developer(request)

    def save() -> HttpResponse:
        send_message(submission=latest, author=author, text=form.cleaned_data["text"])
        return done(request, MESSAGE_SENT, f"{page}#messages")

    again = partial(sent_again, request, page)
    return saved(request, form, save, conflict="text", again=again) or _page(request, app, form)


def _page(request: HttpRequest, app: App, form: MessageForm) -> HttpResponse:
    wanted = page_request(request.GET, default=20, maximum=100)
    found = queries.submissions_of(app)
    submissions = list(found[wanted.window])
    is_all = wanted.page == 1 and len(submissions) < wanted.limit
    latest = next(iter(submissions), None) if wanted.page == 1 else queries.latest_submission(app)
    turns = queries.conversation_about(app, for_reviewers=False) if latest else []
    context = {
        "app": app,
        "latest": latest,
        "submissions": submissions,
        "total": len(submissions) if is_all else found.count(),
        "page_request": wanted,
        "message_form": form,
        "may_write": may_write(latest, latest),
        "turns": turns,
        "has_messages": any(turn.step is None for turn in turns),
        **_review_status(app, latest),
    }
    return form_page(request, "developers/portal/release/review.html", context, form=form)


def _review_status(app: App, latest: Submission | None) -> dict[str, Any]:
    """The values that the page needs for the app's status."""
    if app.status == AppStatus.PENDING_REVIEW and latest:
        return {
            "place": queries.position_in_queue(latest),
            "waiting": queries.in_review().count(),
            "due_at": latest.submitted_at + queries.REVIEW_DUE,
            "median": queries.median_wait(),
        }
    if app.status == AppStatus.APPROVED and not may_submit(app):
        return {"scopes": _scopes(app.approved_scopes)}
    rejected = latest and latest.status == SubmissionStatus.REJECTED
    return {
        "readiness": _linked(app, readiness(app)),
        "rejected": latest if rejected else None,
        "failed": failed_criteria(latest) if latest and rejected else [],
    }


def _linked(app: App, found: Readiness) -> Readiness:
    """With the addresses of the app's fields."""

    def linked(item: ChecklistItem) -> ChecklistItem:
        return replace(item, url=field_url(app, item.field)) if item.field else item

    return Readiness([(criterion, [*map(linked, items)]) for criterion, items in found.groups])


def _scopes(names: list[str]) -> list[Scope]:
    return [SCOPES[name] for name in names]


@require_http_methods(GET_OR_POST)
@app_page
def submit(request: HttpRequest, app: App) -> HttpResponse:
    """Explains what a review locks and what an approval changes, asks for notes, and submits."""
    changes = queries.scope_changes(app)
    scopes_grow = app.approved_version is not None and bool(changes["added_scopes"])
    if not may_submit(app):
        return redirect("portal:review", app.slug)
    form = SubmitForm(
        typed(request),
        app=app,
        version=suggested_version(app),
        previous=queries.latest_submission(app),
        scopes_grow=scopes_grow,
    )

    def save() -> HttpResponse:
        submit_app(app=app, developer=current_developer(request), **form.cleaned_data)
        return done(request, SUBMITTED, "portal:review", app.slug)

    if response := saved(request, form, save):
        return response
    context = {
        "app": app,
        "form": form,
        "affected": affected_by_approval(app, changes["added_scopes"]),
        "added": _scopes(changes["added_scopes"]),
        "removed": _scopes(changes["removed_scopes"]),
        "waiting": waiting_in(app, manifest_document(app)),
        "lookalikes": queries.listed_lookalikes(app),
    }
    return form_page(request, "developers/portal/release/submit.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def withdraw(request: HttpRequest, app: App) -> HttpResponse:
    """Asks first, because the app loses its place in the queue."""
    if request.method == "POST":
        with refusals_shown(request, Conflict):
            reviews.withdraw(app=app, developer=current_developer(request))
            messages.success(request, WITHDRAWN)
        return redirect("portal:review", app.slug)
    latest = queries.latest_submission(app)
    if app.status != AppStatus.PENDING_REVIEW or latest is None or latest.reviewer_id is not None:
        return redirect("portal:review", app.slug)
    context = {"app": app, "place": queries.position_in_queue(latest), "waiting": queries.in_review().count()}
    return render(request, "developers/portal/release/withdraw.html", context)


@dataclass(frozen=True, slots=True)
class ApprovedRelease:
    """An approved version, and what it changed in the app and in its manifest."""

    version: AppVersion
    is_first: bool
    scopes: list[Scope]
    differences: list[Difference]


@require_safe
@app_page
def version_list(request: HttpRequest, app: App) -> HttpResponse:
    wanted = page_request(request.GET, default=10, maximum=50)
    live = app.approved_version
    if live:
        live.app = app  # not asked for again
    releases = _releases(app, wanted)
    is_all = wanted.page == 1 and len(releases) < wanted.limit
    context = {
        "app": app,
        "releases": releases,
        "total": len(releases) if is_all else app.versions.count(),
        "page_request": wanted,
        "draft": _draft(app, live) if live else [],
        "rollout": rollout(app) if live else None,
    }
    return render(request, "developers/portal/release/versions.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def version_restore(request: HttpRequest, app: App, number: int) -> HttpResponse:
    """Shows what restoring changes, and asks; or says why the version can't be restored."""
    version = first_or_not_found(app.versions.filter(number=number), "Version not found")
    if request.method == "POST":
        with refusals_shown(request):
            restore_version(app=app, developer=current_developer(request), number=number)
            messages.success(request, f"Version {version.version} is live again.")
        return redirect("portal:versions", app.slug)
    context = {
        "app": app,
        "version": version,
        "problem": why_not_restored(app, version),
        "differences": [
            *differences(app, version),
            *manifest_differences(manifest_document(app), approved_manifest(version)),
        ],
    }
    return render(request, "developers/portal/release/version_restore.html", context)


def _draft(app: App, live: AppVersion) -> list[Difference]:
    """What the next version would change."""
    return [
        *differences(live, app),
        *manifest_differences(approved_manifest(live), manifest_document(app)),
    ]


def _releases(app: App, wanted: PageRequest) -> list[ApprovedRelease]:
    """The page's versions. One more is read, to compare the last one with it."""
    rows = list(queries.versions_of(app)[wanted.offset : wanted.offset + wanted.limit + 1])
    before = dict(pairwise(rows))
    manifests = dict(ApprovedManifest.objects.filter(version__in=rows).values_list("version_id", "document"))
    releases = []
    for version in rows[: wanted.limit]:
        earlier = before.get(version)
        changed = differences(earlier, version) if earlier else []
        was = manifests.get(earlier.pk, {}) if earlier else {}
        changed = [*changed, *manifest_differences(was, manifests.get(version.pk, {}))]
        scopes = [SCOPES[name] for name in version.scopes]
        releases.append(ApprovedRelease(version, earlier is None, scopes, changed))
    return releases
