"""Installations of stores that don't exist. Their tokens were never issued, so no call of the API can use them."""

from collections.abc import Sequence
from datetime import datetime

from accounts.models import Business
from common.secrets import new_webhook_secret
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from marketplace.models import App, AppTotals, AppVersion


def made_installation(
    app: App, store: Business, at: datetime, version: AppVersion | None, until: datetime | None = None
) -> Installation:
    """An unsaved one, by the store's owner; `until` ends it."""
    return Installation(
        app=app,
        business=store,
        installed_by=store.owner,
        granted_scopes=version.scopes if version else [],
        agreed_version=version,
        runs=app.approved_version,
        webhook_secret=new_webhook_secret(test=False),
        consented_at=at,
        installed_at=at,
        uninstalled_at=until,
    )


def write_installations(made: Sequence[Installation]) -> None:
    """With their histories, and counted in the totals of their apps."""
    Installation.objects.bulk_create(made)
    HistoryEntry.objects.bulk_create(
        HistoryEntry(installation=each, kind=kind, at=at, actor=each.installed_by, scopes=each.granted_scopes)
        for each in made
        for kind, at in (
            (HistoryKind.INSTALLED, each.installed_at),
            (HistoryKind.UNINSTALLED, each.uninstalled_at),
        )
        if at
    )
    for app in {each.app_id for each in made}:
        counted = (
            Installation.objects.active().filter(app=app, is_test=False, business__is_sandbox=False).count()
        )
        AppTotals.objects.update_or_create(app_id=app, defaults={"installs": counted})
