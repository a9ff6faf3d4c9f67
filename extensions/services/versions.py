"""Putting an earlier approved version back, with its manifest (contract, sections 2, "Reach", and 22)."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from common.db.finders import first_or_not_found
from common.errors import Coded, Conflict
from extensions.manifest.reach import added_reach
from extensions.queries import approved_manifest
from extensions.services.manifests import check_manifest, replace_manifest
from extensions.services.releases import data_agreed_to
from marketplace.access import require_role
from marketplace.models import App, AppVersion
from marketplace.services import versions
from marketplace.services.locks import lock_app


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
