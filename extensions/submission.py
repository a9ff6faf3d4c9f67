"""Submitting an app for review, with every check of the domain: the app's own fields and its manifest (contract section 2)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from accounts.models import User
from common.errors import ErrorDetail
from extensions.enums import ExtensionType
from extensions.manifest.content import definitions_in
from extensions.models import Definition
from extensions.queries import approved_manifest, manifest_document, settings_schema_in
from marketplace import rules
from marketplace.enums import AppStatus, ReleaseMode
from marketplace.models import FROZEN_FIELDS, App, Submission
from marketplace.services import reviews


def hooks_without_url(app: App) -> Iterator[ErrorDetail]:
    """Called with the app's row locked. One query, and only if there is no Webhook URL."""
    if app.webhook_url:
        return
    hooks = Definition.objects.filter(app=app, type=ExtensionType.HOOK, is_active=True)
    if points := ", ".join(hooks.values_list("key", flat=True)):
        message = f"Enter a Webhook URL: the manifest has hooks ({points}), which are called there."
        yield {"field": "webhook_url", "message": message}


CHECKS: Final[tuple[reviews.Check, ...]] = (hooks_without_url,)
"""What only this app knows; `marketplace` checks the app's own fields itself."""


def may_submit(app: App) -> bool:
    """Whether the app's state allows a submission, whatever is still missing. An approved app may be submitted whenever its
    working copy differs from the version that runs, also after a version was taken back. Not while a release is open.
    """
    approved = app.approved_version
    if app.rolling_version_id is not None:
        return False
    if app.status != AppStatus.APPROVED or approved is None:
        return app.status == AppStatus.DRAFT
    if approved.shown_developer != app.shown_developer:
        return True
    if any(getattr(approved, name) != getattr(app, name) for name in FROZEN_FIELDS):
        return True
    before, now = approved_manifest(approved), manifest_document(app)
    if settings_schema_in(before) != settings_schema_in(now):
        return True
    return list(definitions_in(before)) != list(definitions_in(now))


def suggested_version(app: App) -> str:
    """What the working copy may be called: its own number, unless a version has that already; then the one after the newest.

    The first number rises where a part of the manifest is gone that stores use, the second where scopes or the manifest changed
    otherwise, and the third for all else. Before 1.0.0 the first stays 0.
    """
    approved = app.newest_version
    taken = list(app.versions.values_list("version", flat=True))
    if approved is None or app.version not in taken:
        return app.version
    major, minor, patch = max(rules.numbers_of(each) for each in taken)
    before, now = approved_manifest(approved), manifest_document(app)
    had, has = list(definitions_in(before)), list(definitions_in(now))
    gone = {(each.type, each.key) for each in had} - {(each.type, each.key) for each in has}
    if gone and major:
        return f"{major + 1}.0.0"
    is_new = had != has or settings_schema_in(before) != settings_schema_in(now)
    if is_new or set(approved.scopes) != set(app.scopes):
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}"


def missing(app: App) -> list[ErrorDetail]:
    """Everything that `submit_app` would refuse now, except its texts. Looks up the Webhook URL's host."""
    return reviews.missing(app, CHECKS, rules.unreachable(app))


def submit_app(
    *,
    app: App,
    developer: User,
    version: str = "",
    how_to_test: str = "",
    scope_reason: str = "",
    release: ReleaseMode = ReleaseMode.ALL,
    now: datetime | None = None,
) -> Submission:
    """`marketplace.services.reviews.submit` with all checks; raises the same errors."""
    return reviews.submit(
        app=app,
        developer=developer,
        version=version,
        how_to_test=how_to_test,
        scope_reason=scope_reason,
        checks=CHECKS,
        may_submit=may_submit,
        release=release,
        now=now,
    )
