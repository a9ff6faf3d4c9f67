"""Which scopes a token has had, in the past too: for whom an app must be asked to erase what it may have read."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from installations.enums import CHANGES_ACCESS
from installations.models import HistoryEntry, Installation


def scopes_since(installations: Sequence[Installation], since: datetime) -> dict[UUID, set[str]]:
    """The scopes that each installation's token had at any time from `since` on. One statement.

    They are read by `Installation.objects.with_app()`. The history alone says it: whatever gives or takes a scope has its entry
    there, a consent as well as an approval, a release that was halted, and a version that was taken back. A pause or a suspension
    doesn't count: it ends, and then the token reads all that there is.
    """
    entries = HistoryEntry.objects.filter(
        installation__in=[each.pk for each in installations], kind__in=CHANGES_ACCESS
    )
    changes: dict[UUID, list[tuple[datetime, list[str]]]] = defaultdict(list)
    for pk, at, scopes in entries.order_by("at", "id").values_list("installation_id", "at", "scopes"):
        changes[pk].append((at, scopes))
    found = {}
    for each in installations:
        had = set(each.effective_scopes) if each.is_active else set()
        until = each.uninstalled_at
        for at, scopes in reversed(changes[each.pk]):  # each holds until the next one
            if until is None or until >= since:
                had.update(scopes)
            until = at
        found[each.pk] = had
    return found
