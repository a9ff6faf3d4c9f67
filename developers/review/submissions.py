"""Submissions for reviewers: the queue, what a submission contains and changes, and the search for apps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from accounts.models import User
from common.ids import parse_id
from common.web.found import MOST, Found, actions
from developers.review.reviewers import MAY_REVIEW
from extensions.manifest.changes import manifest_differences
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.reach import added_reach
from extensions.queries import approved_manifest, manifest_document
from marketplace.differences import Difference, differences
from marketplace.enums import SubmissionStatus
from marketplace.models import App, AppVersion, Submission, picture_path
from marketplace.queries import in_queue_order, kept_versions
from marketplace.scopes import SCOPES, Scope, in_order

WAITING = Q(status=SubmissionStatus.PENDING_REVIEW, reviewer=None)
HELD = Q(status=SubmissionStatus.PENDING_REVIEW, reviewer__isnull=False)
DECIDED = ~Q(status=SubmissionStatus.PENDING_REVIEW)


def with_kind(submissions: "QuerySet[Submission]") -> "QuerySet[Submission]":
    """Adds the value that `kind` reads."""
    earlier = AppVersion.objects.filter(app=OuterRef("app"), approved_at__lt=OuterRef("submitted_at"))
    return submissions.annotate(is_update=Exists(earlier))


def kind(submission: Submission) -> str:
    """The kind at the time of the submission, which must come from `with_kind`."""
    if not submission.is_update:  # type: ignore[attr-defined]
        return "New app"
    return "More scopes" if submission.added_scopes else "Update"


def waiting() -> "QuerySet[Submission]":
    """Submissions without a reviewer in the order of the queue, with app and developer."""
    rows = with_kind(Submission.objects.filter(WAITING)).select_related("app__developer")
    return in_queue_order(rows)


def next_after(submission: Submission) -> Submission | None:
    """The submission to review next."""
    return waiting().exclude(pk=submission.pk).first()


def counts() -> dict[str, int]:
    """The numbers of waiting and held submissions."""
    return Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW).aggregate(
        waiting=Count("id", filter=WAITING), held=Count("id", filter=HELD)
    )


@dataclass(frozen=True, slots=True)
class SubmittedContent:
    """The submitted `fields`, or None if they may have been edited since; the approved version `before` them; and the
    developer's name that was submitted.
    """

    fields: App | AppVersion | None
    before: AppVersion | None
    developer: str

    @property
    def changes(self) -> list[Difference]:
        """Empty for a first version, in which everything is new."""
        if self.before is None or self.fields is None:
            return []
        return differences(self.before, self.fields, self.developer)

    @property
    def asks_about_data(self) -> bool:
        """Whether stores are asked to agree to where their data goes."""
        if self.before is None or self.fields is None:
            return False
        return self.fields.data_terms.asks_beyond(self.before.data_terms)

    @property
    def screenshot_paths(self) -> list[str]:
        return [picture_path(each) for each in self.fields.screenshot_ids] if self.fields else []


def content_of(submission: Submission) -> SubmittedContent:
    """During the review the working copy, which can't be edited then. After an approval, the approved version."""
    if submission.status == SubmissionStatus.PENDING_REVIEW:
        return SubmittedContent(submission.app, submission.app.approved_version, submission.shown_developer)
    approved = submission.approved_version
    if approved is None:
        return SubmittedContent(None, None, submission.shown_developer)
    return SubmittedContent(approved, _version_before(approved), approved.shown_developer)


def _version_before(version: AppVersion) -> AppVersion | None:
    """The version that stores ran before: one that was taken back is gone."""
    return kept_versions(version.app_id).filter(number__lt=version.number).first()


@dataclass(frozen=True, slots=True)
class Manifests:
    """The submitted manifest, and the one of the approval before it."""

    now: dict[str, Any]
    before: dict[str, Any]

    @property
    def changes(self) -> list[Difference]:
        return manifest_differences(self.before, self.now)

    @property
    def added(self) -> list[Defined]:
        return list(definitions_in(self.now))

    @property
    def reach(self) -> list[Defined]:
        """What widens the reach, and so what each store is asked for."""
        return added_reach(self.before, self.now)


def manifests_of(submission: Submission, content: SubmittedContent) -> Manifests:
    """During the review the live manifest, which can't be saved then. Afterwards the approved one."""
    is_open = submission.status == SubmissionStatus.PENDING_REVIEW
    now = manifest_document(submission.app) if is_open else approved_manifest(submission.approved_version)
    return Manifests(now, approved_manifest(content.before))


def definitions_before(manifests: Manifests) -> list[Defined]:
    """Those of the approval before, empty for a first version."""
    return list(definitions_in(manifests.before))


@dataclass(frozen=True, slots=True)
class RequestedScope:
    scope: Scope
    change: str  # "added", "removed" or "kept"


def requested_scopes(submission: Submission, fields: App | AppVersion | None) -> list[RequestedScope]:
    """Every scope that the submission requests or removes, in the order of the scope table."""
    added, removed = set(submission.added_scopes), set(submission.removed_scopes)
    kept = set(fields.scopes) - added if fields else set()
    changes = dict.fromkeys(kept, "kept") | dict.fromkeys(added, "added") | dict.fromkeys(removed, "removed")
    return [RequestedScope(SCOPES[name], changes[name]) for name in in_order(changes)]


def actions_in_review(person: User) -> Iterator[Found]:
    if person.is_staff and person.has_perm(MAY_REVIEW):
        url = reverse("admin:marketplace_submission_changelist")
        yield from actions([("Review submissions", url, "clipboard-list")], "")


def in_review(person: User, text: str) -> Iterator[Found]:
    """Apps by name, slug, Client ID or id, for people who may review."""
    if not (person.is_staff and person.has_perm(MAY_REVIEW)):
        return
    wanted = parse_id(text.lower())
    named = Q(pk=wanted) if wanted else Q(name__finds=text) | Q(slug__finds=text) | Q(client_id=text)
    for app in App.objects.filter(named).order_by("-created_at", "-id")[:MOST]:
        url = reverse("admin:marketplace_app_change", args=[app.pk])
        yield Found("App in review", app.name, app.get_status_display(), url, "clipboard-list")
