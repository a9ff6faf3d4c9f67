"""An installation's history: what its merchant, its developer and operators are shown of its past."""

from datetime import datetime

from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation


def record(*, installation: Installation, kind: HistoryKind, at: datetime, note: str = "") -> HistoryEntry:
    """Write that something happened, in the transaction of whatever did it. `note` is for people."""
    return HistoryEntry.objects.create(installation=installation, kind=kind, at=at, note=note)
