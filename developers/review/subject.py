"""What a submission is about, and what it is compared with."""

from dataclasses import dataclass
from typing import Any

from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.differences import manifest_differences
from extensions.models import ApprovedManifest
from extensions.queries import manifest_document
from marketplace.differences import Difference, differences
from marketplace.enums import SubmissionStatus
from marketplace.models import AppFields, AppVersion, Submission, picture_path
from marketplace.scopes import SCOPES, Scope, in_order


@dataclass(frozen=True, slots=True)
class Subject:
    """`fields` are what was submitted; None once it may have been edited since. `before` is the approval it follows."""

    fields: AppFields | None
    before: AppVersion | None

    @property
    def changes(self) -> list[Difference]:
        """Empty for a first version too: all of it is new."""
        return differences(self.before, self.fields) if self.before and self.fields else []

    @property
    def screenshot_paths(self) -> list[str]:
        return [picture_path(each) for each in self.fields.screenshot_ids] if self.fields else []


def subject_of(submission: Submission) -> Subject:
    """The working copy while the round lasts, since it can't be edited; after an approval what that has frozen."""
    if submission.status == SubmissionStatus.PENDING_REVIEW:
        return Subject(submission.app, submission.app.approved_version)
    approved = submission.approved_version
    if approved is None:
        return Subject(None, None)
    return Subject(approved, _version_before(approved))


def _version_before(version: AppVersion) -> AppVersion | None:
    return (
        AppVersion.objects.filter(app=version.app_id, number__lt=version.number).order_by("-number").first()
    )


@dataclass(frozen=True, slots=True)
class Manifests:
    """What the app would add to stores by this submission, and by the approval before it."""

    now: dict[str, Any]
    before: dict[str, Any]

    @property
    def changes(self) -> list[Difference]:
        return manifest_differences(self.before, self.now)

    @property
    def added(self) -> list[Defined]:
        return list(definitions_in(self.now))


def manifests_of(submission: Submission, subject: Subject) -> Manifests:
    """The manifest in force while the round lasts, since it can't be saved then; afterwards the approved one."""
    is_open = submission.status == SubmissionStatus.PENDING_REVIEW
    now = manifest_document(submission.app) if is_open else _approved(submission.approved_version)
    return Manifests(now, _approved(subject.before))


def _approved(version: AppVersion | None) -> dict[str, Any]:
    kept = ApprovedManifest.objects.filter(version=version).first() if version else None
    return kept.document if kept else {}


@dataclass(frozen=True, slots=True)
class AskedScope:
    scope: Scope
    change: str  # "added", "removed" or "kept"


def asked_scopes(submission: Submission, fields: AppFields | None) -> list[AskedScope]:
    """Every scope that the submission asks for or gives up, in the order of the scope table."""
    added, removed = set(submission.added_scopes), set(submission.removed_scopes)
    kept = set(fields.scopes) - added if fields else set()
    changes = dict.fromkeys(kept, "kept") | dict.fromkeys(added, "added") | dict.fromkeys(removed, "removed")
    return [AskedScope(SCOPES[name], changes[name]) for name in in_order(changes)]
