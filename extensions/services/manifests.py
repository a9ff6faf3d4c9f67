"""Saving a manifest, which syncs the app's definitions at once (specification, "Manifest sync"); and putting an earlier approved version back with its
manifest (contract, section 2, "Reach").

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
from common.db.rows import first_or_not_found
from common.errors import Coded, Conflict, Invalid
from extensions.manifest import problems_of_manifest
from extensions.manifest.changes import Changes, DefinitionChange, plan, record, same
from extensions.manifest.content import definitions_in
from extensions.manifest.reach import added_reach
from extensions.models import Definition, Manifest, ManifestSave
from extensions.queries import approved_manifest, manifest_document, waiting_in
from extensions.services.releases import data_agreed_to, update_live
from marketplace.access import require_role
from marketplace.enums import AppStatus
from marketplace.models import App, AppVersion
from marketplace.services import versions
from marketplace.services.locks import lock_app

Document = dict[str, Any]
ChangeRecord = dict[str, list[dict[str, str]]]


@dataclass(frozen=True, slots=True)
class Saved:
    """The current manifest, and the changes of the save: `created`, `updated`, `deactivated`, lists of
    `{type, key, id}`. `reach` says where its definitions run, as `live` and `withNextVersion`.
    """

    document: Document
    changes: ChangeRecord
    reach: ChangeRecord


def check_manifest(document: Any) -> None:
    """Raises `Invalid` with every problem."""
    problems = problems_of_manifest(document)
    if problems:
        first = problems[0]
        message = f"{first['field']}: {first['message']}" if first["field"] else first["message"]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise Invalid(message + more, problems)


def save_manifest(*, app: App, developer: User, document: Document, now: datetime | None = None) -> Saved:
    """Save and sync in one transaction. The app's status doesn't change.

    Saving the current manifest again changes and records nothing. Raises `Invalid`, `NotFound` for an app
    that is not the developer's, `Conflict` while it is in review or suspended.
    """
    check_manifest(document)
    now = now or timezone.now()
    with transaction.atomic():
        locked = lock_app(app)
        require_role(locked, developer)
        _require_editable(locked)
        return replace_manifest(app=locked, developer=developer, document=document, now=now)


def replace_manifest(*, app: App, developer: User, document: Document, now: datetime) -> Saved:
    """Sync, save and record a checked manifest of a locked app. The current one again changes and records nothing."""
    before = manifest_document(app)
    changes = record(Changes(), {})
    if not same(before, document):
        changes = _sync(app, document, now)
        Manifest.objects.update_or_create(app=app, defaults={"document": document, "saved_at": now})
        ManifestSave.objects.create(
            app=app, document=document, changes=changes, saved_by=developer, saved_at=now
        )
    update_live(app)
    return Saved(document, changes, _reach(app, document))


def restore_manifest(*, save: ManifestSave, developer: User, now: datetime | None = None) -> Saved:
    """Save an earlier manifest again, under today's rules. Raises like `save_manifest`."""
    return save_manifest(app=save.app, developer=developer, document=save.document, now=now)


def why_locked(app: App) -> str:
    """Why the manifest can't be saved at present; empty where it can."""
    if app.suspended_at is not None:
        return Coded(
            "The app is suspended. Its manifest can be saved when a reviewer lifts that.",
            code="app_suspended",
        )
    if app.status == AppStatus.PENDING_REVIEW:
        return Coded(
            "The app is in review. Its manifest can't be saved until there is a decision.",
            code="app_in_review",
        )
    return ""


def _require_editable(app: App) -> None:
    if reason := why_locked(app):
        raise Conflict(reason)


def _reach(app: App, document: Document) -> ChangeRecord:
    waiting = {(each.type, each.key) for each in waiting_in(app, document)}
    ids = {(row.type, row.key): row.pk for row in Definition.objects.filter(app=app, is_active=True)}
    found: ChangeRecord = {"live": [], "withNextVersion": []}
    for each in definitions_in(document):
        name = "withNextVersion" if (each.type, each.key) in waiting else "live"
        found[name].append({"type": str(each.type), "key": each.key, "id": str(ids[each.type, each.key])})
    return found


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


def _renewed(change: DefinitionChange, now: datetime) -> Definition:
    row = _moved(change)
    row.content, row.is_active, row.updated_at = change.defined.content, True, now
    return row


def _moved(change: DefinitionChange) -> Definition:
    assert change.former is not None
    change.former.position = change.defined.position
    return change.former


# --- Putting an earlier version back -----------------------------------------------------------------


@transaction.atomic
def restore_version(*, app: App, developer: User, number: int, now: datetime | None = None) -> App:
    """Make an approved version current again, with its manifest: in stores, in the marketplace, and as the working copy.

    Raises `NotFound` for an app that is not the developer's and for an unknown version, `Conflict` while the app is in
    review or suspended and if the version would widen the reach of the current one, `Invalid` for a manifest that today's
    rules refuse.
    """
    now = now or timezone.now()
    locked = lock_app(app)
    require_role(locked, developer)
    version = first_or_not_found(locked.versions.filter(number=number), "Version not found")
    if reason := why_not_restored(locked, version):
        raise Conflict(reason)
    document = approved_manifest(version)
    check_manifest(document)
    versions.restore(app=locked, version=version, developer=developer, now=now)
    replace_manifest(app=locked, developer=developer, document=document, now=now)
    return locked


def why_not_restored(app: App, version: AppVersion) -> str:
    """Why a version can't be restored now: the app's state, or what it would add to the current reach. Empty if it can."""
    if reason := versions.why_not(app, version):
        return reason
    added = added_reach(approved_manifest(app.approved_version), approved_manifest(version))
    named = [f"{each.type.label.lower()} {each.key}" for each in added]
    if any(version.data_terms.asks_beyond(each) for each in data_agreed_to(app)):
        named.append("where their data goes")
    if not named:
        return ""
    names = ", ".join(named)
    return Coded(
        f"Version {version.version} adds to what stores agreed to: {names}. Submit it for review instead.",
        code="version_adds_reach",
    )
