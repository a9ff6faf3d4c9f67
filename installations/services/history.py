"""An installation's history: what its merchant, its developer and operators are shown of its past."""

from collections.abc import Iterable
from datetime import datetime

from accounts.models import User
from installations.enums import GRANTING, HistoryKind
from installations.models import HistoryEntry, Installation


def record(
    *,
    installation: Installation,
    kind: HistoryKind,
    at: datetime,
    note: str = "",
    by: User | None = None,
) -> HistoryEntry:
    """Write that something happened, in the transaction of whatever did it. `note` is for people.

    An entry that decided what is granted keeps that, and the end what was held until then: both stand on the
    receipt, whatever becomes of the app.
    """
    return HistoryEntry.objects.create(
        installation=installation, kind=kind, at=at, note=note, actor=by, scopes=_scopes(installation, kind)
    )


def record_all(happened: Iterable[tuple[Installation, HistoryKind, str]], *, at: datetime) -> None:
    """The same for many at once, by nobody in person: installation, kind and note of each."""
    HistoryEntry.objects.bulk_create(
        HistoryEntry(
            installation=installation, kind=kind, at=at, note=note, scopes=_scopes(installation, kind)
        )
        for installation, kind, note in happened
    )


def _scopes(installation: Installation, kind: HistoryKind) -> list[str]:
    if kind in GRANTING:
        return installation.granted_scopes
    return installation.effective_scopes if kind == HistoryKind.UNINSTALLED else []
