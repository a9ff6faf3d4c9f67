"""An installation's history, which its merchant, its developer and operators can read."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from accounts.enums import SecurityEventKind
from accounts.models import User
from accounts.services import security_log
from installations.enums import GRANTING, HistoryKind
from installations.models import HistoryEntry, Installation

SECURITY_KINDS: Final = {
    HistoryKind.INSTALLED: SecurityEventKind.APP_INSTALLED,
    HistoryKind.TERMS_CHANGED: SecurityEventKind.APP_PERMISSIONS_APPROVED,
    HistoryKind.AGREED: SecurityEventKind.APP_PERMISSIONS_APPROVED,
    HistoryKind.PAUSED: SecurityEventKind.APP_PAUSED,
    HistoryKind.RESUMED: SecurityEventKind.APP_RESUMED,
    HistoryKind.UNINSTALLED: SecurityEventKind.APP_UNINSTALLED,
}


def record(
    *,
    installation: Installation,
    kind: HistoryKind,
    at: datetime,
    note: str = "",
    by: User | None = None,
) -> HistoryEntry:
    """Add an entry, in the transaction of the change. `note` is for people.

    Entries that change the granted scopes keep the new ones, and the uninstall keeps the last ones. The receipt shows
    both, even after the app was changed or deleted.
    """
    if security_kind := SECURITY_KINDS.get(kind):
        business = installation.business
        about = f"{installation.app.name} on {business.name}"
        security_log.record(user_id=business.owner_id, kind=security_kind, about=about, actor=by)
    return HistoryEntry.objects.create(
        installation=installation, kind=kind, at=at, note=note, actor=by, scopes=_scopes(installation, kind)
    )


def record_all(happened: Iterable[tuple[Installation, HistoryKind, str]], *, at: datetime) -> None:
    """The same for many at once, without an actor: installation, kind and note of each."""
    HistoryEntry.objects.bulk_create(
        HistoryEntry(
            installation=installation, kind=kind, at=at, note=note, scopes=_scopes(installation, kind)
        )
        for installation, kind, note in happened
    )


def _scopes(installation: Installation, kind: HistoryKind) -> list[str]:
    if kind in GRANTING:
        return installation.granted_scopes
    held = (HistoryKind.UNINSTALLED, HistoryKind.SCOPES_FOLLOWED)
    return installation.effective_scopes if kind in held else []
