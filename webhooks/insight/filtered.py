"""Which of a store's newest events a filter would have let pass."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import Q

from installations.models import Installation
from webhooks import catalogue
from webhooks.filters.judging import stopped_by
from webhooks.models import Event

NEWEST: Final = 100


@dataclass(frozen=True, slots=True)
class TriedEvent:
    id: UUID
    type: str
    occurred_at: datetime
    stopped_by: str  # the condition; empty if it passes


@dataclass(frozen=True, slots=True)
class FilterTrial:
    """What a filter does to the newest events that a webhook lists, newest first."""

    events: Sequence[TriedEvent]

    @property
    def passed(self) -> int:
        return sum(not each.stopped_by for each in self.events)

    @property
    def conditions(self) -> list[tuple[str, int]]:
        """Each condition that stopped events, with their number, most first."""
        return Counter(each.stopped_by for each in self.events if each.stopped_by).most_common()


def try_filter(
    installation: Installation, document: dict[str, Any] | None, events: Sequence[str]
) -> FilterTrial:
    """A filter that `filters.rules` accepts, on at most 100 events of the installation's store. Nothing is sent or stored."""
    text = None if document is None else orjson.dumps(document).decode()
    lacking = catalogue.without_scope(events, installation.effective_scopes)
    rows = Event.objects.filter(
        Q(installation=None) | Q(installation=installation),
        business=installation.business_id,
        type__in=[each for each in events if each not in lacking],
    )
    newest = rows.order_by("-id").values_list("id", "type", "occurred_at", "data")[:NEWEST]
    return FilterTrial(
        [
            TriedEvent(id_, name, at, stopped_by(text, name, orjson.loads(data)))
            for id_, name, at, data in newest
        ]
    )
