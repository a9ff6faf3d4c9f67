"""The permissions that an app has, by when and by whom they were allowed."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from django.conf import settings
from django.utils import timezone

from activity.use_in_stores import last_uses, unused_since
from installations.models import HistoryEntry, Installation
from marketplace.scopes import SCOPES, Scope


@dataclass(frozen=True, slots=True)
class Grant:
    """What was allowed at once. `entry` is None where no record is left of it."""

    entry: HistoryEntry | None
    scopes: list[tuple[Scope, date | None]]  # each with the day of its last use in this store
    unused_since: datetime | None  # from when on a use would be known; None if it isn't

    @property
    def title(self) -> str:
        actor = self.entry.actor if self.entry else None
        return f"Allowed by {actor.name}" if actor else "Allowed"


def grants_of(installation: Installation, entries: Mapping[str, HistoryEntry]) -> list[Grant]:
    """Latest first. `entries` are those of `granted_by`, read `with_last_uses`."""
    together: dict[HistoryEntry | None, list[tuple[Scope, date | None]]] = defaultdict(list)
    used = last_uses(entries.values())
    for name in installation.effective_scopes:
        together[entries.get(name)].append((SCOPES[name], used.get(name)))
    is_logged = bool(entries) and settings.LOG_API_CALLS
    since = unused_since(installation, timezone.now()) if is_logged else None
    grants = [Grant(entry, scopes, since) for entry, scopes in together.items()]
    return sorted(grants, key=lambda each: each.entry.at.timestamp() if each.entry else 0, reverse=True)
