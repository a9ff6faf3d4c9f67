"""Saving a manifest, which syncs the app's definitions at once (specification, "Manifest sync").

    new                            created and active
    the same type and key          updated in place, active again if it was not
    no longer in the manifest      deactivated, not deleted

A definition's id stays over all of it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from common.errors import Conflict, Invalid, NotFound
from extensions.manifest import problems_of_manifest
from extensions.manifest.attention import reasons_for_review
from extensions.manifest.sync import Change, Changes, plan, record, same
from extensions.models import ApprovedManifest, Definition, Manifest, ManifestFlag, ManifestSave
from extensions.queries import manifest_document
from marketplace.enums import AppStatus
from marketplace.models import App, AppVersion
from marketplace.services.locks import lock_app

Document = dict[str, Any]
ChangeRecord = dict[str, list[dict[str, str]]]


@dataclass(frozen=True, slots=True)
class Saved:
    """The manifest in force, and what the save changed: `created`, `updated`, `deactivated`, lists of
    `{type, key, id}`."""

    document: Document
    changes: ChangeRecord


def check_manifest(document: Any) -> None:
    """Raises `Invalid` with everything that is wrong."""
    problems = problems_of_manifest(document)
    if problems:
        first = problems[0]
        message = f"{first['field']}: {first['message']}" if first["field"] else first["message"]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise Invalid(message + more, problems)


def save_manifest(*, app: App, developer: User, document: Document, now: datetime | None = None) -> Saved:
    """Save and sync in one transaction. The app's status stays as it is.

    The manifest that is in force already changes nothing and leaves no trace. Raises `Invalid`, `NotFound` for an app
    that is not the developer's, `Conflict` while it is in review.
    """
    check_manifest(document)
    now = now or timezone.now()
    with transaction.atomic():
        locked = lock_app(app)
        _require_editable(locked, developer)
        before = manifest_document(locked)
        if same(before, document):
            return Saved(before, record(Changes(), {}))
        changes = _sync(locked, document, now)
        Manifest.objects.update_or_create(app=locked, defaults={"document": document, "saved_at": now})
        save = ManifestSave.objects.create(
            app=locked, document=document, changes=changes, saved_by=developer, saved_at=now
        )
        _flag(save, locked, before)
    return Saved(document, changes)


def put_back(*, save: ManifestSave, developer: User, now: datetime | None = None) -> Saved:
    """Save an earlier manifest again, with the rules of today. Raises as `save_manifest` does."""
    return save_manifest(app=save.app, developer=developer, document=save.document, now=now)


def keep_approved(*, version: AppVersion) -> None:
    """What was in force when a version was approved. Called in the transaction of the approval."""
    document = manifest_document(version.app)
    ApprovedManifest.objects.update_or_create(version=version, defaults={"document": document})


@transaction.atomic
def put_aside(*, flag: ManifestFlag, reviewer: User, now: datetime | None = None) -> None:
    """A reviewer has looked at a change since the approval. The first one who did stays recorded."""
    ManifestFlag.objects.filter(pk=flag.pk, seen_at=None).update(
        seen_at=now or timezone.now(), seen_by=reviewer
    )


def _require_editable(app: App, developer: User) -> None:
    if app.developer_id != developer.pk:
        raise NotFound("App not found")
    if app.status == AppStatus.PENDING_REVIEW:
        raise Conflict("The app is in review, and its manifest can't be saved until that is decided.")


def _sync(app: App, document: Document, now: datetime) -> ChangeRecord:
    changes = plan(app, document)
    created = [
        Definition(
            app=app, type=each.defined.type, key=each.defined.key, position=each.defined.position,
            content=each.defined.content, created_at=now, updated_at=now,
        )
        for each in changes.created
    ]  # fmt: skip
    kept = [_renewed(each, now) for each in changes.updated] + [_moved(each) for each in changes.moved]
    gone = [each.former for each in changes.deactivated if each.former]
    Definition.objects.bulk_create(created)
    Definition.objects.bulk_update(kept, ["content", "position", "is_active", "updated_at"])
    Definition.objects.filter(pk__in=[row.pk for row in gone]).update(is_active=False, updated_at=now)
    return record(changes, {(row.type, row.key): row.pk for row in [*created, *kept, *gone]})


def _renewed(change: Change, now: datetime) -> Definition:
    row = _moved(change)
    row.content, row.is_active, row.updated_at = change.defined.content, True, now
    return row


def _moved(change: Change) -> Definition:
    assert change.former is not None
    change.former.position = change.defined.position
    return change.former


def _flag(save: ManifestSave, app: App, before: Document) -> None:
    """Only of what merchants can install, which an app is from its first approval on."""
    if app.approved_version_id is None:
        return
    approved = ApprovedManifest.objects.filter(version_id=app.approved_version_id).first()
    reasons = reasons_for_review(save.document, before, approved.document if approved else {})
    if reasons:
        ManifestFlag.objects.create(app=app, save_of=save, reasons=reasons, raised_at=save.saved_at)
