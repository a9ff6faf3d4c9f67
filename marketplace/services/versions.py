"""Putting an earlier approved version back. With `reviews`, the only writer of an app's status and approved version."""

from datetime import datetime

from accounts.models import User
from common.errors import Coded
from marketplace.enums import AppStatus, ReviewKind
from marketplace.models import FROZEN_FIELDS, App, AppVersion, ReviewEntry
from marketplace.scopes import in_order
from marketplace.services import releases
from marketplace.signals import app_updated, version_restored


def restore(*, app: App, version: AppVersion, developer: User, now: datetime) -> None:
    """Make an earlier version current again, and the working copy equal to it: no review, since it was approved.

    The app is the locked row, and `why_not` has no objection. Installations follow as they follow an approval.
    """
    changed = {name for name in FROZEN_FIELDS if getattr(app, name) != getattr(version, name)}
    for name in changed:
        setattr(app, name, getattr(version, name))
    app.approved_version, app.status, app.updated_at = version, AppStatus.APPROVED, now
    app.save(update_fields=[*changed, "approved_version", "status", "updated_at"])
    version.followed_at = None
    version.save(update_fields=["followed_at"])
    releases.restored(version=version, now=now)
    ReviewEntry.objects.create(
        app=app, kind=ReviewKind.RESTORED, actor=developer, at=now, note=f"Version {version.version}"
    )
    app_updated.send(App, app=app, changed=frozenset(changed), now=now)
    version_restored.send(App, app=app, version=version, now=now)


def why_not(app: App, version: AppVersion) -> str:
    """Why a version can't be restored now; empty if it can."""
    if app.status == AppStatus.PENDING_REVIEW:
        return Coded(
            "The app is in review. Withdraw the submission before you restore a version.",
            code="app_in_review",
        )
    if app.rolling_version_id is not None:
        return Coded(
            "A version is still being released. Wait until its release is complete, or take it back.",
            code="release_open",
        )
    if app.suspended_at is not None:
        return Coded(
            "The app is suspended. Versions can be restored when a reviewer lifts that.", code="app_suspended"
        )
    if added := in_order(set(version.scopes) - set(app.approved_scopes)):
        return Coded(
            f"Version {version.version} asks for more scopes than the current one: {', '.join(added)}.",
            code="version_adds_scopes",
        )
    return ""
